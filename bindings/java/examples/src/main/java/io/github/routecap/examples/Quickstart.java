// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.examples;

import io.github.routecap.Array;
import io.github.routecap.Capturer;
import io.github.routecap.Forward;
import io.github.routecap.Model;
import io.github.routecap.Output;
import io.github.routecap.Read;
import io.github.routecap.Record;
import io.github.routecap.RecordRows;
import io.github.routecap.Role;
import io.github.routecap.Tap;
import java.time.Duration;

public final class Quickstart {
  public static void main(String[] arguments) throws InterruptedException {
    // Once, at start-up: two captured layers of 256 experts, 2 chosen per token, and a store of 1024 KV slots.
    try (Capturer capturer = Capturer.builder().numExperts(256).topK(2).layerIds(3, 4).chunkedPrefillSize(128).numSlots(1024).build()) {
      Model target = capturer.addModel(Role.TARGET, "target");
      Tap[] taps = {target.addTap(3), target.addTap(4)};
      capturer.seal();

      // Every forward: each layer hands over its router's top-k ids [tokens, K]; then the rows go to the tokens' KV slots.
      int[][] topk = {{17, 4, 255, 0, 9, 30}, {1, 2, 3, 4, 5, 6}};
      Array slots = Array.of(40L, 41L, 7L);
      for (int layer = 0; layer < taps.length; layer++) {
        taps[layer].capture(Array.of(topk[layer]), 2, 3);
      }
      try (Output output = capturer.endForward(new Forward().tokens(3).slots(slots))) {
        // Later, on any thread: the rows reach the store.
        output.copyToHost();
        output.await(Duration.ofSeconds(10));
        output.settle();
      }

      // When the request ends: a request of 4 tokens has 3 rows, its last token was never an input.
      try (Record record = capturer.read(new Read().slots(slots).tokens(4))) {
        for (RecordRows.Row row : record.rows()) {
          int[] first = row.experts()[0];
          int[] second = row.experts()[1];
          System.out.printf("token %d: layer 3 -> %d %d, layer 4 -> %d %d%n", row.position(), first[0], first[1], second[0], second[1]);
        }
      }
    }
  }
}
