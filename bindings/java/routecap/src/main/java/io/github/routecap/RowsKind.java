// Generated from capi/abi/api.json by bindings/swig/java_types.py; do not edit.
// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

/**
 * How the rows of the data-parallel ranks stand in the device buffer (R16).
 */
public enum RowsKind {
  /**
   * This rank's tokens alone, from row 0.
   */
  LOCAL(0),
  /**
   * All ranks' tokens, one after the other.
   */
  CONCATENATED(1),
  /**
   * Every rank's share padded to the same number of rows.
   */
  PADDED(2),
  /**
   * This attention-TP rank's shard alone, from row 0.
   */
  SHARDED(3);

  private final int value;

  RowsKind(int value) {
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
  public static RowsKind of(int value) {
    for (RowsKind constant : values()) {
      if (constant.value == value) {
        return constant;
      }
    }
    throw new RouteCapException(Code.UNSUPPORTED, "RowsKind " + value + " is unknown to this version of the binding");
  }
}
