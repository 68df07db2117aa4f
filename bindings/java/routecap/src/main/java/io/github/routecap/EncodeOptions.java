// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import static io.github.routecap.Given.given;

import io.github.routecap.internal.Layouts;
import io.github.routecap.internal.Native;
import io.github.routecap.internal.Scratch;

/**
 * Options of an encoder. What a form has no use for stays as it is in a new object.
 */
public final class EncodeOptions {
  DType dtype = DType.NONE;
  Missing missing = Missing.REFUSE;
  int fillId;
  int zstdLevel;
  long turn;
  long decodeStart = -1;

  /** With nothing given yet. */
  public EncodeOptions() {}

  /**
   * Dtype of ids in {@link Format#SGLANG} (int32, uint8, uint16), {@link Format#VLLM} and {@link Format#NPY} (uint8, uint16, int16,
   * int32, int64); {@link DType#NONE} is the form's own choice.
   *
   * @param dtype the value
   * @return this
   */
  public EncodeOptions dtype(DType dtype) {
    this.dtype = given(dtype, "dtype");
    return this;
  }

  /**
   * What becomes of a missing cell where the form cannot say so; {@link Missing#REFUSE} where it is not given.
   *
   * @param missing the value
   * @return this
   */
  public EncodeOptions missing(Missing missing) {
    this.missing = given(missing, "missing");
    return this;
  }

  /**
   * First id of {@link Missing#FILL}.
   *
   * @param fillId the value
   * @return this
   */
  public EncodeOptions fillId(int fillId) {
    this.fillId = fillId;
    return this;
  }

  /**
   * Zstandard level of a frame's parts, 1 .. 19; 0 stores them as they are.
   *
   * @param zstdLevel the value
   * @return this
   */
  public EncodeOptions zstdLevel(int zstdLevel) {
    this.zstdLevel = zstdLevel;
    return this;
  }

  /**
   * {@link Format#CSV}: value of the turn column.
   *
   * @param turn the value
   * @return this
   */
  public EncodeOptions turn(long turn) {
    this.turn = turn;
    return this;
  }

  /**
   * {@link Format#CSV}: first token position of the decode phase; -1 is all prefill.
   *
   * @param decodeStart the value
   * @return this
   */
  public EncodeOptions decodeStart(long decodeStart) {
    this.decodeStart = decodeStart;
    return this;
  }

  /** Into the second struct, since an encoder of a read has two. */
  void write(Scratch scratch) {
    scratch.second(Layouts.EncodeOptions.SIZE);
    Native.api().rcap_encode_options_init(scratch.secondAddress(), Layouts.EncodeOptions.SIZE);
    scratch
        .putSecond(Layouts.EncodeOptions.DTYPE, dtype.value())
        .putSecond(Layouts.EncodeOptions.MISSING, missing.value())
        .putSecond(Layouts.EncodeOptions.FILL_ID, fillId)
        .putSecond(Layouts.EncodeOptions.ZSTD_LEVEL, zstdLevel)
        .putSecond(Layouts.EncodeOptions.TURN, turn)
        .putSecond(Layouts.EncodeOptions.DECODE_START, decodeStart);
  }
}
