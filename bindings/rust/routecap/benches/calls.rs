// SPDX-License-Identifier: Apache-2.0

//! What the safe crate adds to a call of C: the same capture of one row both ways, and a decode token from its first capture to its stored row.

// criterion's macro makes a function without a word about it.
#![allow(missing_docs)]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use routecap::{Capture, Capturer, Forward, Read, ReadBuffers, Role, Sealed, Stream, TapId};
use routecap_sys as sys;

const K: usize = 8;

fn sealed(layers: i32) -> (Sealed, Vec<TapId>) {
    let numbers: Vec<i32> = (0..layers).collect();
    let capturer = Capturer::builder(256, K as i32, &numbers).chunked_prefill_size(64).num_slots(1024).create().unwrap();
    let target = capturer.add_model(Role::Target, "target").unwrap();
    let taps = numbers.iter().map(|layer| target.add_tap(*layer).unwrap()).collect();
    (capturer.seal().unwrap(), taps)
}

/// The same capturer in C, through the same table.
fn raw() -> (*mut sys::rcap_capturer, *mut sys::rcap_tap) {
    let api = sys::api().unwrap();
    let config = sys::rcap_capturer_config { num_experts: 256, top_k: K as i32, chunked_prefill_size: 64, num_slots: 1024, ..Default::default() };
    let (mut capturer, mut model, mut tap) = (std::ptr::null_mut(), std::ptr::null_mut(), std::ptr::null_mut());
    let none = std::ptr::null_mut();
    // SAFETY: as in C; the handles are never used again once the program has ended.
    unsafe {
        assert_eq!((api.capturer_create)(&raw const config, &raw const ZERO, 1, none, &raw mut capturer, std::ptr::null_mut()), 0);
        assert_eq!((api.capturer_add_model)(capturer, 0, c"target".as_ptr(), &raw mut model, std::ptr::null_mut()), 0);
        assert_eq!((api.model_add_tap)(model, 0, std::ptr::null(), std::ptr::null(), 0, &raw mut tap, std::ptr::null_mut()), 0);
        assert_eq!((api.capturer_seal)(capturer, std::ptr::null_mut()), 0);
    }
    (capturer, tap)
}

static ZERO: i32 = 0;

fn capture(criterion: &mut Criterion) {
    let ids: [i32; K] = std::array::from_fn(|k| 3 * k as i32);
    let mut group = criterion.benchmark_group("capture of one row");
    let (_capturer, tap) = raw();
    group.bench_function("C", |bencher| {
        bencher.iter(|| {
            let mut error = std::mem::MaybeUninit::<sys::rcap_error>::uninit();
            let layout = sys::rcap_capture_layout { columns: K as i32, tokens: 1, ..Default::default() };
            // SAFETY: as in C; of the error only the size is looked at.
            let status = unsafe {
                (&raw mut (*error.as_mut_ptr()).struct_size).write(256);
                let none = std::ptr::null();
                sys::rcap_tap_capture(
                    tap,
                    &raw const layout,
                    black_box(ids.as_ptr().cast()),
                    32,
                    none,
                    0,
                    none.cast(),
                    0,
                    std::ptr::null_mut(),
                    error.as_mut_ptr(),
                )
            };
            assert_eq!(status, 0);
        });
    });
    let (sealed, taps) = sealed(1);
    let mut tap = sealed.tap(taps[0]).unwrap();
    group.bench_function("safe", |bencher| bencher.iter(|| tap.capture(&Capture::new(black_box(&ids), K as i32)).unwrap()));
    group.finish();
}

fn forward(criterion: &mut Criterion) {
    let (sealed, ids) = sealed(58);
    let mut taps: Vec<_> = ids.iter().map(|id| sealed.tap(*id).unwrap()).collect();
    let row: [i32; K] = std::array::from_fn(|k| 5 * k as i32);
    let mut slot = 0_i64;
    criterion.bench_function("decode token, 58 layers", |bencher| {
        bencher.iter(|| {
            for tap in &mut taps {
                tap.capture(&Capture::new(black_box(&row), K as i32)).unwrap();
            }
            slot = (slot + 1) % 1024;
            let mut output = sealed.end_forward(&Forward::new(1).slots(&[slot])).unwrap();
            output.copy_to_host(Stream::DEFAULT).unwrap();
            output.finalize().unwrap()
        });
    });
    let slots: Vec<i64> = (0..256).collect();
    let mut into = vec![0_u8; 256 * 58 * K];
    let read = Read::new(&slots, 257);
    criterion.bench_function("read_into, 256 rows", |bencher| bencher.iter(|| sealed.read_into(&read, ReadBuffers::new(&mut into)).unwrap()));
}

criterion_group!(benches, capture, forward);
criterion_main!(benches);
