// Generated from capi/abi/api.json by bindings/swig/java_types.py; do not edit.
// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

/**
 * How slots are named.
 */
public enum SlotUnit {
  /**
   * Each number is a slot.
   */
  SLOT(0),
  /**
   * Each number is a page: the slots page * {@code pageSize} .. page * {@code pageSize} + {@code pageSize} - 1, in this
   * order.
   */
  PAGE(1);

  private final int value;

  SlotUnit(int value) {
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
  public static SlotUnit of(int value) {
    for (SlotUnit constant : values()) {
      if (constant.value == value) {
        return constant;
      }
    }
    throw new RouteCapException(Code.UNSUPPORTED, "SlotUnit " + value + " is unknown to this version of the binding");
  }
}
