// SPDX-License-Identifier: Apache-2.0

//! Who waits for which forward, and how a wait is polled so that no end is missed. `loom` of this workspace runs this file under every order in which
//! threads may come.

use std::collections::BTreeMap;
use std::sync::PoisonError;
use std::task::{Poll, Waker};

use crate::sync::Mutex;

/// What to call when the forward of a number settles.
struct Waiting<W>(BTreeMap<i64, W>);

impl<W> Default for Waiting<W> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<W: Clone> Waiting<W> {
    fn put(&mut self, sequence: i64, waker: &W) {
        self.0.insert(sequence, waker.clone());
    }

    fn take(&mut self, sequence: i64) -> Option<W> {
        self.0.remove(&sequence)
    }

    fn has(&self, sequence: i64) -> bool {
        self.0.contains_key(&sequence)
    }

    fn take_all(&mut self) -> Vec<W> {
        std::mem::take(&mut self.0).into_values().collect()
    }
}

/// The waits of one capturer, of all runtimes.
pub(crate) struct Registry(Mutex<Waiting<Waker>>);

impl Default for Registry {
    fn default() -> Self {
        Self(Mutex::new(Waiting::default()))
    }
}

/// What one wait is for.
pub(crate) trait Settling {
    type Error;

    /// Whether it has settled.
    fn is_ready(&mut self) -> Result<bool, Self::Error>;

    /// Reads which forwards have settled since somebody read last, and names them. Afterwards whoever runs the source calls [`Registry::wake_all`] when
    /// there is more to read.
    fn turn(&mut self, settled: impl FnMut(i64)) -> Result<(), Self::Error>;
}

impl Registry {
    fn with<T>(&self, change: impl FnOnce(&mut Waiting<Waker>) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// There is something to read: every wait is told, and the first that is polled reads it for all.
    pub(crate) fn wake_all(&self) {
        self.with(Waiting::take_all).into_iter().for_each(Waker::wake);
    }

    /// Ready once the forward of a number has settled; until then the waker is called when it is worth polling again.
    pub(crate) fn poll<S: Settling>(&self, sequence: i64, waker: &Waker, source: &mut S) -> Poll<Result<(), S::Error>> {
        loop {
            // Registered first and looked at then: what settles in between finds the waker, what settled before is seen.
            self.with(|waiting| waiting.put(sequence, waker));
            match source.is_ready() {
                Ok(false) => {}
                done => {
                    self.with(|waiting| waiting.take(sequence));
                    return Poll::Ready(done.map(|_| ()));
                }
            }
            let turned = source.turn(|settled| {
                if let Some(waker) = self.with(|waiting| waiting.take(settled)) {
                    waker.wake();
                }
            });
            if let Err(error) = turned {
                self.with(|waiting| waiting.take(sequence));
                return Poll::Ready(Err(error));
            }
            // Its own end may have been among those that were read, or another wait was woken for all: then it is looked at again.
            if self.with(|waiting| waiting.has(sequence)) {
                return Poll::Pending;
            }
        }
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
