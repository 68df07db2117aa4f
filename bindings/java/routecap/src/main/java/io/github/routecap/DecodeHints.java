// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import static io.github.routecap.Given.given;

import io.github.routecap.internal.Layouts;
import io.github.routecap.internal.Scratch;

/**
 * What a decoder is told where the bytes do not say it. A fact that the bytes carry may be left out; given, it must agree.
 */
public final class DecodeHints {
  long start = -1;
  long rows = -1;
  int numExperts;
  int topK;
  int numLayers;
  int[] layerIds;
  DType dtype = DType.NONE;
  long turn = -1;

  /** With nothing given yet. */
  public DecodeHints() {}

  /**
   * Token position of the first row; -1 is not given.
   *
   * @param start the value
   * @return this
   */
  public DecodeHints start(long start) {
    this.start = start;
    return this;
  }

  /**
   * Rows; -1 is not given.
   *
   * @param rows the value
   * @return this
   */
  public DecodeHints rows(long rows) {
    this.rows = rows;
    return this;
  }

  /**
   * E; 0 is not given.
   *
   * @param numExperts the value
   * @return this
   */
  public DecodeHints numExperts(int numExperts) {
    this.numExperts = numExperts;
    return this;
  }

  /**
   * K; 0 is not given.
   *
   * @param topK the value
   * @return this
   */
  public DecodeHints topK(int topK) {
    this.topK = topK;
    return this;
  }

  /**
   * Layers of the layer axis, numbered from 0; 0 is not given, or given by {@link #layerIds(int...)}.
   *
   * @param numLayers the value
   * @return this
   */
  public DecodeHints numLayers(int numLayers) {
    this.numLayers = numLayers;
    return this;
  }

  /**
   * The layer number of every column, ascending; null is not given, and an array without elements is refused.
   *
   * @param layerIds the value
   * @return this
   */
  public DecodeHints layerIds(int... layerIds) {
    this.layerIds = layerIds == null ? null : layerIds.clone();
    return this;
  }

  /**
   * Dtype of the flat array; {@link DType#NONE} is the form's default.
   *
   * @param dtype the value
   * @return this
   */
  public DecodeHints dtype(DType dtype) {
    this.dtype = given(dtype, "dtype");
    return this;
  }

  /**
   * {@link Format#CSV}: which turn to read; -1 is the only one.
   *
   * @param turn the value
   * @return this
   */
  public DecodeHints turn(long turn) {
    this.turn = turn;
    return this;
  }

  void write(Scratch scratch) {
    scratch
        .struct(Layouts.DecodeHints.SIZE)
        .put(Layouts.DecodeHints.START, start)
        .put(Layouts.DecodeHints.ROWS, rows)
        .put(Layouts.DecodeHints.NUM_EXPERTS, numExperts)
        .put(Layouts.DecodeHints.TOP_K, topK)
        .put(Layouts.DecodeHints.NUM_LAYERS, numLayers)
        .put(Layouts.DecodeHints.DTYPE, dtype.value())
        .put(Layouts.DecodeHints.TURN, turn);
  }
}
