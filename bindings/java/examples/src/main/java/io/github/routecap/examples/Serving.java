// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.examples;

import io.github.routecap.Array;
import io.github.routecap.Capturer;
import io.github.routecap.Forward;
import io.github.routecap.Model;
import io.github.routecap.Output;
import io.github.routecap.Read;
import io.github.routecap.Record;
import io.github.routecap.Role;
import io.github.routecap.Summary;
import io.github.routecap.Tap;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A serving process in small: Serving FILE captures a request with a draft model present, settles in the background, and writes the request's rows as a
 * frame. It prints what the router chose, so that whoever reads the file can compare.
 */
public final class Serving {
  private static final int[] LAYERS = {3, 4, 9};
  private static final int K = 4;
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private Serving() {}

  /**
   * Runs the example.
   *
   * @param arguments the file to write
   * @throws Exception if anything fails
   */
  public static void main(String[] arguments) throws Exception {
    if (arguments.length != 1) {
      System.err.println("usage: Serving FILE");
      System.exit(1);
    }
    serve(Path.of(arguments[0]));
  }

  /** Stands in for a router: K of 64 experts for a token in a layer. */
  private static int expert(int layer, long token, int k) {
    return (int) ((17L * layer + 5 * token + 11L * k) % 64);
  }

  private static void serve(Path path) throws IOException, InterruptedException {
    // At start-up: a target, and a draft whose layer numbers collide with the target's.
    ExecutorService background = Executors.newSingleThreadExecutor();
    try (Capturer capturer = Capturer.builder().numExperts(64).topK(K).layerIds(LAYERS).chunkedPrefillSize(16).numSlots(256).build()) {
      Model target = capturer.addModel(Role.TARGET, "target");
      Model draft = capturer.addModel(Role.DRAFT, "draft");
      List<Tap> taps = new ArrayList<>();
      List<Tap> drafts = new ArrayList<>();
      for (int layer : LAYERS) {
        taps.add(target.addTap(layer));
        drafts.add(draft.addTap(layer));
      }
      capturer.seal();

      // The engine: a prompt of 6 tokens in one forward, then one token at a time. Token i has KV slot 100 + 3i.
      int tokens = 12;
      long[] slots = new long[tokens - 1];
      List<CompletableFuture<Void>> settled = new ArrayList<>();
      for (int first = 0, count = 6; first < tokens - 1; first += count, count = 1) {
        for (int layer = 0; layer < LAYERS.length; layer++) {
          int[] ids = new int[count * K];
          for (int index = 0; index < ids.length; index++) {
            ids[index] = expert(LAYERS[layer], first + index / K, index % K);
          }
          taps.get(layer).capture(Array.of(ids), K, count);
          // The draft runs too; its calls are counted and write nothing.
          drafts.get(layer).capture(Array.of(new int[K]), K, 1);
        }
        for (int token = first; token < first + count; token++) {
          slots[token] = 100 + 3L * token;
        }
        // Outputs go to the store in the background, away from the engine's thread; while all blocks are in flight, this waits.
        Output output = capturer.endForward(new Forward().tokens(count).slots(Array.of(slots, first, count)), PATIENCE);
        settled.add(CompletableFuture.runAsync(() -> settle(output), background));
      }
      CompletableFuture.allOf(settled.toArray(new CompletableFuture<?>[0])).join();

      // The request is over: its rows, by its slots. The last token was never an input and has none.
      try (Record record = capturer.read(new Read().slots(Array.of(slots)).tokens(tokens), PATIENCE);
          OutputStream file = Files.newOutputStream(path)) {
        record.writeTo(file);
      }
      for (int token = 0; token < tokens - 1; token++) {
        for (int layer : LAYERS) {
          StringJoiner experts = new StringJoiner(" ", "[", "]");
          for (int k = 0; k < K; k++) {
            experts.add(Integer.toString(expert(layer, token, k)));
          }
          System.out.println("token " + token + ", layer " + layer + ": " + experts);
        }
      }
    } finally {
      background.shutdown();
    }
  }

  private static void settle(Output output) {
    try (output) {
      output.copyToHost();
      if (!output.await(PATIENCE)) {
        throw new IllegalStateException("forward " + output.sequence() + " does not arrive");
      }
      Summary summary = output.settle();
      if (summary.rowsBad() > 0) {
        throw new IllegalStateException(
            "forward " + summary.sequence() + ": " + summary.rowsBad() + " bad rows, the first " + summary.firstBadFault() + " in layer " + summary.firstBadLayer());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
