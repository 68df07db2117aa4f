// Generated from capi/abi/api.json by bindings/swig/java_types.py; do not edit.
// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

/**
 * Type of one element. Values are pinned.
 */
public enum DType {
  /**
   * No such array.
   */
  NONE(0),
  /**
   * Unsigned 8 bit.
   */
  UINT8(1),
  /**
   * Unsigned 16 bit.
   */
  UINT16(2),
  /**
   * Signed 16 bit.
   */
  INT16(3),
  /**
   * Signed 32 bit.
   */
  INT32(4),
  /**
   * Signed 64 bit.
   */
  INT64(5),
  /**
   * IEEE 754 binary16.
   */
  FLOAT16(6),
  /**
   * bfloat16: the upper half of a binary32.
   */
  BFLOAT16(7),
  /**
   * IEEE 754 binary32.
   */
  FLOAT32(8);

  private final int value;

  DType(int value) {
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
  public static DType of(int value) {
    for (DType constant : values()) {
      if (constant.value == value) {
        return constant;
      }
    }
    throw new RouteCapException(Code.UNSUPPORTED, "DType " + value + " is unknown to this version of the binding");
  }
}
