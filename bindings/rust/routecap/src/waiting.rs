// SPDX-License-Identifier: Apache-2.0

//! Who waits for which forward.

use std::collections::HashMap;

/// What to call when the forward of a number settles.
pub(crate) struct Waiting<W>(HashMap<i64, W>);

impl<W> Default for Waiting<W> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<W: Clone> Waiting<W> {
    pub(crate) fn put(&mut self, sequence: i64, waker: &W) {
        self.0.insert(sequence, waker.clone());
    }

    pub(crate) fn take(&mut self, sequence: i64) -> Option<W> {
        self.0.remove(&sequence)
    }

    pub(crate) fn has(&self, sequence: i64) -> bool {
        self.0.contains_key(&sequence)
    }

    pub(crate) fn take_all(&mut self) -> Vec<W> {
        self.0.drain().map(|(_, waker)| waker).collect()
    }
}
