// Generated from capi/abi/api.json by bindings/swig/java_types.py; do not edit.
// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

/**
 * Order of the axes of a dense array of ids.
 */
public enum AxisOrder {
  /**
   * [tokens, layers, K].
   */
  TOKENS_FIRST(0),
  /**
   * [layers, tokens, K]: what one router needs is one piece.
   */
  LAYERS_FIRST(1);

  private final int value;

  AxisOrder(int value) {
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
  public static AxisOrder of(int value) {
    for (AxisOrder constant : values()) {
      if (constant.value == value) {
        return constant;
      }
    }
    throw new RouteCapException(Code.UNSUPPORTED, "AxisOrder " + value + " is unknown to this version of the binding");
  }
}
