// Generated from capi/abi/api.json by bindings/swig/java_types.py; do not edit.
// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import io.github.routecap.internal.Layouts;
import io.github.routecap.internal.Scratch;

/**
 * What became of a forward's rows. entries = {@code rowsStored} + {@code rowsBad} + {@code rowsOutdated} +
 * {@code rowsReserved}.
 *
 * @param sequence The forward's number.
 * @param step The label given with it.
 * @param entries Commit entries without -1.
 * @param rowsStored Entries whose row is now in its slot.
 * @param rowsBad Entries refused; their slots, where they have one, settled as missing (R14).
 * @param rowsOutdated Entries whose slot already had a newer number (R9, R10).
 * @param rowsReserved Entries for reserved slots (R15).
 * @param rowsRejected Rows of the forward that no entry names, with GIVEN and LATER (R21).
 * @param firstBadFault The {@link Fault} of the first bad entry, NONE if there is none.
 * @param firstBadLayer Layer number in the model of the first bad entry's fault, -1 where no layer is to blame.
 * @param firstBadRow Forward row of the first bad entry as given, -1 without one.
 * @param firstBadSlot Slot of the first bad entry as given, -1 without one.
 * @param layersBad Layers that captured too few rows, or some row twice (R27).
 * @param firstBadLayerNumber Layer number of the first of them, -1 without one.
 * @param layerRowsCaptured Rows of the forward that this layer captured.
 * @param layerRowsExpected Rows that it should have captured: the forward's.
 * @param rowsStray Entries of {@code rowIds} in DEVICE memory that named no row of the device buffer, over all PARTIAL
 *     taps; told with any acceptance (R14).
 * @param firstStrayLayer Layer number of the first layer that was given one, -1 without one.
 */
public record Summary(
    long sequence,
    long step,
    long entries,
    long rowsStored,
    long rowsBad,
    long rowsOutdated,
    long rowsReserved,
    long rowsRejected,
    Fault firstBadFault,
    int firstBadLayer,
    long firstBadRow,
    long firstBadSlot,
    int layersBad,
    int firstBadLayerNumber,
    long layerRowsCaptured,
    long layerRowsExpected,
    long rowsStray,
    int firstStrayLayer) {

  /** Reads the struct that the library filled. */
  static Summary from(Scratch scratch) {
    return new Summary(
        scratch.getLong(Layouts.Summary.SEQUENCE),
        scratch.getLong(Layouts.Summary.STEP),
        scratch.getLong(Layouts.Summary.ENTRIES),
        scratch.getLong(Layouts.Summary.ROWS_STORED),
        scratch.getLong(Layouts.Summary.ROWS_BAD),
        scratch.getLong(Layouts.Summary.ROWS_OUTDATED),
        scratch.getLong(Layouts.Summary.ROWS_RESERVED),
        scratch.getLong(Layouts.Summary.ROWS_REJECTED),
        Fault.of(scratch.getInt(Layouts.Summary.FIRST_BAD_FAULT)),
        scratch.getInt(Layouts.Summary.FIRST_BAD_LAYER),
        scratch.getLong(Layouts.Summary.FIRST_BAD_ROW),
        scratch.getLong(Layouts.Summary.FIRST_BAD_SLOT),
        scratch.getInt(Layouts.Summary.LAYERS_BAD),
        scratch.getInt(Layouts.Summary.FIRST_BAD_LAYER_NUMBER),
        scratch.getLong(Layouts.Summary.LAYER_ROWS_CAPTURED),
        scratch.getLong(Layouts.Summary.LAYER_ROWS_EXPECTED),
        scratch.getLong(Layouts.Summary.ROWS_STRAY),
        scratch.getInt(Layouts.Summary.FIRST_STRAY_LAYER));
  }
}
