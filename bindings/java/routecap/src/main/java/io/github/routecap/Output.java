// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import static io.github.routecap.Given.given;

import io.github.routecap.internal.Layouts;
import io.github.routecap.internal.Scratch;
import io.github.routecap.internal.Span;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * One ended forward on its way to the store. Closed or collected unsettled, it is dropped: its slots settle as missing (R33). With {@link
 * FinalizeMode#OWN_THREAD} an accepted one is only detached and still stored. Any thread may use it; calls that come at once wait for each other.
 */
public final class Output implements AutoCloseable {
  private final Cell.OfOutput cell;
  private final Completions completions;

  Output(long handle, Cell.OfCapturer capturer, Completions completions) {
    this.cell = new Cell.OfOutput(handle, capturer);
    this.completions = completions;
    cell.closeAfter(this);
  }

  /**
   * The number of the forward. Forwards, releases and copies of a capturer count together (R9).
   *
   * @return a positive number
   */
  public long sequence() {
    cell.begin();
    try (Scratch scratch = Scratch.take()) {
      long answer = cell.api.rcap_output_sequence(cell.handle, scratch.error());
      Failure.check((int) Math.min(answer, 0), scratch);
      return answer;
    } finally {
      cell.finish();
    }
  }

  /**
   * Tells which rows of an {@link Acceptance#LATER} forward are committed; once, before it is settled. A refused call may be repeated (R21).
   *
   * @param accept the rows
   */
  public void accept(Accept accept) {
    Span rows = Array.in(given(accept, "accept").rows);
    Span slots = Array.in(accept.slots);
    cell.begin();
    try (Scratch scratch = Scratch.take()) {
      accept.write(scratch);
      Failure.check(cell.api.rcap_output_accept(cell.handle, scratch.address(), rows, slots, accept.stream, scratch.error()), scratch);
    } finally {
      cell.finish();
    }
  }

  /**
   * The staged block on the device, for a collective where ranks hold parts: {@link Plan#slotPayloadBytes()} a row. Valid until the output settles.
   *
   * @return its address and size
   */
  public DeviceRows deviceRows() {
    cell.begin();
    try (Scratch scratch = Scratch.take()) {
      Failure.check(cell.api.rcap_output_device_rows(cell.handle, scratch.out(0), scratch.out(1), scratch.error()), scratch);
      return new DeviceRows(scratch.outLong(0), scratch.outLong(1));
    } finally {
      cell.finish();
    }
  }

  /**
   * Memory of the backend's device.
   *
   * @param address where it begins
   * @param bytes its size
   */
  public record DeviceRows(long address, long bytes) {}

  /** Starts the one copy of the staged block to the host, on the backend's default stream. A second call does nothing. */
  public void copyToHost() {
    copyToHost(0);
  }

  /**
   * Starts the one copy of the staged block to the host, ordered behind the staging whatever the stream. A second call does nothing.
   *
   * @param stream the backend's stream handle; 0 is its default stream
   */
  public void copyToHost(long stream) {
    cell.begin();
    try (Scratch scratch = Scratch.take()) {
      Failure.check(cell.api.rcap_output_copy_to_host(cell.handle, stream, scratch.error()), scratch);
    } finally {
      cell.finish();
    }
  }

  /**
   * Whether the copy is complete; with {@link FinalizeMode#OWN_THREAD}, whether the output has settled. It never waits.
   *
   * @return whether {@link #settle()} has what it needs
   */
  public boolean isReady() {
    cell.begin();
    try {
      return ready(cell);
    } finally {
      cell.finish();
    }
  }

  static boolean readyHeld(Cell.OfOutput cell) {
    cell.beginHeld();
    try {
      return ready(cell);
    } finally {
      cell.finishHeld();
    }
  }

  private static boolean ready(Cell.OfOutput cell) {
    try (Scratch scratch = Scratch.take()) {
      int answer = cell.api.rcap_output_ready(cell.handle, scratch.error());
      Failure.check(answer, scratch);
      return answer > 0;
    }
  }

  /**
   * Waits until {@link #isReady()} would say true.
   *
   * @param timeout longest wait
   * @return false when the time is over
   * @throws InterruptedException if the thread is interrupted while it waits
   */
  public boolean await(Duration timeout) throws InterruptedException {
    Wait wait = Wait.of(timeout);
    while (true) {
      long slice = wait.slice();
      cell.begin();
      try (Scratch scratch = Scratch.take()) {
        int status = cell.api.rcap_output_wait(cell.handle, slice, scratch.error());
        if (status != Code.TIMEOUT.value()) {
          Failure.check(status, scratch);
          return true;
        }
        if (slice == 0) {
          return false;
        }
      } finally {
        cell.finish();
      }
    }
  }

  /**
   * Stores the committed rows and frees the block (in C, {@code rcap_output_finalize}). Bad rows do not fail the call: they are missing and the summary
   * names the first (R14). On a settled output it gives the same answer again. With {@link FinalizeMode#OWN_THREAD} it only reads the summary.
   *
   * @return what became of the rows
   * @throws RouteCapException with {@link Code#NOT_READY} before {@link #copyToHost()}, before its copy is complete, and before an {@link
   *     Acceptance#LATER} forward was accepted
   */
  public Summary settle() {
    cell.begin();
    try {
      return finalized(cell);
    } finally {
      cell.finish();
    }
  }

  /** The summary of an output that the caller keeps alive, closed or not. */
  static Summary settleHeld(Cell.OfOutput cell) {
    cell.beginHeld();
    try {
      return finalized(cell);
    } finally {
      cell.finishHeld();
    }
  }

  private static Summary finalized(Cell.OfOutput cell) {
    try (Scratch scratch = Scratch.take()) {
      scratch.struct(Layouts.Summary.SIZE);
      Failure.check(cell.api.rcap_output_finalize(cell.handle, scratch.address(), scratch.error()), scratch);
      return Summary.from(scratch);
    }
  }

  /**
   * The future of this output, with {@link FinalizeMode#OWN_THREAD} only: one thread of the capturer's, begun by the first call, completes it with the
   * summary, or with the failure. Nothing of the future runs on that thread. The output may be closed meanwhile; it is given back when the future is
   * complete.
   *
   * @return one future, the same for every call
   */
  public CompletableFuture<Summary> settled() {
    return completions.future(cell, sequence());
  }

  /** Gives the output back. */
  @Override
  public void close() {
    cell.close();
  }
}
