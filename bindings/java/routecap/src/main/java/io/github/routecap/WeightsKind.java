// Generated from capi/abi/api.json by bindings/swig/java_types.py; do not edit.
// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

/**
 * What the routing weights mean (R29).
 */
public enum WeightsKind {
  /**
   * As the router gave them.
   */
  AS_ROUTED(0),
  /**
   * Divided by the sum of the chosen ones.
   */
  RENORMALIZED(1),
  /**
   * Multiplied by the model's routed scaling factor.
   */
  SCALED(2);

  private final int value;

  WeightsKind(int value) {
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
  public static WeightsKind of(int value) {
    for (WeightsKind constant : values()) {
      if (constant.value == value) {
        return constant;
      }
    }
    throw new RouteCapException(Code.UNSUPPORTED, "WeightsKind " + value + " is unknown to this version of the binding");
  }
}
