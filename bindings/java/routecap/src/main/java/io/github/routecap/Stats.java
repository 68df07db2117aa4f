// Generated from capi/abi/api.json by bindings/swig/java_types.py; do not edit.
// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import io.github.routecap.internal.Layouts;
import io.github.routecap.internal.Scratch;

/**
 * Counters of a capturer since its creation, and a few of its present state.
 *
 * @param suppressed Captures on taps of a denied model (R18).
 * @param forwards Forwards that were given a sequence number.
 * @param discardedForwards Forwards discarded by {@link Capturer#discardForward(long)}.
 * @param busy {@link Capturer#endForward(Forward)} calls answered BUSY.
 * @param finalized Outputs that settled OK or DEVICE.
 * @param dropped Outputs destroyed unsettled while their capturer lived (R33).
 * @param rowsStored Rows now or once in a slot.
 * @param rowsBad Committed rows that were not stored because they were bad (R14).
 * @param rowsOutdated Committed rows not stored because their slot had a newer number (R9, R10).
 * @param rowsReserved Committed rows for reserved slots (R15).
 * @param rowsRejected Rows of verify forwards that were not accepted (R21).
 * @param slotsReleased Slots named in release calls.
 * @param slotsCopied Pairs named in copy calls.
 * @param copiesPending Pairs of copies that wait for a forward (R12).
 * @param inFlight Outputs unsettled now.
 * @param lastSequence The last number given to a forward, release or copy; 0 = none yet.
 * @param rowsStray Entries of {@code rowIds} in DEVICE memory that named no row of the device buffer (R14).
 */
public record Stats(
    long suppressed,
    long forwards,
    long discardedForwards,
    long busy,
    long finalized,
    long dropped,
    long rowsStored,
    long rowsBad,
    long rowsOutdated,
    long rowsReserved,
    long rowsRejected,
    long slotsReleased,
    long slotsCopied,
    long copiesPending,
    long inFlight,
    long lastSequence,
    long rowsStray) {

  /** Reads the struct that the library filled. */
  static Stats from(Scratch scratch) {
    return new Stats(
        scratch.getLong(Layouts.CapturerStats.SUPPRESSED),
        scratch.getLong(Layouts.CapturerStats.FORWARDS),
        scratch.getLong(Layouts.CapturerStats.DISCARDED_FORWARDS),
        scratch.getLong(Layouts.CapturerStats.BUSY),
        scratch.getLong(Layouts.CapturerStats.FINALIZED),
        scratch.getLong(Layouts.CapturerStats.DROPPED),
        scratch.getLong(Layouts.CapturerStats.ROWS_STORED),
        scratch.getLong(Layouts.CapturerStats.ROWS_BAD),
        scratch.getLong(Layouts.CapturerStats.ROWS_OUTDATED),
        scratch.getLong(Layouts.CapturerStats.ROWS_RESERVED),
        scratch.getLong(Layouts.CapturerStats.ROWS_REJECTED),
        scratch.getLong(Layouts.CapturerStats.SLOTS_RELEASED),
        scratch.getLong(Layouts.CapturerStats.SLOTS_COPIED),
        scratch.getLong(Layouts.CapturerStats.COPIES_PENDING),
        scratch.getLong(Layouts.CapturerStats.IN_FLIGHT),
        scratch.getLong(Layouts.CapturerStats.LAST_SEQUENCE),
        scratch.getLong(Layouts.CapturerStats.ROWS_STRAY));
  }
}
