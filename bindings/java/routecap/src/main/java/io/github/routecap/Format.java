// Generated from capi/abi/api.json by bindings/swig/java_types.py; do not edit.
// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import io.github.routecap.internal.Native;
import io.github.routecap.internal.Scratch;

/**
 * Forms of a record outside the library (R37, R41). {@link Format#formName()} and {@link Format#parse(String)} know
 * their names.
 */
public enum Format {
  /**
   * {@code frame}: the library's own binary form, self-describing, checked; frames may stand one behind the other.
   */
  FRAME(1),
  /**
   * {@code frame-base64}: the same as text.
   */
  FRAME_BASE64(2),
  /**
   * {@code sglang}: base64 of a flat little-endian array [rows, layers, K], int32 unless another dtype is asked for,
   * without any header.
   */
  SGLANG(3),
  /**
   * {@code vllm}: base64 of a {@code .npy} [rows, layers, K].
   */
  VLLM(4),
  /**
   * {@code npy}: the {@code .npy} alone.
   */
  NPY(5),
  /**
   * {@code prime}: JSON object with data (base64), shape, start, dtype.
   */
  PRIME(6),
  /**
   * {@code nemo}: {@code nrlre1:<dtype>:<S>x<L>x<K>:<base64>}, narrowest signed dtype, a row of -1 is missing.
   */
  NEMO(7),
  /**
   * {@code lists}: nested JSON lists [rows][layers][K].
   */
  LISTS(8),
  /**
   * {@code csv}: a moe-trace CSV, one line per row, layer and column.
   */
  CSV(9);

  private final int value;

  Format(int value) {
    this.value = value;
  }

  /**
   * The number of this constant in C.
   *
   * @return the number, which never changes
   */
  public int value() {
    return value;
  }

  /**
   * The constant of a number.
   *
   * @param value the number of a constant in C
   * @return the constant
   * @throws RouteCapException with {@link Code#UNSUPPORTED} for a number that has no constant here: a newer library's
   */
  public static Format of(int value) {
    for (Format constant : values()) {
      if (constant.value == value) {
        return constant;
      }
    }
    throw new RouteCapException(Code.UNSUPPORTED, "Format " + value + " is unknown to this version of the binding");
  }

  /**
   * The form's name, for example {@code frame-base64}.
   *
   * @return the name that the command and {@link #parse(String)} know
   */
  public String formName() {
    return Native.api().rcap_wire_format_name(value);
  }

  /**
   * The form of a name.
   *
   * @param name as {@link #formName()} gives it
   * @return the form
   * @throws RouteCapException with {@link Code#NOT_FOUND} for another name; the text lists those that there are
   */
  public static Format parse(String name) {
    try (Scratch scratch = Scratch.take()) {
      Failure.check(Native.api().rcap_wire_format_of(scratch.text(name), scratch.out(0), scratch.error()), scratch);
      return of(scratch.outInt(0));
    }
  }
}
