// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;

/** A sealed capturer with a target and a draft whose layer numbers collide, and an oracle of what each slot holds. */
final class Scene implements AutoCloseable {
  static final int[] LAYERS = {3, 4, 9};
  static final int K = 4;
  static final int EXPERTS = 256;

  final Capturer capturer;
  final List<Tap> taps = new ArrayList<>();
  final List<Tap> drafts = new ArrayList<>();

  /** Slot: ids of every layer, [L * K]. */
  final Map<Long, int[]> rows = new HashMap<>();

  private final Random random = new Random(1);

  Scene() {
    this(builder -> {});
  }

  Scene(Consumer<CapturerBuilder> change) {
    CapturerBuilder builder =
        Capturer.builder().numExperts(EXPERTS).topK(K).layerIds(LAYERS).chunkedPrefillSize(64).numSlots(1024).pipelineDepth(4);
    change.accept(builder);
    capturer = builder.build();
    Model target = capturer.addModel(Role.TARGET, "target");
    Model draft = capturer.addModel(Role.DRAFT, "draft");
    for (int layer : LAYERS) {
      taps.add(target.addTap(layer));
      drafts.add(draft.addTap(layer));
    }
    capturer.seal();
  }

  /** Random rows [tokens, K] without an id twice in a row. */
  int[] ids(int tokens) {
    int[] ids = new int[tokens * K];
    for (int token = 0; token < tokens; token++) {
      int first = random.nextInt(EXPERTS);
      for (int k = 0; k < K; k++) {
        ids[token * K + k] = (first + 67 * k) % EXPERTS;
      }
    }
    return ids;
  }

  /** Hands a forward's rows over, the draft's in between, and gives them token by token. */
  int[][] capture(int tokens) {
    int[][] captured = new int[tokens][LAYERS.length * K];
    for (int layer = 0; layer < LAYERS.length; layer++) {
      int[] ids = ids(tokens);
      taps.get(layer).capture(Array.of(ids), K, tokens);
      drafts.get(layer).capture(Array.of(ids(tokens)), K, tokens);
      for (int token = 0; token < tokens; token++) {
        System.arraycopy(ids, token * K, captured[token], layer * K, K);
      }
    }
    return captured;
  }

  /** Captures, ends and stores a forward of all rows, and notes in the oracle what the slots hold from then on. */
  Summary forward(long... slots) throws InterruptedException {
    int[][] captured = capture(slots.length);
    try (Output output = capturer.endForward(new Forward().tokens(slots.length).slots(Array.of(slots)))) {
      output.copyToHost();
      assertTrue(output.await(Duration.ofSeconds(10)));
      Summary summary = output.settle();
      for (int token = 0; token < slots.length; token++) {
        rows.put(slots[token], captured[token]);
      }
      return summary;
    }
  }

  /** Compares a record with the oracle's rows of slots. */
  void expect(Record record, long... slots) {
    assertEquals(slots.length, record.rows().size());
    int position = 0;
    for (RecordRows.Row row : record.rows()) {
      int[] want = rows.get(slots[position]);
      assertEquals(position, row.position());
      assertEquals(want != null, row.valid(), "row " + position);
      for (int layer = 0; layer < LAYERS.length; layer++) {
        int[] experts = want == null ? new int[0] : java.util.Arrays.copyOfRange(want, layer * K, (layer + 1) * K);
        assertArrayEquals(experts, row.experts()[layer], "row " + position + ", layer " + layer);
      }
      position++;
    }
  }

  Record read(long... slots) {
    return capturer.read(new Read().slots(Array.of(slots)).tokens(slots.length + 1));
  }

  @Override
  public void close() {
    capturer.close();
  }
}
