// Generated from capi/abi/api.json by bindings/swig/java_types.py; do not edit.
// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

/**
 * What {@link Capturer#endForward(Forward)} does when every staging block is in flight (R32).
 */
public enum BusyPolicy {
  /**
   * Answers BUSY at once.
   */
  REFUSE(0),
  /**
   * Waits up to {@code busyTimeoutNs}, then answers BUSY. Only with OWN_THREAD: otherwise nobody would end the wait.
   */
  WAIT(1);

  private final int value;

  BusyPolicy(int value) {
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
  public static BusyPolicy of(int value) {
    for (BusyPolicy constant : values()) {
      if (constant.value == value) {
        return constant;
      }
    }
    throw new RouteCapException(Code.UNSUPPORTED, "BusyPolicy " + value + " is unknown to this version of the binding");
  }
}
