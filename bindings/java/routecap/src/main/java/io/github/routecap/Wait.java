// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import static io.github.routecap.Given.given;

import java.time.Duration;

/**
 * The end of a wait. A call that waits in C cannot be interrupted; it waits in slices, and this is asked between them.
 */
final class Wait {
  private static final long SLICE = 10_000_000;
  private static final long FOREVER = Long.MAX_VALUE / 2;

  private final long deadline;

  private Wait(long deadline) {
    this.deadline = deadline;
  }

  static Wait of(Duration timeout) {
    if (given(timeout, "timeout").isNegative()) {
      throw new IllegalArgumentException("the timeout is " + timeout + ", and none is below 0");
    }
    long nanos = timeout.compareTo(Duration.ofNanos(FOREVER)) > 0 ? FOREVER : timeout.toNanos();
    return new Wait(System.nanoTime() + nanos);
  }

  /** Nanoseconds that the next call may wait; 0 when the time is over. */
  long slice() throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    return Math.max(0, Math.min(SLICE, deadline - System.nanoTime()));
  }
}
