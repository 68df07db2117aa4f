// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import io.github.routecap.internal.Scratch;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * The futures of a capturer's outputs, and the one thread that completes them. The thread begins with the first future, and ends with the capturer. It
 * knows the capturer's cell and not the capturer, so that one that was forgotten is collected.
 */
final class Completions implements Runnable {
  private static final long SLICE = 20_000_000;

  private final Cell.OfCapturer cell;
  private final Map<Long, Pending> pending = new HashMap<>();
  private final ArrayDeque<Completion> missed = new ArrayDeque<>();
  private boolean running;

  /** An output that somebody waits for, which stays alive until then. */
  private record Pending(Cell.OfOutput output, CompletableFuture<Summary> future) {
    void complete() {
      try {
        Summary summary = Output.settleHeld(output);
        future.completeAsync(() -> summary);
      } catch (RuntimeException e) {
        future.completeExceptionally(e);
      } finally {
        output.leave();
      }
    }
  }

  Completions(Cell.OfCapturer cell) {
    this.cell = cell;
  }

  /** A completion that was taken while watching began. */
  synchronized void missed(long sequence, int status) {
    missed.add(new Completion(sequence, Code.of(status)));
  }

  synchronized Completion takeMissed() {
    return missed.poll();
  }

  /** The future of an output. */
  CompletableFuture<Summary> future(Cell.OfOutput output, long sequence) {
    CompletableFuture<Summary> future = new CompletableFuture<>();
    Pending wanted = new Pending(output, future);
    synchronized (this) {
      if (output.settled != null) {
        return output.settled;
      }
      output.enter();
      try {
        begin();
      } catch (RuntimeException e) {
        output.leave();
        throw e;
      }
      output.settled = future;
      pending.put(sequence, wanted);
    }
    // It may have settled before anybody watched.
    if (output.tryEnter()) {
      try {
        if (Output.readyHeld(output)) {
          settle(sequence);
        }
      } catch (RouteCapException failed) {
        settle(sequence);
      } finally {
        output.leave();
      }
    }
    return future;
  }

  private void begin() {
    if (running) {
      return;
    }
    cell.enter();
    try (Scratch scratch = Scratch.take()) {
      int status = cell.api.rcap_capturer_next_completed(cell.handle, 0, scratch.out(0), scratch.out(1), scratch.error());
      if (status != Code.TIMEOUT.value()) {
        Failure.check(status, scratch);
      }
    } finally {
      cell.leave();
    }
    Thread thread = new Thread(null, this, "routecap completions", 256 * 1024);
    thread.setDaemon(true);
    thread.start();
    running = true;
  }

  private void settle(long sequence) {
    Pending settled;
    synchronized (this) {
      settled = pending.remove(sequence);
    }
    if (settled != null) {
      settled.complete();
    }
  }

  @Override
  public void run() {
    try {
      while (cell.tryEnter()) {
        long sequence;
        try (Scratch scratch = Scratch.take()) {
          int status = cell.api.rcap_capturer_next_completed(cell.handle, SLICE, scratch.out(0), scratch.out(1), scratch.error());
          if (status == Code.TIMEOUT.value()) {
            continue;
          }
          if (status < 0) {
            break;
          }
          sequence = scratch.outLong(0);
        } finally {
          cell.leave();
        }
        settle(sequence);
      }
    } finally {
      Map<Long, Pending> left;
      synchronized (this) {
        running = false;
        left = new HashMap<>(pending);
        pending.clear();
      }
      left.values().forEach(Pending::complete);
    }
  }
}
