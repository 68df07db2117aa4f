// Generated from capi/abi/api.json by bindings/swig/java_types.py; do not edit.
// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import io.github.routecap.internal.Layouts;
import io.github.routecap.internal.Scratch;

/**
 * Where two records differ.
 *
 * @param equal whether geometry, layer map, flags, validity, ids, weights and version spans are all the same.
 * @param sameShape whether E, K, L, layer map, dtypes and kinds are the same: only then rows are compared.
 * @param start First token position that both hold; without one the later start.
 * @param rows Token positions that both hold.
 * @param rowsOnlyFirst Positions that only the first holds.
 * @param rowsOnlySecond Positions that only the second holds.
 * @param cells Cells (row and layer) valid in both.
 * @param cellsOnlyFirst Cells valid in the first alone.
 * @param cellsOnlySecond Cells valid in the second alone.
 * @param cellsDiffer Cells valid in both whose ids differ, order counted.
 * @param cellsDifferAsSets Of these, cells whose ids differ also when their order is left out.
 * @param cellsDifferInWeights Cells valid in both whose weights differ, bit by bit.
 * @param rowsDifferInVersion Rows with a different weight version, both valid.
 * @param firstRow Token position of the first cell that differs in ids or validity, -1 without one.
 * @param firstLayer Its layer number in the model, -1 without one.
 */
public record CompareReport(
    boolean equal,
    boolean sameShape,
    long start,
    long rows,
    long rowsOnlyFirst,
    long rowsOnlySecond,
    long cells,
    long cellsOnlyFirst,
    long cellsOnlySecond,
    long cellsDiffer,
    long cellsDifferAsSets,
    long cellsDifferInWeights,
    long rowsDifferInVersion,
    long firstRow,
    int firstLayer) {

  /** Reads the struct that the library filled. */
  static CompareReport from(Scratch scratch) {
    return new CompareReport(
        scratch.getInt(Layouts.CompareReport.EQUAL) != 0,
        scratch.getInt(Layouts.CompareReport.SAME_SHAPE) != 0,
        scratch.getLong(Layouts.CompareReport.START),
        scratch.getLong(Layouts.CompareReport.ROWS),
        scratch.getLong(Layouts.CompareReport.ROWS_ONLY_FIRST),
        scratch.getLong(Layouts.CompareReport.ROWS_ONLY_SECOND),
        scratch.getLong(Layouts.CompareReport.CELLS),
        scratch.getLong(Layouts.CompareReport.CELLS_ONLY_FIRST),
        scratch.getLong(Layouts.CompareReport.CELLS_ONLY_SECOND),
        scratch.getLong(Layouts.CompareReport.CELLS_DIFFER),
        scratch.getLong(Layouts.CompareReport.CELLS_DIFFER_AS_SETS),
        scratch.getLong(Layouts.CompareReport.CELLS_DIFFER_IN_WEIGHTS),
        scratch.getLong(Layouts.CompareReport.ROWS_DIFFER_IN_VERSION),
        scratch.getLong(Layouts.CompareReport.FIRST_ROW),
        scratch.getInt(Layouts.CompareReport.FIRST_LAYER));
  }
}
