// Generated from capi/abi/api.json by bindings/swig/java_types.py; do not edit.
// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

/**
 * Where an array lives. The host backend reads both kinds at the call; what it finds in DEVICE memory it treats as an
 * accelerator does: bad entries are found at finalize, row by row, instead of refusing the call (R14).
 */
public enum Memory {
  /**
   * Ordinary memory, read before the call returns and checked before anything is written.
   */
  HOST(0),
  /**
   * Memory of the backend's device, read in stream order; valid until the queued work has run.
   */
  DEVICE(1);

  private final int value;

  Memory(int value) {
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
  public static Memory of(int value) {
    for (Memory constant : values()) {
      if (constant.value == value) {
        return constant;
      }
    }
    throw new RouteCapException(Code.UNSUPPORTED, "Memory " + value + " is unknown to this version of the binding");
  }
}
