// Generated from capi/abi/api.json by bindings/swig/java_types.py; do not edit.
// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

/**
 * What an encoder does with a missing cell where the form cannot say so.
 */
public enum Missing {
  /**
   * Refuses the record, naming the first missing row.
   */
  REFUSE(0),
  /**
   * Writes -1; only into a signed dtype.
   */
  MINUS_ONE(1),
  /**
   * Writes {@code fillId}, {@code fillId} + 1, ... modulo E into the K columns.
   */
  FILL(2);

  private final int value;

  Missing(int value) {
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
  public static Missing of(int value) {
    for (Missing constant : values()) {
      if (constant.value == value) {
        return constant;
      }
    }
    throw new RouteCapException(Code.UNSUPPORTED, "Missing " + value + " is unknown to this version of the binding");
  }
}
