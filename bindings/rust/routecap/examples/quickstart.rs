// SPDX-License-Identifier: Apache-2.0

//! From start-up to the rows of a request.

use std::time::Duration;

use routecap::{Capture, Capturer, Forward, Read, Role, Stream};

fn main() -> routecap::Result<()> {
    // Once, at start-up: two captured layers of 256 experts, 2 chosen per token, and a store of 1024 KV slots.
    let layers = [3, 4];
    let capturer = Capturer::builder(256, 2, &layers).chunked_prefill_size(128).num_slots(1024).create()?;
    let target = capturer.add_model(Role::Target, "target")?;
    let ids = [target.add_tap(layers[0])?, target.add_tap(layers[1])?];
    let sealed = capturer.seal()?;
    let mut taps = [sealed.tap(ids[0])?, sealed.tap(ids[1])?];

    // Every forward: each layer hands over its router's top-k ids [tokens, K]; then the rows go to the tokens' KV slots.
    let topk = [[17, 4, 255, 0, 9, 30], [1, 2, 3, 4, 5, 6]];
    let slots = [40_i64, 41, 7];
    for (tap, ids) in taps.iter_mut().zip(&topk) {
        tap.capture(&Capture::new(ids, 2))?;
    }
    let mut output = sealed.end_forward(&Forward::new(3).slots(&slots))?;

    // Later, on any thread: the rows reach the store.
    output.copy_to_host(Stream::DEFAULT)?;
    output.wait(Duration::from_secs(1))?;
    output.finalize()?;

    // When the request ends: a request of 4 tokens has 3 rows, its last token was never an input.
    let record = sealed.read(&Read::new(&slots, 4))?;
    let ids = record.ids_as::<u8>()?;
    for row in 0..3 {
        let (first, second) = (ids.cell(row, 0), ids.cell(row, 1));
        println!("token {row}: layer 3 -> {} {}, layer 4 -> {} {}", first[0], first[1], second[0], second[1]);
    }
    Ok(())
}
