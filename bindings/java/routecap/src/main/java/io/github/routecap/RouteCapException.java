// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import static io.github.routecap.Given.given;

import java.io.Serial;

/** A call that was refused or failed. Its {@link #code()} says what kind of failure it is, its message what was refused, with which values. */
public class RouteCapException extends RuntimeException {
  @Serial private static final long serialVersionUID = 1;

  /** What kind of failure it is. */
  private final Code code;

  /** The sequence that is lacking, or 0. */
  private final long detail;

  /**
   * A failure.
   *
   * @param code what kind of failure it is
   * @param text one line: what was refused, with which value, against which limit
   */
  public RouteCapException(Code code, String text) {
    this(code, text, 0);
  }

  RouteCapException(Code code, String text, long detail) {
    super(message(code, text, detail));
    this.code = code;
    this.detail = detail;
  }

  private static String message(Code code, String text, long detail) {
    given(code, "code");
    if (!given(text, "text").isEmpty()) {
      return code + ": " + text;
    }
    return detail == 0 ? code.toString() : code + ": sequence " + detail + " is lacking";
  }

  /**
   * What kind of failure it is.
   *
   * @return never {@link Code#OK}
   */
  public Code code() {
    return code;
  }

  /**
   * The sequence that is lacking, with {@link Code#NOT_READY} of a read or of {@link Capturer#slotInfo(long)}.
   *
   * @return the number, or 0
   */
  public long detail() {
    return detail;
  }
}
