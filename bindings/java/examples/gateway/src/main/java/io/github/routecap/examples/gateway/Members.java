// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.examples.gateway;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Members of a JSON object, read one by one. What is of another kind than is due, or out of its range, is refused by name, value and limit. A member that
 * is null was left out.
 */
final class Members {
  /** Token ids and positions are 31-bit numbers in every server. */
  static final long LARGEST = (1L << 31) - 1;

  /** What an error shows of a value. */
  private static final int LONGEST_SHOWN = 60;

  /** What stands before a name in what is said of it: nothing, or {@code choices[0].}. */
  private final String before;

  private final Map<?, ?> values;

  private Members(String before, Map<?, ?> values) {
    this.before = before;
    this.values = values;
  }

  /** Those of a value that must be an object. */
  static Members of(String name, String before, Object value) throws Json.Malformed {
    if (value instanceof Map<?, ?> map) {
      return new Members(before, map);
    }
    throw new Json.Malformed(name + " is " + shown(value) + ", not an object");
  }

  /** A value as an error shows it: on one line, and not all of a long one. */
  static String shown(Object value) {
    return clipped(Json.write(value));
  }

  static String clipped(String text) {
    if (text.length() <= LONGEST_SHOWN) {
      return text;
    }
    int end = LONGEST_SHOWN - 3;
    return text.substring(0, Character.isHighSurrogate(text.charAt(end - 1)) ? end - 1 : end) + "...";
  }

  private Json.Malformed refused(String name, Object value, String instead) {
    return new Json.Malformed(before + name + " is " + shown(value) + ", " + instead);
  }

  private long wholeOf(String name, Object value, long low, long high) throws Json.Malformed {
    if (value instanceof Long number && number >= low && number <= high) {
      return number;
    }
    throw refused(name, value, "allowed are whole numbers " + low + " .. " + high);
  }

  long whole(String name, long low, long high, long otherwise) throws Json.Malformed {
    Object value = values.get(name);
    return value == null ? otherwise : wholeOf(name, value, low, high);
  }

  boolean flag(String name) throws Json.Malformed {
    Object value = values.get(name);
    if (value != null && !(value instanceof Boolean)) {
      throw refused(name, value, "allowed are true and false");
    }
    return Boolean.TRUE.equals(value);
  }

  /** A text, or an empty one. */
  String text(String name) throws Json.Malformed {
    Object value = values.get(name);
    if (value != null && !(value instanceof String)) {
      throw refused(name, value, "not a text");
    }
    return value == null ? "" : (String) value;
  }

  /** A member that must be there. */
  List<?> list(String name) throws Json.Malformed {
    Object value = values.get(name);
    if (value == null) {
      throw new Json.Malformed(before + name + " is missing");
    }
    if (value instanceof List<?> list) {
      return list;
    }
    throw refused(name, value, "not a list");
  }

  /** A member that is an empty object where it was left out. */
  Members object(String name) throws Json.Malformed {
    Object value = values.get(name);
    return of(before + name, before + name + ".", value == null ? Map.of() : value);
  }

  /** A list of so many token ids. */
  long[] tokens(String name, int least, int most) throws Json.Malformed {
    List<?> list = list(name);
    if (list.size() < least || list.size() > most) {
      throw new Json.Malformed(before + name + " has " + list.size() + " tokens, allowed are " + least + " .. " + most);
    }
    long[] tokens = new long[list.size()];
    for (int i = 0; i < tokens.length; i++) {
      boolean right = list.get(i) instanceof Long id && id >= 0 && id <= LARGEST;
      tokens[i] = right ? (Long) list.get(i) : wholeOf(name + "[" + i + "]", list.get(i), 0, LARGEST);
    }
    return tokens;
  }

  /** A member that holds rows, as a text or as an object: as JSON, or null. */
  String rows(String name, boolean object) throws Json.Malformed {
    Object value = values.get(name);
    if (value == null) {
      return null;
    }
    if (object ? !(value instanceof Map<?, ?>) : !(value instanceof String)) {
      throw refused(name, value, object ? "not an object" : "not a text");
    }
    return Json.write(value);
  }

  /** Something made of one choice of an answer. */
  interface Reading {
    Choice of(int at, Members choice) throws Json.Malformed;
  }

  /** The choices of a list. */
  static List<Choice> choices(List<?> list, String before, Reading reading) throws Json.Malformed {
    List<Choice> choices = new ArrayList<>();
    for (int i = 0; i < list.size(); i++) {
      String name = before + "[" + i + "]";
      choices.add(reading.of(i, of(name, name + ".", list.get(i))));
    }
    return choices;
  }
}
