// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import io.github.routecap.internal.Scratch;

/** What the answers of the raw layer mean. */
final class Failure {
  private Failure() {}

  /** Throws what the call says of its failure. Predicates answer 0 and above. */
  static void check(int status, Scratch scratch) {
    if (status < 0) {
      throw of(status, scratch);
    }
  }

  static RouteCapException of(int status, Scratch scratch) {
    Code code;
    try {
      code = Code.of(status);
    } catch (RouteCapException unknown) {
      return new RouteCapException(Code.INTERNAL, "status " + status + ": " + scratch.errorText());
    }
    boolean answer = code == Code.BUSY || code == Code.TIMEOUT || code == Code.NOT_READY;
    return new RouteCapException(code, answer ? "" : scratch.errorText(), code == Code.NOT_READY ? scratch.errorDetail() : 0);
  }

  static RouteCapException closed(String what) {
    return new RouteCapException(Code.CLOSED, "the " + what + " was closed");
  }
}
