// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import static io.github.routecap.Given.given;

import io.github.routecap.internal.Layouts;
import io.github.routecap.internal.NativeApi;
import io.github.routecap.internal.Scratch;
import io.github.routecap.internal.Span;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * Records the routing of one engine rank. Any number live in one process, fully independent (R35).
 *
 * <p>It gets its models and their taps once, is sealed, and then sees every forward: each layer hands over its top-k ids with {@link
 * Tap#capture(Capture)}, and {@link #endForward(Forward)} names the KV slot of every row. What the engine does to a capturer (models, seal, forwards,
 * slots) is done one call at a time; calls that come at once wait for each other. Captures on different taps, reads and statistics run side by side.
 */
public final class Capturer implements AutoCloseable {
  final Cell.OfCapturer cell;
  private final Completions completions;
  // With a backend whose memory is not the host's a call may wait for the device, and so may one that waits for a staging block.
  private final boolean forwardsMayWait;
  private final boolean slotsMayWait;
  private final Map<Long, Tap> taps = new HashMap<>();

  Capturer(long handle, boolean forwardsMayWait, boolean slotsMayWait) {
    this.cell = new Cell.OfCapturer(handle);
    this.completions = new Completions(cell);
    this.forwardsMayWait = forwardsMayWait || slotsMayWait;
    this.slotsMayWait = slotsMayWait;
    cell.closeAfter(this);
  }

  /**
   * Begins the configuration of a capturer.
   *
   * @return a builder with the library's defaults
   */
  public static CapturerBuilder builder() {
    return new CapturerBuilder();
  }

  /** A call of the engine's side. */
  interface EngineCall {
    int call(Cell.OfCapturer own, Scratch scratch);
  }

  /** Runs a call of the engine's side: one at a time. */
  void engine(EngineCall call) {
    cell.enter();
    cell.engine.lock();
    try (Scratch scratch = Scratch.take()) {
      Failure.check(call.call(cell, scratch), scratch);
    } finally {
      cell.engine.unlock();
      cell.leave();
    }
  }

  /**
   * Adds a model before the seal: one {@link Role#TARGET}, any number of {@link Role#DRAFT}. Drafts start denied and stay so (R20).
   *
   * @param role part of the model
   * @param name used in errors
   * @return the model, which ends with the capturer
   */
  public Model addModel(Role role, String name) {
    long[] model = new long[1];
    engine(
        (own, scratch) -> {
          int status = own.api.rcap_capturer_add_model(own.handle, given(role, "role").value(), scratch.text(given(name, "name")), scratch.out(0), scratch.error());
          model[0] = scratch.outLong(0);
          return status;
        });
    return new Model(this, model[0]);
  }

  /** Ends the set-up. It fails closed (R20): no target, a denied target, a captured layer without a tap. After it nothing is loaded or added. */
  public void seal() {
    engine((own, scratch) -> own.api.rcap_capturer_seal(own.handle, scratch.error()));
  }

  /**
   * Finds a tap by its number.
   *
   * @param id as {@link Tap#id()} gave it
   * @return the tap
   */
  public Tap tap(int id) {
    cell.enter();
    try (Scratch scratch = Scratch.take()) {
      Failure.check(cell.api.rcap_capturer_tap(cell.handle, id, scratch.out(0), scratch.error()), scratch);
      return tapOf(scratch.outLong(0));
    } finally {
      cell.leave();
    }
  }

  /** One handle is one object. */
  Tap tapOf(long handle) {
    synchronized (taps) {
      return taps.computeIfAbsent(handle, absent -> new Tap(cell, absent));
    }
  }

  /**
   * Reads the capturer's counters.
   *
   * @return the counters now
   */
  public Stats stats() {
    cell.enter();
    try (Scratch scratch = Scratch.take()) {
      scratch.struct(Layouts.CapturerStats.SIZE);
      Failure.check(cell.api.rcap_capturer_stats_get(cell.handle, scratch.address(), scratch.error()), scratch);
      return Stats.from(scratch);
    } finally {
      cell.leave();
    }
  }

  /**
   * Stages this rank's rows, gives the forward its sequence number, and the device cache back to the next forward (R30). A refused call, {@link
   * Code#BUSY} included, changes nothing and may be repeated.
   *
   * @param forward what is staged
   * @return the forward on its way to the store, to be closed
   * @throws RouteCapException with {@link Code#BUSY} when every staging block is in flight
   */
  public Output endForward(Forward forward) {
    cell.enter();
    try (Scratch scratch = Scratch.take()) {
      int status = end(forward, scratch);
      Failure.check(status, scratch);
      return new Output(scratch.outLong(0), cell, completions);
    } finally {
      cell.leave();
    }
  }

  /**
   * Stages this rank's rows as {@link #endForward(Forward)} does, and tries again while every staging block is in flight: for an engine whose outputs are
   * settled by other threads.
   *
   * @param forward what is staged
   * @param timeout longest wait
   * @return the forward on its way to the store, to be closed
   * @throws RouteCapException with {@link Code#BUSY} when the time is over
   * @throws InterruptedException if the thread is interrupted while it waits
   */
  public Output endForward(Forward forward, Duration timeout) throws InterruptedException {
    return waiting(timeout, Code.BUSY, () -> endForward(forward));
  }

  private int end(Forward forward, Scratch scratch) {
    given(forward, "forward");
    Span slots = forwardsMayWait ? Array.staged(forward.slots) : Array.in(forward.slots);
    Span rows = forwardsMayWait ? Array.staged(forward.rows) : Array.in(forward.rows);
    Array.in(forward.tags, DType.INT64, "tags");
    Span tags = forwardsMayWait ? Array.staged(forward.tags) : Array.in(forward.tags);
    forward.write(scratch);
    cell.engine.lock();
    try {
      return cell.api.rcap_capturer_end_forward(
          cell.handle, scratch.address(), slots, rows, tags, forward.stream, scratch.out(0), scratch.error());
    } finally {
      cell.engine.unlock();
    }
  }

  /**
   * Forgets what was captured since the last {@link #endForward(Forward)}: a warm-up, dummy or aborted forward (R27). It takes no number.
   *
   * @param stream the backend's stream handle; 0 is its default stream
   */
  public void discardForward(long stream) {
    engine((own, scratch) -> own.api.rcap_capturer_discard_forward(own.handle, stream, scratch.error()));
  }

  /**
   * Makes slots read as missing until they are written again (R8). Applied at the call; forwards numbered before it never leave a row there (R9).
   * Releasing twice, or a reserved slot, is harmless.
   *
   * @param unit how slots are named
   * @param slots slots or pages, int32 or int64
   * @param stream the backend's stream handle; 0 is its default stream
   */
  public void releaseSlots(SlotUnit unit, Array slots, long stream) {
    Span released = slotsMayWait ? Array.staged(given(slots, "slots")) : Array.in(given(slots, "slots"));
    engine((own, scratch) -> own.api.rcap_capturer_release_slots(own.handle, slotsLayout(scratch, unit, slots), released, stream, scratch.error()));
  }

  /**
   * Makes slots read as missing until they are written again (R8).
   *
   * @param slots slots
   */
  public void releaseSlots(long... slots) {
    releaseSlots(SlotUnit.SLOT, Array.of(given(slots, "slots")), 0);
  }

  /**
   * Releases every slot, in constant time.
   *
   * @param stream the backend's stream handle; 0 is its default stream
   */
  public void releaseAll(long stream) {
    engine((own, scratch) -> own.api.rcap_capturer_release_all(own.handle, stream, scratch.error()));
  }

  /**
   * Copies rows from slots to other slots, as if all at once; sources stay (R12). Rows of forwards numbered before the copy and settled after it go along:
   * until those are done the target is {@link Code#NOT_READY}.
   *
   * @param unit how slots are named
   * @param from sources, int32 or int64
   * @param to targets, of the same dtype and as many
   * @param stream the backend's stream handle; 0 is its default stream
   */
  public void copySlots(SlotUnit unit, Array from, Array to, long stream) {
    if (given(from, "from").dtype() != given(to, "to").dtype() || from.memory() != to.memory()) {
      throw new IllegalArgumentException(
          "the slots to copy from are " + from.dtype() + " in " + from.memory() + " memory, those to copy to " + to.dtype() + " in " + to.memory() + " memory");
    }
    Span source = slotsMayWait ? Array.staged(from) : Array.in(from);
    Span target = slotsMayWait ? Array.staged(to) : Array.in(to);
    engine((own, scratch) -> own.api.rcap_capturer_copy_slots(own.handle, slotsLayout(scratch, unit, from), source, target, stream, scratch.error()));
  }

  private static long slotsLayout(Scratch scratch, SlotUnit unit, Array slots) {
    return scratch
        .struct(Layouts.SlotsLayout.SIZE)
        .put(Layouts.SlotsLayout.SLOTS_DTYPE, Array.dtypeOr(slots, DType.INT64))
        .put(Layouts.SlotsLayout.MEMORY, Array.memoryOf(slots))
        .put(Layouts.SlotsLayout.UNIT, given(unit, "unit").value())
        .address();
  }

  /**
   * The state of one slot.
   *
   * @param slot 0 .. number of slots - 1
   * @return its state
   * @throws RouteCapException with {@link Code#NOT_READY} for the target of a copy that waits for a forward
   */
  public SlotInfo slotInfo(long slot) {
    cell.enter();
    try (Scratch scratch = Scratch.take()) {
      scratch.struct(Layouts.SlotInfo.SIZE);
      Failure.check(cell.api.rcap_capturer_slot_info_get(cell.handle, slot, scratch.address(), scratch.error()), scratch);
      return SlotInfo.from(scratch);
    } finally {
      cell.leave();
    }
  }

  /**
   * Reads a request's rows by its slots into a new record. Rows that nobody captured are missing (R7). A read never settles a forward.
   *
   * @param read which rows
   * @return the record, to be closed
   * @throws RouteCapException with {@link Code#NOT_READY} and the sequence that is lacking where it would have to wait
   */
  public Record read(Read read) {
    return read(given(read, "read"), Array.in(read.slots), Array.in(read.tags, DType.INT64, "tags"), 0);
  }

  /**
   * Reads a request's rows by its slots, and waits for what is lacking.
   *
   * @param read which rows
   * @param timeout longest wait
   * @return the record, to be closed
   * @throws RouteCapException with {@link Code#NOT_READY} and the sequence that is lacking when the time is over
   * @throws InterruptedException if the thread is interrupted while it waits
   */
  public Record read(Read read, Duration timeout) throws InterruptedException {
    Wait wait = Wait.of(timeout);
    try {
      return read(read);
    } catch (RouteCapException e) {
      if (e.code() != Code.NOT_READY) {
        throw e;
      }
    }
    Span slots = Array.staged(read.slots);
    Span tags = Array.staged(read.tags);
    while (true) {
      long slice = wait.slice();
      try {
        return read(read, slots, tags, slice);
      } catch (RouteCapException e) {
        if (e.code() != Code.NOT_READY || slice == 0) {
          throw e;
        }
      }
    }
  }

  private Record read(Read read, Span slots, Span tags, long timeoutNanos) {
    cell.enter();
    try (Scratch scratch = Scratch.take()) {
      read.write(scratch, timeoutNanos);
      Failure.check(cell.api.rcap_capturer_read(cell.handle, scratch.address(), slots, tags, scratch.out(0), scratch.error()), scratch);
      return new Record(scratch.outLong(0));
    } finally {
      cell.leave();
    }
  }

  /**
   * Reads a request's rows by its slots into the caller's memory, without allocating. Weights and validity may be left out; with all three left out only
   * the needs are told. What lies behind the needed part of an array is left alone.
   *
   * @param read which rows
   * @param ids receives [rows, L, K] of the capturer's id dtype, or null
   * @param weights receives the same of weights where they are kept, or null
   * @param validity receives the row bitmap, and behind it the cell bitmap where there are {@link TapFlag#PARTIAL} taps, uint8, or null
   * @return what was read
   * @throws RouteCapException with {@link Code#OUT_OF_RANGE} where an array is too small, naming the bytes that are needed
   */
  public ReadInfo readInto(Read read, Array ids, Array weights, Array validity) {
    given(read, "read");
    Span idsOut = Array.out(ids, "ids");
    Span weightsOut = Array.out(weights, "weights");
    Span validityOut = Array.out(validity, "validity");
    Span tags = Array.in(read.tags, DType.INT64, "tags");
    cell.enter();
    try (Scratch scratch = Scratch.take()) {
      read.write(scratch, 0);
      // The library fills the second struct; it takes the place of the first, which has been read by then.
      long info = scratch.second(Layouts.ReadInfo.SIZE);
      int status =
          cell.api.rcap_capturer_read_into(
              cell.handle, scratch.address(), Array.in(read.slots), tags, idsOut, weightsOut, validityOut, info, scratch.error());
      Failure.check(status, scratch);
      scratch.takeSecond(Layouts.ReadInfo.SIZE);
      return ReadInfo.from(scratch);
    } finally {
      cell.leave();
    }
  }

  /**
   * Reads a request's rows as {@link #readInto(Read, Array, Array, Array)} does, and waits for what is lacking.
   *
   * @param read which rows
   * @param ids receives [rows, L, K] of the capturer's id dtype, or null
   * @param weights receives the same of weights where they are kept, or null
   * @param validity receives the bitmaps, uint8, or null
   * @param timeout longest wait
   * @return what was read
   * @throws RouteCapException with {@link Code#NOT_READY} and the sequence that is lacking when the time is over
   * @throws InterruptedException if the thread is interrupted while it waits
   */
  public ReadInfo readInto(Read read, Array ids, Array weights, Array validity, Duration timeout) throws InterruptedException {
    return waiting(timeout, Code.NOT_READY, () -> readInto(read, ids, weights, validity));
  }

  /**
   * Reads a request's rows by its slots and writes them in a form, in one pass and without a record between.
   *
   * @param read which rows
   * @param format the form
   * @param options options of the encoder
   * @return the bytes
   * @throws RouteCapException with {@link Code#NOT_READY} and the sequence that is lacking where it would have to wait
   */
  public byte[] encode(Read read, Format format, EncodeOptions options) {
    given(read, "read");
    given(format, "format");
    given(options, "options");
    Span tags = Array.in(read.tags, DType.INT64, "tags");
    cell.enter();
    try (Scratch scratch = Scratch.take()) {
      return Encoded.bytes(
          scratch,
          (room, needed) -> {
            read.write(scratch, 0);
            options.write(scratch);
            return cell.api.rcap_capturer_encode(
                cell.handle, scratch.address(), Array.in(read.slots), tags, format.value(), scratch.secondAddress(), room, needed, scratch.error());
          });
    } finally {
      cell.leave();
    }
  }

  /**
   * Reads and writes a form as {@link #encode(Read, Format, EncodeOptions)} does, and waits for what is lacking.
   *
   * @param read which rows
   * @param format the form
   * @param options options of the encoder
   * @param timeout longest wait
   * @return the bytes
   * @throws RouteCapException with {@link Code#NOT_READY} and the sequence that is lacking when the time is over
   * @throws InterruptedException if the thread is interrupted while it waits
   */
  public byte[] encode(Read read, Format format, EncodeOptions options, Duration timeout) throws InterruptedException {
    return waiting(timeout, Code.NOT_READY, () -> encode(read, format, options));
  }

  /** Repeats a call that does not wait while it says {@code again}, and pauses outside it. */
  private static <T> T waiting(Duration timeout, Code again, Supplier<T> call) throws InterruptedException {
    Wait wait = Wait.of(timeout);
    for (long pause = 20_000; ; pause = Math.min(2 * pause, 1_000_000)) {
      try {
        return call.get();
      } catch (RouteCapException e) {
        long slice = e.code() == again ? wait.slice() : 0;
        if (slice == 0) {
          throw e;
        }
        LockSupport.parkNanos(Math.min(pause, slice));
      }
    }
  }

  /** Starts keeping completions for {@link #nextCompleted(Duration)}; call it before the forwards that matter. {@link FinalizeMode#OWN_THREAD} only. */
  public void watchCompletions() {
    cell.enter();
    try (Scratch scratch = Scratch.take()) {
      int status = cell.api.rcap_capturer_next_completed(cell.handle, 0, scratch.out(0), scratch.out(1), scratch.error());
      if (status != Code.TIMEOUT.value()) {
        Failure.check(status, scratch);
        completions.missed(scratch.outLong(0), scratch.outInt(1));
      }
    } finally {
      cell.leave();
    }
  }

  /**
   * Takes the next settled output, in the order in which they settled, or waits for one. {@link FinalizeMode#OWN_THREAD} only. Not to be mixed with {@link
   * Output#settled()}, whose thread takes every completion.
   *
   * @param timeout longest wait
   * @return the output's number and what became of it
   * @throws RouteCapException with {@link Code#TIMEOUT} when the time is over
   * @throws InterruptedException if the thread is interrupted while it waits
   */
  public Completion nextCompleted(Duration timeout) throws InterruptedException {
    Wait wait = Wait.of(timeout);
    Completion early = completions.takeMissed();
    if (early != null) {
      return early;
    }
    while (true) {
      long slice = wait.slice();
      cell.enter();
      try (Scratch scratch = Scratch.take()) {
        int status = cell.api.rcap_capturer_next_completed(cell.handle, slice, scratch.out(0), scratch.out(1), scratch.error());
        if (status != Code.TIMEOUT.value() || slice == 0) {
          Failure.check(status, scratch);
          return new Completion(scratch.outLong(0), Code.of(scratch.outInt(1)));
        }
      } finally {
        cell.leave();
      }
    }
  }

  /**
   * An eventfd that counts settled outputs, for a native event loop in this process; it starts keeping completions. {@link FinalizeMode#OWN_THREAD} only.
   *
   * @return the descriptor, which belongs to the capturer and is closed with it
   */
  public int completionDescriptor() {
    cell.enter();
    try (Scratch scratch = Scratch.take()) {
      Failure.check(cell.api.rcap_capturer_completion_fd(cell.handle, scratch.out(0), scratch.error()), scratch);
      return scratch.outInt(0);
    } finally {
      cell.leave();
    }
  }

  /**
   * Ends the capturer, its models and its taps. Outputs in flight are safe and say {@link Code#CLOSED} from then on (R34); records live on. It may come at
   * any moment: a call in progress ends as it would have, and the last one to end gives the memory back.
   */
  @Override
  public void close() {
    cell.close();
  }
}
