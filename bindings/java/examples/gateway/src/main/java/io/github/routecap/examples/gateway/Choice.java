// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.examples.gateway;

/** A part of an answer: output tokens and the rows that came with them. */
final class Choice {
  final int index;
  final long[] tokens;

  /** The rows as a JSON value, or null. */
  String routing;

  long start;

  Choice(int index, long[] tokens, String routing, long start) {
    this.index = index;
    this.tokens = tokens;
    this.routing = routing;
    this.start = start;
  }
}
