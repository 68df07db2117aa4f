// Generated from capi/abi/api.json by bindings/swig/java_types.py; do not edit.
// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import io.github.routecap.internal.Layouts;
import io.github.routecap.internal.Scratch;

/**
 * Geometry of a record.
 *
 * @param start Token position of the first row.
 * @param rows Rows.
 * @param rowsValid Rows whose validity bit is set.
 * @param numLayers Layers L.
 * @param topK Experts per token and layer K.
 * @param numExperts Logical routed experts E.
 * @param idsDType {@link DType} of the ids.
 * @param weightsDType {@link DType} of the weights, or NONE.
 * @param weightsKind A {@link WeightsKind}.
 * @param hasCellValidity whether cells have a validity of their own (a column is PARTIAL, or a valid row lacks a cell).
 * @param versionSpans Runs of rows with one weight version.
 */
public record RecordInfo(
    long start,
    long rows,
    long rowsValid,
    int numLayers,
    int topK,
    int numExperts,
    DType idsDType,
    DType weightsDType,
    WeightsKind weightsKind,
    boolean hasCellValidity,
    long versionSpans) {

  /** Reads the struct that the library filled. */
  static RecordInfo from(Scratch scratch) {
    return new RecordInfo(
        scratch.getLong(Layouts.RecordInfo.START),
        scratch.getLong(Layouts.RecordInfo.ROWS),
        scratch.getLong(Layouts.RecordInfo.ROWS_VALID),
        scratch.getInt(Layouts.RecordInfo.NUM_LAYERS),
        scratch.getInt(Layouts.RecordInfo.TOP_K),
        scratch.getInt(Layouts.RecordInfo.NUM_EXPERTS),
        DType.of(scratch.getInt(Layouts.RecordInfo.IDS_DTYPE)),
        DType.of(scratch.getInt(Layouts.RecordInfo.WEIGHTS_DTYPE)),
        WeightsKind.of(scratch.getInt(Layouts.RecordInfo.WEIGHTS_KIND)),
        scratch.getInt(Layouts.RecordInfo.HAS_CELL_VALIDITY) != 0,
        scratch.getLong(Layouts.RecordInfo.VERSION_SPANS));
  }
}
