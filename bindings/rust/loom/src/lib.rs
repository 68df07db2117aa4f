// SPDX-License-Identifier: Apache-2.0

//! Has only tests.

#[cfg(test)]
#[path = "../../routecap/src/waiting.rs"]
mod waiting;

/// What `waiting` locks with.
#[cfg(test)]
mod sync {
    pub(crate) use loom::sync::Mutex;
}

#[cfg(test)]
mod model;
