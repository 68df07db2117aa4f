// Generated from capi/abi/api.json by bindings/swig/java_types.py; do not edit.
// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

/**
 * Which rows of a forward are committed (R17, R21).
 */
public enum Acceptance {
  /**
   * Every row; entry i is row i. {@code rows} is null.
   */
  ALL(0),
  /**
   * The rows that {@code rows} names, for example the accept index of a verify forward.
   */
  GIVEN(1),
  /**
   * Told once by {@link Output#accept(Accept)}, before finalize.
   */
  LATER(2);

  private final int value;

  Acceptance(int value) {
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
  public static Acceptance of(int value) {
    for (Acceptance constant : values()) {
      if (constant.value == value) {
        return constant;
      }
    }
    throw new RouteCapException(Code.UNSUPPORTED, "Acceptance " + value + " is unknown to this version of the binding");
  }
}
