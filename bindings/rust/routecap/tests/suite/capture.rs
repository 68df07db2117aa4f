// SPDX-License-Identifier: Apache-2.0

use std::time::Duration;

use routecap::{
    Accept, Array, Backend, Capture, Capturer, CheckLevel, Code, DType, Fault, FinalizeMode, Forward, Gate, RankRows, Read, ReadBuffers, Role,
    RowsKind, SlotUnit, Stream, TapFlags, TapId, TapOptions, WeightsKind,
};

use crate::scene::{K, LAYERS, SECOND, Scene};

#[test]
fn rows_of_a_target_beside_a_draft() {
    let mut scene = Scene::new();
    let summary = scene.forward(&[10, 11, 12, 13, 14]);
    assert_eq!((summary.sequence, summary.entries, summary.rows_stored, summary.rows_bad), (1, 5, 5, 0));
    assert_eq!((summary.first_bad_fault, summary.first_bad_row), (Fault::None, -1));
    scene.forward(&[20]);
    scene.forward(&[21]);
    let slots = [10_i64, 11, 12, 13, 14, 20, 21, -1];
    let record = scene.sealed.read(&Read::new(&slots, 8).after_sequence(3)).unwrap();
    scene.expect(&record, &slots[..7]);
    assert_eq!((record.info().num_experts, record.info().rows_valid, record.layer_ids()), (256, 7, &LAYERS[..]));
    let later = scene.sealed.read(&Read::new(&slots, 8).start(5)).unwrap();
    assert_eq!(later.info().start, 5);
    scene.expect(&later, &slots[5..7]);
    let stats = scene.sealed.stats().unwrap();
    assert_eq!((stats.suppressed, stats.forwards, stats.rows_stored, stats.in_flight, stats.last_sequence), (9, 3, 7, 0, 3));
}

#[test]
fn every_dtype_of_ids() {
    fn one<T: routecap::Element + TryFrom<i32>>(scene: &mut Scene, slot: i64) -> Vec<i32>
    where
        T::Error: std::fmt::Debug,
    {
        let mut want = Vec::new();
        for target in scene.targets.clone() {
            let ids: Vec<i32> = scene.random.ids(1).into_iter().map(|id| id % 128).collect();
            let narrow: Vec<T> = ids.iter().map(|id| T::try_from(*id).unwrap()).collect();
            scene.sealed.tap(target).unwrap().capture(&Capture::new(&narrow, K as i32)).unwrap();
            want.extend(ids);
        }
        let mut output = scene.sealed.end_forward(&Forward::new(1).slots(&[slot as i32])).unwrap();
        output.copy_to_host(Stream::DEFAULT).unwrap();
        assert_eq!(output.finalize().unwrap().rows_stored, 1);
        want
    }
    let mut scene = Scene::new();
    let wants =
        [one::<u8>(&mut scene, 0), one::<u16>(&mut scene, 1), one::<i16>(&mut scene, 2), one::<i32>(&mut scene, 3), one::<i64>(&mut scene, 4)];
    let record = scene.sealed.read(&Read::new(&[0_i32, 1, 2, 3, 4], 6)).unwrap();
    assert_eq!(record.to_i32(), wants.concat());
}

#[test]
fn acceptance_at_once_and_later() {
    let mut scene = Scene::new();
    let rows = scene.capture(4);
    let forward = Forward::new(4).slots(&[1_i64, 2]).accepted(&[0_i64, 2]).step(7).weight_version(3);
    let mut output = scene.sealed.end_forward(&forward).unwrap();
    output.copy_to_host(Stream::DEFAULT).unwrap();
    let summary = output.finalize().unwrap();
    assert_eq!((summary.step, summary.rows_stored, summary.rows_rejected), (7, 2, 2));
    scene.rows.extend([(1, rows[0].clone()), (2, rows[2].clone())]);

    let rows = scene.capture(3);
    let mut output = scene.sealed.end_forward(&Forward::new(3).slots(&[5_i64, 6, 7]).accepted_later()).unwrap();
    output.copy_to_host(Stream::DEFAULT).unwrap();
    assert_eq!(output.finalize().unwrap_err().code(), Code::NotReady);
    assert_eq!(scene.sealed.read(&Read::new(&[5_i64], 2).after_sequence(2)).unwrap_err().code(), Code::NotReady);
    output.accept(&Accept::new(&[0_i32, 1])).unwrap();
    assert_eq!(output.accept(&Accept::new(&[0_i32])).unwrap_err().code(), Code::InvalidState);
    assert_eq!(output.finalize().unwrap().rows_stored, 2);
    scene.rows.extend([(5, rows[0].clone()), (6, rows[1].clone())]);
    let record = scene.sealed.read(&Read::new(&[1_i64, 2, 5, 6, 7], 6)).unwrap();
    scene.expect(&record, &[1, 2, 5, 6, 7]);
    assert_eq!(record.version_spans().collect::<Vec<_>>(), [(0, 3), (2, 0)]);

    // Groups: two requests of two proposals each, of which one and two are accepted.
    let rows = scene.capture(4);
    let forward = Forward::new(4).slots(&[30_i64, -1, 0, 31, 32]).accepted(&[0_i64, -1, 0, 2, 3]).groups(2).group_width(2);
    let mut output = scene.sealed.end_forward(&forward.slots_group_stride(3).rows_group_stride(3)).unwrap();
    output.copy_to_host(Stream::DEFAULT).unwrap();
    output.finalize().unwrap();
    scene.rows.extend([(30, rows[0].clone()), (31, rows[2].clone()), (32, rows[3].clone())]);
    scene.expect(&scene.sealed.read(&Read::new(&[30_i64, 31, 32], 4)).unwrap(), &[30, 31, 32]);
}

#[test]
fn slots_released_and_copied() {
    let mut scene = Scene::with(|builder| builder.page_size(8));
    scene.forward(&[8, 9, 10]);
    scene.sealed.copy_slots(SlotUnit::Slot, &[8_i64, 9], &[100_i64, 101], Stream::DEFAULT).unwrap();
    scene.rows.extend([(100, scene.rows[&8].clone()), (101, scene.rows[&9].clone())]);
    scene.sealed.release_slots(SlotUnit::Slot, &[9_i32], Stream::DEFAULT).unwrap();
    scene.rows.remove(&9);
    let slots = [8_i64, 9, 10, 100, 101];
    scene.expect(&scene.sealed.read(&Read::new(&slots, 6)).unwrap(), &slots);
    let info = scene.sealed.slot_info(101).unwrap();
    assert!(info.valid && !info.reserved_slot && info.sequence == 2 && info.row_sequence == 1, "{info:?}");
    let pages = scene.sealed.read(&Read::new(&[1_i64], 4).pages()).unwrap();
    scene.expect(&pages, &[8, 9, 10]);
    scene.sealed.release_all(Stream::DEFAULT).unwrap();
    scene.rows.clear();
    scene.expect(&scene.sealed.read(&Read::new(&slots, 6)).unwrap(), &slots);
    let error = scene.sealed.copy_slots(SlotUnit::Slot, &[1_i32], &[2_i64], Stream::DEFAULT).unwrap_err();
    assert!(error.text().contains("Int32") && error.text().contains("Int64"), "{error}");
}

#[test]
fn device_memory_is_checked_row_by_row() {
    let mut scene = Scene::new();
    let rows = scene.capture(3);
    let slots = [1_i64, 4000, 3];
    // SAFETY: the host backend reads any memory of the process.
    let listed = unsafe { Array::new(&slots).on_device() };
    let mut output = scene.sealed.end_forward(&Forward::new(3).slots(listed)).unwrap();
    output.copy_to_host(Stream::DEFAULT).unwrap();
    let summary = output.finalize().unwrap();
    assert_eq!((summary.rows_stored, summary.rows_bad, summary.first_bad_fault, summary.first_bad_slot), (2, 1, Fault::SlotOutOfRange, 4000));
    scene.rows.extend([(1, rows[0].clone()), (3, rows[2].clone())]);
    scene.expect(&scene.sealed.read(&Read::new(&[1_i64, 3], 3)).unwrap(), &[1, 3]);

    // The same by address.
    scene.capture(3);
    let address = slots.as_ptr().expose_provenance() as u64;
    // SAFETY: the list lives.
    let listed = unsafe { Array::device(DType::Int64, address, 24) };
    let mut output = scene.sealed.end_forward(&Forward::new(3).slots(listed)).unwrap();
    let (data, bytes) = output.device_rows().unwrap();
    let plan = Capturer::builder(256, 4, &LAYERS).chunked_prefill_size(64).num_slots(1024).plan().unwrap();
    assert!(data != 0 && bytes == 3 * plan.slot_payload_bytes, "{bytes}");
    output.copy_to_host(Stream::DEFAULT).unwrap();
    assert_eq!(output.finalize().unwrap().rows_bad, 1);
}

#[test]
fn weights_tags_and_strides() {
    let capturer = Capturer::builder(64, 2, &[0])
        .weights_dtype(DType::BFloat16)
        .weights_kind(WeightsKind::Renormalized)
        .tags(true)
        .max_forward_tokens(8)
        .num_slots(16)
        .create()
        .unwrap();
    let id = capturer.add_model(Role::Target, "target").unwrap().add_tap(0).unwrap();
    let sealed = capturer.seal().unwrap();
    let mut tap = sealed.tap(id).unwrap();
    // Two rows of two columns, five ids and three weights apart.
    let ids = [1_i16, 2, -1, -1, -1, 3, 4];
    let weights = [0.5_f32, 0.25, 9.0, 2.0, -1.0];
    assert_eq!(tap.capture(&Capture::new(&ids, 2).ids_row_stride(10)).unwrap_err().code(), Code::InvalidArgument);
    tap.capture(&Capture::new(&ids, 2).ids_row_stride(10).weights(&weights).weights_row_stride(12)).unwrap();
    let mut output = sealed.end_forward(&Forward::new(2).slots(&[3_i64, 4]).tags(&[70_i64, 71])).unwrap();
    output.copy_to_host(Stream::DEFAULT).unwrap();
    output.finalize().unwrap();
    let record = sealed.read(&Read::new(&[3_i64, 4], 3).tags(&[70, 71])).unwrap();
    assert_eq!(record.to_i32(), [1, 2, 3, 4]);
    let kept: Vec<f32> = record.rows().flat_map(|row| row.weights(0).unwrap()).collect();
    assert_eq!(kept, [0.5, 0.25, 2.0, -1.0]);
    assert_eq!(record.weights_as::<routecap::BF16>().unwrap().iter().map(|bits| bits.to_f32()).collect::<Vec<_>>(), kept);
    assert_eq!((record.info().weights_kind, record.weights_as::<f32>().unwrap_err().code()), (WeightsKind::Renormalized, Code::InvalidArgument));
    // A tag that is not the row's makes it missing (R8).
    let other = sealed.read(&Read::new(&[3_i64, 4], 3).tags(&[70, 72])).unwrap();
    assert_eq!(other.to_i32(), [1, 2, -1, -1]);
    assert_eq!(sealed.slot_info(4).unwrap().tag, 71);

    let (mut ids, mut weights, mut validity) = ([9_u8; 4], [routecap::BF16(0); 4], [0_u8; 1]);
    let read = Read::new(&[3_i64, 4], 3);
    let info = sealed.read_into(&read, ReadBuffers::new(&mut ids).weights(&mut weights).validity(&mut validity)).unwrap();
    assert_eq!((info.rows, info.ids_bytes, info.weights_bytes, ids, validity), (2, 4, 8, [1, 2, 3, 4], [3]));
    assert_eq!(weights.map(routecap::BF16::to_f32), [0.5, 0.25, 2.0, -1.0]);
    let needs = sealed.read_needs(&read).unwrap();
    assert_eq!((needs.rows, needs.ids_bytes, needs.weights_bytes, needs.row_validity_bytes, needs.rows_valid), (2, 4, 8, 1, 0));
    assert_eq!(sealed.read_into(&read, ReadBuffers::new(&mut [0_u8; 3])).unwrap_err().code(), Code::OutOfRange);
    assert_eq!(sealed.read_into(&read, ReadBuffers::new(&mut [0_i32; 4])).unwrap_err().text(), "ids are UInt8, not Int32");
}

#[test]
fn id_maps_are_kept_and_rewritten() {
    let capturer = Capturer::builder(4, 2, &[0]).max_forward_tokens(8).num_slots(16).create().unwrap();
    let target = capturer.add_model(Role::Target, "target").unwrap();
    assert_eq!(target.add_tap_with(7, TapOptions::default().id_map(&[0])).unwrap_err().code(), Code::OutOfRange);
    let id = target.add_tap_with(0, TapOptions::default().id_map(&[3, 2, 1, 0, 0])).unwrap();
    let sealed = capturer.seal().unwrap();
    let mut tap = sealed.tap(id).unwrap();
    let forward = |tap: &mut routecap::Tap<'_>, slot: i64| {
        tap.capture(&Capture::new(&[0_i32, 1], 2)).unwrap();
        let mut output = sealed.end_forward(&Forward::new(1).slots(&[slot])).unwrap();
        output.copy_to_host(Stream::DEFAULT).unwrap();
        output.finalize().unwrap();
        sealed.read(&Read::new(&[slot], 2)).unwrap().to_i32()
    };
    assert_eq!(forward(&mut tap, 0), [3, 2]);
    tap.set_id_map(&[1, 0, 3, 2, 2]).unwrap();
    assert_eq!(forward(&mut tap, 1), [1, 0]);
    assert_eq!(tap.set_id_map(&[1_i64, 0, 3, 2, 2]).unwrap_err().code(), Code::InvalidArgument);
    assert_eq!(tap.set_id_map(&[1]).unwrap_err().text(), "the map has 1 entries of Int32, the tap's 5 of Int32");
}

#[test]
fn partial_layers_have_cells() {
    let capturer = Capturer::builder(8, 1, &[0, 5]).max_forward_tokens(8).num_slots(16).check_level(CheckLevel::Full).create().unwrap();
    let target = capturer.add_model(Role::Target, "target").unwrap();
    let whole = target.add_tap(0).unwrap();
    let part = target.add_tap_with(5, TapOptions::default().flags(TapFlags::PARTIAL | TapFlags::HASH_ROUTED)).unwrap();
    let sealed = capturer.seal().unwrap();
    sealed.tap(whole).unwrap().capture(&Capture::new(&[1_u8, 2, 3], 1)).unwrap();
    // An empty list names no row; taken for no list it would name them all.
    let error = sealed.tap(part).unwrap().capture(&Capture::new(&[4_u8, 5], 1).row_ids(&[0_i32; 0])).unwrap_err();
    assert_eq!((error.code(), error.text()), (Code::InvalidArgument, "row_ids_count is 0, the layout has 2 tokens"));
    let row_ids = [2_i32, 0];
    sealed.tap(part).unwrap().capture(&Capture::new(&[4_u8, 5], 1).row_ids(&row_ids)).unwrap();
    let mut output = sealed.end_forward(&Forward::new(3).slots(&[0_i64, 1, 2])).unwrap();
    output.copy_to_host(Stream::DEFAULT).unwrap();
    assert_eq!(output.finalize().unwrap().rows_stored, 3);
    let record = sealed.read(&Read::new(&[0_i64, 1, 2], 4)).unwrap();
    assert_eq!(record.to_i32(), [1, 5, 2, -1, 3, 4]);
    assert_eq!((record.cell_validity(), record.row_validity()), (&[0b11_0111][..], &[0b111][..]));
    assert!(record.info().has_cell_validity && record.layer_flags()[1].contains(TapFlags::PARTIAL) && record.layer_flags()[0] == TapFlags::NONE);
    let rows: Vec<_> = record.rows().map(|row| row.experts(1).map(|experts| experts.to_vec())).collect();
    assert_eq!(rows, [Some(vec![5]), None, Some(vec![4])]);
    // SAFETY: the host backend reads any memory of the process.
    let ids = unsafe { Array::new(&[4_u8, 5]).on_device() };
    let error = sealed.tap(part).unwrap().capture(&Capture::new(ids, 1).row_ids(&row_ids)).unwrap_err();
    assert!(error.text().contains("one kind"), "{error}");
}

#[test]
fn the_capturers_own_thread_completes() {
    let mut scene = Scene::with(|builder| builder.finalize_mode(FinalizeMode::OwnThread));
    assert_eq!(scene.sealed.next_completed(Duration::ZERO).unwrap_err().code(), Code::Timeout);
    let rows = scene.capture(2);
    let output = scene.sealed.end_forward(&Forward::new(2).slots(&[1_i64, 2])).unwrap();
    let completion = scene.sealed.next_completed(10 * SECOND).unwrap();
    assert_eq!((completion.sequence, completion.code), (output.sequence(), Code::Ok));
    // An accepted output may be dropped: its rows are stored all the same.
    drop(output);
    scene.rows.extend([(1, rows[0].clone()), (2, rows[1].clone())]);
    scene.expect(&scene.sealed.read(&Read::new(&[1_i64, 2], 3).after_sequence(1).timeout(10 * SECOND)).unwrap(), &[1, 2]);
    assert_eq!(Scene::new().sealed.completion_fd().unwrap_err().code(), Code::InvalidState);
}

#[test]
fn plans_backends_ranks_and_the_library() {
    assert_eq!(routecap::version().unwrap(), env!("CARGO_PKG_VERSION"));
    assert_eq!(routecap::abi_version().unwrap(), 1);
    let info = routecap::build_info().unwrap();
    assert!(info.version == env!("CARGO_PKG_VERSION") && info.features.contains("thrust=") && !info.compiler.is_empty(), "{info:?}");
    // Rows: 512 rounded up to a multiple of 3, for each of 2 ranks (R13).
    let plan = Capturer::builder(300, 4, &[0, 1]).max_forward_tokens(512).attn_tp_size(3).dp_size(2).num_slots(64).plan().unwrap();
    assert_eq!((plan.device_rows, plan.ids_dtype, plan.num_layers, plan.slot_ids_bytes), (513 * 2, DType::UInt16, 2, 16));

    assert_eq!(RankRows::new(RowsKind::Concatenated, &[3, 5, 2], 2).attention_tp(4, 0).place().unwrap(), (12, 2));
    assert_eq!(RankRows::new(RowsKind::Padded, &[3, 5, 2], 1).padded_tokens_per_rank(8).place().unwrap(), (8, 5));
    assert_eq!(RankRows::new(RowsKind::Sharded, &[7], 0).attention_tp(4, 3).place().unwrap(), (0, 1));
    assert_eq!(RankRows::new(RowsKind::Local, &[7], 1).place().unwrap_err().code(), Code::OutOfRange);

    let host = Backend::host().unwrap();
    let told = host.describe().unwrap();
    assert!(told.name == "host" && told.host_memory && !told.lost, "{told:?}");
    let capturer = Capturer::builder(8, 1, &[0]).max_forward_tokens(8).backend(&host).create().unwrap();
    drop(host);
    capturer.add_model(Role::Target, "target").unwrap().add_tap(0).unwrap();
    capturer.seal().unwrap();
    // SAFETY: the host loads no plugin, and there is none for toasters.
    let (third, found) = unsafe { (Backend::open_device("host", 3, 0), Backend::search("toaster")) };
    assert_eq!(third.unwrap_err().code(), Code::OutOfRange);
    assert!(found.unwrap().contains("libroutecap_backend_toaster.so"));
}

#[test]
fn a_refused_seal_gives_the_capturer_back() {
    let capturer = Capturer::builder(8, 1, &[0, 1]).max_forward_tokens(8).create().unwrap();
    let refused = capturer.seal().unwrap_err();
    assert!(refused.error().code() == Code::InvalidState && refused.to_string().contains("target"), "{refused}");
    let capturer = refused.into_capturer();
    let target = capturer.add_model(Role::Target, "target").unwrap();
    let draft = capturer.add_model(Role::Draft, "eagle").unwrap();
    assert!(draft.set_capture(Gate::Allow).unwrap_err().text().contains("eagle"));
    target.add_tap(0).unwrap();
    let last = target.add_tap(1).unwrap();
    target.set_capture(Gate::Deny).unwrap();
    let capturer = capturer.seal().unwrap_err().into_capturer();
    assert_eq!((last, capturer.add_model(Role::Target, "other").unwrap_err().code()), (TapId(1), Code::InvalidState));
}
