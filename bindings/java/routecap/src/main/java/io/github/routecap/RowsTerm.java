// Generated from capi/abi/api.json by bindings/swig/java_types.py; do not edit.
// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

/**
 * What decided the number of device rows (R13).
 */
public enum RowsTerm {
  /**
   * {@code chunkedPrefillSize} (or {@code maxForwardTokens}) * {@code dpSize}.
   */
  PREFILL(0),
  /**
   * {@code maxRunningRequests} * max(1, {@code numVerifyTokens}) * {@code dpSize}.
   */
  RUNNING(1),
  /**
   * {@code maxGraphTokens} * {@code dpSize}.
   */
  GRAPH(2);

  private final int value;

  RowsTerm(int value) {
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
  public static RowsTerm of(int value) {
    for (RowsTerm constant : values()) {
      if (constant.value == value) {
        return constant;
      }
    }
    throw new RouteCapException(Code.UNSUPPORTED, "RowsTerm " + value + " is unknown to this version of the binding");
  }
}
