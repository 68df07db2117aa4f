// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

class TrainerTest {
  private static void refused(Code code, String words, Executable call) {
    RouteCapException error = assertThrows(RouteCapException.class, call);
    assertEquals(code, error.code());
    assertTrue(error.getMessage().contains(words), error.getMessage());
  }

  /** Layers 2 and 6, two of eight experts; the middle row is missing. */
  private static Record record() {
    return Record.create(
        new RecordConfig()
            .rows(3)
            .numExperts(8)
            .topK(2)
            .layerIds(2, 6)
            .ids(Array.of(new byte[] {7, 1, 2, 3, 0, 0, 0, 0, 5, 4, 0, 6}))
            .validity(Array.of(new byte[] {5})));
  }

  @Test
  void whatTheRecordLacksIsFilledAndMasked() {
    try (Record record = record()) {
      long[] ids = new long[20];
      byte[] rows = new byte[5];
      byte[] cells = new byte[10];
      assertEquals(3, record.fill(new Dense(4, 5), Array.of(ids), Array.of(rows), Array.of(cells)));
      assertArrayEquals(new long[] {7, 1, 2, 3, 0, 4, 0, 4, 5, 4, 0, 6, 1, 5, 1, 5, 2, 6, 2, 6}, ids);
      assertArrayEquals(new byte[] {1, 0, 1, 0, 0}, rows);
      assertArrayEquals(new byte[] {1, 1, 0, 0, 1, 1, 0, 0, 0, 0}, cells);
      short[] small = new short[8];
      Dense dense = new Dense(4, 0).positions(2, -1).layerIds(6, 2).order(AxisOrder.LAYERS_FIRST).value(-1);
      assertEquals(1, record.fill(dense, Array.of(DType.INT16, small), null, null));
      assertArrayEquals(new short[] {0, 6, -1, -1, 5, 4, -1, -1}, small);
      ByteBuffer direct = ByteBuffer.allocateDirect(16).order(ByteOrder.nativeOrder());
      assertEquals(1, record.fill(new Dense(4, 1).start(3).firstFill(7), Array.of(DType.INT32, direct), null, null));
      assertEquals(7, direct.getInt(0));
      assertEquals(3, direct.getInt(4));

      Dense whole = new Dense(4, 5);
      Array wide = Array.of(ids);
      refused(Code.OUT_OF_RANGE, "the record has the positions [0, 3), layout->length is 2", () -> record.fill(new Dense(2, 5), wide, null, null));
      refused(Code.OUT_OF_RANGE, "layer 3 is none of the 2 layers", () -> record.fill(new Dense(4, 5).layerIds(3), wide, null, null));
      refused(Code.INVALID_ARGUMENT, "ids_bytes is 160, it must be 128", () -> record.fill(new Dense(4, 4), wide, null, null));
      refused(Code.INVALID_ARGUMENT, "layer_ids_count is 0", () -> record.fill(new Dense(4, 5).layerIds(), wide, null, null));
      refused(Code.INVALID_ARGUMENT, "row_mask_bytes is 0", () -> record.fill(whole, wide, Array.of(new byte[0]), null));
      refused(Code.INVALID_ARGUMENT, "cell_mask_bytes is 0", () -> record.fill(whole, wide, null, Array.of(new byte[0])));
    }
    Record closed = record();
    closed.close();
    refused(Code.CLOSED, "record", () -> closed.fill(new Dense(4, 5), Array.of(new long[20]), null, null));
  }

  @Test
  void padTakeGatherAndStripGiveBackEveryToken() {
    long[] lengths = {5, 0, 17, 24};
    byte[] tokens = new byte[46 * 2];
    for (int index = 0; index < tokens.length; index++) {
      tokens[index] = (byte) (index + 1);
    }
    for (Split split : Split.values()) {
      for (int cp = 1; cp < 5; cp++) {
        for (int sp = 1; sp < 4; sp++) {
          Partition world = new Partition(split, cp, 0, sp, 0);
          long[] offsets = Pack.offsets(lengths, world.multiple());
          byte[] packed = new byte[2 * (int) offsets[4]];
          Pack.pad(lengths, offsets, 2, Array.of(new byte[] {-1, -2}), Array.of(tokens), Array.of(packed));
          byte[] parts = new byte[packed.length];
          int filled = 0;
          for (int cpRank = 0; cpRank < cp; cpRank++) {
            for (int spRank = 0; spRank < sp; spRank++) {
              Partition rank = new Partition(split, cp, cpRank, sp, spRank);
              long[] indices = rank.indices(offsets);
              assertEquals(rank.tokens(offsets), indices.length);
              byte[] part = new byte[2 * indices.length];
              rank.take(offsets, 2, Array.of(packed), Array.of(part));
              for (int place = 0; place < indices.length; place++) {
                assertEquals(packed[2 * (int) indices[place]], part[2 * place]);
                assertEquals(packed[2 * (int) indices[place] + 1], part[2 * place + 1]);
              }
              System.arraycopy(part, 0, parts, filled, part.length);
              filled += part.length;
            }
          }
          byte[] whole = new byte[packed.length];
          byte[] back = new byte[tokens.length];
          world.gather(offsets, 2, Array.of(parts), Array.of(whole));
          assertArrayEquals(packed, whole);
          Pack.strip(lengths, offsets, 2, Array.of(whole), Array.of(back));
          assertArrayEquals(tokens, back);
        }
      }
    }
    Partition zigzag = new Partition(Split.ZIGZAG, 2, 0, 1, 0);
    assertArrayEquals(new long[] {0, 1, 6, 7}, zigzag.indices(0, 8));
    refused(Code.OUT_OF_RANGE, "sequence 0 has 6 tokens in the pack, ZIGZAG over 2 ranks needs a multiple of 4", () -> zigzag.indices(0, 6));
    refused(Code.OUT_OF_RANGE, "lengths[0] is -1", () -> Pack.offsets(new long[] {-1}, 1));
  }

  @Test
  void stagesHaveTheirLayersAndColumnsComeBack() {
    int[] moe = {1, 2, 3, 4, 5, 6, 7};
    int[] early = new Stage(8, 2, 0, 2, Stage.ALL_CHUNKS, 0, 0).layers(moe);
    int[] late = new Stage(8, 2, 1, 2, Stage.ALL_CHUNKS, 0, 0).layers(moe);
    assertArrayEquals(new int[] {1, 4, 5}, early);
    assertArrayEquals(new int[] {2, 3, 6, 7}, late);
    assertArrayEquals(new int[] {4, 5}, new Stage(8, 2, 0, 2, 1, 0, 0).layers(moe));
    assertArrayEquals(new int[] {1, 2, 3, 4, 5, 6}, new Stage(10, 3, 1, 1, 0, 1, 3).layers(moe));
    refused(Code.OUT_OF_RANGE, "9 layers are left for 2 stages", () -> new Stage(9, 2, 0, 1, 0, 0, 0).layers(moe));
    short[] whole = new short[2 * 7 * 2];
    for (int index = 0; index < whole.length; index++) {
      whole[index] = (short) index;
    }
    short[] made = new short[whole.length];
    short[] part = new short[2 * 3 * 2];
    Columns columns = new Columns(moe, early, 2, 4, AxisOrder.LAYERS_FIRST);
    columns.split(Array.of(DType.UINT16, whole), Array.of(DType.UINT16, part));
    assertArrayEquals(new short[] {0, 1, 14, 15, 6, 7, 20, 21, 8, 9, 22, 23}, part);
    columns.gather(Array.of(DType.UINT16, part), Array.of(DType.UINT16, made));
    short[] other = new short[2 * 4 * 2];
    columns = new Columns(moe, late, 2, 4, AxisOrder.TOKENS_FIRST);
    columns.split(Array.of(DType.UINT16, whole), Array.of(DType.UINT16, other));
    columns.gather(Array.of(DType.UINT16, other), Array.of(DType.UINT16, made));
    assertArrayEquals(whole, made);
    Columns absent = new Columns(moe, new int[] {9}, 2, 4, AxisOrder.TOKENS_FIRST);
    refused(
        Code.OUT_OF_RANGE,
        "layer 9 is none of the 7 layers there are (1 .. 7)",
        () -> absent.split(Array.of(DType.UINT16, whole), Array.of(DType.UINT16, new short[4])));
  }
}
