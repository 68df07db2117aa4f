// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.examples.gateway;

/**
 * A request in nobody's form.
 *
 * @param start token position of the first row that is wanted
 * @param fault asks a stand-in engine to answer wrongly, or null; a real one knows no such thing
 */
record Call(long[] prompt, int maxTokens, int choices, boolean stream, long start, String fault) {
  private static final int LONGEST_PROMPT = 1 << 15;
  private static final int MOST_TOKENS = 1 << 12;
  private static final int MOST_CHOICES = 16;

  /** The call, with one choice where none was named, if it can be served. */
  static Call checked(long[] prompt, long maxTokens, long choices, boolean stream, long start, Object fault) throws Json.Malformed {
    if (prompt.length == 0 || prompt.length > LONGEST_PROMPT) {
      throw new Json.Malformed("the prompt has " + prompt.length + " tokens, allowed are 1 .. " + LONGEST_PROMPT);
    }
    if (maxTokens < 1 || maxTokens > MOST_TOKENS) {
      throw new Json.Malformed(maxTokens + " tokens are asked for, allowed are 1 .. " + MOST_TOKENS);
    }
    if (choices < 0 || choices > MOST_CHOICES) {
      throw new Json.Malformed(choices + " choices are asked for, allowed are 1 .. " + MOST_CHOICES);
    }
    if (start < 0 || start > prompt.length) {
      throw new Json.Malformed("rows are asked for from " + start + ", allowed are 0 .. " + prompt.length);
    }
    return new Call(prompt, (int) maxTokens, (int) Math.max(1, choices), stream, start, fault instanceof String text ? text : null);
  }

  Call withStart(long from) {
    return new Call(prompt, maxTokens, choices, stream, from, fault);
  }
}
