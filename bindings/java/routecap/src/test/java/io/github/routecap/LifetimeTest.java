// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

class LifetimeTest {
  // Acceptance check 6. The binding counts its handles; the library has no process-wide counter.
  @Test
  void forgottenHandlesAreClosed() throws Exception {
    Expect.live(0);
    int count = Expect.scale(10_000);
    forget(count);
    Expect.live(0);
    // A capturer that is forgotten with a thread of its own, its outputs and a future.
    forgetOwnThread();
    Expect.live(0);
    // Trap 4: nothing of the binding relies on finalizers.
    for (Class<?> type : List.of(Capturer.class, Output.class, Record.class, Backend.class, Cell.class)) {
      for (Method method : type.getDeclaredMethods()) {
        assertFalse(method.getName().equals("finalize") && method.getParameterCount() == 0, type.getName());
      }
    }
  }

  private static void forget(int count) {
    Scene scene = new Scene();
    Record first = RecordTest.of(0, 5, 1, 2, 3);
    for (int index = 0; index < count; index++) {
      first.slice(0, 2);
      if (index % 100 == 0) {
        first.ids();
        Backend.open("host");
        Capturer.builder().numExperts(2).topK(1).layerIds(0).maxForwardTokens(1).build();
        scene.capture(1);
        try {
          scene.capturer.endForward(new Forward().tokens(1).slots(Array.of(1L)));
        } catch (RouteCapException e) {
          assertEquals(Code.BUSY, e.code());
        }
      }
    }
    assertTrue(RouteCap.liveHandles() > 0);
  }

  private static void forgetOwnThread() {
    Scene scene = new Scene(builder -> builder.finalizeMode(FinalizeMode.OWN_THREAD));
    scene.capture(1);
    assertNotNull(scene.capturer.endForward(new Forward().tokens(1).slots(Array.of(1L))).settled());
  }

  // Trap 2: closing any number of times, and use after it. Acceptance check 18.
  @Test
  void afterCloseEverythingSaysClosed() throws Exception {
    Expect.live(0);
    Scene scene = new Scene();
    scene.forward(1, 2);
    Record record = scene.read(1, 2);
    scene.capture(1);
    Output output = scene.capturer.endForward(new Forward().tokens(1).slots(Array.of(3L)));
    scene.capture(1);
    Output closed = scene.capturer.endForward(new Forward().tokens(1).slots(Array.of(3L)));
    closed.close();
    closed.close();
    Tap tap = scene.taps.get(0);
    Capturer capturer = scene.capturer;
    capturer.close();
    capturer.close();
    // R34: records live on.
    scene.expect(record, 1, 2);
    Record other = record.slice(0, 1);
    record.close();
    record.close();
    Array slots = Array.of(1L);
    Read read = new Read().slots(slots).tokens(2);
    Duration second = Duration.ofSeconds(1);
    List<Executable> calls =
        List.of(
            () -> capturer.addModel(Role.DRAFT, "x"),
            capturer::seal,
            () -> capturer.tap(0),
            capturer::stats,
            () -> capturer.endForward(new Forward()),
            () -> capturer.endForward(new Forward(), second),
            () -> capturer.discardForward(0),
            capturer::watchCompletions,
            capturer::completionDescriptor,
            () -> capturer.nextCompleted(second),
            () -> capturer.releaseSlots(SlotUnit.SLOT, slots, 0),
            () -> capturer.releaseAll(0),
            () -> capturer.copySlots(SlotUnit.SLOT, slots, slots, 0),
            () -> capturer.slotInfo(0),
            () -> capturer.read(read),
            () -> capturer.read(read, second),
            () -> capturer.readInto(read, null, null, null),
            () -> capturer.readInto(read, null, null, null, second),
            () -> capturer.encode(read, Format.FRAME, new EncodeOptions()),
            () -> capturer.encode(read, Format.FRAME, new EncodeOptions(), second),
            () -> tap.capture(new Capture()),
            tap::isEnabled,
            tap::id,
            () -> output.accept(new Accept()),
            output::deviceRows,
            output::copyToHost,
            output::isReady,
            () -> output.await(second),
            output::settle,
            output::settled,
            output::sequence,
            closed::settle,
            record::info,
            record::ids,
            record::weights,
            record::rowValidity,
            record::cellValidity,
            record::layerIds,
            record::layerFlags,
            record::versionSpans,
            record::rows,
            record::copyIds,
            record::copyWeights,
            () -> record.slice(0, 1),
            () -> other.append(record, Overlap.REFUSE),
            () -> other.merge(record, 1),
            () -> record.truncate(1),
            () -> other.stack(record),
            () -> record.interleave(null, other, null),
            () -> record.toFullAxis(12, Fill.MISSING, 0),
            () -> record.toCompact(3),
            () -> other.compare(record),
            record::toFrame);
    for (int index = 0; index < calls.size(); index++) {
      RouteCapException refused = assertThrows(RouteCapException.class, calls.get(index), "call " + index);
      assertEquals(Code.CLOSED, refused.code(), "call " + index);
      assertTrue(refused.getMessage().contains("was closed"), refused.getMessage());
    }
    output.close();
    other.close();
    // Rows that were looked at are views.
    Expect.live(0);
  }

  // Close at any moment of any call: the call ends as it would have, or says CLOSED; nothing crashes and nothing leaks.
  @Test
  void closeDuringUse() throws Exception {
    Expect.live(0);
    ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
    for (int round = 0; round < Expect.scale(200); round++) {
      boolean ownThread = round % 2 == 1;
      Scene scene = new Scene(builder -> builder.finalizeMode(ownThread ? FinalizeMode.OWN_THREAD : FinalizeMode.CALLER));
      scene.capture(2);
      try (Output output = scene.capturer.endForward(new Forward().tokens(2).slots(Array.of(1L, 2L)))) {
        output.copyToHost();
        assertTrue(output.await(Duration.ofSeconds(10)));
        output.settle();
      }
      ConcurrentLinkedQueue<Output> outputs = new ConcurrentLinkedQueue<>();
      Record record = scene.read(1, 2);
      CountDownLatch began = new CountDownLatch(5);
      List<Thread> threads = new ArrayList<>();
      List<Executable> users =
          List.of(
              () -> {
                for (Tap tap : scene.taps) {
                  tap.capture(Array.of(1, 2, 3, 4), 4, 1);
                }
                outputs.add(scene.capturer.endForward(new Forward().tokens(1).slots(Array.of(5L))));
              },
              () -> {
                Output output = outputs.poll();
                if (output != null) {
                  Thread closer = new Thread(output::close);
                  closer.start();
                  try {
                    output.copyToHost();
                    output.settle();
                  } finally {
                    closer.join();
                  }
                }
              },
              scene.capturer::stats,
              () -> scene.read(1, 2).close(),
              () -> assertEquals(24, record.copyIds().length));
      for (Executable user : users) {
        Thread thread = new Thread(() -> use(user, began, failures));
        threads.add(thread);
        thread.start();
      }
      began.await();
      if (round % 3 == 0) {
        TimeUnit.MICROSECONDS.sleep(100);
      }
      scene.close();
      record.close();
      for (Thread thread : threads) {
        thread.join();
      }
      outputs.forEach(Output::close);
    }
    assertEquals(List.of(), List.copyOf(failures));
    assertEquals(0, RouteCap.liveHandles());
  }

  private static void use(Executable user, CountDownLatch began, ConcurrentLinkedQueue<Throwable> failures) {
    began.countDown();
    for (int call = 0; call < 50; call++) {
      try {
        user.execute();
      } catch (RouteCapException e) {
        if (e.code() != Code.CLOSED && e.code() != Code.BUSY && e.code() != Code.NOT_READY) {
          failures.add(e);
        }
      } catch (Throwable e) {
        failures.add(e);
      }
    }
  }

  // Acceptance check 8.
  @Test
  void waitsEndInTimeAndWhenInterrupted() throws Exception {
    try (Scene scene = new Scene();
        Scene own = new Scene(builder -> builder.finalizeMode(FinalizeMode.OWN_THREAD))) {
      scene.capture(1);
      own.capturer.watchCompletions();
      try (Output output = scene.capturer.endForward(new Forward().tokens(1).slots(Array.of(5L)))) {
        Duration short50 = Duration.ofMillis(50);
        Read read = new Read().slots(Array.of(5L)).tokens(2).afterSequence(1);
        byte[] ids = new byte[12];
        List<Executable> waits =
            List.of(
                () -> assertFalse(output.await(short50)),
                () -> Expect.refusal(Code.NOT_READY, () -> scene.capturer.read(read, short50)),
                () -> Expect.refusal(Code.NOT_READY, () -> scene.capturer.readInto(read, Array.of(ids), null, null, short50)),
                () -> Expect.refusal(Code.NOT_READY, () -> scene.capturer.encode(read, Format.LISTS, new EncodeOptions(), short50)),
                () -> Expect.refusal(Code.TIMEOUT, () -> own.capturer.nextCompleted(short50)));
        int threads = Expect.threads();
        for (Executable wait : waits) {
          long began = System.nanoTime();
          try {
            wait.execute();
          } catch (Throwable e) {
            throw new AssertionError(e);
          }
          long millis = (System.nanoTime() - began) / 1_000_000;
          // A busy machine adds to it; a mistaken unit would be a thousandth or a thousand times as long.
          assertTrue(millis >= 50 && millis < 10_000, millis + " ms");
        }
        List<Executable> endless =
            List.of(
                () -> output.await(Duration.ofDays(100_000)),
                () -> scene.capturer.read(read, Duration.ofHours(1)),
                () -> scene.capturer.readInto(read, Array.of(ids), null, null, Duration.ofHours(1)),
                () -> own.capturer.nextCompleted(Duration.ofHours(1)));
        for (Executable wait : endless) {
          CompletableFuture<Throwable> ended = new CompletableFuture<>();
          Thread waiter =
              new Thread(
                  () -> {
                    try {
                      wait.execute();
                      ended.complete(null);
                    } catch (Throwable e) {
                      ended.complete(e);
                    }
                  });
          waiter.start();
          Thread.sleep(20);
          waiter.interrupt();
          assertEquals(InterruptedException.class, ended.get(5, TimeUnit.SECONDS).getClass());
          waiter.join();
        }
        assertTrue(Expect.threads() <= threads + 4, threads + " threads became " + Expect.threads());
        assertThrows(IllegalArgumentException.class, () -> output.await(Duration.ofMillis(-1)));
        // What is lacking comes while somebody waits for it.
        CompletableFuture<Record> reading = new CompletableFuture<>();
        Thread reader =
            new Thread(
                () -> {
                  try {
                    reading.complete(scene.capturer.read(read, Duration.ofSeconds(10)));
                  } catch (Exception e) {
                    reading.completeExceptionally(e);
                  }
                });
        reader.start();
        Thread.sleep(30);
        output.copyToHost();
        output.settle();
        try (Record record = reading.get(5, TimeUnit.SECONDS)) {
          assertEquals(1, record.info().rowsValid());
        }
      }
    }
  }

  @Test
  void ownThreadCompletesFutures() throws Exception {
    try (Scene scene =
        new Scene(builder -> builder.finalizeMode(FinalizeMode.OWN_THREAD).busyPolicy(BusyPolicy.WAIT).busyTimeout(Duration.ofSeconds(5)))) {
      List<CompletableFuture<Summary>> futures = new ArrayList<>();
      List<Long> slots = new ArrayList<>();
      for (long step = 0; step < 50; step++) {
        int[][] rows = scene.capture(2);
        // With this policy the call may wait: an array of the heap is not lent to it.
        try (Output output = scene.capturer.endForward(new Forward().tokens(2).slots(Array.of(2 * step, 2 * step + 1)), Duration.ofSeconds(10))) {
          CompletableFuture<Summary> future = output.settled();
          assertSame(future, output.settled());
          futures.add(future);
        }
        scene.rows.put(2 * step, rows[0]);
        scene.rows.put(2 * step + 1, rows[1]);
        slots.add(2 * step);
        slots.add(2 * step + 1);
      }
      long sequence = 1;
      for (CompletableFuture<Summary> future : futures) {
        Summary summary = future.get(10, TimeUnit.SECONDS);
        assertEquals(sequence++, summary.sequence());
        assertEquals(2, summary.rowsStored());
      }
      long[] all = slots.stream().mapToLong(Long::longValue).toArray();
      try (Record record = scene.capturer.read(new Read().slots(Array.of(all)).tokens(all.length + 1).afterSequence(50), Duration.ofSeconds(10))) {
        scene.expect(record, all);
      }
      // Nothing but one thread of the binding's.
      long watchers = Thread.getAllStackTraces().keySet().stream().filter(thread -> thread.getName().equals("routecap completions")).count();
      assertEquals(1, watchers);
    }
    // With the caller's own finalizing there are no completions.
    try (Scene scene = new Scene()) {
      scene.capture(1);
      try (Output output = scene.capturer.endForward(new Forward().tokens(1).slots(Array.of(1L)))) {
        Expect.refusal(Code.INVALID_STATE, output::settled);
      }
    }
    // A LATER forward that nobody accepted never settles: closing the capturer ends its future.
    Scene scene = new Scene(builder -> builder.finalizeMode(FinalizeMode.OWN_THREAD));
    scene.capture(1);
    Output output = scene.capturer.endForward(new Forward().tokens(1).acceptance(Acceptance.LATER).slots(Array.of(1L)));
    CompletableFuture<Summary> pending = output.settled();
    assertSame(pending, output.settled());
    output.close();
    Thread.sleep(50);
    assertFalse(pending.isDone());
    scene.close();
    ExecutionException ended = assertThrows(ExecutionException.class, () -> pending.get(10, TimeUnit.SECONDS));
    assertEquals(Code.CLOSED, ((RouteCapException) ended.getCause()).code());
    Expect.live(0);
  }

  @Test
  void ownThreadCompletesInOrder() throws Exception {
    try (Scene scene = new Scene(builder -> builder.finalizeMode(FinalizeMode.OWN_THREAD))) {
      scene.capturer.watchCompletions();
      for (int step = 0; step < 20; step++) {
        scene.capture(1);
        scene.capturer.endForward(new Forward().tokens(1).slots(Array.of((long) step)), Duration.ofSeconds(10)).close();
      }
      for (long sequence = 1; sequence <= 20; sequence++) {
        assertEquals(new Completion(sequence, Code.OK), scene.capturer.nextCompleted(Duration.ofSeconds(10)));
      }
      assertTrue(scene.capturer.completionDescriptor() > 2);
    }
  }

  /** A builder that nothing refers to any more keeps its memory while C reads it. */
  @Test
  void buildersOutliveTheirCalls() throws Exception {
    AtomicBoolean over = new AtomicBoolean();
    Thread collector =
        new Thread(
            () -> {
              while (!over.get()) {
                System.gc();
              }
            });
    collector.start();
    try {
      for (int round = 0; round < Math.max(60_000, Expect.scale(200_000)); round++) {
        assertTrue(Capturer.builder().numExperts(8).topK(1).layerIds(0).maxForwardTokens(4).numSlots(8).plan().deviceRows() > 0);
      }
    } finally {
      over.set(true);
      collector.join();
    }
  }
}
