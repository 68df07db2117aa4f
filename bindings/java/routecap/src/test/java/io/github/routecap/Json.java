// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A JSON text as maps, lists, strings, longs and booleans, for the tests: what api.json holds. */
final class Json {
  private final String text;
  private int at;

  private Json(String text) {
    this.text = text;
  }

  static Object parse(String text) {
    return new Json(text).value();
  }

  @SuppressWarnings("unchecked")
  static List<Map<String, Object>> objects(Object list) {
    return (List<Map<String, Object>>) list;
  }

  private char next() {
    while (Character.isWhitespace(text.charAt(at))) {
      at++;
    }
    return text.charAt(at);
  }

  private Object value() {
    switch (next()) {
      case '{':
        Map<String, Object> object = new LinkedHashMap<>();
        for (at++; next() != '}'; ) {
          if (next() == ',') {
            at++;
            next();
          }
          String name = string();
          next();
          at++;
          object.put(name, value());
        }
        at++;
        return object;
      case '[':
        List<Object> list = new ArrayList<>();
        for (at++; next() != ']'; ) {
          if (next() == ',') {
            at++;
          }
          list.add(value());
        }
        at++;
        return list;
      case '"':
        return string();
      default:
        int from = at;
        while (",]} \n".indexOf(text.charAt(at)) < 0) {
          at++;
        }
        String word = text.substring(from, at);
        return word.equals("true") || word.equals("false") ? (Object) Boolean.valueOf(word) : (Object) Long.valueOf(word);
    }
  }

  private String string() {
    StringBuilder string = new StringBuilder();
    for (at++; text.charAt(at) != '"'; at++) {
      char c = text.charAt(at);
      if (c == '\\') {
        c = text.charAt(++at);
        c = c == 'n' ? '\n' : c;
      }
      string.append(c);
    }
    at++;
    return string.toString();
  }
}
