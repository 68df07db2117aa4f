// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.examples.gateway;

import java.util.List;

/**
 * A request in nobody's form.
 *
 * @param start token position of the first row that is wanted
 * @param fault asks a stand-in engine to answer wrongly, or is empty; a real one knows no such thing
 */
record Call(long[] prompt, int maxTokens, int choices, boolean stream, long start, String fault) {
  static final int LONGEST_PROMPT = 1 << 15;
  static final int MOST_TOKENS = 1 << 12;
  static final int MOST_CHOICES = 16;

  /** What a stand-in engine can be asked to do wrong. */
  private static final List<String> FAULTS = List.of("truncated", "base64", "huge", "absent", "body");

  // What an answer may have in bytes follows from what was asked for: an id is at most an int64 in base64, a token has its number and what stands around
  // it, and an envelope is short.
  private static final int BYTES_PER_ID = 11;
  private static final int BYTES_PER_TOKEN = 512;
  private static final int BYTES_AROUND = 64 << 10;

  /** Names of what a request asks in a form, and the output tokens where none are asked for, as the server has it. */
  record Fields(String prompt, String sampling, String maxTokens, String start, int otherwise) {}

  /** Reads a request and refuses what no server would do. Fields that it does not know are the servers' business. */
  static Call read(byte[] body, Fields fields) throws Json.Malformed {
    Members read = Members.of("the request", "", Json.read("request", body));
    Members sampling = fields.sampling == null ? read : read.object(fields.sampling);
    long[] prompt = read.tokens(fields.prompt, 1, LONGEST_PROMPT);
    int maxTokens = (int) sampling.whole(fields.maxTokens, 1, MOST_TOKENS, fields.otherwise);
    int choices = (int) sampling.whole("n", 1, MOST_CHOICES, 1);
    boolean stream = read.flag("stream");
    long start = read.whole(fields.start, 0, prompt.length, 0);
    read.flag("return_routed_experts");
    String fault = read.text("fault");
    if (!fault.isEmpty() && !FAULTS.contains(fault)) {
      throw new Json.Malformed("fault is " + Members.shown(fault) + ", allowed are " + String.join(", ", FAULTS));
    }
    return new Call(prompt, maxTokens, choices, stream, start, fault);
  }

  /** How many rows a choice's answer has. */
  long rows() {
    return prompt.length - start + maxTokens - 1;
  }

  /** The most bytes that an answer can have, whole or as a stream. No server makes the gateway hold more. */
  long longestAnswer() {
    return BYTES_AROUND + choices * (rows() * Rows.LAYERS * Rows.TOP_K * BYTES_PER_ID + (long) maxTokens * BYTES_PER_TOKEN);
  }

  Call withStart(long from) {
    return new Call(prompt, maxTokens, choices, stream, from, fault);
  }
}
