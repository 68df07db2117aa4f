// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import static io.github.routecap.Given.given;

import io.github.routecap.internal.Native;
import io.github.routecap.internal.Scratch;
import java.util.Arrays;

/**
 * A pipeline stage. The model's layers are dealt out in {@code vpSize} rounds; in each, stage after stage takes its share, which is the same for all
 * but a first or last stage whose layers are given (R43).
 *
 * @param numLayers layers of the model, dense ones too
 * @param ppSize pipeline stages
 * @param ppRank this one
 * @param vpSize virtual stages (model chunks) of each stage
 * @param vpRank this chunk, or {@link #ALL_CHUNKS}
 * @param firstLayers layers of the first stage over all its chunks; 0 is as many as the others have
 * @param lastLayers the same for the last stage
 */
public record Stage(int numLayers, int ppSize, int ppRank, int vpSize, int vpRank, int firstLayers, int lastLayers) {
  /** Stands for all chunks of a stage. */
  public static final int ALL_CHUNKS = -1;

  /**
   * Those of the model's MoE layers that the stage has, in the order in which it makes their routers.
   *
   * @param moeLayers layer numbers of the model's MoE layers, ascending
   * @return the stage's, ascending
   */
  public int[] layers(int... moeLayers) {
    int[] layers = new int[Math.max(1, given(moeLayers, "moeLayers").length)];
    try (Scratch scratch = Scratch.take()) {
      int status =
          Native.api()
              .rcap_stage_layers(
                  numLayers,
                  ppSize,
                  ppRank,
                  vpSize,
                  vpRank,
                  firstLayers,
                  lastLayers,
                  Array.in(Array.of(moeLayers)),
                  Array.out(Array.of(layers), "layers"),
                  scratch.out(0),
                  scratch.error());
      Failure.check(status, scratch);
      return Arrays.copyOf(layers, Math.toIntExact(scratch.outLong(0)));
    }
  }
}
