// SPDX-License-Identifier: Apache-2.0

//! What happens for every forward allocates nothing, in Rust and in the library.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use routecap::{Capture, Capturer, Forward, Read, ReadBuffers, Role, Stream};

/// Rust's allocations; the library's own go to the C allocator, and `unit.no_allocation` counts those.
struct Counting;

thread_local! {
    /// Of this thread: the test program's other one prints meanwhile.
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: everything is the system's allocator's.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn nothing_is_allocated_per_forward() {
    let capturer = Capturer::builder(256, 8, &[0, 1]).chunked_prefill_size(64).num_slots(1024).create().unwrap();
    let target = capturer.add_model(Role::Target, "target").unwrap();
    let ids = [target.add_tap(0).unwrap(), target.add_tap(1).unwrap()];
    let sealed = capturer.seal().unwrap();
    let mut taps = ids.map(|id| sealed.tap(id).unwrap());
    let batch: Vec<i32> = (0..64 * 8).map(|at| at % 256).collect();
    let slots: Vec<i64> = (0..64).collect();
    let (mut into, mut validity) = (vec![0_u8; 64 * 2 * 8], [0_u8; 8]);
    let mut forward = || {
        for tap in &mut taps {
            tap.capture(&Capture::new(&batch, 8)).unwrap();
        }
        let mut output = sealed.end_forward(&Forward::new(64).slots(&slots)).unwrap();
        output.copy_to_host(Stream::DEFAULT).unwrap();
        assert_eq!(output.finalize().unwrap().rows_stored, 64);
        drop(output);
        let read = Read::new(&slots, 65);
        assert_eq!(sealed.read_into(&read, ReadBuffers::new(&mut into).validity(&mut validity)).unwrap().rows_valid, 64);
    };
    forward();
    let before = COUNT.get();
    (0..1000).for_each(|_| forward());
    assert_eq!(COUNT.get() - before, 0);
}
