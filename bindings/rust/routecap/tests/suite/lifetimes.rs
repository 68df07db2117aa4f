// SPDX-License-Identifier: Apache-2.0

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

use routecap::{Backend, Capture, Capturer, Code, Error, FinalizeMode, Forward, Output, Read, Reader, Record, Role, Sealed, Stream, Tap};

use crate::scene::{K, SECOND, Scene};

#[test]
fn what_may_cross_threads() {
    fn send<T: Send>() {}
    fn sync<T: Sync>() {}
    send::<Capturer>();
    send::<Sealed>();
    (send::<Tap<'static>>(), send::<Output>(), send::<Reader>(), send::<Record>(), send::<Backend>(), send::<Error>());
    (sync::<Reader>(), sync::<Record>(), sync::<Backend>(), sync::<Error>());
    // Errors fit where programs put them all.
    (send::<routecap::SealError>(), sync::<routecap::SealError>(), send::<routecap::FrameError>(), sync::<routecap::FrameError>());
}

/// Nothing is left without its capturer, in whatever order things are dropped.
#[test]
fn every_order_of_dropping() {
    for first in 0..4 {
        let mut scene = Scene::new();
        scene.capture(1);
        let output = scene.sealed.end_forward(&Forward::new(1).slots(&[1_i64])).unwrap();
        let mut tap = scene.sealed.owned_tap(scene.targets[0]).unwrap();
        let reader = scene.sealed.reader();
        let record = reader.read(&Read::new(&[1_i64], 2)).unwrap();
        let mut parts: Vec<Option<Box<dyn std::any::Any>>> =
            vec![Some(Box::new(scene.sealed)), Some(Box::new(reader.clone())), Some(Box::new(output)), None];
        parts.rotate_left(first);
        tap.capture(&Capture::new(&[1_u8; K], K as i32)).unwrap();
        drop(parts);
        tap.capture(&Capture::new(&[1_u8; K], K as i32).first_row(1)).unwrap();
        assert_eq!(reader.stats().unwrap().dropped, 1);
        drop(reader);
        tap.capture(&Capture::new(&[1_u8; K], K as i32).first_row(2)).unwrap();
        drop(tap);
        assert_eq!(record.info().rows, 1);
    }
}

/// The engine captures and ends forwards, another thread finalizes, others read, look and encode; all at once, and every row is whole.
#[test]
fn engine_finalizer_and_readers_side_by_side() {
    let scene = Scene::new();
    let reader = scene.sealed.reader();
    let done = AtomicBool::new(false);
    let (give, take) = mpsc::sync_channel::<Output>(2);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for mut output in take {
                output.copy_to_host(Stream::DEFAULT).unwrap();
                output.wait(10 * SECOND).unwrap();
                assert_eq!(output.finalize().unwrap().rows_bad, 0);
            }
        });
        for _ in 0..3 {
            let (reader, done) = (&reader, &done);
            scope.spawn(move || {
                let mut seen = 0;
                while !done.load(Ordering::Relaxed) {
                    match reader.read(&Read::new(&[7_i64, 8], 3)) {
                        // Ids of a row are all the same number: a mixed row would show (R36).
                        Ok(record) => {
                            for row in record.rows().filter(routecap::Row::is_valid) {
                                let experts: Vec<i32> = (0..3).flat_map(|column| row.experts(column).unwrap().to_vec()).collect();
                                assert!(experts.iter().all(|id| id / 4 == experts[0] / 4), "{experts:?}");
                                seen += 1;
                            }
                        }
                        Err(error) => panic!("{error}"),
                    }
                    assert!(reader.stats().unwrap().rows_bad == 0 && reader.slot_info(7).is_ok());
                }
                assert!(seen > 0);
            });
        }
        let mut taps: Vec<Tap<'_>> = scene.targets.iter().map(|id| scene.sealed.tap(*id).unwrap()).collect();
        for step in 0..2000 {
            let ids: Vec<i32> = (0..2 * K as i32).map(|at| step % 64 * 4 + at % 4).collect();
            for tap in &mut taps {
                tap.capture(&Capture::new(&ids, K as i32)).unwrap();
            }
            let output = scene.sealed.end_forward_within(&Forward::new(2).slots(&[7_i64, 8]), 10 * SECOND).unwrap();
            give.send(output).unwrap();
        }
        drop(give);
        while scene.sealed.stats().unwrap().finalized < 2000 {
            std::thread::yield_now();
        }
        done.store(true, Ordering::Relaxed);
    });
}

/// Resident memory of this process, in KiB.
fn resident() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// In a process of its own: the other tests, which run beside it, take memory too.
#[test]
fn nothing_leaks() {
    const ALONE: &str = "ROUTECAP_TEST_ALONE";
    if std::env::var_os(ALONE).is_none() {
        let test = std::env::current_exe().unwrap();
        let said = std::process::Command::new(test).args(["--exact", "lifetimes::nothing_leaks"]).env(ALONE, "1").output().unwrap();
        let text = String::from_utf8_lossy(&said.stdout);
        assert!(said.status.success() && text.contains("1 passed"), "{text}");
        return;
    }
    let round = || {
        let mut scene = Scene::with(|builder| builder.finalize_mode(FinalizeMode::OwnThread));
        scene.capture(1);
        let output = scene.sealed.end_forward(&Forward::new(1).slots(&[1_i64])).unwrap();
        let tap = scene.sealed.owned_tap(scene.targets[0]).unwrap();
        let record = scene.sealed.read(&Read::new(&[1_i64], 2)).unwrap();
        for _ in 0..20 {
            let _ = Record::from_frame(&record.to_frame().unwrap()).unwrap();
            let _ = Record::from_frame(b"no").unwrap_err();
        }
        drop((scene, output, tap));
    };
    (0..200).for_each(|_| round());
    let before = resident();
    (0..600).for_each(|_| round());
    let after = resident();
    // 600 capturers hold far more than this.
    assert!(after < before + 16 * 1024, "{before} KiB, then {after} KiB");
}

/// Threads with 256 KiB of stack that come and go.
#[test]
fn small_stacks() {
    for _ in 0..100 {
        let threads: Vec<_> = (0..10)
            .map(|_| {
                std::thread::Builder::new()
                    .stack_size(256 << 10)
                    .spawn(|| {
                        let mut scene = Scene::new();
                        scene.forward(&[1, 2]);
                        let record = scene.sealed.read(&Read::new(&[1_i64, 2], 3)).unwrap();
                        scene.expect(&Record::from_frame(&record.to_frame().unwrap()).unwrap(), &[1, 2]);
                    })
                    .unwrap()
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }
}

/// A child that was forked without exec: its calls on what it inherited say so at once, records work, and the parent goes on.
#[test]
fn forked() {
    unsafe extern "C" {
        fn fork() -> i32;
        fn _exit(status: i32) -> !;
        fn waitpid(child: i32, status: *mut i32, options: i32) -> i32;
    }
    let mut scene = Scene::new();
    scene.forward(&[1, 2]);
    let read = Read::new(&[1_i64, 2], 3);
    let record = scene.sealed.read(&read).unwrap();
    scene.capture(1);
    let mut output = scene.sealed.end_forward(&Forward::new(1).slots(&[3_i64])).unwrap();
    let mut tap = scene.sealed.owned_tap(scene.targets[0]).unwrap();
    let mut ids = [0_u8; 24];
    // SAFETY: the child calls the library, which takes no lock there, and ends without unwinding. Other tests' threads may hold the allocator's locks, which
    // glibc puts right in the child.
    let child = unsafe { fork() };
    assert!(child >= 0);
    if child == 0 {
        let forked = |result: Option<Error>| result.is_some_and(|error| error.code() == Code::Forked);
        let answers = [
            forked(tap.capture(&Capture::new(&[1_u8; K], K as i32)).err()),
            forked(scene.sealed.stats().err()),
            forked(scene.sealed.read_into(&read, routecap::ReadBuffers::new(&mut ids)).err()),
            forked(scene.sealed.release_all(Stream::DEFAULT).err()),
            forked(scene.sealed.discard_forward(Stream::DEFAULT).err()),
            forked(output.copy_to_host(Stream::DEFAULT).err()),
            forked(output.finalize().err()),
            record.rows().filter(routecap::Row::is_valid).count() == 2,
        ];
        drop((output, record));
        let wrong = answers.iter().position(|answer| !answer).map_or(0, |at| at as i32 + 1);
        // SAFETY: it does not return.
        unsafe { _exit(wrong) };
    }
    let mut status = 0;
    // SAFETY: the status is written where it stands.
    assert_eq!(unsafe { waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0, "the call of that number, times 256");
    output.copy_to_host(Stream::DEFAULT).unwrap();
    assert_eq!(output.finalize().unwrap().rows_stored, 1);
    drop(tap);
    scene.forward(&[5, 6]);
    scene.expect(&record, &[1, 2]);
}

#[test]
fn a_role_has_a_name_and_a_number() {
    assert_eq!((Role::Draft.raw(), Role::from_raw(1), Role::from_raw(9).raw()), (1, Role::Draft, 9));
}
