// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import java.util.LinkedHashSet;
import java.util.Set;

/** Arguments that have to be there. What may be left out is null, and its documentation says so; everything else comes through here. */
final class Given {
  private Given() {}

  /** The argument, or an exception that names it. */
  static <T> T given(T value, String name) {
    if (value == null) {
      throw new NullPointerException(name + " is null");
    }
    return value;
  }

  /** Every one of some flags; one that is named twice counts once. */
  static <T> Set<T> flags(T[] values) {
    Set<T> set = new LinkedHashSet<>();
    for (T value : given(values, "flags")) {
      set.add(given(value, "a flag"));
    }
    return set;
  }

  /** A set of flags, none of which is null. */
  static <T> Set<T> flags(Set<T> values) {
    for (T value : given(values, "flags")) {
      given(value, "a flag");
    }
    return values;
  }
}
