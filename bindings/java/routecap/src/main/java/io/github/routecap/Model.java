// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import static io.github.routecap.Given.given;

import io.github.routecap.internal.Layouts.TapOptions;
import io.github.routecap.internal.Span;
import java.util.Set;

/** The target model of a capturer or one of its drafts. It belongs to its capturer and ends with it. */
public final class Model {
  private final Capturer capturer;
  private final long handle;

  Model(Capturer capturer, long handle) {
    this.capturer = capturer;
    this.handle = handle;
  }

  /**
   * Sets the gate of the model's taps, before the seal. Allowing a draft is refused; denying the target makes the seal fail (R20).
   *
   * @param gate the gate
   */
  public void setCapture(Gate gate) {
    capturer.engine((own, scratch) -> own.api.rcap_model_set_capture(handle, given(gate, "gate").value(), scratch.error()));
  }

  /**
   * Adds the tap of one MoE layer whose ids are logical already, before the seal.
   *
   * @param layer layer number in its model; a draft's may equal a target's: the tap decides, not the number (R18)
   * @param flags properties of the layer, which travel with the records
   * @return the tap
   */
  public Tap addTap(int layer, TapFlag... flags) {
    return addTap(layer, Given.flags(flags), null);
  }

  /**
   * Adds the tap of one MoE layer, before the seal.
   *
   * @param layer layer number in its model
   * @param flags properties of the layer, which travel with the records
   * @param idMap the physical-to-logical map (R22): int32 or int64, entry p is the logical id of physical expert p; null where ids are logical already.
   *     The library keeps its address, so that it is direct memory; it stays alive as long as the capturer, and the engine may rewrite it between
   *     forwards
   * @return the tap
   */
  public Tap addTap(int layer, Set<TapFlag> flags, Array idMap) {
    Given.flags(flags);
    if (Array.onHeap(idMap)) {
      throw new IllegalArgumentException("the library keeps the address of an id map: it must be a direct buffer, not an array of the heap");
    }
    Span map = Array.in(idMap);
    long[] tap = new long[1];
    capturer.engine(
        (own, scratch) -> {
          scratch
              .struct(TapOptions.SIZE)
              .put(TapOptions.FLAGS, TapFlag.bits(flags))
              .put(TapOptions.ID_MAP_DTYPE, Array.dtypeOr(idMap, DType.NONE))
              .put(TapOptions.ID_MAP_MEMORY, Array.memoryOf(idMap));
          int status = own.api.rcap_model_add_tap(handle, layer, scratch.address(), map, scratch.out(0), scratch.error());
          tap[0] = scratch.outLong(0);
          if (status >= 0 && map != null) {
            own.kept.add(map);
          }
          return status;
        });
    return capturer.tapOf(tap[0]);
  }
}
