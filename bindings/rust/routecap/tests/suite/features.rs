// SPDX-License-Identifier: Apache-2.0

use half::{bf16, f16};
use routecap::{Capture, Capturer, Code, DType, Forward, Read, ReadBuffers, Record, Role, Stream, WeightsKind};

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

/// On the whole way of a row: handed over, read back, and refused where the capturer keeps another type.
#[test]
fn the_half_crates_numbers_are_captured_and_read() {
    let capturer = Capturer::builder(8, 2, &[0]).weights_dtype(DType::Float16).max_forward_tokens(4).num_slots(4).create().unwrap();
    let id = capturer.add_model(Role::Target, "target").unwrap().add_tap(0).unwrap();
    let sealed = capturer.seal().unwrap();
    let weights = [0.5, -2.0, 1.5, 65504.0].map(f16::from_f32);
    let mut tap = sealed.tap(id).unwrap();
    let other = weights.map(|weight| bf16::from_f32(weight.to_f32()));
    assert_eq!(tap.capture(&Capture::new(&[1_u8, 2, 3, 4], 2).weights(&other)).unwrap_err().code(), Code::Unsupported);
    tap.capture(&Capture::new(&[1_u8, 2, 3, 4], 2).weights(&weights)).unwrap();
    let mut output = sealed.end_forward(&Forward::new(2).slots(&[2_i64, 0])).unwrap();
    output.copy_to_host(Stream::DEFAULT).unwrap();
    assert_eq!(output.finalize().unwrap().rows_stored, 2);
    let read = Read::new(&[2_i64, 0], 3);
    let (mut ids, mut into, mut wrong) = ([0_u8; 4], [f16::ZERO; 4], [bf16::ZERO; 4]);
    sealed.read_into(&read, ReadBuffers::new(&mut ids).weights(&mut into)).unwrap();
    assert_eq!((ids, into), ([1, 2, 3, 4], weights));
    let refused = sealed.read_into(&read, ReadBuffers::new(&mut ids).weights(&mut wrong)).unwrap_err();
    assert_eq!((refused.code(), refused.text()), (Code::InvalidArgument, "weights are Float16, not BFloat16"));
    assert_eq!(sealed.read(&read).unwrap().weights_as::<f16>().unwrap()[..], weights);
}

#[test]
fn views_are_ndarrays() {
    let record = record();
    let ids = record.ids_as::<u8>().unwrap();
    let view = ids.to_ndarray();
    assert_eq!((view.shape(), view[[0, 1, 0]]), (&[1, 2, 2][..], 3));
    assert_eq!(view.as_ptr(), ids.as_ptr());
    // Rows, layers and K in this order; weights as well; a view outlives the cells it was made of, not the record.
    let ids: Vec<u16> = (0..24).map(|id| id * 11).collect();
    let weights_given: Vec<f16> = (0..24_u8).map(|at| f16::from_f32(f32::from(at) / 8.0)).collect();
    let record = Record::builder(300, 2, &[0, 4, 9]).ids(&ids).weights(&weights_given, WeightsKind::Renormalized).create().unwrap();
    let (ids, weights) = (record.ids_as::<u16>().unwrap().to_ndarray(), record.weights_as::<f16>().unwrap().to_ndarray());
    assert_eq!((ids.dim(), weights.dim()), ((4, 3, 2), (4, 3, 2)));
    for ((row, column, k), id) in ids.indexed_iter() {
        let at = (row * 3 + column) * 2 + k;
        assert_eq!((usize::from(*id), weights[[row, column, k]]), (at * 11, weights_given[at]));
    }
    assert_eq!(ids.index_axis(ndarray::Axis(1), 2).sum(), (0..4_u16).flat_map(|row| [row * 6 + 4, row * 6 + 5]).sum::<u16>() * 11);
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

/// In a form for machines it is the frame's bytes, between other fields; what is wrong with a frame is said in the library's words.
#[test]
fn a_record_is_bytes_in_bincode() {
    let (first, second) = (record(), record().slice_positions(5..5).unwrap());
    let bytes = bincode::serialize(&("request 7", &first, 3_u8, &second)).unwrap();
    let frame = first.to_frame().unwrap();
    assert_eq!(bytes.len(), 8 + 9 + 8 + frame.len() + 1 + 8 + second.to_frame().unwrap().len());
    let read: (String, Record, u8, Record) = bincode::deserialize(&bytes).unwrap();
    assert!(read.0 == "request 7" && read.1 == first && read.2 == 3 && read.3 == second);
    // Through a reader the bytes come in a buffer of their own.
    let read: (String, Record, u8, Record) = bincode::deserialize_from(&bytes[..]).unwrap();
    assert!(read.1 == first && read.3 == second);
    let told = |frame: &[u8]| {
        let error = bincode::deserialize::<Record>(&bincode::serialize(&serde_bytes(frame)).unwrap()).unwrap_err();
        (error.to_string(), Record::from_frame(frame).unwrap_err().to_string())
    };
    let mut flipped = frame.clone();
    *flipped.last_mut().unwrap() ^= 1;
    for damaged in [&frame[..frame.len() - 1], &frame[..10], b"", &flipped] {
        let (error, want) = told(damaged);
        assert!(want.starts_with("CORRUPT: ") && want.len() > 20, "{want}");
        assert_eq!(error, want);
    }
}

/// Bytes as serde writes them, with their length.
fn serde_bytes(bytes: &[u8]) -> impl serde::Serialize + '_ {
    struct Bytes<'a>(&'a [u8]);
    impl serde::Serialize for Bytes<'_> {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_bytes(self.0)
        }
    }
    Bytes(bytes)
}
