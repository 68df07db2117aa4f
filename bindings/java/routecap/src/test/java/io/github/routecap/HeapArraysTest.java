// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Arrays of Java's heap are lent to a call, failing ones included, while the collector is kept busy. */
class HeapArraysTest {
  private static long allocated;

  // Trap 1 and acceptance check 12: a section that a failing call left open would stop the collector for good. Run with -Xcheck:jni -Xmx64m too.
  @Test
  void failingCallsLendArraysWhileGarbageIsCollected() throws Exception {
    AtomicBoolean done = new AtomicBoolean();
    AtomicLong failures = new AtomicLong();
    Thread[] litterers = new Thread[2];
    for (int index = 0; index < litterers.length; index++) {
      litterers[index] =
          new Thread(
              () -> {
                while (!done.get()) {
                  byte[] litter = new byte[1 << 16];
                  allocated += litter.length;
                }
              });
      litterers[index].start();
    }
    try (Scene scene = new Scene()) {
      int[] ids = {1, 2, 3, 4};
      int[] rowIds = {0};
      float[] weights = {1, 2, 3, 4};
      byte[] frame;
      try (Record record = RecordTest.of(0, 5, 1, 2, 3)) {
        frame = record.toFrame();
      }
      byte[] damaged = frame.clone();
      damaged[damaged.length - 1] ^= 1;
      int rounds = Expect.scale(20_000);
      for (int round = 0; round < rounds; round++) {
        try {
          // Three arrays at once, refused behind all checks of the arguments.
          scene.taps.get(0).capture(new Capture().ids(Array.of(ids)).weights(Array.of(weights)).rowIds(Array.of(rowIds)).columns(4).tokens(1).firstRow(1 << 20));
        } catch (RouteCapException e) {
          failures.getAndIncrement();
        }
        try {
          Record.ofFrame(damaged).close();
        } catch (RouteCapException e) {
          failures.getAndIncrement();
        }
        Record.ofFrame(frame).close();
        if (round % 2000 == 0) {
          System.gc();
        }
      }
      assertEquals(2L * rounds, failures.get());
      assertArrayEquals(new int[] {1, 2, 3, 4}, ids);
    } finally {
      done.set(true);
      for (Thread litterer : litterers) {
        litterer.join();
      }
    }
    assertTrue(allocated > 0);
  }

  // Acceptance check 7: a million elements arrive as they are, in both directions.
  @Test
  void aMillionElementsCross() {
    int tokens = 1 << 18;
    try (Capturer capturer = Capturer.builder().numExperts(70000).topK(4).layerIds(0).maxForwardTokens(tokens).numSlots(tokens).build()) {
      Tap tap = capturer.addModel(Role.TARGET, "target").addTap(0);
      capturer.seal();
      int[] ids = new int[4 * tokens];
      long[] slots = new long[tokens];
      for (int index = 0; index < ids.length; index++) {
        ids[index] = (int) ((index * 2654435761L) % 70000);
      }
      for (int token = 0; token < tokens; token++) {
        slots[token] = tokens - 1 - token;
      }
      tap.capture(Array.of(ids), 4, tokens);
      try (Output output = capturer.endForward(new Forward().tokens(tokens).slots(Array.of(slots)))) {
        output.copyToHost();
        assertEquals(tokens, output.settle().rowsStored());
      }
      int[] read = new int[4 * tokens + 4];
      read[4 * tokens] = -7;
      ReadInfo info = capturer.readInto(new Read().slots(Array.of(slots)).tokens(tokens + 1), Array.of(read), null, null);
      assertEquals(tokens, info.rowsValid());
      assertArrayEquals(ids, java.util.Arrays.copyOf(read, 4 * tokens));
      assertEquals(-7, read[4 * tokens]);
    }
  }
}
