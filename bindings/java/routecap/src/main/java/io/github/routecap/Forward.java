// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import static io.github.routecap.Given.given;

import io.github.routecap.internal.Layouts.ForwardLayout;
import io.github.routecap.internal.Scratch;

/**
 * What {@link Capturer#endForward(Forward)} stages.
 * 
 * <p>Commit entry (g, j), g &lt; groups, j &lt; groupWidth: forward row {@code rows[g * rowsGroupStride + j]} goes to slot
 * {@code slots[g * slotsGroupStride + j]}; -1 in either means nothing. Rows count from the forward's first row. What stands between two groups is not
 * read.
 */
public final class Forward {
  long firstRow;
  long tokens;
  Acceptance acceptance = Acceptance.ALL;
  Array slots;
  Array rows;
  Array tags;
  long groups;
  long groupWidth;
  long slotsGroupStride;
  long rowsGroupStride;
  long step;
  long weightVersion;
  long stream;

  /** With nothing given yet. */
  public Forward() {}

  /**
   * Row of the device buffer where this rank's rows begin ({@link RowsQuery#layout()}).
   *
   * @param firstRow the value
   * @return this
   */
  public Forward firstRow(long firstRow) {
    this.firstRow = firstRow;
    return this;
  }

  /**
   * This rank's rows; 0 is an idle rank and legal (R16).
   *
   * @param tokens the value
   * @return this
   */
  public Forward tokens(long tokens) {
    this.tokens = tokens;
    return this;
  }

  /**
   * Which rows are committed; {@link Acceptance#ALL} where it is not given.
   *
   * @param acceptance the value
   * @return this
   */
  public Forward acceptance(Acceptance acceptance) {
    this.acceptance = given(acceptance, "acceptance");
    return this;
  }

  /**
   * The slot of every entry, int32 or int64. Not needed where the capturer stores nothing, with 0 tokens, or with
   * {@link Acceptance#LATER}.
   *
   * @param slots the value
   * @return this
   */
  public Forward slots(Array slots) {
    this.slots = slots;
    return this;
  }

  /**
   * The forward row of every entry, int32 or int64, with {@link Acceptance#GIVEN} only.
   *
   * @param rows the value
   * @return this
   */
  public Forward rows(Array rows) {
    this.rows = rows;
    return this;
  }

  /**
   * The tag of every row of the forward, int64, where tags are kept.
   *
   * @param tags the value
   * @return this
   */
  public Forward tags(Array tags) {
    this.tags = tags;
    return this;
  }

  /**
   * Groups of entries; 0 is one.
   *
   * @param groups the value
   * @return this
   */
  public Forward groups(long groups) {
    this.groups = groups;
    return this;
  }

  /**
   * Entries of a group; 0 with one group is all of them.
   *
   * @param groupWidth the value
   * @return this
   */
  public Forward groupWidth(long groupWidth) {
    this.groupWidth = groupWidth;
    return this;
  }

  /**
   * Elements between the starts of two groups of slots; 0 is the group width.
   *
   * @param slotsGroupStride the value
   * @return this
   */
  public Forward slotsGroupStride(long slotsGroupStride) {
    this.slotsGroupStride = slotsGroupStride;
    return this;
  }

  /**
   * Elements between the starts of two groups of rows; 0 is the group width.
   *
   * @param rowsGroupStride the value
   * @return this
   */
  public Forward rowsGroupStride(long rowsGroupStride) {
    this.rowsGroupStride = rowsGroupStride;
    return this;
  }

  /**
   * The engine's step number, a label only (R10).
   *
   * @param step the value
   * @return this
   */
  public Forward step(long step) {
    this.step = step;
    return this;
  }

  /**
   * Version of the model's weights in this forward, kept with every row.
   *
   * @param weightVersion the value
   * @return this
   */
  public Forward weightVersion(long weightVersion) {
    this.weightVersion = weightVersion;
    return this;
  }

  /**
   * The backend's stream handle that the work is queued on; 0 is its default stream.
   *
   * @param stream the value
   * @return this
   */
  public Forward stream(long stream) {
    this.stream = stream;
    return this;
  }

  void write(Scratch scratch) {
    scratch
        .struct(ForwardLayout.SIZE)
        .put(ForwardLayout.FIRST_ROW, firstRow)
        .put(ForwardLayout.TOKENS, tokens)
        .put(ForwardLayout.ACCEPTANCE, acceptance.value())
        .put(ForwardLayout.SLOTS_DTYPE, Array.dtypeOr(slots, DType.INT64))
        .put(ForwardLayout.ROWS_DTYPE, Array.dtypeOr(rows, DType.INT64))
        .put(ForwardLayout.SLOTS_MEMORY, Array.memoryOf(slots))
        .put(ForwardLayout.ROWS_MEMORY, Array.memoryOf(rows))
        .put(ForwardLayout.TAGS_MEMORY, Array.memoryOf(tags))
        .put(ForwardLayout.GROUPS, groups)
        .put(ForwardLayout.GROUP_WIDTH, groupWidth)
        .put(ForwardLayout.SLOTS_GROUP_STRIDE, slotsGroupStride)
        .put(ForwardLayout.ROWS_GROUP_STRIDE, rowsGroupStride)
        .put(ForwardLayout.STEP, step)
        .put(ForwardLayout.WEIGHT_VERSION, weightVersion);
  }
}
