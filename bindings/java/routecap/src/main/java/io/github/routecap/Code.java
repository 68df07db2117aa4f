// Generated from capi/abi/api.json by bindings/swig/java_types.py; do not edit.
// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import io.github.routecap.internal.Native;

/**
 * Result of a call. OK is 0, every other value is negative; values are pinned and never reused.
 * <p>Predicates return 1, 0 or one of the negative values. BUSY, NOT_READY and TIMEOUT are answers rather than faults:
 * they format no text.
 */
public enum Code {
  /**
   * Done.
   */
  OK(0),
  /**
   * An argument is null, malformed, contradicts another one, or names something unknown. Nothing was changed.
   */
  INVALID_ARGUMENT(-1),
  /**
   * The call does not fit the state of its handle (before seal, after it, accepted twice). Nothing was changed.
   */
  INVALID_STATE(-2),
  /**
   * A count, slot, row, layer or position lies outside its range; the text names the value and the limit. Nothing was
   * changed.
   */
  OUT_OF_RANGE(-3),
  /**
   * Memory could not be had. Nothing was changed.
   */
  OUT_OF_MEMORY(-4),
  /**
   * What was asked for is not there yet; {@code rcap_error.detail} names the sequence that is lacking where there is
   * one.
   */
  NOT_READY(-5),
  /**
   * Every staging block is in flight (R32). Finalize the oldest output and call again.
   */
  BUSY(-6),
  /**
   * The given time has passed.
   */
  TIMEOUT(-7),
  /**
   * The capturer of this output is gone (R34).
   */
  CLOSED(-8),
  /**
   * The library knows what is meant and cannot do it: a newer struct's non-zero field, an unknown flag, a dtype pair
   * without a conversion.
   */
  UNSUPPORTED(-9),
  /**
   * Another version of a format, a plugin or the interface is needed.
   */
  VERSION_MISMATCH(-10),
  /**
   * Bytes do not hold what their header promises.
   */
  CORRUPT(-11),
  /**
   * No backend, tap or entry of that name or number.
   */
  NOT_FOUND(-12),
  /**
   * A backend was found, its device was not.
   */
  NO_DEVICE(-13),
  /**
   * The device reported a fault; nothing of the output it touched was stored (R34).
   */
  DEVICE(-14),
  /**
   * The handle was inherited through fork(); only records work in the child.
   */
  FORKED(-15),
  /**
   * A bug in this library; please report the text.
   */
  INTERNAL(-16);

  private final int value;

  Code(int value) {
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
  public static Code of(int value) {
    for (Code constant : values()) {
      if (constant.value == value) {
        return constant;
      }
    }
    throw new RouteCapException(Code.UNSUPPORTED, "Code " + value + " is unknown to this version of the binding");
  }

  /**
   * The name of a status in C, whether there is a constant for it here or not.
   *
   * @param status any number
   * @return for example {@code RCAP_STATUS_BUSY}; {@code RCAP_STATUS_UNKNOWN} for a number that is no status
   */
  public static String nameInC(int status) {
    return Native.api().rcap_status_name(status);
  }
}
