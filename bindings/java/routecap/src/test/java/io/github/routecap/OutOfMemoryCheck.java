// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Wherever the library runs out of memory, in any call: an exception with that code, nothing leaks, nothing is half done, and the call may be repeated. To be
 * run with a library preloaded under which allocations of routecap's fail now and then (tests/faults). Ends with 1 where that does not hold.
 */
public final class OutOfMemoryCheck {
  private static final int ROUNDS = 60;
  private static final int MOST_TRIES = 10000;

  private static final Map<String, Integer> FAILURES = new HashMap<>();

  private OutOfMemoryCheck() {}

  /**
   * Runs it.
   *
   * @param arguments none
   */
  public static void main(String[] arguments) {
    for (int round = 0; round < ROUNDS; round++) {
      everyCall();
    }
    for (String name :
        List.of("build", "addModel", "addTap", "seal", "endForward", "copySlots", "read", "create", "slice", "append", "merge", "truncate", "interleave",
            "toFullAxis", "toCompact", "encode", "decode", "encode slots", "open")) {
      if (!FAILURES.containsKey(name)) {
        fail(name + " never failed; those that did: " + FAILURES);
      }
    }
    if (RouteCap.liveHandles() != 0) {
      fail(RouteCap.liveHandles() + " handles are alive");
    }
    System.out.println(FAILURES.values().stream().mapToInt(Integer::intValue).sum() + " failures over " + RouteCap.api());
  }

  private static void fail(String why) {
    System.err.println(why);
    System.exit(1);
  }

  /** Repeats a call until it succeeds; nothing but a lack of memory may stop it. */
  private static <T> T again(String name, Supplier<T> call) {
    for (int i = 0; i < MOST_TRIES; i++) {
      try {
        return call.get();
      } catch (RouteCapException e) {
        if (e.code() != Code.OUT_OF_MEMORY) {
          fail(name + ": " + e.getMessage());
        }
        FAILURES.merge(name, 1, Integer::sum);
      }
    }
    fail(name + " never succeeds");
    return null;
  }

  private static void repeat(String name, Runnable call) {
    again(
        name,
        () -> {
          call.run();
          return null;
        });
  }

  private static void everyCall() {
    again("open", () -> Backend.open("host")).close();
    List<Record> records = new ArrayList<>();
    try (Capturer capturer =
        again(
            "build",
            () -> Capturer.builder().numExperts(64).topK(2).layerIds(1, 4).maxForwardTokens(8).numSlots(64).checkLevel(CheckLevel.FULL).build())) {
      Model target = again("addModel", () -> capturer.addModel(Role.TARGET, "target"));
      List<Tap> taps = List.of(again("addTap", () -> target.addTap(1)), again("addTap", () -> target.addTap(4)));
      repeat("seal", capturer::seal);
      for (Tap tap : taps) {
        repeat("capture", () -> tap.capture(new Capture().ids(Array.of(7, 50, 3, 4)).columns(2).tokens(2)));
      }
      Array slots = Array.of(9L, 11L);
      try (Output output = again("endForward", () -> capturer.endForward(new Forward().tokens(2).slots(slots).weightVersion(3)))) {
        repeat("copyToHost", output::copyToHost);
        again("settle", output::settle);
      }
      repeat("copySlots", () -> capturer.copySlots(SlotUnit.SLOT, slots, Array.of(20L, 21L), 0));
      repeat("releaseSlots", () -> capturer.releaseSlots(9, 11));
      Read read = new Read().slots(Array.of(20L, 21L)).tokens(3);
      again("encode slots", () -> capturer.encode(read, Format.PRIME, new EncodeOptions()));
      Record record = kept(records, "read", () -> capturer.read(read));
      Record front = kept(records, "slice", () -> record.slice(0, 1));
      Record back = kept(records, "slice", () -> record.slice(1, 2));
      kept(records, "truncate", () -> record.truncate(2));
      Record full = kept(records, "toFullAxis", () -> record.toFullAxis(6, Fill.MISSING, 0));
      RecordConfig config =
          new RecordConfig().rows(2).numExperts(64).topK(2).layerIds(1, 4).ids(Array.of(new byte[] {7, 50, 7, 50, 3, 4, 3, 4})).weightVersion(3);
      List<Record> same = new ArrayList<>();
      same.add(kept(records, "append", () -> front.append(back, Overlap.REFUSE)));
      same.add(kept(records, "merge", () -> front.merge(back, 1)));
      same.add(kept(records, "interleave", () -> front.interleave(new long[] {0}, back, new long[] {1})));
      same.add(kept(records, "toCompact", () -> full.toCompact(1, 4)));
      same.add(kept(records, "create", () -> Record.create(config)));
      for (Format format : List.of(Format.FRAME, Format.VLLM, Format.PRIME, Format.LISTS, Format.CSV)) {
        byte[] bytes = again("encode", () -> record.encode(format));
        DecodeHints hints = new DecodeHints().start(0).numExperts(64).layerIds(1, 4);
        kept(records, "decode", () -> Record.decode(format, bytes, hints));
      }
      for (Record other : same) {
        CompareReport report = again("compare", () -> record.compare(other));
        if (report.cells() != 4 || report.cellsDiffer() != 0 || report.rowsDifferInVersion() != 0) {
          fail("compared: " + report);
        }
      }
    } finally {
      records.forEach(Record::close);
    }
  }

  private static Record kept(List<Record> records, String name, Supplier<Record> call) {
    Record record = again(name, call);
    records.add(record);
    return record;
  }
}
