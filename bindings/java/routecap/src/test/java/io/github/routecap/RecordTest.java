// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RecordTest {
  private final List<Record> made = new ArrayList<>();

  /** A record of one layer and K = 1 at a start: an id per row, negative for a missing row. */
  static Record of(long start, int layer, int... ids) {
    byte[] bytes = new byte[ids.length];
    byte[] validity = new byte[(ids.length + 7) / 8];
    for (int index = 0; index < ids.length; index++) {
      if (ids[index] >= 0) {
        bytes[index] = (byte) ids[index];
        validity[index / 8] |= (byte) (1 << (index % 8));
      }
    }
    return Record.create(
        new RecordConfig()
            .start(start)
            .rows(ids.length)
            .numExperts(64)
            .topK(1)
            .layerIds(layer)
            .ids(Array.of(bytes))
            .validity(Array.of(validity))
            .weightVersion(3));
  }

  private Record record(long start, int layer, int... ids) {
    Record record = of(start, layer, ids);
    made.add(record);
    return record;
  }

  @AfterEach
  void closeRecords() {
    made.forEach(Record::close);
  }

  /** A record in words: start, then a row's ids, layer by layer; _ is missing. */
  static String show(Record record) {
    StringBuilder text = new StringBuilder(record.info().start() + ":");
    for (RecordRows.Row row : record.rows()) {
      List<String> cells = new ArrayList<>();
      for (int[] experts : row.experts()) {
        cells.add(experts.length == 0 ? "_" : String.valueOf(experts[0]));
      }
      text.append(' ').append(String.join("/", cells));
    }
    return text.toString();
  }

  private void gives(String want, Supplier<Record> maker) {
    try (Record record = maker.get()) {
      assertEquals(want, show(record));
    }
  }

  @Test
  void algebra() {
    Record whole = record(0, 5, 1, 2, -1, 4, 5);
    gives("1: 2 _ 4", () -> whole.slice(1, 4));
    gives("2:", () -> whole.slice(2, 2));
    gives("0: 1 2", () -> whole.truncate(3));
    gives("0: 1 2 _", () -> whole.truncate(3, ReadFlag.INCLUDE_LAST));
    gives("0: 1 2 _ 4 5 6", () -> whole.append(record(5, 5, 6), Overlap.REFUSE));
    gives("0: 1 2 _ 4 5 6", () -> whole.append(record(4, 5, 9, 6), Overlap.KEEP_OLD));
    gives("0: 1 2 _ 4 9 6", () -> whole.append(record(4, 5, 9, 6), Overlap.KEEP_NEW));
    gives("0: 1 2 _ 31 32 33", () -> whole.merge(record(2, 5, 30, 31, 32, 33), 3));
    gives("0: 11/1 12/2 13/_ 14/4 15/5", () -> whole.stack(record(0, 2, 11, 12, 13, 14, 15)));
    gives("0: 2 8 _ 1", () -> record(0, 5, 1, 2).interleave(new long[] {3, 0}, record(1, 5, 8), null));
    gives("0: _/7/_ _/_/_", () -> record(0, 1, 7, -1).toFullAxis(3, Fill.MISSING, 0));
    gives("0: 9/7/9 _/_/_", () -> record(0, 1, 7, -1).toFullAxis(3, Fill.VALUE, 9));
    gives(
        "0: 9 10",
        () -> {
          try (Record stacked = record(0, 1, 7, 8).stack(record(0, 4, 9, 10))) {
            return stacked.toCompact(4);
          }
        });
    Expect.refusal(Code.OUT_OF_RANGE, () -> whole.append(record(6, 5, 6), Overlap.KEEP_NEW));
    Expect.refusal(Code.OUT_OF_RANGE, () -> whole.append(record(4, 5, 6), Overlap.REFUSE));
    Expect.refusal(Code.OUT_OF_RANGE, () -> whole.slice(0, 6));
    Expect.refusal(Code.OUT_OF_RANGE, () -> whole.toCompact(6));
    Expect.refusal(Code.OUT_OF_RANGE, () -> whole.merge(record(7, 5, 30), 7));
  }

  @Test
  void compare() {
    Record first = record(0, 5, 1, 2, -1, 4, 5);
    Record second = record(1, 5, 2, 3, 9, -1, 6);
    long[] byLayer = {-1};
    CompareReport report = first.compare(second, byLayer);
    // Both hold positions 1 .. 4: equal, only in the second, different, only in the first.
    assertFalse(report.equal());
    assertTrue(report.sameShape());
    assertEquals(1, report.start());
    assertEquals(4, report.rows());
    assertEquals(2, report.cells());
    assertEquals(1, report.cellsOnlyFirst());
    assertEquals(1, report.cellsOnlySecond());
    assertEquals(1, report.cellsDiffer());
    assertEquals(1, report.rowsOnlyFirst());
    assertEquals(1, report.rowsOnlySecond());
    assertEquals(2, report.firstRow());
    assertEquals(5, report.firstLayer());
    assertArrayEquals(new long[] {1}, byLayer);
    assertTrue(first.compare(first).equal());
  }

  @Test
  void viewsLieInTheRecord() throws Exception {
    Record record = record(10, 5, 1, 2, -1, 4);
    ByteBuffer ids = record.ids();
    assertTrue(ids.isDirect());
    assertEquals(4, ids.remaining());
    assertThrows(ReadOnlyBufferException.class, () -> ids.put(0, (byte) 1));
    assertEquals(0xb, record.rowValidity().get(0));
    assertEquals(0, record.cellValidity().remaining());
    assertEquals(0, record.weights().remaining());
    assertArrayEquals(new int[] {5}, record.layerIds());
    assertEquals(List.of(new Record.VersionSpan(10, 3)), record.versionSpans());
    long live = RouteCap.liveHandles();
    record.close();
    Expect.refusal(Code.CLOSED, record::ids);
    Expect.refusal(Code.CLOSED, record::copyIds);
    // What was taken before stays where it is, whatever is made of it, for as long as it is reachable.
    ByteBuffer slice = ids.slice(2, 2);
    for (int round = 0; round < 5; round++) {
      System.gc();
      try (Record other = of(0, 5, 60, 61, 62, 63)) {
        assertEquals(60, other.ids().get(0));
      }
    }
    assertEquals((byte) 0xff, slice.get(0));
    assertEquals(4, slice.get(1));
    assertTrue(RouteCap.liveHandles() >= live);
  }

  @Test
  void viewsGiveTheirRecordBack() throws Exception {
    Expect.live(0);
    for (int round = 0; round < 100; round++) {
      try (Record record = of(0, 5, 1, 2, 3)) {
        assertEquals(3, record.ids().slice().get(2));
        assertEquals("0: 1 2 3", show(record));
      }
    }
    Expect.live(0);
  }

  @Test
  void wideIds() {
    for (Map.Entry<Integer, Array> ids :
        Map.of(
                256, Array.of(new byte[] {(byte) 255, 0}),
                257, Array.of(DType.UINT16, (short) 256, (short) 0),
                65536, Array.of(DType.UINT16, (short) 65535, (short) 0),
                65537, Array.of(65536, 0))
            .entrySet()) {
      RecordConfig config = new RecordConfig().rows(1).numExperts(ids.getKey()).topK(2).layerIds(0).ids(ids.getValue());
      try (Record record = Record.create(config)) {
        assertArrayEquals(new int[] {ids.getKey() - 1, 0}, record.copyIds());
        assertArrayEquals(new int[] {ids.getKey() - 1, 0}, record.rows().row(0).experts()[0]);
      }
      assertThrows(IllegalArgumentException.class, () -> Record.create(config.ids(Array.of(1L, 2L))));
    }
  }

  @Test
  void halfNumbers() {
    // Bits and values from the definition of the format.
    assertEquals(0f, RecordRows.float16((short) 0));
    assertEquals(1f, RecordRows.float16((short) 0x3c00));
    assertEquals(-2f, RecordRows.float16((short) 0xc000));
    assertEquals(65504f, RecordRows.float16((short) 0x7bff));
    assertEquals(0x1p-24f, RecordRows.float16((short) 1));
    assertEquals(-0x1p-24f, RecordRows.float16((short) 0x8001));
    assertEquals(1023 * 0x1p-24f, RecordRows.float16((short) 0x3ff));
    assertEquals(0x1p-14f, RecordRows.float16((short) 0x400));
    assertEquals(1365 * 0x1p-12f, RecordRows.float16((short) 0x3555));
    assertEquals(Float.NEGATIVE_INFINITY, RecordRows.float16((short) 0xfc00));
    assertTrue(Float.isNaN(RecordRows.float16((short) 0x7e00)));
    assertEquals(1 << 31, Float.floatToRawIntBits(RecordRows.float16((short) 0x8000)));
    RecordConfig config =
        new RecordConfig()
            .rows(2)
            .numExperts(4)
            .topK(1)
            .layerIds(0)
            .ids(Array.of(new byte[] {1, 2}))
            .weights(Array.of(DType.BFLOAT16, (short) 0x3f80, (short) 0xc000))
            .weightsKind(WeightsKind.RENORMALIZED);
    try (Record record = Record.create(config)) {
      assertArrayEquals(new float[] {1, -2}, record.copyWeights());
      assertEquals((short) 0xc000, record.weights().getShort(2));
      assertEquals(WeightsKind.RENORMALIZED, record.info().weightsKind());
      assertEquals(DType.BFLOAT16, record.info().weightsDType());
    }
    RecordConfig floats = config.weights(Array.of(0.1f, -3f));
    try (Record record = Record.create(floats)) {
      assertArrayEquals(new float[] {0.1f, -3f}, record.copyWeights());
    }
  }

  @Test
  void recordsThatHoldTheSameAreEqual() {
    RecordConfig weighted =
        new RecordConfig().rows(2).numExperts(64).topK(1).layerIds(5).ids(Array.of(new byte[] {1, 2})).weights(Array.of(0.5f, 0.25f)).weightVersion(3);
    try (Record one = record(0, 5, 1, -1, 3);
        Record same = Record.ofFrame(one.toFrame());
        Record also = record(0, 5, 1, -1, 3)) {
      for (Record other : List.of(one, same, also)) {
        assertEquals(one, other);
        assertEquals(other, one);
        assertEquals(one.hashCode(), other.hashCode());
      }
      assertEquals(1, java.util.Set.of(one).stream().filter(also::equals).count());
      assertTrue(java.util.Set.of(one).contains(same));
      // Each differs in one thing: start, layer, an id, validity, rows, weights, the weights' version.
      for (Record other : List.of(record(1, 5, 1, -1, 3), record(0, 6, 1, -1, 3), record(0, 5, 1, -1, 4), record(0, 5, 1, 2, 3), record(0, 5, 1, -1))) {
        assertFalse(one.equals(other), show(other));
        assertFalse(other.equals(one), show(other));
      }
      assertFalse(one.equals(null));
      assertFalse(one.equals((Object) "0: 1"));
      Record first = Record.create(weighted);
      Record second = Record.create(weighted);
      Record third = Record.create(weighted.weights(Array.of(0.5f, 0.125f)));
      Record fourth = Record.create(weighted.weights(Array.of(0.5f, 0.25f)).weightVersion(4));
      made.addAll(List.of(first, second, third, fourth));
      assertEquals(first, second);
      assertFalse(first.equals(third));
      assertFalse(first.equals(fourth));
      // A closed one is itself alone, and keeps the number that it has given.
      int hash = second.hashCode();
      second.close();
      assertEquals(second, second);
      assertFalse(first.equals(second));
      assertFalse(second.equals(first));
      assertEquals(hash, second.hashCode());
      fourth.close();
      assertEquals(fourth.hashCode(), fourth.hashCode());
    }
  }
}
