// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import static io.github.routecap.Given.given;

import io.github.routecap.internal.Layouts.RecordLayout;
import io.github.routecap.internal.Scratch;

/**
 * What {@link Record#create(RecordConfig)} makes a record of.
 */
public final class RecordConfig {
  long start;
  long rows;
  int numExperts;
  int topK;
  int[] layerIds;
  int[] layerFlags;
  Array ids;
  Array weights;
  WeightsKind weightsKind = WeightsKind.AS_ROUTED;
  Array validity;
  long weightVersion;

  /** With nothing given yet. */
  public RecordConfig() {}

  /**
   * Token position of the first row.
   *
   * @param start the value
   * @return this
   */
  public RecordConfig start(long start) {
    this.start = start;
    return this;
  }

  /**
   * Rows.
   *
   * @param rows the value
   * @return this
   */
  public RecordConfig rows(long rows) {
    this.rows = rows;
    return this;
  }

  /**
   * E: ids lie in [0, E).
   *
   * @param numExperts the value
   * @return this
   */
  public RecordConfig numExperts(int numExperts) {
    this.numExperts = numExperts;
    return this;
  }

  /**
   * K.
   *
   * @param topK the value
   * @return this
   */
  public RecordConfig topK(int topK) {
    this.topK = topK;
    return this;
  }

  /**
   * Model layer numbers of the columns, ascending.
   *
   * @param layerIds the value
   * @return this
   */
  public RecordConfig layerIds(int... layerIds) {
    this.layerIds = layerIds == null ? null : layerIds.clone();
    return this;
  }

  /**
   * {@link TapFlag} bits of every column; not given or null, none, and an array without elements is refused. PARTIAL anywhere means that cells have a validity of their own.
   *
   * @param layerFlags the value
   * @return this
   */
  public RecordConfig layerFlags(int... layerFlags) {
    this.layerFlags = layerFlags == null ? null : layerFlags.clone();
    return this;
  }

  /**
   * Ids [rows, L, K] of the dtype that E gives: uint8 up to 256, uint16 up to 65536, else int32 (R28).
   *
   * @param ids the value
   * @return this
   */
  public RecordConfig ids(Array ids) {
    this.ids = ids;
    return this;
  }

  /**
   * Weights [rows, L, K], float16, bfloat16 or float32; not given, none.
   *
   * @param weights the value
   * @return this
   */
  public RecordConfig weights(Array weights) {
    this.weights = weights;
    return this;
  }

  /**
   * What the weights mean.
   *
   * @param weightsKind the value
   * @return this
   */
  public RecordConfig weightsKind(WeightsKind weightsKind) {
    this.weightsKind = given(weightsKind, "weightsKind");
    return this;
  }

  /**
   * The row bitmap, and behind it the cell bitmap where a column is PARTIAL, uint8; not given, all are valid.
   *
   * @param validity the value
   * @return this
   */
  public RecordConfig validity(Array validity) {
    this.validity = validity;
    return this;
  }

  /**
   * Weight version of all rows.
   *
   * @param weightVersion the value
   * @return this
   */
  public RecordConfig weightVersion(long weightVersion) {
    this.weightVersion = weightVersion;
    return this;
  }

  void write(Scratch scratch) {
    DType wanted = numExperts <= 256 ? DType.UINT8 : numExperts <= 65536 ? DType.UINT16 : DType.INT32;
    if (ids != null && ids.dtype() != wanted) {
      throw new IllegalArgumentException("ids of " + numExperts + " experts are " + wanted + ", not " + ids.dtype());
    }
    if (ids != null && ids.memory() != Memory.HOST || weights != null && weights.memory() != Memory.HOST) {
      throw new IllegalArgumentException("a record is made from host memory");
    }
    scratch
        .struct(RecordLayout.SIZE)
        .put(RecordLayout.START, start)
        .put(RecordLayout.ROWS, rows)
        .put(RecordLayout.NUM_EXPERTS, numExperts)
        .put(RecordLayout.TOP_K, topK)
        .put(RecordLayout.WEIGHTS_DTYPE, Array.dtypeOr(weights, DType.NONE))
        .put(RecordLayout.WEIGHTS_KIND, weightsKind.value())
        .put(RecordLayout.WEIGHT_VERSION, weightVersion);
  }
}
