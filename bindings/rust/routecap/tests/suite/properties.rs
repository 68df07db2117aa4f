// SPDX-License-Identifier: Apache-2.0

use proptest::prelude::*;
use routecap::{DecodeHints, EncodeOptions, Format, Overlap, Record};

/// What a record is made of, and nothing of the library's.
#[derive(Clone, Debug)]
struct Rows {
    start: i64,
    experts: i32,
    layers: Vec<i32>,
    k: usize,
    /// Row by row; `None` is missing.
    rows: Vec<Option<Vec<i32>>>,
}

impl Rows {
    fn record(&self) -> Record {
        let cells = self.layers.len() * self.k;
        let flat: Vec<i32> = self.rows.iter().flat_map(|row| row.clone().unwrap_or_else(|| vec![0; cells])).collect();
        let mut validity = vec![0_u8; self.rows.len().div_ceil(8)];
        for (index, row) in self.rows.iter().enumerate() {
            validity[index / 8] |= u8::from(row.is_some()) << (index % 8);
        }
        let builder = Record::builder(self.experts, self.k as i32, &self.layers).start(self.start).validity(&validity);
        match self.experts {
            ..=256 => builder.ids(&flat.iter().map(|id| *id as u8).collect::<Vec<_>>()).create(),
            257..=65536 => builder.ids(&flat.iter().map(|id| *id as u16).collect::<Vec<_>>()).create(),
            _ => builder.ids(&flat).create(),
        }
        .unwrap()
    }

    fn flat(&self) -> Vec<i32> {
        let cells = self.layers.len() * self.k;
        self.rows.iter().flat_map(|row| row.clone().unwrap_or_else(|| vec![-1; cells])).collect()
    }
}

fn rows() -> impl Strategy<Value = Rows> {
    let experts = prop::sample::select(vec![1, 2, 127, 128, 129, 255, 256, 257, 384, 896, 32768, 65535, 65536, 65537]);
    (experts, 1..5_usize, prop::collection::btree_set(0..60, 1..4), 0..20_usize, 0..1000_i64).prop_flat_map(|(experts, k, layers, count, start)| {
        let k = k.min(experts as usize);
        let row = prop::option::weighted(0.8, prop::collection::vec(0..experts, layers.len() * k));
        let layers: Vec<i32> = layers.into_iter().collect();
        prop::collection::vec(row, count).prop_map(move |rows| Rows { start, experts, layers: layers.clone(), k, rows })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_form_reads_back_what_it_can_say(rows in rows()) {
        let record = rows.record();
        prop_assert_eq!(record.to_i32(), rows.flat());
        let hints = DecodeHints::new().start(rows.start).rows(rows.rows.len() as i64).num_experts(rows.experts).top_k(rows.k as i32).layer_ids(&rows.layers);
        for form in Format::ALL.iter().copied() {
            let says_holes = matches!(form, Format::Frame | Format::FrameBase64 | Format::NeMo | Format::Csv);
            let whole = rows.rows.iter().all(Option::is_some);
            let encoded = record.encode(form, &EncodeOptions::new());
            if !whole && !says_holes {
                prop_assert!(encoded.is_err(), "{} wrote a hole", form);
                continue;
            }
            let encoded = encoded.unwrap();
            let decoded = Record::decode(form, &encoded, &hints);
            let decoded = decoded.map_err(|error| TestCaseError::fail(format!("{form}: {error}")))?;
            prop_assert_eq!(decoded.to_i32(), rows.flat(), "{}", form);
            if form == Format::Frame {
                prop_assert_eq!(&decoded, &record);
                prop_assert_eq!(decoded.to_frame().unwrap(), encoded);
            }
        }
    }

    #[test]
    fn pieces_appended_are_the_whole(rows in rows(), cut in 0..20_i64) {
        let record = rows.record();
        let end = rows.start + rows.rows.len() as i64;
        let cut = (rows.start + cut).min(end);
        let joined = record.slice_positions(rows.start..cut).unwrap().append(&record.slice_positions(cut..end).unwrap(), Overlap::Refuse).unwrap();
        prop_assert_eq!(joined, record);
    }

    #[test]
    fn bytes_of_any_kind_are_a_record_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..300), change in any::<(usize, u8)>()) {
        let hints = DecodeHints::new().num_experts(8).top_k(1).num_layers(1);
        let mut frame = Record::builder(8, 1, &[0]).ids(&[3_u8, 4]).create().unwrap().to_frame().unwrap();
        let at = change.0 % frame.len();
        let changed = frame[at] != change.1;
        frame[at] = change.1;
        // Every byte of a frame is checked.
        prop_assert_eq!(Record::from_frame(&frame).is_err(), changed, "byte {}", at);
        for form in Format::ALL.iter().copied() {
            if let Err(error) = Record::decode(form, &bytes, &hints) {
                prop_assert!(!error.text().is_empty());
            }
        }
    }
}
