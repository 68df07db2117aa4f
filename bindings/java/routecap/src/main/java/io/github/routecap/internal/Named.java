// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.internal;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/**
 * The library that the user names, by the property or else by the environment.
 *
 * @param what where it is named and how, for messages
 * @param path as it was given
 */
public record Named(String what, String path) {
  private static final String PROPERTY = "routecap.library";
  private static final String VARIABLE = "ROUTECAP_LIBRARY";

  /** What is named; null where nothing is. An empty name is none. */
  public static Named library() {
    String property = System.getProperty(PROPERTY, "");
    if (!property.isEmpty()) {
      return new Named("-D" + PROPERTY + "=" + property, property);
    }
    String variable = System.getenv(VARIABLE);
    return variable == null || variable.isEmpty() ? null : new Named(VARIABLE + "=" + variable, variable);
  }

  /** Whether the path leads to one file, whatever folder the process is in. */
  public boolean isAbsolute() {
    try {
      return Path.of(path).isAbsolute();
    } catch (InvalidPathException e) {
      return false;
    }
  }
}
