// SPDX-License-Identifier: Apache-2.0

//! A sealed capturer with a target and a draft whose layer numbers collide, and an oracle of what each slot holds.

use std::collections::HashMap;
use std::time::Duration;

use routecap::{Builder, Capture, Capturer, Forward, Record, Role, Sealed, Stream, Summary, TapId};

pub const LAYERS: [i32; 3] = [3, 4, 9];
pub const K: usize = 4;
pub const EXPERTS: i32 = 256;
pub const SECOND: Duration = Duration::from_secs(1);

/// Numbers that look random and are the same every time.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    /// Rows of K ids without one twice.
    pub fn ids(&mut self, tokens: usize) -> Vec<i32> {
        let mut ids = Vec::with_capacity(tokens * K);
        for _ in 0..tokens {
            let first = ids.len();
            while ids.len() < first + K {
                let id = self.below(u64::from(EXPERTS.unsigned_abs())) as i32;
                if !ids[first..].contains(&id) {
                    ids.push(id);
                }
            }
        }
        ids
    }
}

pub struct Scene {
    pub sealed: Sealed,
    pub targets: Vec<TapId>,
    pub drafts: Vec<TapId>,
    pub random: Random,
    pub rows: HashMap<i64, Vec<i32>>,
}

impl Scene {
    pub fn new() -> Self {
        Self::with(|builder| builder)
    }

    pub fn with(change: impl FnOnce(Builder<'static>) -> Builder<'static>) -> Self {
        let builder = Capturer::builder(EXPERTS, K as i32, &LAYERS).chunked_prefill_size(64).num_slots(1024).pipeline_depth(4);
        let capturer = change(builder).create().unwrap();
        let target = capturer.add_model(Role::Target, "target").unwrap();
        let draft = capturer.add_model(Role::Draft, "draft").unwrap();
        let (mut targets, mut drafts) = (Vec::new(), Vec::new());
        for layer in LAYERS {
            targets.push(target.add_tap(layer).unwrap());
            drafts.push(draft.add_tap(layer).unwrap());
        }
        Self { sealed: capturer.seal().unwrap(), targets, drafts, random: Random(1), rows: HashMap::new() }
    }

    /// Hands a forward's rows over, the draft's in between, and returns them token by token.
    pub fn capture(&mut self, tokens: usize) -> Vec<Vec<i32>> {
        let mut rows = vec![Vec::new(); tokens];
        for (target, draft) in self.targets.iter().zip(&self.drafts) {
            let ids = self.random.ids(tokens);
            self.sealed.tap(*target).unwrap().capture(&Capture::new(&ids, K as i32)).unwrap();
            self.sealed.tap(*draft).unwrap().capture(&Capture::new(&self.random.ids(tokens), K as i32)).unwrap();
            for (row, experts) in rows.iter_mut().zip(ids.chunks(K)) {
                row.extend_from_slice(experts);
            }
        }
        rows
    }

    /// Captures, ends and stores a forward of all rows, and notes what the slots hold from then on.
    pub fn forward(&mut self, slots: &[i64]) -> Summary {
        let rows = self.capture(slots.len());
        let mut output = self.sealed.end_forward(&Forward::new(slots.len() as i64).slots(slots)).unwrap();
        output.copy_to_host(Stream::DEFAULT).unwrap();
        output.wait(10 * SECOND).unwrap();
        let summary = output.finalize().unwrap();
        self.rows.extend(slots.iter().copied().zip(rows));
        summary
    }

    /// Compares a record with the oracle's rows of slots.
    pub fn expect(&self, record: &Record, slots: &[i64]) {
        assert_eq!(record.rows().len(), slots.len());
        for (index, (row, slot)) in record.rows().zip(slots).enumerate() {
            assert_eq!(row.position(), record.info().start + index as i64);
            let want = self.rows.get(slot);
            assert_eq!(row.is_valid(), want.is_some(), "row {index}, slot {slot}");
            for column in 0..LAYERS.len() {
                let experts = row.experts(column).map(|experts| experts.to_vec());
                assert_eq!(experts.as_deref(), want.map(|want| &want[column * K..(column + 1) * K]), "row {index}, column {column}");
            }
        }
    }
}
