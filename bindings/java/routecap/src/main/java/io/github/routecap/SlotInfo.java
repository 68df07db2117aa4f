// Generated from capi/abi/api.json by bindings/swig/java_types.py; do not edit.
// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import io.github.routecap.internal.Layouts;
import io.github.routecap.internal.Scratch;

/**
 * State of one slot.
 *
 * @param sequence Number of the forward, release or copy that decided what the slot shows; 0 = never touched.
 * @param rowSequence Number of the forward that captured the row (R12: a copied row keeps its age); 0 when missing.
 * @param weightVersion Weight version of the row; 0 when missing.
 * @param tag Tag of the row where tags are kept; 0 when missing.
 * @param valid whether the slot holds a row.
 * @param reservedSlot whether the slot is reserved.
 */
public record SlotInfo(
    long sequence,
    long rowSequence,
    long weightVersion,
    long tag,
    boolean valid,
    boolean reservedSlot) {

  /** Reads the struct that the library filled. */
  static SlotInfo from(Scratch scratch) {
    return new SlotInfo(
        scratch.getLong(Layouts.SlotInfo.SEQUENCE),
        scratch.getLong(Layouts.SlotInfo.ROW_SEQUENCE),
        scratch.getLong(Layouts.SlotInfo.WEIGHT_VERSION),
        scratch.getLong(Layouts.SlotInfo.TAG),
        scratch.getInt(Layouts.SlotInfo.VALID) != 0,
        scratch.getInt(Layouts.SlotInfo.RESERVED_SLOT) != 0);
  }
}
