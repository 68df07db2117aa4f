// Generated from capi/abi/api.json by bindings/swig/java_types.py; do not edit.
// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import io.github.routecap.internal.Layouts;
import io.github.routecap.internal.Scratch;

/**
 * Geometry of what was read.
 *
 * @param start Token position of the first row.
 * @param rows Rows.
 * @param rowsValid Rows whose validity bit is set.
 * @param numLayers Captured layers L.
 * @param topK Experts per token and layer K.
 * @param idsDType {@link DType} of the ids.
 * @param weightsDType {@link DType} of the weights, or NONE.
 * @param idsBytes Bytes of ids [rows, L, K].
 * @param weightsBytes Bytes of weights [rows, L, K].
 * @param rowValidityBytes Bytes of the row bitmap: ceil(rows / 8).
 * @param cellValidityBytes Bytes of the cell bitmap: ceil(rows * L / 8) where the capturer has PARTIAL taps, else 0.
 * @param weightVersionMin Smallest weight version of the valid rows; 0 without any.
 * @param weightVersionMax Largest weight version of the valid rows; 0 without any.
 */
public record ReadInfo(
    long start,
    long rows,
    long rowsValid,
    int numLayers,
    int topK,
    DType idsDType,
    DType weightsDType,
    long idsBytes,
    long weightsBytes,
    long rowValidityBytes,
    long cellValidityBytes,
    long weightVersionMin,
    long weightVersionMax) {

  /** Reads the struct that the library filled. */
  static ReadInfo from(Scratch scratch) {
    return new ReadInfo(
        scratch.getLong(Layouts.ReadInfo.START),
        scratch.getLong(Layouts.ReadInfo.ROWS),
        scratch.getLong(Layouts.ReadInfo.ROWS_VALID),
        scratch.getInt(Layouts.ReadInfo.NUM_LAYERS),
        scratch.getInt(Layouts.ReadInfo.TOP_K),
        DType.of(scratch.getInt(Layouts.ReadInfo.IDS_DTYPE)),
        DType.of(scratch.getInt(Layouts.ReadInfo.WEIGHTS_DTYPE)),
        scratch.getLong(Layouts.ReadInfo.IDS_BYTES),
        scratch.getLong(Layouts.ReadInfo.WEIGHTS_BYTES),
        scratch.getLong(Layouts.ReadInfo.ROW_VALIDITY_BYTES),
        scratch.getLong(Layouts.ReadInfo.CELL_VALIDITY_BYTES),
        scratch.getLong(Layouts.ReadInfo.WEIGHT_VERSION_MIN),
        scratch.getLong(Layouts.ReadInfo.WEIGHT_VERSION_MAX));
  }
}
