// SPDX-License-Identifier: Apache-2.0

use routecap::{BF16, Code, Experts, F16, Fill, Ids, Overlap, ReadFlags, Record, TapFlags, WeightsKind};

/// Rows of one layer from a position on; -1 is a missing row.
fn rows(start: i64, ids: &[i32]) -> Record {
    let bytes: Vec<u8> = ids.iter().map(|id| u8::try_from(*id).unwrap_or(0)).collect();
    let mut validity = vec![0_u8; ids.len().div_ceil(8)];
    for (row, id) in ids.iter().enumerate() {
        validity[row / 8] |= u8::from(*id >= 0) << (row % 8);
    }
    Record::builder(8, 1, &[0]).start(start).ids(&bytes).validity(&validity).create().unwrap()
}

fn refused(result: routecap::Result<Record>) -> Code {
    result.unwrap_err().code()
}

#[test]
fn algebra() {
    let whole = rows(3, &[1, -1, 3, 4, 5]);
    assert_eq!(whole.slice_positions(4..7).unwrap(), rows(4, &[-1, 3, 4]));
    assert_eq!(refused(whole.slice_positions(2..5)), Code::OutOfRange);
    assert_eq!(whole.slice_positions(3..5).unwrap().append(&rows(5, &[3, 4, 5]), Overlap::Refuse).unwrap(), whole);
    assert_eq!(refused(whole.append(&rows(7, &[6]), Overlap::Refuse)), Code::OutOfRange);
    assert_eq!(whole.append(&rows(7, &[6, 7]), Overlap::KeepOld).unwrap().to_i32(), [1, -1, 3, 4, 5, 7]);
    assert_eq!(whole.append(&rows(7, &[6, 7]), Overlap::KeepNew).unwrap().to_i32(), [1, -1, 3, 4, 6, 7]);
    assert_eq!(whole.merge(&rows(5, &[7, 7, 7, 7]), 6).unwrap().to_i32(), [1, -1, 3, 7, 7, 7]);
    assert_eq!(whole.truncate(6, ReadFlags::NONE).unwrap().to_i32(), [1, -1]);
    assert_eq!(whole.truncate(6, ReadFlags::INCLUDE_LAST).unwrap().to_i32(), [1, -1, 3]);
    assert_eq!(rows(0, &[1, 3]).interleave(Some(&[0, 2]), &rows(0, &[2, 4]), Some(&[1, 4])).unwrap().to_i32(), [1, 2, 3, -1, 4]);
    assert_eq!(rows(0, &[1]).interleave(None, &rows(1, &[2]), None).unwrap().to_i32(), [1, 2]);

    let other = Record::builder(8, 1, &[2]).start(3).ids(&[7_u8, 6, 5, 4, 3]).create().unwrap();
    let stacked = whole.stack(&other).unwrap();
    assert_eq!((stacked.layer_ids(), stacked.to_i32()), (&[0, 2][..], vec![1, 7, -1, 6, 3, 5, 4, 4, 5, 3]));
    assert_eq!(stacked.to_compact(&[0]).unwrap(), whole.to_full_axis(1, Fill::Missing, 0).unwrap());
    assert_eq!(refused(whole.stack(&whole)), Code::InvalidArgument);
    let full = other.to_full_axis(4, Fill::Value, 2).unwrap();
    assert_eq!((full.layer_ids(), &full.to_i32()[..4]), (&[0, 1, 2, 3][..], &[2, 2, 7, 2][..]));
    assert_eq!(full.to_compact(&[2]).unwrap(), other);
}

/// An array that is given and empty is no array that is not given: what it would say of the rows is missing, not present (R7).
#[test]
fn empty_arrays_are_given() {
    let builder = Record::builder(8, 1, &[0]).ids(&[1_u8, 2, 3]);
    let text = |result: routecap::Result<Record>| {
        let error = result.unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument);
        error.text().to_owned()
    };
    assert_eq!(text(builder.validity(&[]).create()), "validity_bytes is 0, the layout makes it 1");
    assert_eq!(text(builder.layer_flags(&[]).create()), "layer_flags_count is 0, layer_ids_count is 1");
    assert_eq!(text(builder.weights::<f32>(&[], WeightsKind::AsRouted).create()), "weights_bytes is 0, the layout makes it 12");
    assert_eq!(builder.create().unwrap().info().rows_valid, 3);
    // Where there are no rows, nothing is what is needed.
    let none = Record::builder(8, 1, &[0]).ids::<u8>(&[]).validity(&[]).create().unwrap();
    assert_eq!(none.info().rows, 0);
    let (first, second) = (rows(0, &[1, 3]), rows(2, &[5]));
    assert_eq!(text(first.interleave(Some(&[]), &second, None)), "positions_count is 0, the record has 2 rows");
    assert_eq!(text(first.interleave(None, &second, Some(&[]))), "other_positions_count is 0, the record has 1 rows");
}

#[test]
fn compare_names_where_two_part() {
    let (first, second) = (rows(3, &[1, -1, 3, 4]), rows(4, &[2, 3, 5, 6]));
    let report = first.compare(&second).unwrap();
    assert!(report.same_shape && !report.equal);
    assert_eq!((report.start, report.rows, report.rows_only_first, report.rows_only_second), (4, 3, 1, 1));
    assert_eq!((report.cells, report.cells_only_second, report.cells_differ, report.first_row, report.first_layer), (2, 1, 1, 4, 0));
    let (again, by_layer) = first.compare_by_layer(&second).unwrap();
    assert_eq!((again, by_layer), (report, vec![1]));
    assert!(first != second && first == rows(3, &[1, -1, 3, 4]));
}

#[test]
fn arrays_lie_in_the_record() {
    let record = rows(3, &[1, -1, 3]);
    let cells = record.ids_as::<u8>().unwrap();
    // It derefs to the slice: no call, no copy.
    assert_eq!((cells.len(), &cells[..], cells.shape()), (3, &[1, 0xff, 3][..], [3, 1, 1]));
    assert_eq!(cells.as_slice().as_ptr(), record.ids_as::<u8>().unwrap().as_ptr());
    assert_eq!((cells.cell(2, 0), record.row_validity(), record.cell_validity().len()), (&[3][..], &[0b101][..], 0));
    assert!(matches!(record.ids(), Ids::UInt8(_)) && record.weights().is_none() && record.rows().next().unwrap().weights(0).is_none());
    assert_eq!(record.version_spans().collect::<Vec<_>>(), [(3, 0)]);
    let positions: Vec<i64> = record.rows().rev().map(|row| row.position()).collect();
    assert_eq!(positions, [5, 4, 3]);
    assert_eq!(record.rows().filter(routecap::Row::is_valid).count(), 2);
    assert_eq!(rows(0, &[]).rows().len(), 0);
    assert!(rows(0, &[]).ids_as::<u8>().unwrap().is_empty());
    // Bigger numbers of experts have wider ids (R28).
    let middle = Record::builder(300, 2, &[5]).ids(&[1_u16, 299]).create().unwrap();
    let wide = Record::builder(70_000, 2, &[5]).ids(&[1_i32, 69_999]).create().unwrap();
    assert_eq!((middle.to_i32(), wide.to_i32()), (vec![1, 299], vec![1, 69_999]));
    assert_eq!(wide.rows().next().unwrap().experts(0), Some(Experts::Int32(&[1, 69_999])));
    assert_eq!(middle.rows().next().unwrap().experts(0).unwrap().iter().len(), 2);
}

#[test]
#[should_panic(expected = "column 1 of 1")]
fn a_column_that_is_not_there() {
    let record = rows(0, &[1]);
    let _ = record.rows().next().unwrap().experts(1);
}

#[test]
fn half_numbers_are_exact() {
    let halves = [0x0000, 0x8000, 0x0001, 0x03ff, 0x0400, 0x3c00, 0x7bff, 0xfc00].map(F16);
    let want = [0.0, -0.0, 2f32.powi(-24), 1023.0 * 2f32.powi(-24), 2f32.powi(-14), 1.0, 65504.0, f32::NEG_INFINITY];
    assert_eq!(halves.map(F16::to_f32).map(f32::to_bits), want.map(f32::to_bits));
    assert!(F16(0x7e01).to_f32().is_nan());
    assert_eq!([0x3f80, 0xff80, 0x0001].map(|bits| BF16(bits).to_f32().to_bits()), [0x3f80_0000, 0xff80_0000, 0x0001_0000]);
    let record = Record::builder(8, 2, &[0]).ids(&[1_u8, 2]).weights(&[F16(0x3c00), F16(0xc000)], WeightsKind::Scaled).create().unwrap();
    assert_eq!(record.rows().next().unwrap().weights(0).unwrap().collect::<Vec<_>>(), [1.0, -2.0]);
    let flagged = Record::builder(8, 1, &[0]).layer_flags(&[TapFlags::UNORDERED]).ids(&[1_u8]).weight_version(9).create().unwrap();
    assert_eq!((flagged.layer_flags(), flagged.version_spans().next()), (&[TapFlags::UNORDERED][..], Some((0, 9))));
}
