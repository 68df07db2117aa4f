// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.examples.gateway;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** As much of JSON as the envelopes use. Values are maps, lists, strings, longs, other numbers as they are written, booleans and null. */
final class Json {
  /** A text that is JSON already: also a number that is no long. */
  record Raw(String text) {}

  /** What is wrong with a text, and at which character. */
  static final class Malformed extends Exception {
    private static final long serialVersionUID = 1;

    Malformed(String message) {
      super(message);
    }
  }

  private static final int DEEPEST = 32;
  private static final Pattern HEX = Pattern.compile("[0-9a-fA-F]{4}");

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

  /** A text as one JSON value. */
  static Object read(String what, byte[] text) throws Malformed {
    ByteBuffer bytes = ByteBuffer.wrap(text);
    try {
      return read(StandardCharsets.UTF_8.newDecoder().decode(bytes).toString());
    } catch (CharacterCodingException e) {
      throw new Malformed("the " + what + " is no UTF-8 at byte " + bytes.position());
    } catch (Malformed e) {
      throw new Malformed("the " + what + " is no JSON: " + e.getMessage());
    }
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

  private static final Pattern NUMBER = Pattern.compile("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?");

  /** A long where it is a whole number that is one, and else the digits themselves: nothing is lost of a number that is only passed on or shown. */
  private Object number() throws Malformed {
    int begin = at;
    boolean whole = true;
    while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
      whole &= ".eE".indexOf(text.charAt(at)) < 0;
      at++;
    }
    String digits = text.substring(begin, at);
    if (!NUMBER.matcher(digits).matches()) {
      if (at < text.length()) {
        at = begin;
      }
      throw malformed(digits.isEmpty() ? "no JSON value" : "no JSON number");
    }
    try {
      if (whole) {
        return Long.parseLong(digits);
      }
    } catch (NumberFormatException tooLarge) {
      return new Raw(digits);
    }
    return new Raw(digits);
  }

  private String string() throws Malformed {
    StringBuilder string = new StringBuilder();
    for (at++; at < text.length(); at++) {
      char letter = text.charAt(at);
      if (letter == '"') {
        at++;
        return string.toString();
      }
      if (letter < ' ') {
        throw malformed("a control character in a text");
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
        String digits = text.substring(at + 1, at + 5);
        if (!HEX.matcher(digits).matches()) {
          throw malformed("a bad escape");
        }
        string.append((char) Integer.parseInt(digits, 16));
        at += 4;
      } else {
        throw malformed("a bad escape");
      }
    }
    throw malformed("");
  }
}
