// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import static io.github.routecap.Given.given;

import io.github.routecap.internal.Layouts.ReadLayout;
import io.github.routecap.internal.Scratch;
import java.util.Set;

/**
 * Which rows of a request are wanted.
 */
public final class Read {
  Array slots;
  SlotUnit unit = SlotUnit.SLOT;
  Set<ReadFlag> flags = Set.of();
  long tokens;
  long start;
  long afterSequence;
  Array tags;

  /** With nothing given yet. */
  public Read() {}

  /**
   * The slot of token 0 .. tokens - 2, and of token tokens - 1 if wanted, int32 or int64; -1 reads as missing (R3). With
   * {@link SlotUnit#PAGE}, the request's pages. Host memory.
   *
   * @param slots the value
   * @return this
   */
  public Read slots(Array slots) {
    this.slots = slots;
    return this;
  }

  /**
   * How slots are named; {@link SlotUnit#SLOT} where it is not given.
   *
   * @param unit the value
   * @return this
   */
  public Read unit(SlotUnit unit) {
    this.unit = given(unit, "unit");
    return this;
  }

  /**
   * Options of the read.
   *
   * @param flags the value
   * @return this
   */
  public Read flags(Set<ReadFlag> flags) {
    this.flags = Given.flags(flags);
    return this;
  }

  /**
   * Tokens of the request, prompt and generated: rows 0 .. tokens - 2 exist (R1).
   *
   * @param tokens the value
   * @return this
   */
  public Read tokens(long tokens) {
    this.tokens = tokens;
    return this;
  }

  /**
   * First token wanted, 0 .. tokens (R3).
   *
   * @param start the value
   * @return this
   */
  public Read start(long start) {
    this.start = start;
    return this;
  }

  /**
   * Number of the request's last forward: the read needs it, and earlier ones that may change these slots, to be settled (R36).
   *
   * @param afterSequence the value
   * @return this
   */
  public Read afterSequence(long afterSequence) {
    this.afterSequence = afterSequence;
    return this;
  }

  /**
   * Where tags are kept: the tag that each token's row must have, int64; not given, tags are not compared, and
   * without elements they are refused where there are rows (R8).
   *
   * @param tags the value
   * @return this
   */
  public Read tags(Array tags) {
    this.tags = tags;
    return this;
  }

  void write(Scratch scratch, long timeoutNanos) {
    if (slots != null && slots.memory() != Memory.HOST) {
      throw new IllegalArgumentException("the slots of a read lie in host memory");
    }
    scratch
        .struct(ReadLayout.SIZE)
        .put(ReadLayout.SLOTS_DTYPE, Array.dtypeOr(slots, DType.INT64))
        .put(ReadLayout.UNIT, unit.value())
        .put(ReadLayout.FLAGS, ReadFlag.bits(flags))
        .put(ReadLayout.TOKENS, tokens)
        .put(ReadLayout.START, start)
        .put(ReadLayout.AFTER_SEQUENCE, afterSequence)
        .put(ReadLayout.TIMEOUT_NS, timeoutNanos);
  }
}
