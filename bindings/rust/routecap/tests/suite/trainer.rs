// SPDX-License-Identifier: Apache-2.0

use routecap::trainer::{Columns, Dense, Partition, Stage, pack_offsets, pack_pad, pack_strip};
use routecap::{AxisOrder, Code, Record, Split};

/// Layers 2 and 6, two of eight experts; the middle row is missing.
fn record() -> Record {
    Record::builder(8, 2, &[2, 6]).ids(&[7_u8, 1, 2, 3, 0, 0, 0, 0, 5, 4, 0, 6]).validity(&[5]).create().unwrap()
}

#[test]
fn what_the_record_lacks_is_filled_and_masked() {
    let record = record();
    let (mut ids, mut rows, mut cells) = ([0_i64; 20], [9; 5], [9; 10]);
    let filled = record.fill(&Dense::new(4, 5), &mut ids, Some(&mut rows), Some(&mut cells)).unwrap();
    assert_eq!(ids, [7, 1, 2, 3, 0, 4, 0, 4, 5, 4, 0, 6, 1, 5, 1, 5, 2, 6, 2, 6]);
    assert_eq!((filled, rows, cells), (3, [1, 0, 1, 0, 0], [1, 1, 0, 0, 1, 1, 0, 0, 0, 0]));

    let mut small = [0_i16; 8];
    let dense = Dense::new(4, 0).positions(&[2, -1]).layer_ids(&[6, 2]).order(AxisOrder::LayersFirst).value(-1);
    assert_eq!(record.fill(&dense, &mut small, None, None).unwrap(), 1);
    assert_eq!(small, [0, 6, -1, -1, 5, 4, -1, -1]);
    let mut last = [0_i32; 4];
    assert_eq!(record.fill(&Dense::new(4, 1).start(3).first_fill(7), &mut last, None, None).unwrap(), 1);
    assert_eq!(last, [7, 3, 7, 3]);

    let refused = |dense: &Dense<'_>| record.fill(dense, &mut [0_i64; 20], None, None).unwrap_err();
    let error = refused(&Dense::new(2, 5));
    assert_eq!(error.code(), Code::OutOfRange);
    assert_eq!(error.to_string(), "OUT_OF_RANGE: the record has the positions [0, 3), layout->length is 2");
    assert_eq!(refused(&Dense::new(4, 4)).code(), Code::InvalidArgument);
    assert_eq!(refused(&Dense::new(4, 5).layer_ids(&[])).code(), Code::InvalidArgument);
    assert_eq!(refused(&Dense::new(4, 5).layer_ids(&[3])).code(), Code::OutOfRange);
    let no_rows = record.fill(&Dense::new(4, 5), &mut ids, Some(&mut []), None).unwrap_err();
    assert_eq!(no_rows.to_string(), "INVALID_ARGUMENT: row_mask_bytes is 0, it must be 5");
}

#[test]
fn pad_take_gather_and_strip_give_back_every_token() {
    let lengths = [5, 0, 17, 24];
    let tokens: Vec<i16> = (0..46 * 3).collect();
    for split in [Split::Contiguous, Split::Zigzag] {
        for (cp_size, sp_size) in (1..5).flat_map(|cp| (1..4).map(move |sp| (cp, sp))) {
            let world = Partition { split, cp_size, sp_size, ..Partition::default() };
            let offsets = pack_offsets(&lengths, world.multiple().unwrap()).unwrap();
            let total = usize::try_from(*offsets.last().unwrap()).unwrap();
            let mut packed = vec![0; 3 * total];
            pack_pad(&lengths, &offsets, 3, Some(&[-1, -2, -3]), &tokens, &mut packed).unwrap();
            assert_eq!(packed.iter().filter(|one| **one < 0).count(), 3 * (total - 46));
            let mut parts = Vec::new();
            for (cp_rank, sp_rank) in (0..cp_size).flat_map(|cp| (0..sp_size).map(move |sp| (cp, sp))) {
                let rank = Partition { cp_rank, sp_rank, ..world };
                let indices = rank.indices(&offsets).unwrap();
                assert_eq!(indices.len() as i64, rank.tokens(&offsets).unwrap());
                let mut part = vec![0; 3 * indices.len()];
                rank.take(&offsets, 3, &packed, &mut part).unwrap();
                for (place, index) in indices.iter().enumerate() {
                    let index = usize::try_from(*index).unwrap();
                    assert_eq!(part[3 * place..3 * place + 3], packed[3 * index..3 * index + 3]);
                }
                parts.extend(part);
            }
            let (mut whole, mut back) = (vec![0; packed.len()], vec![0; tokens.len()]);
            world.gather(&offsets, 3, &parts, &mut whole).unwrap();
            pack_strip(&lengths, &offsets, 3, &whole, &mut back).unwrap();
            assert_eq!((whole, back), (packed, tokens.clone()));
        }
    }
    let zigzag = Partition { split: Split::Zigzag, cp_size: 2, ..Partition::default() };
    assert_eq!(zigzag.indices(&[0, 8]).unwrap(), [0, 1, 6, 7]);
    assert_eq!(
        zigzag.tokens(&[0, 6]).unwrap_err().to_string(),
        "OUT_OF_RANGE: sequence 0 has 6 tokens in the pack, ZIGZAG over 2 ranks needs a multiple of 4"
    );
    assert_eq!(pack_offsets(&[-1], 1).unwrap_err().code(), Code::OutOfRange);
    assert_eq!(zigzag.take(&[0, 8], usize::MAX, &[0_i16; 8], &mut [0; 4]).unwrap_err().code(), Code::OutOfRange);
}

#[test]
fn stages_have_their_layers_and_columns_come_back() {
    let moe = [1, 2, 3, 4, 5, 6, 7];
    let stage = Stage { pp_size: 2, vp_size: 2, ..Stage::new(8) };
    let early = stage.layers(&moe).unwrap();
    let late = Stage { pp_rank: 1, ..stage }.layers(&moe).unwrap();
    assert_eq!((&early[..], &late[..]), (&[1, 4, 5][..], &[2, 3, 6, 7][..]));
    assert_eq!(Stage { vp_rank: Some(1), ..stage }.layers(&moe).unwrap(), [4, 5]);
    assert_eq!(Stage { pp_size: 3, pp_rank: 1, first_layers: 1, last_layers: 3, ..Stage::new(10) }.layers(&moe).unwrap(), [1, 2, 3, 4, 5, 6]);
    assert_eq!(Stage { pp_size: 2, ..Stage::new(9) }.layers(&moe).unwrap_err().code(), Code::OutOfRange);

    let whole: Vec<u16> = (0..2 * 7 * 2).collect();
    let mut made = vec![99; whole.len()];
    for (selected, order) in [(&early, AxisOrder::LayersFirst), (&late, AxisOrder::TokensFirst)] {
        let columns = Columns { layer_ids: &moe, selected, tokens: 2, per_item: 2, order };
        let mut part = vec![0; 2 * selected.len() * 2];
        columns.split(&whole, &mut part).unwrap();
        if order == AxisOrder::LayersFirst {
            assert_eq!(part, [0, 1, 14, 15, 6, 7, 20, 21, 8, 9, 22, 23]);
        }
        columns.gather(&part, &mut made).unwrap();
    }
    assert_eq!(made, whole);
    let absent = Columns { layer_ids: &moe, selected: &[9], tokens: 2, per_item: 2, order: AxisOrder::TokensFirst };
    assert_eq!(
        absent.split(&whole, &mut [0; 4]).unwrap_err().to_string(),
        "OUT_OF_RANGE: selected: layer 9 is none of the 7 layers there are (1 .. 7)"
    );
}
