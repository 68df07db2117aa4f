// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import static io.github.routecap.Given.given;

import io.github.routecap.internal.Layouts;
import io.github.routecap.internal.Scratch;

/**
 * What {@link Record#fill} writes for a trainer that replays a record (R42).
 */
public final class Dense {
  private final long length;
  long tokens;
  private long start;
  private long firstFill;
  private AxisOrder order = AxisOrder.TOKENS_FIRST;
  private Padding padding = Padding.SPREAD;
  private int fillValue;
  long[] positions;
  int[] layerIds;

  /**
   * Rows for the first tokens of a sequence.
   *
   * @param length tokens of the sequence, the last one included; the record may not reach behind it
   * @param tokens rows to write; those behind the sequence are padding
   */
  public Dense(long length, long tokens) {
    this.length = length;
    this.tokens = tokens;
  }

  /**
   * Token position of the first row; 0 where it is not given.
   *
   * @param start the value
   * @return this
   */
  public Dense start(long start) {
    this.start = start;
    return this;
  }

  /**
   * Token position of every row, -1 for padding, in place of start, start + 1, ...; there are as many rows.
   *
   * @param positions the value
   * @return this
   */
  public Dense positions(long... positions) {
    this.positions = given(positions, "positions").clone();
    this.tokens = positions.length;
    return this;
  }

  /**
   * Model layer numbers of the columns, in this order, in place of all of the record's.
   *
   * @param layerIds the value
   * @return this
   */
  public Dense layerIds(int... layerIds) {
    this.layerIds = given(layerIds, "layerIds").clone();
    return this;
  }

  /**
   * Order of the axes.
   *
   * @param order the value
   * @return this
   */
  public Dense order(AxisOrder order) {
    this.order = given(order, "order");
    return this;
  }

  /**
   * What stands in rows without ids, in place of K distinct ids.
   *
   * @param value the value
   * @return this
   */
  public Dense value(int value) {
    this.padding = Padding.VALUE;
    this.fillValue = value;
    return this;
  }

  /**
   * Number of the first filled row in the formula of {@link Padding#SPREAD}: what earlier calls for the same batch filled, so that they do not load
   * the same experts.
   *
   * @param firstFill the value
   * @return this
   */
  public Dense firstFill(long firstFill) {
    this.firstFill = firstFill;
    return this;
  }

  void write(Scratch scratch, DType dtype) {
    scratch
        .struct(Layouts.FillLayout.SIZE)
        .put(Layouts.FillLayout.START, start)
        .put(Layouts.FillLayout.TOKENS, tokens)
        .put(Layouts.FillLayout.LENGTH, length)
        .put(Layouts.FillLayout.FIRST_FILL, firstFill)
        .put(Layouts.FillLayout.DTYPE, dtype.value())
        .put(Layouts.FillLayout.ORDER, order.value())
        .put(Layouts.FillLayout.PADDING, padding.value())
        .put(Layouts.FillLayout.FILL_VALUE, fillValue);
  }
}
