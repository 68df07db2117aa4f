// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import io.github.routecap.internal.Layouts.AcceptLayout;
import io.github.routecap.internal.Scratch;

/**
 * What {@link Output#accept(Accept)} commits; entries are as in {@link Forward}.
 */
public final class Accept {
  Array rows;
  Array slots;
  long groups;
  long groupWidth;
  long slotsGroupStride;
  long rowsGroupStride;
  long stream;

  /** With nothing given yet. */
  public Accept() {}

  /**
   * The forward row of every entry, int32 or int64; none commits nothing.
   *
   * @param rows the value
   * @return this
   */
  public Accept rows(Array rows) {
    this.rows = rows;
    return this;
  }

  /**
   * The slot of every entry; not given, each row's slot as it came with the forward.
   *
   * @param slots the value
   * @return this
   */
  public Accept slots(Array slots) {
    this.slots = slots;
    return this;
  }

  /**
   * Groups of entries; 0 is one.
   *
   * @param groups the value
   * @return this
   */
  public Accept groups(long groups) {
    this.groups = groups;
    return this;
  }

  /**
   * Entries of a group; 0 with one group is all of them.
   *
   * @param groupWidth the value
   * @return this
   */
  public Accept groupWidth(long groupWidth) {
    this.groupWidth = groupWidth;
    return this;
  }

  /**
   * Elements between the starts of two groups of slots; 0 is the group width.
   *
   * @param slotsGroupStride the value
   * @return this
   */
  public Accept slotsGroupStride(long slotsGroupStride) {
    this.slotsGroupStride = slotsGroupStride;
    return this;
  }

  /**
   * Elements between the starts of two groups of rows; 0 is the group width.
   *
   * @param rowsGroupStride the value
   * @return this
   */
  public Accept rowsGroupStride(long rowsGroupStride) {
    this.rowsGroupStride = rowsGroupStride;
    return this;
  }

  /**
   * The backend's stream handle that the work is queued on; 0 is its default stream.
   *
   * @param stream the value
   * @return this
   */
  public Accept stream(long stream) {
    this.stream = stream;
    return this;
  }

  void write(Scratch scratch) {
    scratch
        .struct(AcceptLayout.SIZE)
        .put(AcceptLayout.SLOTS_DTYPE, Array.dtypeOr(slots, DType.INT64))
        .put(AcceptLayout.ROWS_DTYPE, Array.dtypeOr(rows, DType.INT64))
        .put(AcceptLayout.SLOTS_MEMORY, Array.memoryOf(slots))
        .put(AcceptLayout.ROWS_MEMORY, Array.memoryOf(rows))
        .put(AcceptLayout.GROUPS, groups)
        .put(AcceptLayout.GROUP_WIDTH, groupWidth)
        .put(AcceptLayout.SLOTS_GROUP_STRIDE, slotsGroupStride)
        .put(AcceptLayout.ROWS_GROUP_STRIDE, rowsGroupStride);
  }
}
