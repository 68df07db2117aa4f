// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.internal;

import java.util.ArrayList;
import java.util.List;

/** What was tried to load the library, and why each try failed. */
public final class Attempts {
  private final List<String> lines = new ArrayList<>();

  private static final String NAMED = "; nothing else is tried, since this is named";

  /** Notes that what the user named cannot be taken. */
  public void named(Named named, Throwable why) {
    failed(named.what(), why, NAMED);
  }

  /** Notes that what the user named cannot be taken. */
  public void named(Named named, String why) {
    add(named.what() + ": " + why + NAMED);
  }

  /** Notes a try that failed. */
  public void failed(String what, Throwable why) {
    failed(what, why, "");
  }

  private void failed(String what, Throwable why, String more) {
    String reason = why.getMessage() == null ? why.toString() : why.getMessage();
    if (reason.contains("already loaded in another classloader")) {
      reason += "; a process has one class loader for it: put routecap where every part of the program shares it, not into each part";
    }
    if (why instanceof IllegalCallerException || reason.contains("enable-native-access")) {
      reason += "; start Java with --enable-native-access=io.github.routecap (and io.github.routecap.ffm), or ALL-UNNAMED on the class path";
    }
    add(what + ": " + reason + more);
  }

  /** Notes a place that was not tried, and why. */
  public void passed(String what, String why) {
    add(what + ": " + why);
  }

  /** What two ways to call the library try alike is said once. */
  private void add(String line) {
    if (!lines.contains(line)) {
      lines.add(line);
    }
  }

  /** One line for every try, in order. */
  public List<String> lines() {
    return List.copyOf(lines);
  }
}
