// Generated from capi/abi/api.json by bindings/swig/java_types.py; do not edit.
// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

/**
 * Gate of a model's taps.
 */
public enum Gate {
  /**
   * Captures are counted and not written.
   */
  DENY(0),
  /**
   * Captures are written.
   */
  ALLOW(1);

  private final int value;

  Gate(int value) {
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
  public static Gate of(int value) {
    for (Gate constant : values()) {
      if (constant.value == value) {
        return constant;
      }
    }
    throw new RouteCapException(Code.UNSUPPORTED, "Gate " + value + " is unknown to this version of the binding");
  }
}
