// SPDX-License-Identifier: Apache-2.0

use half::{bf16, f16};
use routecap::{Record, WeightsKind};

fn record() -> Record {
    let weights = [1.0, -2.0, 0.5, 3.0].map(bf16::from_f32);
    Record::builder(8, 2, &[1, 3]).start(5).ids(&[1_u8, 2, 3, 4]).weights(&weights, WeightsKind::AsRouted).create().unwrap()
}

#[test]
fn the_half_crates_numbers_are_elements() {
    let record = record();
    let weights = record.weights_as::<bf16>().unwrap();
    assert_eq!(weights.iter().map(|weight| weight.to_f32()).collect::<Vec<_>>(), [1.0, -2.0, 0.5, 3.0]);
    assert!(record.weights_as::<f16>().is_err());
    for bits in 0..=u16::MAX {
        let (ours, theirs) = (routecap::F16(bits).to_f32(), f16::from_bits(bits).to_f32());
        assert!(ours.to_bits() == theirs.to_bits() || (ours.is_nan() && theirs.is_nan()), "{bits:#x}");
        assert_eq!(routecap::F16::from(f16::from(routecap::F16(bits))).0, bits);
    }
}

#[test]
fn views_are_ndarrays() {
    let record = record();
    let ids = record.ids_as::<u8>().unwrap();
    let view = ids.to_ndarray();
    assert_eq!((view.shape(), view[[0, 1, 0]]), (&[1, 2, 2][..], 3));
    assert_eq!(view.as_ptr(), ids.as_ptr());
}

#[test]
fn a_record_is_base64_in_json() {
    let record = record();
    let json = serde_json::to_string(&record).unwrap();
    assert!(json.starts_with("\"iVJDQVAN"), "{json}");
    assert_eq!(serde_json::from_str::<Record>(&json).unwrap(), record);
    let error = serde_json::from_str::<Record>("\"AAAA\"").unwrap_err();
    assert!(error.to_string().contains("CORRUPT"), "{error}");
}
