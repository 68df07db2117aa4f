// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import io.github.routecap.internal.Native;
import io.github.routecap.internal.NativeApi;
import java.lang.ref.Cleaner;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A handle of the library and the calls that are using it. It is an object of its own, so that it outlives the public object in front of it: what cleans
 * up after that object still finds here what to destroy.
 *
 * <p>Invariant: the handle is destroyed exactly once, when it was closed and no call uses it.
 */
abstract class Cell extends AtomicLong implements Runnable {
  private static final long serialVersionUID = 1;

  private static final Cleaner CLEANER = Cleaner.create();
  private static final AtomicLong LIVE = new AtomicLong();

  // Closed: no call begins any more. Ended: somebody destroys the handle, or has done so. Above them the calls in progress.
  private static final long CLOSED = 1;
  private static final long ENDED = 2;
  private static final long CALL = 4;

  final transient NativeApi api = Native.api();
  final long handle;
  final String what;

  Cell(long handle, String what) {
    this.handle = handle;
    this.what = what;
    LIVE.getAndIncrement();
  }

  /** The handles that are neither closed nor collected. */
  static long live() {
    return LIVE.get();
  }

  /** Closes this cell some time after an object was collected. */
  final void closeAfter(Object owner) {
    CLEANER.register(owner, this);
  }

  /** Ends a use of this cell some time after an object was collected. */
  final void leaveAfter(Object user) {
    CLEANER.register(user, this::leave);
  }

  /** Keeps the handle alive until {@link #leave()}; refused when it is closed. */
  final Cell enter() {
    if (!tryEnter()) {
      throw Failure.closed(what);
    }
    return this;
  }

  final boolean tryEnter() {
    if ((getAndAdd(CALL) & CLOSED) == 0) {
      return true;
    }
    leave();
    return false;
  }

  final void leave() {
    if (addAndGet(-CALL) == CLOSED) {
      end();
    }
  }

  final void close() {
    for (long old = get(); (old & CLOSED) == 0; old = get()) {
      if (compareAndSet(old, old | CLOSED)) {
        if (old == 0) {
          end();
        }
        return;
      }
    }
  }

  final boolean isClosed() {
    return (get() & CLOSED) != 0;
  }

  @Override
  public final void run() {
    close();
  }

  /** Called by each that sees it closed and unused; one of them wins. */
  private void end() {
    if (compareAndSet(CLOSED, CLOSED | ENDED)) {
      destroy();
      LIVE.getAndDecrement();
    }
  }

  abstract void destroy();

  /** A capturer's. */
  static final class OfCapturer extends Cell {
    private static final long serialVersionUID = 1;

    /** One caller among models, seal, forwards and slots. */
    final transient ReentrantLock engine = new ReentrantLock();

    /** Held while it is destroyed, and while an output is destroyed after the capturer was closed. */
    final transient ReentrantLock destroying = new ReentrantLock();

    /** Memory that the library keeps pointers to. */
    final transient List<Object> kept = new ArrayList<>();

    OfCapturer(long handle) {
      super(handle, "capturer");
    }

    @Override
    void destroy() {
      destroying.lock();
      try {
        api.rcap_capturer_destroy(handle);
      } finally {
        destroying.unlock();
      }
      kept.clear();
    }
  }

  /** An output's. A capturer is not destroyed while a call on its outputs is in progress. */
  static final class OfOutput extends Cell {
    private static final long serialVersionUID = 1;

    final OfCapturer capturer;

    /** One caller at a time. */
    final transient ReentrantLock calls = new ReentrantLock();

    /** The one future, made when it is first asked for; guarded by the capturer's completions. */
    transient CompletableFuture<Summary> settled;

    OfOutput(long handle, OfCapturer capturer) {
      super(handle, "output");
      this.capturer = capturer;
    }

    @Override
    void destroy() {
      if (capturer.tryEnter()) {
        try {
          api.rcap_output_destroy(handle);
        } finally {
          capturer.leave();
        }
        return;
      }
      capturer.destroying.lock();
      try {
        api.rcap_output_destroy(handle);
      } finally {
        capturer.destroying.unlock();
      }
    }

    /** Begins a call: the output and its capturer stay alive until {@link #finish()}. */
    void begin() {
      calls.lock();
      if (!tryEnter()) {
        calls.unlock();
        throw Failure.closed(what);
      }
      if (!capturer.tryEnter()) {
        leave();
        calls.unlock();
        throw Failure.closed("capturer of the output");
      }
    }

    void finish() {
      finishHeld();
      leave();
    }

    /** Begins a call of somebody who keeps the output alive already, closed or not, until {@link #finishHeld()}. */
    void beginHeld() {
      calls.lock();
      if (!capturer.tryEnter()) {
        calls.unlock();
        throw Failure.closed("capturer of the output");
      }
    }

    void finishHeld() {
      capturer.leave();
      calls.unlock();
    }
  }

  /** A record's. */
  static final class OfRecord extends Cell {
    private static final long serialVersionUID = 1;

    OfRecord(long handle) {
      super(handle, "record");
    }

    @Override
    void destroy() {
      api.rcap_record_destroy(handle);
    }
  }

  /** A backend's. */
  static final class OfBackend extends Cell {
    private static final long serialVersionUID = 1;

    OfBackend(long handle) {
      super(handle, "backend");
    }

    @Override
    void destroy() {
      api.rcap_backend_destroy(handle);
    }
  }
}
