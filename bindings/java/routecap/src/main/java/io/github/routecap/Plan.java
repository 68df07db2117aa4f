// Generated from capi/abi/api.json by bindings/swig/java_types.py; do not edit.
// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import io.github.routecap.internal.Layouts;
import io.github.routecap.internal.Scratch;

/**
 * What a capturer will need, before anything is allocated. Taps are not known yet: a capturer with PARTIAL ones keeps 8
 * bytes more per slot and staged row for every 64 layers, and per layer and staging block. Rows whose weight version is
 * not 0, and copied rows, use 16 bytes more per slot.
 *
 * @param deviceRows Rows of the device buffer (R13).
 * @param rowsTerm The {@link RowsTerm} that decided.
 * @param idsDType The {@link DType} of stored ids (R28).
 * @param numLayers Captured layers L.
 * @param deviceBytes Bytes on the device: cache of every layer and staging blocks.
 * @param pinnedBytes Bytes of pinned host memory: the staging blocks' host side; a backend whose memory is the host's
 *     ({@code host}, {@code tbb}) takes none.
 * @param storeBytes Bytes of ordinary address space for the slot store; pages are touched when slots are first used.
 * @param slotIdsBytes Bytes of ids of one slot: L * K * size of an id.
 * @param slotPayloadBytes Bytes of one staged row: ids, weights and partial-layer bits, each padded to 8 bytes.
 * @param slotBytes Bytes of one slot with everything kept beside the ids: stamp, padding, weights, tag, partial-layer
 *     bits.
 */
public record Plan(
    long deviceRows,
    RowsTerm rowsTerm,
    DType idsDType,
    int numLayers,
    long deviceBytes,
    long pinnedBytes,
    long storeBytes,
    long slotIdsBytes,
    long slotPayloadBytes,
    long slotBytes) {

  /** Reads the struct that the library filled. */
  static Plan from(Scratch scratch) {
    return new Plan(
        scratch.getLong(Layouts.CapturerPlan.DEVICE_ROWS),
        RowsTerm.of(scratch.getInt(Layouts.CapturerPlan.ROWS_TERM)),
        DType.of(scratch.getInt(Layouts.CapturerPlan.IDS_DTYPE)),
        scratch.getInt(Layouts.CapturerPlan.NUM_LAYERS),
        scratch.getLong(Layouts.CapturerPlan.DEVICE_BYTES),
        scratch.getLong(Layouts.CapturerPlan.PINNED_BYTES),
        scratch.getLong(Layouts.CapturerPlan.STORE_BYTES),
        scratch.getLong(Layouts.CapturerPlan.SLOT_IDS_BYTES),
        scratch.getLong(Layouts.CapturerPlan.SLOT_PAYLOAD_BYTES),
        scratch.getLong(Layouts.CapturerPlan.SLOT_BYTES));
  }
}
