// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.examples.gateway;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** As much of JSON as the envelopes use. Values are maps, lists, strings, longs, doubles, booleans and null. */
final class Json {
  /** A text that is JSON already. */
  record Raw(String text) {}

  /** What is wrong with a text, and at which character. */
  static final class Malformed extends Exception {
    private static final long serialVersionUID = 1;

    Malformed(String message) {
      super(message);
    }
  }

  private static final int DEEPEST = 32;

  private final String text;
  private int at;

  private Json(String text) {
    this.text = text;
  }

  static Object read(String text) throws Malformed {
    Json json = new Json(text);
    Object value = json.value(0);
    json.blanks();
    if (json.at < text.length()) {
      throw json.malformed("something follows the JSON value");
    }
    return value;
  }

  @SuppressWarnings("unchecked")
  static Map<String, Object> readObject(String text) throws Malformed {
    if (read(text) instanceof Map<?, ?> map) {
      return (Map<String, Object>) map;
    }
    throw new Malformed("the JSON value is no object");
  }

  /** A member that is an object. */
  @SuppressWarnings("unchecked")
  static Map<String, Object> object(Map<String, Object> from, String name) throws Malformed {
    Object value = from.get(name);
    if (value instanceof Map<?, ?> map) {
      return (Map<String, Object>) map;
    }
    throw new Malformed("'" + name + "' is no object");
  }

  /** A member that is a whole number, or what holds where it is absent. */
  static long number(Map<String, Object> from, String name, long absent) throws Malformed {
    Object value = from.get(name);
    if (value == null) {
      return absent;
    }
    if (value instanceof Long number) {
      return number;
    }
    throw new Malformed("'" + name + "' is no whole number");
  }

  static boolean flag(Map<String, Object> from, String name) throws Malformed {
    Object value = from.get(name);
    if (value == null) {
      return false;
    }
    if (value instanceof Boolean flag) {
      return flag;
    }
    throw new Malformed("'" + name + "' is neither true nor false");
  }

  static long[] numbers(Map<String, Object> from, String name) throws Malformed {
    Object value = from.get(name);
    if (value == null) {
      return new long[0];
    }
    if (!(value instanceof List<?> list)) {
      throw new Malformed("'" + name + "' is no list");
    }
    long[] numbers = new long[list.size()];
    for (int i = 0; i < numbers.length; i++) {
      if (!(list.get(i) instanceof Long number)) {
        throw new Malformed("'" + name + "' is no list of whole numbers");
      }
      numbers[i] = number;
    }
    return numbers;
  }

  static String write(Object value) {
    StringBuilder into = new StringBuilder();
    write(into, value);
    return into.toString();
  }

  private static void write(StringBuilder into, Object value) {
    if (value instanceof Map<?, ?> map) {
      char before = '{';
      for (Map.Entry<?, ?> entry : map.entrySet()) {
        into.append(before);
        quote(into, (String) entry.getKey());
        into.append(':');
        write(into, entry.getValue());
        before = ',';
      }
      into.append(before == '{' ? "{}" : "}");
    } else if (value instanceof List<?> list) {
      char before = '[';
      for (Object element : list) {
        into.append(before);
        write(into, element);
        before = ',';
      }
      into.append(before == '[' ? "[]" : "]");
    } else if (value instanceof long[] numbers) {
      into.append('[');
      for (int i = 0; i < numbers.length; i++) {
        into.append(i == 0 ? "" : ",").append(numbers[i]);
      }
      into.append(']');
    } else if (value instanceof String string) {
      quote(into, string);
    } else if (value instanceof Raw raw) {
      into.append(raw.text);
    } else {
      into.append(value);
    }
  }

  private static void quote(StringBuilder into, String string) {
    into.append('"');
    for (int i = 0; i < string.length(); i++) {
      char letter = string.charAt(i);
      if (letter == '"' || letter == '\\') {
        into.append('\\').append(letter);
      } else if (letter < ' ') {
        into.append(String.format("\\u%04x", (int) letter));
      } else {
        into.append(letter);
      }
    }
    into.append('"');
  }

  private Malformed malformed(String what) {
    return new Malformed(at >= text.length() ? "the JSON ends too early, at character " + text.length() : what + " at character " + at);
  }

  private void blanks() {
    while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
  }

  private char next() throws Malformed {
    blanks();
    if (at >= text.length()) {
      throw malformed("");
    }
    return text.charAt(at);
  }

  private void expect(char wanted) throws Malformed {
    if (next() != wanted) {
      throw malformed("'" + wanted + "' is lacking");
    }
    at++;
  }

  private Object value(int depth) throws Malformed {
    if (depth > DEEPEST) {
      throw malformed("JSON more than " + DEEPEST + " deep");
    }
    char first = next();
    switch (first) {
      case '{':
        return map(depth);
      case '[':
        return list(depth);
      case '"':
        return string();
      case 't':
        return word("true", true);
      case 'f':
        return word("false", false);
      case 'n':
        return word("null", null);
      default:
        return number();
    }
  }

  private Map<String, Object> map(int depth) throws Malformed {
    Map<String, Object> map = new LinkedHashMap<>();
    at++;
    if (next() == '}') {
      at++;
      return map;
    }
    while (true) {
      if (next() != '"') {
        throw malformed("a name is lacking");
      }
      String name = string();
      expect(':');
      map.put(name, value(depth + 1));
      if (next() == '}') {
        at++;
        return map;
      }
      expect(',');
    }
  }

  private List<Object> list(int depth) throws Malformed {
    List<Object> list = new ArrayList<>();
    at++;
    if (next() == ']') {
      at++;
      return list;
    }
    while (true) {
      list.add(value(depth + 1));
      if (next() == ']') {
        at++;
        return list;
      }
      expect(',');
    }
  }

  private Object word(String word, Object value) throws Malformed {
    if (!text.startsWith(word, at)) {
      if (word.startsWith(text.substring(at))) {
        at = text.length();
      }
      throw malformed("no JSON value");
    }
    at += word.length();
    return value;
  }

  private Object number() throws Malformed {
    int begin = at;
    boolean whole = true;
    while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
      whole &= ".eE".indexOf(text.charAt(at)) < 0;
      at++;
    }
    String digits = text.substring(begin, at);
    try {
      // An if and not a conditional, which would make a double of both.
      if (whole) {
        return Long.parseLong(digits);
      }
      return Double.parseDouble(digits);
    } catch (NumberFormatException e) {
      if (at < text.length()) {
        at = begin;
      }
      throw malformed("no JSON value");
    }
  }

  private String string() throws Malformed {
    StringBuilder string = new StringBuilder();
    for (at++; at < text.length(); at++) {
      char letter = text.charAt(at);
      if (letter == '"') {
        at++;
        return string.toString();
      }
      if (letter != '\\') {
        string.append(letter);
        continue;
      }
      at++;
      if (at >= text.length()) {
        break;
      }
      char escaped = text.charAt(at);
      int plain = "\"\\/bfnrt".indexOf(escaped);
      if (plain >= 0) {
        string.append("\"\\/\b\f\n\r\t".charAt(plain));
      } else if (escaped == 'u' && at + 4 < text.length()) {
        try {
          string.append((char) Integer.parseInt(text.substring(at + 1, at + 5), 16));
        } catch (NumberFormatException e) {
          throw malformed("a bad escape");
        }
        at += 4;
      } else {
        throw malformed("a bad escape");
      }
    }
    throw malformed("");
  }
}
