// Generated from capi/abi/api.json by bindings/swig/java_types.py; do not edit.
// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

/**
 * What stands where a trainer needs ids and the engine captured none: missing rows, the last token of a sequence,
 * padding (R42).
 */
public enum Padding {
  /**
   * K distinct ids, spread over the experts: the n-th filled row of a layer gets (n + floor(j * E / K)) modulo E in
   * column j. Of one row's ids any two equal blocks of neighbouring experts (expert-parallel ranks) get the same
   * number, and of any rows' ids any two experts do, give or take one.
   */
  SPREAD(0),
  /**
   * {@code fillValue} in every column, for trainers that look at the mask instead, or for which -1 means missing.
   */
  VALUE(1);

  private final int value;

  Padding(int value) {
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
  public static Padding of(int value) {
    for (Padding constant : values()) {
      if (constant.value == value) {
        return constant;
      }
    }
    throw new RouteCapException(Code.UNSUPPORTED, "Padding " + value + " is unknown to this version of the binding");
  }
}
