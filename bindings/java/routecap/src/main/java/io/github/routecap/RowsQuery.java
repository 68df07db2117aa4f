// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import static io.github.routecap.Given.given;

import io.github.routecap.internal.Native;
import io.github.routecap.internal.Scratch;

/**
 * How the data-parallel ranks share a forward, for {@link #layout()}.
 */
public final class RowsQuery {
  RowsKind kind = RowsKind.LOCAL;
  long[] tokensPerRank;
  long rank;
  long attentionTp = 1;
  long attentionTpRank;
  long paddedTokensPerRank;

  /** With nothing given yet. */
  public RowsQuery() {}

  /**
   * How the ranks' rows stand in the device buffer (R16).
   *
   * @param kind the value
   * @return this
   */
  public RowsQuery kind(RowsKind kind) {
    this.kind = given(kind, "kind");
    return this;
  }

  /**
   * Tokens of every data-parallel rank.
   *
   * @param tokensPerRank the value
   * @return this
   */
  public RowsQuery tokensPerRank(long... tokensPerRank) {
    this.tokensPerRank = tokensPerRank == null ? null : tokensPerRank.clone();
    return this;
  }

  /**
   * This data-parallel rank, from 0.
   *
   * @param rank the value
   * @return this
   */
  public RowsQuery rank(long rank) {
    this.rank = rank;
    return this;
  }

  /**
   * Attention tensor parallel size; 1 where it is not given.
   *
   * @param attentionTp the value
   * @return this
   */
  public RowsQuery attentionTp(long attentionTp) {
    this.attentionTp = attentionTp;
    return this;
  }

  /**
   * This rank in it.
   *
   * @param attentionTpRank the value
   * @return this
   */
  public RowsQuery attentionTpRank(long attentionTpRank) {
    this.attentionTpRank = attentionTpRank;
    return this;
  }

  /**
   * Rows of each rank's share, with {@link RowsKind#PADDED}.
   *
   * @param paddedTokensPerRank the value
   * @return this
   */
  public RowsQuery paddedTokensPerRank(long paddedTokensPerRank) {
    this.paddedTokensPerRank = paddedTokensPerRank;
    return this;
  }

  /**
   * Where this rank's rows stand in the device buffer, for the layouts that engines use (R16).
   *
   * @return first row and number of rows
   * @throws RouteCapException with {@link Code#OUT_OF_RANGE} for a rank, count or size outside its range
   */
  public Rows layout() {
    try (Scratch scratch = Scratch.take()) {
      int status =
          Native.api()
              .rcap_layout_rows(
                  kind.value(),
                  tokensPerRank == null ? null : Array.in(Array.of(tokensPerRank)),
                  rank,
                  attentionTp,
                  attentionTpRank,
                  paddedTokensPerRank,
                  scratch.out(0),
                  scratch.out(1),
                  scratch.error());
      Failure.check(status, scratch);
      return new Rows(scratch.outLong(0), scratch.outLong(1));
    }
  }

  /**
   * Rows of the device buffer.
   *
   * @param first the first one
   * @param count how many
   */
  public record Rows(long first, long count) {}
}
