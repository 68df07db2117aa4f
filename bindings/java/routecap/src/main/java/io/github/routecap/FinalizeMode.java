// Generated from capi/abi/api.json by bindings/swig/java_types.py; do not edit.
// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

/**
 * Who finalizes outputs.
 */
public enum FinalizeMode {
  /**
   * The caller: {@code rcap_output_copy_to_host}, then {@code rcap_output_finalize}, on any thread.
   */
  CALLER(0),
  /**
   * One thread of the capturer, started by the first {@link Capturer#endForward(Forward)}; all its signals are blocked.
   */
  OWN_THREAD(1);

  private final int value;

  FinalizeMode(int value) {
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
  public static FinalizeMode of(int value) {
    for (FinalizeMode constant : values()) {
      if (constant.value == value) {
        return constant;
      }
    }
    throw new RouteCapException(Code.UNSUPPORTED, "FinalizeMode " + value + " is unknown to this version of the binding");
  }
}
