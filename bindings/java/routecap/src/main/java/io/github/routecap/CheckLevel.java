// Generated from capi/abi/api.json by bindings/swig/java_types.py; do not edit.
// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

/**
 * How closely rows are checked before they are stored.
 */
public enum CheckLevel {
  /**
   * Ids in range, every layer captured, slots and rows in range and named once.
   */
  BASIC(0),
  /**
   * As BASIC, and no id twice in one layer of a row (R25).
   */
  FULL(1);

  private final int value;

  CheckLevel(int value) {
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
  public static CheckLevel of(int value) {
    for (CheckLevel constant : values()) {
      if (constant.value == value) {
        return constant;
      }
    }
    throw new RouteCapException(Code.UNSUPPORTED, "CheckLevel " + value + " is unknown to this version of the binding");
  }
}
