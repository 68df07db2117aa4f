// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import io.github.routecap.internal.Layouts.CaptureLayout;
import io.github.routecap.internal.Scratch;

/**
 * One batch of top-k ids of one layer, for {@link Tap#capture(Capture)}. It may be kept and used again.
 */
public final class Capture {
  Array ids;
  Array weights;
  Array rowIds;
  int columns;
  long tokens;
  long firstRow;
  long idsRowStride;
  long weightsRowStride;
  long stream;

  /** With nothing given yet. */
  public Capture() {}

  /**
   * Ids [tokens, columns], columns adjacent: int64, int32, int16, uint16 or uint8. Needed.
   *
   * @param ids the value
   * @return this
   */
  public Capture ids(Array ids) {
    this.ids = ids;
    return this;
  }

  /**
   * Weights [tokens, columns] where the capturer keeps weights: float32, or the dtype that it keeps.
   *
   * @param weights the value
   * @return this
   */
  public Capture weights(Array weights) {
    this.weights = weights;
    return this;
  }

  /**
   * Only for a {@link TapFlag#PARTIAL} tap: the rows of the forward that this layer ran on, int32, as many as tokens. Not given, they are the rows from
   * the first one on; without elements they are none.
   *
   * @param rowIds the value
   * @return this
   */
  public Capture rowIds(Array rowIds) {
    this.rowIds = rowIds;
    return this;
  }

  /**
   * K, or K plus the fused shared experts.
   *
   * @param columns the value
   * @return this
   */
  public Capture columns(int columns) {
    this.columns = columns;
    return this;
  }

  /**
   * Rows handed over.
   *
   * @param tokens the value
   * @return this
   */
  public Capture tokens(long tokens) {
    this.tokens = tokens;
    return this;
  }

  /**
   * Row of the device buffer that the first of them belongs to; 0 where it is not given.
   *
   * @param firstRow the value
   * @return this
   */
  public Capture firstRow(long firstRow) {
    this.firstRow = firstRow;
    return this;
  }

  /**
   * Bytes between the starts of two rows of ids; 0 where they are adjacent.
   *
   * @param idsRowStride the value
   * @return this
   */
  public Capture idsRowStride(long idsRowStride) {
    this.idsRowStride = idsRowStride;
    return this;
  }

  /**
   * Bytes between the starts of two rows of weights; 0 where they are adjacent.
   *
   * @param weightsRowStride the value
   * @return this
   */
  public Capture weightsRowStride(long weightsRowStride) {
    this.weightsRowStride = weightsRowStride;
    return this;
  }

  /**
   * The backend's stream handle that the work is queued on; 0 is its default stream.
   *
   * @param stream the value
   * @return this
   */
  public Capture stream(long stream) {
    this.stream = stream;
    return this;
  }

  void write(Scratch scratch) {
    scratch
        .struct(CaptureLayout.SIZE)
        .put(CaptureLayout.IDS_DTYPE, Array.dtypeOr(ids, DType.NONE))
        .put(CaptureLayout.WEIGHTS_DTYPE, Array.dtypeOr(weights, DType.NONE))
        .put(CaptureLayout.MEMORY, Array.memoryOf(ids))
        .put(CaptureLayout.COLUMNS, columns)
        .put(CaptureLayout.TOKENS, tokens)
        .put(CaptureLayout.FIRST_ROW, firstRow)
        .put(CaptureLayout.IDS_ROW_STRIDE, idsRowStride)
        .put(CaptureLayout.WEIGHTS_ROW_STRIDE, weightsRowStride);
    if (weights != null && Array.memoryOf(weights) != Array.memoryOf(ids) || rowIds != null && Array.memoryOf(rowIds) != Array.memoryOf(ids)) {
      throw new IllegalArgumentException("ids, weights and row ids of one capture lie in one kind of memory");
    }
  }
}
