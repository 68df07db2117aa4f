// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import static io.github.routecap.Given.given;

import io.github.routecap.internal.Native;
import io.github.routecap.internal.Scratch;

/**
 * Packs: sequences one behind the other, each padded to a multiple (R43). What is packed is anything that has an item for every token.
 */
public final class Pack {
  private Pack() {}

  /**
   * Where each sequence begins when each is padded to a multiple: a trainer's {@code cu_seqlens}.
   *
   * @param lengths tokens of every sequence
   * @param multiple what each is padded to; {@link Partition#multiple()} is what a partition needs
   * @return one more than there are sequences: 0 first, and last the pack's tokens
   */
  public static long[] offsets(long[] lengths, long multiple) {
    long[] offsets = new long[given(lengths, "lengths").length + 1];
    try (Scratch scratch = Scratch.take()) {
      int status =
          Native.api().rcap_pack_offsets(Array.in(Array.of(given(lengths, "lengths"))), multiple, Array.out(Array.of(offsets), "offsets"), scratch.error());
      Failure.check(status, scratch);
    }
    return offsets;
  }

  /**
   * Copies sequences that stand one behind the other to their places in a pack and writes padding behind each.
   *
   * @param lengths tokens of every sequence
   * @param offsets where each begins in the pack, and last the pack's tokens
   * @param itemBytes bytes of an item
   * @param pad one item of padding, or null for zero bytes
   * @param tokens items of all sequences without padding
   * @param packed receives the pack's items
   */
  public static void pad(long[] lengths, long[] offsets, long itemBytes, Array pad, Array tokens, Array packed) {
    try (Scratch scratch = Scratch.take()) {
      int status =
          Native.api()
              .rcap_pack_pad(
                  Array.in(Array.of(given(lengths, "lengths"))),
                  Array.in(Array.of(given(offsets, "offsets"))),
                  itemBytes,
                  Array.in(given(pad, "pad")),
                  Array.in(given(tokens, "tokens")),
                  Array.out(given(packed, "packed"), "the pack's items"),
                  scratch.error());
      Failure.check(status, scratch);
    }
  }

  /**
   * Copies the sequences out of a pack, one behind the other, without their padding: the inverse of {@link #pad}.
   *
   * @param lengths tokens of every sequence
   * @param offsets where each begins in the pack, and last the pack's tokens
   * @param itemBytes bytes of an item
   * @param packed the pack's items
   * @param tokens receives the items of all sequences
   */
  public static void strip(long[] lengths, long[] offsets, long itemBytes, Array packed, Array tokens) {
    try (Scratch scratch = Scratch.take()) {
      int status =
          Native.api()
              .rcap_pack_strip(
                  Array.in(Array.of(given(lengths, "lengths"))),
                  Array.in(Array.of(given(offsets, "offsets"))),
                  itemBytes,
                  Array.in(given(packed, "packed")),
                  Array.out(given(tokens, "tokens"), "the sequences' items"),
                  scratch.error());
      Failure.check(status, scratch);
    }
  }
}
