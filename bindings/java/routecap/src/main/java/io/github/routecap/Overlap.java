// Generated from capi/abi/api.json by bindings/swig/java_types.py; do not edit.
// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

/**
 * What happens where two records hold the same token position (R39).
 */
public enum Overlap {
  /**
   * An overlap is an error that names both ranges.
   */
  REFUSE(0),
  /**
   * The first record's rows stay, missing ones too: its KV was kept.
   */
  KEEP_OLD(1),
  /**
   * The second record's rows replace them, missing ones too: the KV was recomputed.
   */
  KEEP_NEW(2);

  private final int value;

  Overlap(int value) {
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
  public static Overlap of(int value) {
    for (Overlap constant : values()) {
      if (constant.value == value) {
        return constant;
      }
    }
    throw new RouteCapException(Code.UNSUPPORTED, "Overlap " + value + " is unknown to this version of the binding");
  }
}
