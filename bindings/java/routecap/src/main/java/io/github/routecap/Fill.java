// Generated from capi/abi/api.json by bindings/swig/java_types.py; do not edit.
// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

/**
 * How a full-axis view fills the columns of layers that were not captured (R26).
 */
public enum Fill {
  /**
   * As missing cells: bit clear, bytes 0xFF. The columns are marked PARTIAL.
   */
  MISSING(0),
  /**
   * With one id K times and weights of 0, valid in valid rows.
   */
  VALUE(1);

  private final int value;

  Fill(int value) {
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
  public static Fill of(int value) {
    for (Fill constant : values()) {
      if (constant.value == value) {
        return constant;
      }
    }
    throw new RouteCapException(Code.UNSUPPORTED, "Fill " + value + " is unknown to this version of the binding");
  }
}
