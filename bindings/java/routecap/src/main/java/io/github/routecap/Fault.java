// Generated from capi/abi/api.json by bindings/swig/java_types.py; do not edit.
// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

/**
 * Why a committed row was not stored; where several apply to one row, the first of this list is named.
 */
public enum Fault {
  /**
   * Nothing is wrong.
   */
  NONE(0),
  /**
   * A layer captured fewer rows than the forward has: every row of it is missing (R27).
   */
  LAYER_INCOMPLETE(1),
  /**
   * A layer captured a row more than once: every row of the forward is missing, or with a PARTIAL layer only the row it
   * captured twice (R27).
   */
  LAYER_REPEATED(2),
  /**
   * A slot below -1 or past the last one, or with LATER one that is not among the slots given with the forward (R14).
   */
  SLOT_OUT_OF_RANGE(3),
  /**
   * A row below -1 or past the forward's last one (R14).
   */
  ROW_OUT_OF_RANGE(4),
  /**
   * A slot named twice: every entry that names it is bad (R15).
   */
  SLOT_REPEATED(5),
  /**
   * A row named twice: every slot involved is missing (R15).
   */
  ROW_REPEATED(6),
  /**
   * An id outside [0, E), or a physical id outside its map (R22).
   */
  ID_OUT_OF_RANGE(7),
  /**
   * An id twice in one layer of a row; only under CHECK_FULL (R25).
   */
  ID_REPEATED(8);

  private final int value;

  Fault(int value) {
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
  public static Fault of(int value) {
    for (Fault constant : values()) {
      if (constant.value == value) {
        return constant;
      }
    }
    throw new RouteCapException(Code.UNSUPPORTED, "Fault " + value + " is unknown to this version of the binding");
  }
}
