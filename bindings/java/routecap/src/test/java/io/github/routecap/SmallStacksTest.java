// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Threads that come and go, each with a quarter of what Java gives them: no call needs more, and none leaves something behind on its thread. */
class SmallStacksTest {
  private static final int STACK = 256 << 10;

  @Test
  void threadsThatComeAndGo() throws Exception {
    Expect.live(0);
    int before = Expect.threads();
    AtomicReference<Throwable> failed = new AtomicReference<>();
    AtomicInteger lives = new AtomicInteger();
    int rounds = Math.max(1, Expect.scale(1000) / 10);
    for (int round = 0; round < rounds; round++) {
      Thread[] threads = new Thread[10];
      for (int index = 0; index < threads.length; index++) {
        threads[index] =
            new Thread(
                null,
                () -> {
                  try {
                    life();
                    lives.getAndIncrement();
                  } catch (Throwable e) {
                    failed.compareAndSet(null, e);
                  }
                },
                "a small stack",
                STACK);
        threads[index].start();
      }
      for (Thread thread : threads) {
        thread.join();
      }
    }
    assertNull(failed.get(), () -> failed.get().toString());
    assertEquals(10 * rounds, lives.get());
    // A thread that was joined is over for Java, and leaves the system a moment later.
    int after = Expect.threads();
    for (long end = System.nanoTime() + 10_000_000_000L; after > before + 20 && System.nanoTime() < end; after = Expect.threads()) {
      Thread.sleep(10);
    }
    assertTrue(after <= before + 20, before + " threads, then " + after);
    Expect.live(0);
  }

  /** Records, reads and converts once, and is refused once. */
  private static void life() throws InterruptedException {
    try (Scene scene = new Scene()) {
      scene.forward(1, 2, 3);
      try (Record record = scene.read(1, 2, 3)) {
        scene.expect(record, 1, 2, 3);
        for (Format format : new Format[] {Format.FRAME_BASE64, Format.PRIME, Format.LISTS}) {
          assertTrue(record.encode(format).length > 36, format.toString());
        }
        try (Record again = Record.ofFrame(record.encode(Format.FRAME, new EncodeOptions().zstdLevel(19)))) {
          scene.expect(again, 1, 2, 3);
        }
      }
      Expect.refusal(Code.OUT_OF_RANGE, () -> scene.capturer.slotInfo(1 << 20));
    }
  }
}
