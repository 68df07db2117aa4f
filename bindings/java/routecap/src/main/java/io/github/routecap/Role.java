// Generated from capi/abi/api.json by bindings/swig/java_types.py; do not edit.
// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

/**
 * Part of a model in its capturer.
 */
public enum Role {
  /**
   * The model whose output the client gets; one a capturer.
   */
  TARGET(0),
  /**
   * A speculative proposer; any number, always denied (R18).
   */
  DRAFT(1);

  private final int value;

  Role(int value) {
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
  public static Role of(int value) {
    for (Role constant : values()) {
      if (constant.value == value) {
        return constant;
      }
    }
    throw new RouteCapException(Code.UNSUPPORTED, "Role " + value + " is unknown to this version of the binding");
  }
}
