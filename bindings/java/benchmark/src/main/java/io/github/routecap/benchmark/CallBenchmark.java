// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.benchmark;

import io.github.routecap.Array;
import io.github.routecap.Capture;
import io.github.routecap.Capturer;
import io.github.routecap.DType;
import io.github.routecap.Forward;
import io.github.routecap.Output;
import io.github.routecap.Read;
import io.github.routecap.ReadInfo;
import io.github.routecap.Role;
import io.github.routecap.RouteCap;
import io.github.routecap.Summary;
import io.github.routecap.Tap;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** The calls of a serving loop, one row a forward, beside a call that does nothing in C: what that costs is the price of crossing. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class CallBenchmark {
  private Capturer capturer;
  private Tap tap;
  private Tap draft;
  private final Capture heap = new Capture().columns(8).tokens(1);
  private final Capture direct = new Capture().columns(8).tokens(1);
  private final Forward forward = new Forward().tokens(1);
  private final Read read = new Read().tokens(129);
  private Array rows;

  /** One captured layer, K = 8. */
  @Setup
  public void open() {
    capturer = Capturer.builder().numExperts(256).topK(8).layerIds(0).maxForwardTokens(128).numSlots(4096).build();
    tap = capturer.addModel(Role.TARGET, "target").addTap(0);
    draft = capturer.addModel(Role.DRAFT, "draft").addTap(0);
    capturer.seal();
    int[] ids = {1, 2, 3, 4, 5, 6, 7, 8};
    ByteBuffer memory = ByteBuffer.allocateDirect(32).order(ByteOrder.nativeOrder());
    memory.asIntBuffer().put(ids);
    heap.ids(Array.of(ids));
    direct.ids(Array.of(DType.INT32, memory));
    long[] slots = new long[128];
    for (int index = 0; index < slots.length; index++) {
      slots[index] = index;
    }
    forward.slots(Array.of(slots, 0, 1));
    read.slots(Array.of(slots));
    rows = Array.of(new byte[128 * 8]);
  }

  /** Ends it. */
  @TearDown
  public void close() {
    capturer.close();
  }

  /**
   * A call that only gives a number back.
   *
   * @return the number
   */
  @Benchmark
  public int abiVersion() {
    return RouteCap.abiVersion();
  }

  /** A capture on a denied tap: counted in C, and nothing else. */
  @Benchmark
  public void captureDenied() {
    draft.capture(direct);
  }

  /** A capture of one row from direct memory. The same row again and again: it is the call that is measured. */
  @Benchmark
  public void captureDirect() {
    tap.capture(direct);
  }

  /** A capture of one row from an array of the heap. */
  @Benchmark
  public void captureHeap() {
    tap.capture(heap);
  }

  /**
   * A whole forward of one row.
   *
   * @return what became of it
   */
  @Benchmark
  public Summary forward() {
    capturer.discardForward(0);
    tap.capture(direct);
    try (Output output = capturer.endForward(forward)) {
      output.copyToHost();
      return output.settle();
    }
  }

  /**
   * A read of 128 rows into memory of the caller's.
   *
   * @return what was read
   */
  @Benchmark
  public ReadInfo readInto() {
    return capturer.readInto(read, rows, null, null);
  }
}
