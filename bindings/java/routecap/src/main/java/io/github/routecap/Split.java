// Generated from capi/abi/api.json by bindings/swig/java_types.py; do not edit.
// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

/**
 * How context parallelism deals out the tokens of a sequence (R43).
 */
public enum Split {
  /**
   * {@code cpSize} equal chunks; rank r has chunk r.
   */
  CONTIGUOUS(0),
  /**
   * 2 * {@code cpSize} equal chunks; rank r has chunk r and behind it chunk 2 * {@code cpSize} - 1 - r. One rank alone
   * has the sequence as it is.
   */
  ZIGZAG(1);

  private final int value;

  Split(int value) {
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
  public static Split of(int value) {
    for (Split constant : values()) {
      if (constant.value == value) {
        return constant;
      }
    }
    throw new RouteCapException(Code.UNSUPPORTED, "Split " + value + " is unknown to this version of the binding");
  }
}
