// Generated from capi/abi/api.json by bindings/swig/java_types.py; do not edit.
// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import java.util.EnumSet;
import java.util.Set;

/**
 * Options of a read.
 */
public enum ReadFlag {
  /**
   * Also the last token's row, if its slot is given and valid at the read; else the answer has n-1 rows and the call
   * succeeds (R2).
   */
  INCLUDE_LAST(1);

  private final int value;

  ReadFlag(int value) {
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
  public static ReadFlag of(int value) {
    for (ReadFlag constant : values()) {
      if (constant.value == value) {
        return constant;
      }
    }
    throw new RouteCapException(Code.UNSUPPORTED, "ReadFlag " + value + " is unknown to this version of the binding");
  }

  static int bits(Set<ReadFlag> flags) {
    int bits = 0;
    for (ReadFlag flag : flags) {
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
  public static Set<ReadFlag> setOf(int bits) {
    Set<ReadFlag> flags = EnumSet.noneOf(ReadFlag.class);
    for (ReadFlag flag : values()) {
      if ((bits & flag.value) != 0) {
        flags.add(flag);
      }
    }
    return flags;
  }
}
