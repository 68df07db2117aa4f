// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class CaptureTest {
  @Test
  void rowsOfATargetBesideADraft() throws Exception {
    try (Scene scene = new Scene()) {
      Summary summary = scene.forward(40, 41, 7, 1023, 0);
      assertEquals(5, summary.rowsStored());
      assertEquals(0, summary.rowsBad());
      assertEquals(1, summary.sequence());
      assertEquals(Fault.NONE, summary.firstBadFault());
      scene.forward(8, 9);
      // Slot 100 was never written: R7.
      long[] asked = {40, 41, 7, 8, 100, 9};
      try (Record record = scene.read(asked)) {
        scene.expect(record, asked);
      }
      // R18: every call of the draft was counted, and wrote nothing.
      Stats stats = scene.capturer.stats();
      assertEquals(6, stats.suppressed());
      assertEquals(2, stats.forwards());
      assertEquals(7, stats.rowsStored());
      assertEquals(2, stats.lastSequence());
      for (int index = 0; index < 3; index++) {
        Tap draft = scene.drafts.get(index);
        assertFalse(draft.isEnabled());
        assertTrue(scene.taps.get(index).isEnabled());
        assertEquals(2 * index + 1, draft.id());
        assertSame(draft, scene.capturer.tap(2 * index + 1));
      }
    }
  }

  private static ByteBuffer direct(int bytes) {
    return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
  }

  /** The same ids in every dtype and kind of memory. */
  private static Map<String, Array> asEveryArray(int[] ids) {
    Map<String, Array> arrays = new LinkedHashMap<>();
    byte[] bytes = new byte[ids.length];
    short[] shorts = new short[ids.length];
    long[] longs = new long[ids.length];
    ByteBuffer directInts = direct(4 * ids.length);
    ByteBuffer directLongs = direct(8 * ids.length + 16);
    directLongs.position(8).limit(8 + 8 * ids.length);
    int[] inside = new int[ids.length + 5];
    for (int index = 0; index < ids.length; index++) {
      bytes[index] = (byte) ids[index];
      shorts[index] = (short) ids[index];
      longs[index] = ids[index];
      inside[3 + index] = ids[index];
      directInts.putInt(4 * index, ids[index]);
      directLongs.putLong(8 + 8 * index, ids[index]);
    }
    arrays.put("byte[]", Array.of(bytes));
    arrays.put("short[] signed", Array.of(DType.INT16, shorts));
    arrays.put("short[] unsigned", Array.of(DType.UINT16, shorts));
    arrays.put("int[]", Array.of(ids));
    arrays.put("part of int[]", Array.of(inside, 3, ids.length));
    arrays.put("long[]", Array.of(longs));
    arrays.put("direct int32", Array.of(DType.INT32, directInts));
    arrays.put("direct int64 from position to limit", Array.of(DType.INT64, directLongs));
    arrays.put("direct int32, read-only", Array.of(DType.INT32, directInts.asReadOnlyBuffer().order(ByteOrder.nativeOrder())));
    return arrays;
  }

  @Test
  void everyDTypeAndMemoryOfIds() {
    try (Scene scene = new Scene()) {
      int[] ids = scene.ids(3);
      int[] slots = {5, 6, 900};
      long step = 0;
      for (Map.Entry<String, Array> array : asEveryArray(ids).entrySet()) {
        for (Tap tap : scene.taps) {
          tap.capture(array.getValue(), Scene.K, 3);
        }
        step++;
        try (Output output = scene.capturer.endForward(new Forward().tokens(3).slots(Array.of(slots)).step(step).weightVersion(8 * step))) {
          output.copyToHost();
          Summary summary = output.settle();
          assertEquals(step, summary.step(), array.getKey());
          assertEquals(3, summary.rowsStored(), array.getKey());
        }
        for (int token = 0; token < 3; token++) {
          int[] row = new int[12];
          for (int cell = 0; cell < 12; cell++) {
            row[cell] = ids[token * 4 + cell % 4];
          }
          scene.rows.put((long) slots[token], row);
        }
        try (Record record = scene.capturer.read(new Read().slots(Array.of(slots)).tokens(4))) {
          scene.expect(record, 5, 6, 900);
        }
        SlotInfo info = scene.capturer.slotInfo(900);
        assertTrue(info.valid());
        assertEquals(8 * step, info.weightVersion());
        assertEquals(step, info.rowSequence());
        scene.capturer.releaseAll(0);
        step++;
      }
    }
  }

  // Acceptance check 17: only what lies between position and limit is read, and what cannot be passed as it is is refused.
  @Test
  void buffersThatCannotBePassedAreRefused() {
    ByteBuffer heap = ByteBuffer.allocate(32).order(ByteOrder.nativeOrder());
    assertTrue(assertThrows(IllegalArgumentException.class, () -> Array.of(DType.INT32, heap)).getMessage().contains("allocateDirect"));
    ByteOrder other = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
    ByteBuffer swapped = ByteBuffer.allocateDirect(32).order(other);
    assertTrue(assertThrows(IllegalArgumentException.class, () -> Array.of(DType.INT32, swapped)).getMessage().contains(other.toString()));
    assertEquals(32, Array.of(DType.UINT8, swapped).bytes());
    ByteBuffer odd = direct(30);
    assertThrows(IllegalArgumentException.class, () -> Array.of(DType.INT32, odd));
    assertThrows(IllegalArgumentException.class, () -> Array.of(DType.INT32, new short[2]));
    assertThrows(IndexOutOfBoundsException.class, () -> Array.of(new int[4], 2, 3));
    assertThrows(IllegalArgumentException.class, () -> Array.at(DType.INT64, 4096, 12, null));
    try (Scene scene = new Scene()) {
      // A buffer that ends too soon is seen by the library, which knows its bytes.
      ByteBuffer little = direct(64);
      little.limit(60);
      Expect.refusal(Code.INVALID_ARGUMENT, () -> scene.taps.get(0).capture(new Capture().ids(Array.of(DType.INT32, little)).columns(4).tokens(4)));
      Array readOnly = Array.of(DType.UINT8, direct(64).asReadOnlyBuffer());
      Read read = new Read().slots(Array.of(1L)).tokens(2);
      assertTrue(assertThrows(IllegalArgumentException.class, () -> scene.capturer.readInto(read, readOnly, null, null)).getMessage().contains("read-only"));
    }
  }

  @Test
  void acceptanceOfAVerifyForward() {
    try (Scene scene = new Scene()) {
      // Two requests of 3 verify tokens; the accept index is [requests, 3] with -1 behind what was accepted, the cache locations are [requests, 3].
      long[] slots = {10, 11, 12, 20, 21, 22};
      int[] given = {0, 1, -1, 3, -1, -1};
      for (boolean later : new boolean[] {false, true}) {
        int[][] rows = scene.capture(6);
        Forward forward = new Forward().tokens(6).slots(Array.of(slots));
        if (later) {
          forward.acceptance(Acceptance.LATER);
        } else {
          forward.acceptance(Acceptance.GIVEN).rows(Array.of(given)).groups(2).groupWidth(3);
        }
        try (Output output = scene.capturer.endForward(forward)) {
          output.copyToHost();
          if (later) {
            Expect.refusal(Code.NOT_READY, output::settle);
            output.accept(new Accept().rows(Array.of(given)).slots(Array.of(slots)).groups(2).groupWidth(3));
            Expect.refusal(Code.INVALID_STATE, () -> output.accept(new Accept().rows(Array.of(given))));
          }
          Summary summary = output.settle();
          assertEquals(3, summary.entries());
          assertEquals(3, summary.rowsStored());
          assertEquals(3, summary.rowsRejected());
          assertEquals(summary, output.settle());
        }
        scene.rows.clear();
        scene.rows.put(10L, rows[0]);
        scene.rows.put(11L, rows[1]);
        scene.rows.put(20L, rows[3]);
        try (Record record = scene.read(slots)) {
          scene.expect(record, slots);
        }
        scene.capturer.releaseAll(0);
      }
    }
  }

  @Test
  void slotsReleasedAndCopied() throws Exception {
    try (Scene scene = new Scene(builder -> builder.pageSize(4))) {
      scene.forward(0, 1, 2, 3, 4, 5);
      scene.capturer.copySlots(SlotUnit.PAGE, Array.of(0), Array.of(5), 0);
      scene.capturer.releaseSlots(1, 4);
      for (long slot = 0; slot < 4; slot++) {
        scene.rows.put(20 + slot, scene.rows.get(slot));
      }
      scene.rows.remove(1L);
      scene.rows.remove(4L);
      long[] slots = {0, 1, 2, 3, 4, 5, 20, 21, 22, 23, -1};
      try (Record record = scene.read(slots)) {
        scene.expect(record, slots);
      }
      assertThrows(IllegalArgumentException.class, () -> scene.capturer.copySlots(SlotUnit.SLOT, Array.of(0), Array.of(5L), 0));
      assertEquals(2, scene.capturer.stats().slotsReleased());
      assertEquals(4, scene.capturer.stats().slotsCopied());
    }
  }

  @Test
  void deviceMemoryIsCheckedRowByRow() {
    try (Scene scene = new Scene()) {
      scene.capture(3);
      // The second slot is out of range: in host memory it would refuse the call, in device memory it spoils its row.
      Array slots = Array.of(1L, 5000L, 2L);
      Expect.refusal(Code.OUT_OF_RANGE, () -> scene.capturer.endForward(new Forward().tokens(3).slots(slots)));
      try (Output output = scene.capturer.endForward(new Forward().tokens(3).slots(slots.onDevice()))) {
        output.copyToHost();
        Summary summary = output.settle();
        assertEquals(2, summary.rowsStored());
        assertEquals(1, summary.rowsBad());
        assertEquals(Fault.SLOT_OUT_OF_RANGE, summary.firstBadFault());
        assertEquals(1, summary.firstBadRow());
        assertEquals(5000, summary.firstBadSlot());
      }
      RouteCapException unknown = Expect.refusal(Code.UNSUPPORTED, () -> Fault.of(99));
      assertTrue(unknown.getMessage().contains("Fault 99"));
    }
  }

  @Test
  void weightsTagsAndStrides() {
    try (Capturer capturer =
        Capturer.builder()
            .numExperts(300)
            .topK(2)
            .layerIds(1)
            .maxForwardTokens(8)
            .numSlots(8)
            .tags(true)
            .weightsDType(DType.FLOAT16)
            .weightsKind(WeightsKind.SCALED)
            .numFusedSharedExperts(1)
            .build()) {
      Model target = capturer.addModel(Role.TARGET, "target");
      // Physical expert p is logical 299 - p; the map is rewritten in place before the capture, as an engine does between forwards (R22).
      ByteBuffer physical = direct(4 * 300);
      assertThrows(IllegalArgumentException.class, () -> target.addTap(1, Set.of(), Array.of(new int[300])));
      Tap tap = target.addTap(1, Set.of(TapFlag.UNORDERED), Array.of(DType.INT32, physical));
      capturer.seal();
      for (int index = 0; index < 300; index++) {
        physical.putInt(4 * index, 299 - index);
      }
      // Two rows of K = 2 and one shared column, 5 elements apart.
      tap.capture(
          new Capture()
              .ids(Array.of(299L, 0, 7, -5, -5, 1, 2, 7))
              .weights(Array.of(0.5f, 0.25f, 9, -1, -1, 2, 65504, 9))
              .columns(3)
              .tokens(2)
              .idsRowStride(40)
              .weightsRowStride(20));
      try (Output output = capturer.endForward(new Forward().tokens(2).slots(Array.of(3L, 4L)).tags(Array.of(77L, 78L)))) {
        output.copyToHost();
        output.settle();
      }
      assertThrows(IllegalArgumentException.class, () -> capturer.endForward(new Forward().tokens(2).slots(Array.of(3L, 4L)).tags(Array.of(77, 78))));
      Read read = new Read().slots(Array.of(3L, 4L)).tokens(3);
      try (Record record = capturer.read(read.tags(Array.of(77L, 1L)))) {
        // The second row's tag differs from the one that the reader gives: missing (R8).
        RecordRows.Row first = record.rows().row(0);
        assertArrayEquals(new int[] {0, 299}, first.experts()[0]);
        assertArrayEquals(new float[] {0.5f, 0.25f}, first.weights()[0]);
        RecordRows.Row second = record.rows().row(1);
        assertFalse(second.valid());
        assertEquals(0, second.experts()[0].length);
        assertEquals(0, second.weights()[0].length);
        assertArrayEquals(new int[] {TapFlag.UNORDERED.value()}, record.layerFlags());
        assertEquals(WeightsKind.SCALED, record.info().weightsKind());
      }
      short[] ids = new short[5];
      short[] halves = new short[4];
      byte[] validity = new byte[1];
      ids[4] = 99;
      ReadInfo info = capturer.readInto(read.tags(null), Array.of(DType.UINT16, ids), Array.of(DType.FLOAT16, halves), Array.of(validity));
      assertArrayEquals(new short[] {0, 299, 298, 297, 99}, ids);
      assertArrayEquals(new short[] {14336, 13312, 16384, 31743}, halves);
      assertEquals(3, validity[0]);
      assertEquals(2, info.rows());
      assertEquals(2, info.rowsValid());
      assertEquals(DType.UINT16, info.idsDType());
      assertEquals(8, capturer.readInto(read, null, null, null).idsBytes());
      RouteCapException small = Expect.refusal(Code.OUT_OF_RANGE, () -> capturer.readInto(read, Array.of(DType.UINT16, new short[3]), null, null));
      assertTrue(small.getMessage().contains("needed are 8"), small.getMessage());
    }
  }

  @Test
  void partialLayersHaveCells() {
    try (Capturer capturer = Capturer.builder().numExperts(16).topK(1).layerIds(0, 1).maxForwardTokens(4).numSlots(4).build()) {
      Model target = capturer.addModel(Role.TARGET, "target");
      Tap first = target.addTap(0);
      Tap second = target.addTap(1, TapFlag.PARTIAL);
      capturer.seal();
      first.capture(Array.of(new byte[] {1, 2, 3}), 1, 3);
      // A list of no rows names none; taken for no list it would name row 0.
      Capture none = new Capture().ids(Array.of(new byte[] {9})).rowIds(Array.of(new int[0])).columns(1).tokens(1);
      RouteCapException refused = assertThrows(RouteCapException.class, () -> second.capture(none));
      assertEquals(Code.INVALID_ARGUMENT, refused.code());
      assertTrue(refused.getMessage().contains("row_ids_count is 0, the layout has 1 tokens"), refused.getMessage());
      second.capture(new Capture().ids(Array.of(new byte[] {9})).rowIds(Array.of(2)).columns(1).tokens(1));
      try (Output output = capturer.endForward(new Forward().tokens(3).slots(Array.of(0L, 1L, 2L)))) {
        output.copyToHost();
        output.settle();
      }
      try (Record record = capturer.read(new Read().slots(Array.of(0L, 1L, 2L)).tokens(4))) {
        assertArrayEquals(new int[] {1, -1, 2, -1, 3, 9}, record.copyIds());
        assertTrue(record.info().hasCellValidity());
        assertTrue(record.rows().isValid(2, 1));
        assertFalse(record.rows().isValid(1, 1));
        assertThrows(IndexOutOfBoundsException.class, () -> record.rows().isValid(3));
        assertEquals(Set.of(TapFlag.PARTIAL), TapFlag.setOf(record.layerFlags()[1]));
      }
    }
  }

  @Test
  void stagedRowsHaveAnAddress() {
    try (Scene scene = new Scene()) {
      scene.capture(3);
      Plan plan = Capturer.builder().numExperts(256).topK(4).layerIds(Scene.LAYERS).chunkedPrefillSize(64).numSlots(1024).plan();
      try (Output output = scene.capturer.endForward(new Forward().tokens(3).slots(Array.of(0L, 1L, 2L)))) {
        Output.DeviceRows rows = output.deviceRows();
        assertNotEquals(0, rows.address());
        assertEquals(3 * plan.slotPayloadBytes(), rows.bytes());
        assertFalse(output.isReady());
        assertEquals(1, output.sequence());
      }
      assertEquals(1, scene.capturer.stats().dropped());
      scene.capture(1);
      scene.capturer.discardForward(0);
      assertEquals(1, scene.capturer.stats().discardedForwards());
      assertEquals(1, scene.capturer.stats().forwards());
    }
  }

  @Test
  void planAndLayoutAndLibrary() {
    Plan plan =
        Capturer.builder()
            .numExperts(256)
            .topK(8)
            .layerIds(0, 1)
            .chunkedPrefillSize(100)
            .maxRunningRequests(64)
            .numVerifyTokens(4)
            .maxGraphTokens(250)
            .attentionTpSize(8)
            .dpSize(2)
            .numSlots(10)
            .plan();
    // R13: align_up(max(100, 64 * 4, 250), 8) * 2.
    assertEquals(512, plan.deviceRows());
    assertEquals(RowsTerm.RUNNING, plan.rowsTerm());
    assertEquals(DType.UINT8, plan.idsDType());
    assertEquals(16, plan.slotIdsBytes());
    RowsQuery query = new RowsQuery().kind(RowsKind.CONCATENATED).tokensPerRank(5, 3, 9).rank(2).attentionTp(4);
    assertEquals(new RowsQuery.Rows(12, 9), query.layout());
    Expect.refusal(Code.OUT_OF_RANGE, () -> query.rank(3).layout());
    BuildInfo build = RouteCap.build();
    assertEquals(RouteCap.version(), build.version());
    assertEquals(RouteCap.abiVersion(), build.abiVersion());
    assertFalse(build.compiler().isEmpty());
    assertFalse(build.simd().isEmpty());
    Backend backend = Backend.open("host");
    assertEquals("host", backend.describe().name());
    assertTrue(backend.describe().hostMemory());
    String places = Backend.search("toaster");
    assertTrue(places.contains("libroutecap_backend_toaster.so"), places);
    assertEquals(-1, places.indexOf(0));
    Expect.refusal(Code.NOT_FOUND, () -> Backend.open("toaster"));
    Capturer capturer = Capturer.builder().numExperts(2).topK(1).layerIds(0).maxForwardTokens(1).backend(backend).build();
    backend.close();
    backend.close();
    Expect.refusal(Code.CLOSED, backend::describe);
    assertEquals(0, capturer.stats().forwards());
    capturer.close();
  }

  @Test
  void namesCrossAsUtf8() {
    // A character beyond 16 bits, which Java's own form for C would write otherwise.
    String name = "modèle 🦙 " + "x".repeat(50);
    try (Capturer capturer = Capturer.builder().numExperts(2).topK(1).layerIds(0).maxForwardTokens(1).build()) {
      capturer.addModel(Role.TARGET, name);
      RouteCapException refused = Expect.refusal(Code.INVALID_STATE, () -> capturer.addModel(Role.TARGET, "second"));
      assertTrue(refused.getMessage().contains(name), refused.getMessage());
      assertThrows(IllegalArgumentException.class, () -> capturer.addModel(Role.DRAFT, "a\0b"));
      capturer.addModel(Role.DRAFT, "y".repeat(100_000));
    }
    RouteCapException unknown = Expect.refusal(Code.NOT_FOUND, () -> Format.parse("🦙"));
    assertTrue(unknown.getMessage().contains("🦙"), unknown.getMessage());
  }
}
