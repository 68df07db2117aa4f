// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import static io.github.routecap.Given.given;

import io.github.routecap.internal.Native;
import io.github.routecap.internal.Scratch;

/**
 * Some layers' columns of an array [tokens, layers] of items: those of a pipeline stage, or of one router (R43).
 */
public final class Columns {
  private final int[] layerIds;
  private final int[] selected;
  private final long tokens;
  private final long itemBytes;
  private final AxisOrder order;

  /**
   * Columns by their layers.
   *
   * @param layerIds model layer number of every column of the array
   * @param selected layer numbers of the columns wanted, in this order
   * @param tokens rows
   * @param itemBytes bytes of an item, which is K ids
   * @param order order of the axes of the part
   */
  public Columns(int[] layerIds, int[] selected, long tokens, long itemBytes, AxisOrder order) {
    this.layerIds = given(layerIds, "layerIds").clone();
    this.selected = given(selected, "selected").clone();
    this.tokens = tokens;
    this.itemBytes = itemBytes;
    this.order = given(order, "order");
  }

  /**
   * Copies the columns out of the array.
   *
   * @param whole the array
   * @param part receives the columns
   */
  public void split(Array whole, Array part) {
    try (Scratch scratch = Scratch.take()) {
      int status =
          Native.api()
              .rcap_layers_split(
                  Array.in(Array.of(layerIds)),
                  Array.in(Array.of(selected)),
                  tokens,
                  itemBytes,
                  order.value(),
                  Array.in(given(whole, "whole")),
                  Array.out(given(part, "part"), "the columns"),
                  scratch.error());
      Failure.check(status, scratch);
    }
  }

  /**
   * Copies the columns to their places in the array and leaves the others alone: called for every stage, it is the inverse of {@link #split}.
   *
   * @param part the columns
   * @param whole the array, of which the columns are written
   */
  public void gather(Array part, Array whole) {
    try (Scratch scratch = Scratch.take()) {
      int status =
          Native.api()
              .rcap_layers_gather(
                  Array.in(Array.of(layerIds)),
                  Array.in(Array.of(selected)),
                  tokens,
                  itemBytes,
                  order.value(),
                  Array.in(given(part, "part")),
                  Array.out(given(whole, "whole"), "the array"),
                  scratch.error());
      Failure.check(status, scratch);
    }
  }
}
