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

#[cfg(test)]
mod tests {
    use super::Waiting;

    #[test]
    fn one_waker_a_forward_and_the_last_one_counts() {
        let mut waiting = Waiting::default();
        waiting.put(3, &"first");
        waiting.put(3, &"second");
        waiting.put(4, &"other");
        assert!(waiting.has(3) && !waiting.has(5));
        assert_eq!((waiting.take(3), waiting.take(3), waiting.take(9)), (Some("second"), None, None));
        waiting.put(5, &"last");
        let mut all = waiting.take_all();
        all.sort_unstable();
        assert_eq!(all, ["last", "other"]);
        assert!(waiting.take_all().is_empty());
    }
}
