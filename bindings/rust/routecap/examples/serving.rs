// SPDX-License-Identifier: Apache-2.0

//! A serving process in small: serving FILE captures a request with a draft model present, finalizes in the background, and writes the request's rows as a
//! frame. It prints what the router chose, so that whoever reads the file can compare.

use std::error::Error;
use std::fs::File;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use routecap::{Capture, Capturer, Forward, Output, Read, Role, Stream};

const LAYERS: [i32; 3] = [3, 4, 9];
const TOP_K: i32 = 4;
const WAIT: Duration = Duration::from_secs(10);

/// Stands in for a router: K of 64 experts for a token in a layer.
fn route(layer: i32, token: i64) -> [i32; TOP_K as usize] {
    std::array::from_fn(|k| (17 * layer + 5 * token as i32 + 11 * k as i32) % 64)
}

/// Takes outputs to the store, away from the engine's thread.
fn finalize(outputs: mpsc::Receiver<Output>) -> routecap::Result<()> {
    for mut output in outputs {
        output.copy_to_host(Stream::DEFAULT)?;
        output.wait(WAIT)?;
        let summary = output.finalize()?;
        assert_eq!(summary.rows_bad, 0, "the first is {:?} in layer {}", summary.first_bad_fault, summary.first_bad_layer);
    }
    Ok(())
}

fn serve(path: &str) -> Result<(), Box<dyn Error + Send + Sync>> {
    // At start-up: a target, and a draft whose layer numbers collide with the target's.
    let capturer = Capturer::builder(64, TOP_K, &LAYERS).chunked_prefill_size(16).num_slots(256).create()?;
    let (mut targets, mut drafts) = (Vec::new(), Vec::new());
    for (role, name, taps) in [(Role::Target, "target", &mut targets), (Role::Draft, "draft", &mut drafts)] {
        let model = capturer.add_model(role, name)?;
        for layer in LAYERS {
            taps.push(model.add_tap(layer)?);
        }
    }
    let sealed = capturer.seal()?;

    let (give, take) = mpsc::sync_channel(2);
    let background = thread::spawn(move || finalize(take));

    // The engine: a prompt of 6 tokens in one forward, then one token at a time. Token i has KV slot 100 + 3i.
    let (prompt, tokens) = (6, 12);
    let slots: Vec<i64> = (0..tokens - 1).map(|token| 100 + 3 * token).collect();
    let mut first = 0;
    while first < tokens - 1 {
        let count = if first == 0 { prompt } else { 1 };
        let rows = first..first + count;
        for (column, layer) in LAYERS.into_iter().enumerate() {
            let ids: Vec<i32> = rows.clone().flat_map(|token| route(layer, token)).collect();
            sealed.tap(targets[column])?.capture(&Capture::new(&ids, TOP_K))?;
            // The draft runs too; its calls are counted and write nothing.
            sealed.tap(drafts[column])?.capture(&Capture::new(&[0; TOP_K as usize], TOP_K))?;
        }
        let forward = Forward::new(count).slots(&slots[first as usize..(first + count) as usize]);
        give.send(sealed.end_forward_within(&forward, WAIT)?)?;
        first += count;
    }
    drop(give);
    background.join().map_err(|_| "the background thread panicked")??;

    // The request is over: its rows, by its slots. The last token was never an input and has none.
    let record = sealed.read(&Read::new(&slots, tokens))?;
    record.write_to(&mut File::create(path)?)?;
    for token in 0..tokens - 1 {
        for layer in LAYERS {
            println!("token {token}, layer {layer}: [{}]", route(layer, token).map(|id| id.to_string()).join(" "));
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let path = std::env::args().nth(1).ok_or("usage: serving FILE")?;
    serve(&path)
}
