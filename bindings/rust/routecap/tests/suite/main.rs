// SPDX-License-Identifier: Apache-2.0

//! The crate's tests against the library: one program, because linking costs more than running.

// What is shared between the modules of a program is nobody's API, and a test's function is as long as what it tests.
#![allow(unreachable_pub, missing_debug_implementations, clippy::too_many_lines)]

mod capture;
#[cfg(feature = "async")]
mod completion;
mod errors;
#[cfg(all(feature = "half", feature = "ndarray", feature = "serde"))]
mod features;
mod lifetimes;
mod manifest;
mod properties;
mod record;
mod replay;
mod scene;
mod wire;
