// Generated from capi/abi/api.json by bindings/swig/java_types.py; do not edit.
// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import java.util.EnumSet;
import java.util.Set;

/**
 * Properties of a captured layer; they travel with the records.
 */
public enum TapFlag {
  /**
   * The ids do not come from a learned router (R26).
   */
  HASH_ROUTED(1),
  /**
   * The order of the columns means nothing (R24).
   */
  UNORDERED(2),
  /**
   * The layer may run on some rows of a forward only; validity is kept cell by cell (R7).
   */
  PARTIAL(4);

  private final int value;

  TapFlag(int value) {
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
  public static TapFlag of(int value) {
    for (TapFlag constant : values()) {
      if (constant.value == value) {
        return constant;
      }
    }
    throw new RouteCapException(Code.UNSUPPORTED, "TapFlag " + value + " is unknown to this version of the binding");
  }

  static int bits(Set<TapFlag> flags) {
    int bits = 0;
    for (TapFlag flag : flags) {
      bits |= flag.value;
    }
    return bits;
  }

  /**
   * The flags of a number in which each has its bit.
   *
   * @param bits any sum of values
   * @return the flags; bits that are unknown here are left out
   */
  public static Set<TapFlag> setOf(int bits) {
    Set<TapFlag> flags = EnumSet.noneOf(TapFlag.class);
    for (TapFlag flag : values()) {
      if ((bits & flag.value) != 0) {
        flags.add(flag);
      }
    }
    return flags;
  }
}
