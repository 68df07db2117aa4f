// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.internal;

import java.util.Locale;

/** The machine's operating system and architecture, in the words of the natives' classifiers. */
public final class Platform {
  private Platform() {}

  /** For example {@code linux-x86_64}. */
  public static String name() {
    String system = System.getProperty("os.name", "").toLowerCase(Locale.ROOT);
    String machine = System.getProperty("os.arch", "").toLowerCase(Locale.ROOT);
    switch (machine) {
      case "amd64":
      case "x86-64":
        machine = "x86_64";
        break;
      case "arm64":
        machine = "aarch64";
        break;
      default:
        break;
    }
    return system.replace(' ', '_') + "-" + machine;
  }
}
