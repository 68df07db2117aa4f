// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import static io.github.routecap.Given.given;

import io.github.routecap.internal.Layouts;
import io.github.routecap.internal.Native;
import io.github.routecap.internal.Scratch;

/**
 * How a pack of sequences is dealt out, and which rank this is: every sequence over context parallelism, and each rank's tokens, one after the other,
 * over sequence parallelism in equal contiguous slices (R43).
 *
 * @param split how context parallelism deals out a sequence
 * @param cpSize context-parallel ranks
 * @param cpRank this one
 * @param spSize sequence-parallel (tensor-parallel) ranks
 * @param spRank this one
 */
public record Partition(Split split, int cpSize, int cpRank, int spSize, int spRank) {
  /**
   * A partition. The numbers are the library's to judge, at each call.
   *
   * @param split how context parallelism deals out a sequence; not null
   * @param cpSize context-parallel ranks
   * @param cpRank this one
   * @param spSize sequence-parallel (tensor-parallel) ranks
   * @param spRank this one
   */
  public Partition {
    given(split, "split");
  }

  private void write(Scratch scratch) {
    scratch
        .struct(Layouts.PartitionLayout.SIZE)
        .put(Layouts.PartitionLayout.SPLIT, split.value())
        .put(Layouts.PartitionLayout.CP_SIZE, cpSize)
        .put(Layouts.PartitionLayout.CP_RANK, cpRank)
        .put(Layouts.PartitionLayout.SP_SIZE, spSize)
        .put(Layouts.PartitionLayout.SP_RANK, spRank);
  }

  /**
   * What every sequence of a pack must be a multiple of. Ranks are not looked at.
   *
   * @return the multiple
   */
  public long multiple() {
    try (Scratch scratch = Scratch.take()) {
      write(scratch);
      Failure.check(Native.api().rcap_partition_multiple(scratch.address(), scratch.out(0), scratch.error()), scratch);
      return scratch.outLong(0);
    }
  }

  /**
   * Tokens of a rank, the same for all.
   *
   * @param offsets where each sequence begins in the pack, and last the pack's tokens
   * @return the number
   */
  public long tokens(long... offsets) {
    try (Scratch scratch = Scratch.take()) {
      write(scratch);
      int status = Native.api().rcap_partition_tokens(scratch.address(), Array.in(Array.of(given(offsets, "offsets"))), scratch.out(0), scratch.error());
      Failure.check(status, scratch);
      return scratch.outLong(0);
    }
  }

  /**
   * Where in the pack each of this rank's tokens stands, in the rank's order.
   *
   * @param offsets where each sequence begins in the pack, and last the pack's tokens
   * @return the indices
   */
  public long[] indices(long... offsets) {
    long[] indices = new long[Math.toIntExact(tokens(offsets))];
    try (Scratch scratch = Scratch.take()) {
      write(scratch);
      int status =
          Native.api()
              .rcap_partition_indices(scratch.address(), Array.in(Array.of(given(offsets, "offsets"))), Array.out(Array.of(indices), "indices"), scratch.error());
      Failure.check(status, scratch);
    }
    return indices;
  }

  /**
   * Copies this rank's part out of a pack. Works on anything that has an item for every token.
   *
   * @param offsets where each sequence begins in the pack, and last the pack's tokens
   * @param itemBytes bytes of an item
   * @param whole the pack's items
   * @param part receives the rank's items
   */
  public void take(long[] offsets, long itemBytes, Array whole, Array part) {
    try (Scratch scratch = Scratch.take()) {
      write(scratch);
      int status =
          Native.api()
              .rcap_partition_split(
                  scratch.address(), Array.in(Array.of(given(offsets, "offsets"))), itemBytes, Array.in(given(whole, "whole")), Array.out(given(part, "part"), "a rank's items"), scratch.error());
      Failure.check(status, scratch);
    }
  }

  /**
   * Puts the parts of all ranks, one behind the other as all-gathers over context and sequence parallelism give them, together again: the inverse of
   * {@link #take}. Ranks are not looked at.
   *
   * @param offsets where each sequence begins in the pack, and last the pack's tokens
   * @param itemBytes bytes of an item
   * @param parts the items of all ranks
   * @param whole receives the pack's items
   */
  public void gather(long[] offsets, long itemBytes, Array parts, Array whole) {
    try (Scratch scratch = Scratch.take()) {
      write(scratch);
      int status =
          Native.api()
              .rcap_partition_gather(
                  scratch.address(), Array.in(Array.of(given(offsets, "offsets"))), itemBytes, Array.in(given(parts, "parts")), Array.out(given(whole, "whole"), "the pack's items"), scratch.error());
      Failure.check(status, scratch);
    }
  }
}
