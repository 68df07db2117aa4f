// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import static io.github.routecap.Given.given;

import java.io.Serial;
import java.util.List;

/** No native library could be loaded. The message has a line for everything that was tried, and every later use of this package says the same. */
public final class LibraryNotFoundException extends RouteCapException {
  @Serial private static final long serialVersionUID = 1;

  /** What was tried. */
  private final transient List<String> attempts;

  /**
   * For what was tried.
   *
   * @param attempts one line for every try: what, and why it failed
   */
  public LibraryNotFoundException(List<String> attempts) {
    super(Code.NOT_FOUND, "the native library could not be loaded; tried:\n  " + String.join("\n  ", given(attempts, "attempts")));
    this.attempts = List.copyOf(attempts);
  }

  /**
   * What was tried.
   *
   * @return one line for every try: what, and why it failed
   */
  public List<String> attempts() {
    return attempts == null ? List.of() : attempts;
  }
}
