// SPDX-License-Identifier: Apache-2.0

//! The library and tokio's driver as far as a wait sees them, and waits on several threads. A wake that is lost is a wait that never ends: loom finds it.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::poll_fn;
use std::sync::Arc;

use loom::future::block_on;
use loom::sync::Mutex;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;

use crate::waiting::{Registry, Settling};

/// A capturer that finalizes by itself, its completion descriptor, and the readiness that tokio keeps of it.
struct Library {
    settled: [AtomicBool; 2],
    completed: Mutex<VecDeque<i64>>,
    descriptor: Mutex<Descriptor>,
    registry: Registry,
}

#[derive(Default)]
struct Descriptor {
    count: u64,
    /// Whether somebody is to be woken when it becomes readable, as `poll_read_ready` arranges.
    watched: bool,
}

impl Library {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            settled: [AtomicBool::new(false), AtomicBool::new(false)],
            completed: Mutex::default(),
            descriptor: Mutex::default(),
            registry: Registry::default(),
        })
    }

    /// As the capturer's own thread does it: stored, listed, and counted by the descriptor, in this order.
    fn settle(&self, sequence: i64) {
        self.settled[sequence as usize].store(true, Ordering::Release);
        self.completed.lock().unwrap().push_back(sequence);
        let watched = {
            let mut descriptor = self.descriptor.lock().unwrap();
            descriptor.count += 1;
            std::mem::take(&mut descriptor.watched)
        };
        if watched {
            self.registry.wake_all();
        }
    }

    /// Whether it was readable, and is not any more; else it is watched from now on.
    fn drain(&self) -> bool {
        let mut descriptor = self.descriptor.lock().unwrap();
        let readable = std::mem::take(&mut descriptor.count) > 0;
        descriptor.watched |= !readable;
        readable
    }

    fn wait_for(&self, sequence: i64) {
        let mut source = Output { library: self, sequence };
        block_on(poll_fn(|context| self.registry.poll(sequence, context.waker(), &mut source))).unwrap();
        assert!(self.settled[sequence as usize].load(Ordering::Acquire));
    }
}

struct Output<'a> {
    library: &'a Library,
    sequence: i64,
}

impl Settling for Output<'_> {
    type Error = Infallible;

    fn is_ready(&mut self) -> Result<bool, Infallible> {
        Ok(self.library.settled[self.sequence as usize].load(Ordering::Acquire))
    }

    fn turn(&mut self, mut settled: impl FnMut(i64)) -> Result<(), Infallible> {
        while self.library.drain() {
            loop {
                let next = self.library.completed.lock().unwrap().pop_front();
                let Some(sequence) = next else { break };
                settled(sequence);
            }
        }
        Ok(())
    }
}

/// Every order within so many switches between threads.
fn model(switches: usize, run: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(switches);
    builder.check(run);
}

#[test]
fn one_wait_ends() {
    model(4, || {
        let library = Library::new();
        let own = Arc::clone(&library);
        let capturer = thread::spawn(move || own.settle(0));
        library.wait_for(0);
        capturer.join().unwrap();
    });
}

/// Whoever reads the descriptor reads it for all, and the other is woken.
#[test]
fn two_waits_end() {
    model(2, || {
        let library = Library::new();
        let (own, second) = (Arc::clone(&library), Arc::clone(&library));
        let capturer = thread::spawn(move || {
            own.settle(1);
            own.settle(0);
        });
        let other = thread::spawn(move || second.wait_for(1));
        library.wait_for(0);
        other.join().unwrap();
        capturer.join().unwrap();
    });
}
