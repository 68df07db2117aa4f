// SPDX-License-Identifier: Apache-2.0

use std::collections::HashSet;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Wake};
use std::time::Duration;

use routecap::{Accept, BusyPolicy, Code, FinalizeMode, Forward, Output, Read};

use crate::scene::{SECOND, Scene};

fn scene() -> Scene {
    Scene::with(|builder| builder.finalize_mode(FinalizeMode::OwnThread).busy_policy(BusyPolicy::Wait).busy_timeout(10 * SECOND).pipeline_depth(64))
}

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(20 * SECOND, future).await.expect("it settles")
}

#[tokio::test]
async fn an_output_is_a_future_of_its_summary() {
    let mut scene = scene();
    let rows = scene.capture(2);
    let output = scene.sealed.end_forward(&Forward::new(2).slots(&[1_i64, 2]).step(5)).unwrap();
    let sequence = output.sequence();
    let summary = soon(output).await.unwrap();
    assert_eq!((summary.sequence, summary.step, summary.rows_stored), (sequence, 5, 2));
    scene.rows.extend([(1, rows[0].clone()), (2, rows[1].clone())]);
    scene.expect(&scene.sealed.read(&Read::new(&[1_i64, 2], 3)).unwrap(), &[1, 2]);
}

/// A forward that waits for its acceptance is pending, whatever else settles, and woken when it is told.
#[tokio::test]
async fn what_has_not_settled_is_pending() {
    let mut scene = scene();
    scene.capture(1);
    let mut late = scene.sealed.end_forward(&Forward::new(1).slots(&[1_i64]).accepted_later()).unwrap();
    for slot in 2..20_i64 {
        scene.capture(1);
        let output = scene.sealed.end_forward(&Forward::new(1).slots(&[slot])).unwrap();
        soon(output).await.unwrap();
        assert!(tokio::time::timeout(Duration::from_millis(1), &mut late).await.is_err());
    }
    late.accept(&Accept::new(&[0_i64])).unwrap();
    assert_eq!(soon(late).await.unwrap().rows_stored, 1);
}

/// Many awaited at once, in tasks of their own and in any order, on one descriptor: all are woken, and no thread is started for one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_at_once() {
    let mut scene = scene();
    scene.forward_async(1).await;
    let before = threads();
    for round in 0..40_i64 {
        let mut tasks = Vec::new();
        for slot in 0..25_i64 {
            scene.capture(1);
            let output = scene.sealed.end_forward(&Forward::new(1).slots(&[round * 25 + slot])).unwrap();
            tasks.push(tokio::spawn(async move { soon(output).await.unwrap().sequence }));
        }
        let mut seen = HashSet::new();
        for task in tasks {
            assert!(seen.insert(task.await.unwrap()));
        }
        assert_eq!(seen.len(), 25);
    }
    assert!(threads() <= before + 2, "{before} threads, then {}", threads());
    assert_eq!(scene.sealed.stats().unwrap().in_flight, 0);
}

impl Scene {
    async fn forward_async(&mut self, slot: i64) {
        self.capture(1);
        let output = self.sealed.end_forward(&Forward::new(1).slots(&[slot])).unwrap();
        soon(output).await.unwrap();
    }
}

/// Futures that are dropped half way take nobody's wake-up with them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn abandoned_futures() {
    let mut scene = scene();
    for round in 0..100_i64 {
        let mut outputs: Vec<Output> = Vec::new();
        for slot in 0..4_i64 {
            scene.capture(1);
            outputs.push(scene.sealed.end_forward(&Forward::new(1).slots(&[round * 4 + slot])).unwrap());
        }
        let last = outputs.pop().unwrap();
        let kept = tokio::spawn(soon(last));
        for mut output in outputs {
            let _ = tokio::time::timeout(Duration::ZERO, &mut output).await;
        }
        kept.await.unwrap().unwrap();
    }
}

/// Runtimes come and go, and two at once share the descriptor.
#[test]
fn more_than_one_runtime() {
    let mut scene = scene();
    for round in 0..10_i64 {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(scene.forward_async(round));
    }
    let mut others = Vec::new();
    for slot in 20..24_i64 {
        scene.capture(1);
        let output = scene.sealed.end_forward(&Forward::new(1).slots(&[slot]).accepted_later()).unwrap();
        others.push(output);
    }
    std::thread::scope(|scope| {
        for mut output in others {
            scope.spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(async {
                    assert!(tokio::time::timeout(Duration::from_millis(5), &mut output).await.is_err());
                    output.accept(&Accept::new(&[0_i64])).unwrap();
                    assert_eq!(soon(output).await.unwrap().rows_stored, 1);
                });
            });
        }
    });
}

struct Count(AtomicU32);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn where_it_cannot_be_awaited_it_says_so() {
    let count = Arc::new(Count(AtomicU32::new(0)));
    let waker = Arc::clone(&count).into();
    // Without a runtime.
    let mut own_thread = scene();
    own_thread.capture(1);
    let output = own_thread.sealed.end_forward(&Forward::new(1).slots(&[1_i64]).accepted_later()).unwrap();
    match pin!(output).poll(&mut Context::from_waker(&waker)) {
        Poll::Ready(Err(error)) => assert!(error.code() == Code::InvalidState && error.text().contains("tokio"), "{error}"),
        other => panic!("{other:?}"),
    }
    // On a runtime without I/O, where tokio panics; a runtime that has it is served afterwards as ever.
    own_thread.capture(1);
    let mut output = own_thread.sealed.end_forward(&Forward::new(1).slots(&[2_i64]).accepted_later()).unwrap();
    let without = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let error = without.block_on(&mut output).unwrap_err();
    assert!(error.code() == Code::InvalidState && error.text().contains("I/O is not enabled"), "{error}");
    output.accept(&Accept::new(&[0_i64])).unwrap();
    let with = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    assert_eq!(with.block_on(soon(output)).unwrap().rows_stored, 1);
    // Where the caller finalizes.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut caller = Scene::new();
    caller.capture(1);
    let output = caller.sealed.end_forward(&Forward::new(1).slots(&[1_i64])).unwrap();
    assert_eq!(runtime.block_on(output).unwrap_err().code(), Code::InvalidState);
    assert_eq!(count.0.load(Ordering::Relaxed), 0);
}
