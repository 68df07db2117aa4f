// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** An array that is given and empty is no array that is not given: what it would say of the rows is missing, not present (R7). The words are the library's. */
class EmptyArraysTest {
  private static final ByteBuffer EMPTY = ByteBuffer.allocateDirect(0).order(ByteOrder.nativeOrder());

  private static void refused(Code code, String want, Executable call) {
    RouteCapException refused = Expect.refusal(code, call);
    assertTrue(refused.getMessage().contains(want), refused.getMessage() + ", want " + want);
  }

  private static void invalid(String want, Executable call) {
    refused(Code.INVALID_ARGUMENT, want, call);
  }

  private static RecordConfig threeRows() {
    return new RecordConfig().rows(3).numExperts(8).topK(1).layerIds(0).ids(Array.of(new byte[] {1, 2, 3}));
  }

  @Test
  void ofRecords() {
    byte[] frame;
    try (Record first = RecordTest.of(0, 0, 1, 3); Record second = RecordTest.of(2, 0, 5)) {
      invalid("validity_bytes is 0, the layout makes it 1", () -> Record.create(threeRows().validity(Array.of(new byte[0]))));
      invalid("layer_flags_count is 0, layer_ids_count is 1", () -> Record.create(threeRows().layerFlags(new int[0])));
      invalid("weights_bytes is 0, the layout makes it 12", () -> Record.create(threeRows().weights(Array.of(new float[0]))));
      invalid(" positions_count is 0, the record has 2 rows", () -> first.interleave(new long[0], second, null));
      invalid("other_positions_count is 0, the record has 1 rows", () -> first.interleave(null, second, new long[0]));
      frame = first.toFrame();
      invalid("layer_ids_count is 0, allowed are 1 ..", () -> Record.decode(Format.FRAME, frame, new DecodeHints().layerIds(new int[0])));
      Record.decode(Format.FRAME, frame, new DecodeHints().layerIds((int[]) null)).close();
    }
    // Where there are no rows, nothing is what is needed; and what is not given is not.
    for (Array ids : new Array[] {Array.of(new byte[0]), Array.of(DType.UINT8, EMPTY), null}) {
      Record.create(new RecordConfig().numExperts(8).topK(1).layerIds(0).ids(ids).validity(Array.of(new byte[0]))).close();
    }
  }

  @Test
  void onTheWayOfARow() throws InterruptedException {
    // Wherever an array of no bytes lies.
    List<Array> empties =
        List.of(Array.of(new long[0]), Array.of(DType.INT64, EMPTY), Array.at(DType.INT64, 0, 0, null), Array.of(new long[3], 1, 0));
    try (Capturer capturer =
            Capturer.builder().numExperts(8).topK(1).layerIds(0).maxForwardTokens(4).numSlots(4).pipelineDepth(8).weightsDType(DType.FLOAT32).tags(true).build();
        Scene untagged = new Scene()) {
      Model target = capturer.addModel(Role.TARGET, "target");
      invalid("id_map_bytes is 0, it must be a positive multiple of 8", () -> target.addTap(0, Set.of(), Array.of(DType.INT64, EMPTY)));
      Tap tap = target.addTap(0);
      capturer.seal();

      Array slots = Array.of(0L, 1L);
      Array tags = Array.of(7L, 8L);
      Capture capture = new Capture().ids(Array.of(new byte[] {3, 5})).weights(Array.of(1f, 2f)).columns(1).tokens(2);
      invalid("weights_bytes is 0, 2 tokens at a row stride of 4 bytes need 8",
          () -> tap.capture(new Capture().ids(capture.ids).weights(Array.of(new float[0])).columns(1).tokens(2)));
      invalid("ids_bytes is 0, 2 tokens at a row stride of 1 bytes need 2", () -> tap.capture(Array.of(new byte[0]), 1, 2));
      tap.capture(capture);
      for (Array none : empties) {
        invalid("slots_bytes is 0, the layout reads 16 bytes", () -> capturer.endForward(new Forward().tokens(2).slots(none).tags(tags)));
        invalid("rows is given (0 bytes), acceptance is ALL", () -> capturer.endForward(new Forward().tokens(2).slots(slots).tags(tags).rows(none)));
        invalid("tags_count is 0, the forward has 2 tokens", () -> capturer.endForward(new Forward().tokens(2).slots(slots).tags(none)));
        invalid("tags is given (tags_count 0), the capturer keeps none", () -> untagged.capturer.endForward(new Forward().tags(none)));
      }
      invalid("slots is null, the layout has 2 entries", () -> capturer.endForward(new Forward().tokens(2).tags(tags)));
      invalid("tags_count is 0 (null), the forward has 2 tokens", () -> capturer.endForward(new Forward().tokens(2).slots(slots)));
      Forward given = new Forward().tokens(2).acceptance(Acceptance.GIVEN).slots(slots).tags(tags);
      invalid("rows is null, slots has 16 bytes of entries that need one each", () -> capturer.endForward(given));
      // A list of no rows is an answer: nothing is accepted.
      capturer.endForward(given.rows(empties.get(0))).close();

      tap.capture(capture);
      try (Output output = capturer.endForward(new Forward().tokens(2).acceptance(Acceptance.LATER).slots(slots).tags(tags))) {
        invalid("slots_bytes is 0, the layout reads 8 bytes", () -> output.accept(new Accept().rows(Array.of(1L)).slots(empties.get(0))));
        output.accept(new Accept().rows(Array.of(1L)));
        output.copyToHost();
        output.settle();
      }

      Read read = new Read().slots(slots).tokens(3);
      for (Array none : empties) {
        Read noTags = new Read().slots(slots).tokens(3).tags(none);
        invalid("tags_count is 0, 2 rows are compared", () -> capturer.read(noTags));
        invalid("tags_count is 0, 2 rows are compared", () -> capturer.encode(noTags, Format.FRAME, new EncodeOptions()));
        invalid("slots has 0 elements, 3 tokens need 2", () -> capturer.read(new Read().slots(none).tokens(3)));
      }
      try (Record record = capturer.read(read)) {
        assertArrayEquals(new int[] {-1, 5}, record.copyIds());
      }

      byte[] rows = new byte[2];
      assertEquals(2, capturer.readInto(read, null, null, null).idsBytes());
      refused(Code.OUT_OF_RANGE, "ids_bytes is 0, needed are 2", () -> capturer.readInto(read, Array.of(new byte[0]), null, null));
      refused(Code.OUT_OF_RANGE, "weights_bytes is 0, needed are 8", () -> capturer.readInto(read, Array.of(rows), Array.of(new float[0]), null));
      refused(Code.OUT_OF_RANGE, "validity_bytes is 0, needed are 1", () -> capturer.readInto(read, Array.of(rows), null, Array.of(new byte[0])));
      capturer.readInto(read, Array.of(rows), null, null);
      assertEquals(5, rows[1]);
    }
  }
}
