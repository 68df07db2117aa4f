// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.Test;

class WireTest {
  // What the forms look like, written here by Java's own means: two rows, layers 0 and 1, K = 2, E = 300.
  private static final int[] IDS = {1, 299, 3, 4, 5, 6, 7, 258};

  private static Record formRecord() {
    short[] ids = new short[IDS.length];
    for (int index = 0; index < ids.length; index++) {
      ids[index] = (short) IDS[index];
    }
    return Record.create(new RecordConfig().rows(2).numExperts(300).topK(2).layerIds(0, 1).ids(Array.of(DType.UINT16, ids)));
  }

  private static byte[] little(int elementBytes) {
    ByteBuffer buffer = ByteBuffer.allocate(elementBytes * IDS.length).order(ByteOrder.LITTLE_ENDIAN);
    for (int id : IDS) {
      switch (elementBytes) {
        case 2 -> buffer.putShort((short) id);
        case 4 -> buffer.putInt(id);
        default -> buffer.putLong(id);
      }
    }
    return buffer.array();
  }

  @Test
  void formsAsJavaWritesThem() {
    DecodeHints hints = new DecodeHints().start(0).numExperts(300).topK(2).numLayers(2);
    try (Record record = formRecord()) {
      assertEquals(Base64.getEncoder().encodeToString(little(4)), record.encodeText(Format.SGLANG, new EncodeOptions()));
      assertEquals("[[[1,299],[3,4]],[[5,6],[7,258]]]", record.encodeText(Format.LISTS, new EncodeOptions()).replace(" ", "").strip());
      byte[] npy = record.encode(Format.NPY, new EncodeOptions().dtype(DType.INT64));
      int header = ByteBuffer.wrap(npy).order(ByteOrder.LITTLE_ENDIAN).getShort(8);
      String described = new String(npy, 10, header, StandardCharsets.US_ASCII);
      assertTrue(described.contains("'<i8'") && described.contains("(2, 2, 2)"), described);
      assertArrayEquals(little(8), Arrays.copyOfRange(npy, 10 + header, npy.length));
      assertEquals(
          "k05VTVBZ", record.encodeText(Format.VLLM, new EncodeOptions()).substring(0, 8));
      String prime = record.encodeText(Format.PRIME, new EncodeOptions());
      assertTrue(prime.contains(Base64.getEncoder().encodeToString(little(2))), prime);
      for (Format form : Format.values()) {
        byte[] encoded = record.encode(form);
        if (form == Format.SGLANG) {
          Expect.refusal(Code.NOT_FOUND, () -> Record.detect(encoded));
        } else {
          assertEquals(form, Record.detect(encoded));
        }
        assertEquals(form, Format.parse(form.formName()));
        try (Record decoded = Record.decode(form, encoded, hints)) {
          assertArrayEquals(IDS, decoded.copyIds(), form.formName());
        }
        ByteBuffer direct = ByteBuffer.allocateDirect(encoded.length).put(0, encoded);
        try (Record decoded = Record.decode(form, Array.of(DType.UINT8, direct), hints)) {
          assertArrayEquals(IDS, decoded.copyIds(), form.formName());
        }
        if (form != Format.FRAME && form != Format.NPY) {
          try (Record decoded = Record.decode(form, record.encodeText(form, new EncodeOptions()), hints)) {
            assertArrayEquals(IDS, decoded.copyIds(), form.formName());
          }
        }
      }
      assertThrows(IllegalArgumentException.class, () -> record.encodeText(Format.NPY, new EncodeOptions()));
    }
  }

  @Test
  void hintsAndOptions() {
    String flat = Base64.getEncoder().encodeToString(new byte[] {1, 2, 3, 4});
    DecodeHints hints = new DecodeHints().start(7).rows(2).numExperts(8).topK(2).layerIds(6).dtype(DType.UINT8);
    try (Record record = Record.decode(Format.SGLANG, flat, hints)) {
      RecordInfo info = record.info();
      assertEquals(7, info.start());
      assertEquals(2, info.rows());
      assertEquals(1, info.numLayers());
      assertEquals(2, info.topK());
    }
    assertThrows(RouteCapException.class, () -> Record.decode(Format.SGLANG, flat, hints.rows(3)));
    try (Record holes = RecordTest.of(0, 5, 1, -1, 3)) {
      Expect.refusal(Code.OUT_OF_RANGE, () -> holes.encode(Format.LISTS));
      assertEquals("[[[1]],[[-1]],[[3]]]", holes.encodeText(Format.LISTS, new EncodeOptions().missing(Missing.MINUS_ONE)).replace(" ", "").strip());
      assertEquals(
          "[[[1]],[[9]],[[3]]]", holes.encodeText(Format.LISTS, new EncodeOptions().missing(Missing.FILL).fillId(9)).replace(" ", "").strip());
      byte[] csv = holes.encode(Format.CSV, new EncodeOptions().turn(4).decodeStart(2));
      try (Record again = Record.decode(Format.CSV, csv, new DecodeHints().numExperts(64).turn(4))) {
        assertEquals("0: 1 _ 3", RecordTest.show(again));
      }
      assertThrows(RouteCapException.class, () -> Record.decode(Format.CSV, csv, new DecodeHints().numExperts(64).turn(5)));
    }
    try (Record large = RecordTest.of(0, 5, new int[4000])) {
      byte[] plain = large.encode(Format.FRAME);
      byte[] packed = large.encode(Format.FRAME, new EncodeOptions().zstdLevel(3));
      assertTrue(packed.length < plain.length / 4, packed.length + " of " + plain.length);
    }
  }

  @Test
  void framesInAStream() throws Exception {
    ByteArrayOutputStream stream = new ByteArrayOutputStream();
    List<String> want = new ArrayList<>();
    for (int index = 0; index < 5; index++) {
      try (Record record = RecordTest.of(index, 5, index, -1, index + 1)) {
        record.writeTo(stream);
        want.add(RecordTest.show(record));
      }
    }
    byte[] all = stream.toByteArray();
    int size = all.length / 5;
    for (InputStream input : List.of(new ByteArrayInputStream(all), slow(all))) {
      List<String> got = new ArrayList<>();
      for (Record record = Record.readFrom(input); record != null; record = Record.readFrom(input)) {
        got.add(RecordTest.show(record));
        record.close();
      }
      assertEquals(want, got);
    }
    assertNull(Record.readFrom(InputStream.nullInputStream()));
    for (int cut = 1; cut < size; cut++) {
      byte[] part = Arrays.copyOf(all, cut);
      assertThrows(EOFException.class, () -> Record.readFrom(new ByteArrayInputStream(part)), "cut at " + cut);
    }
    byte[] words = "this is no frame at all, whatever it may be".getBytes(StandardCharsets.US_ASCII);
    Expect.refusal(Code.CORRUPT, () -> Record.readFrom(new ByteArrayInputStream(words)));
    byte[] newer = Arrays.copyOf(all, size);
    newer[8] = 2;
    Expect.refusal(Code.VERSION_MISMATCH, () -> Record.readFrom(new ByteArrayInputStream(newer)));
    // A frame that claims a gigabyte costs what has come of it; one that claims more than an array can hold is refused.
    byte[] huge = Arrays.copyOf(all, size);
    ByteBuffer sizes = ByteBuffer.wrap(huge).order(ByteOrder.LITTLE_ENDIAN);
    sizes.putLong(16, 1L << 30);
    assertThrows(EOFException.class, () -> Record.readFrom(new ByteArrayInputStream(huge)));
    sizes.putLong(16, 1L << 60);
    Expect.refusal(Code.UNSUPPORTED, () -> Record.readFrom(new ByteArrayInputStream(huge)));
    sizes.putLong(16, 1L << 63);
    Expect.refusal(Code.CORRUPT, () -> Record.readFrom(new ByteArrayInputStream(huge)));
    Record.Decoded first = Record.decodePrefix(Format.FRAME, Array.of(all), new DecodeHints());
    assertEquals(size, first.consumed());
    first.record().close();
    Expect.refusal(Code.CORRUPT, () -> Record.ofFrame(all));
    IOException broken = new IOException("broken");
    InputStream failing =
        new SequenceInputStream(
            new ByteArrayInputStream(all, 0, 40),
            new InputStream() {
              @Override
              public int read() throws IOException {
                throw broken;
              }
            });
    assertSame(broken, assertThrows(IOException.class, () -> Record.readFrom(failing)));
  }

  /** Gives a byte at a time. */
  private static InputStream slow(byte[] bytes) {
    return new ByteArrayInputStream(bytes) {
      @Override
      public synchronized int read(byte[] into, int offset, int length) {
        return super.read(into, offset, Math.min(1, length));
      }
    };
  }

  // Files that numpy and Python's own reader of frames made and know.
  @Test
  void goldenFiles() throws Exception {
    try (Record frame = Record.ofFrame(Files.readAllBytes(Expect.file("tests/wire/golden/plain.frame")))) {
      RecordInfo info = frame.info();
      DecodeHints hints = new DecodeHints().start(info.start()).numExperts(info.numExperts()).topK(info.topK()).numLayers(info.numLayers());
      int[] want = frame.copyIds();
      assertTrue(want.length > 0);
      for (Format form : List.of(Format.NPY, Format.VLLM, Format.SGLANG, Format.PRIME, Format.NEMO, Format.LISTS)) {
        byte[] golden = Files.readAllBytes(Expect.file("tests/wire/golden/plain." + form.formName()));
        try (Record record = Record.decode(form, golden, hints)) {
          assertArrayEquals(want, record.copyIds(), form.formName());
        }
      }
    }
  }

  @Test
  void slotsToTextInOnePass() throws Exception {
    try (Scene scene = new Scene()) {
      scene.forward(3, 4, 5);
      Read read = new Read().slots(Array.of(3L, 4L, 5L)).tokens(4);
      try (Record record = scene.capturer.read(read)) {
        for (Format form : List.of(Format.FRAME, Format.SGLANG, Format.VLLM, Format.LISTS)) {
          assertArrayEquals(record.encode(form), scene.capturer.encode(read, form, new EncodeOptions()), form.formName());
        }
      }
    }
  }

  // No bytes crash it, and what it refuses leaks nothing.
  @Test
  void damagedFormsAreRefused() throws Exception {
    Expect.live(0);
    byte[] frame;
    try (Record record = formRecord()) {
      frame = record.toFrame();
    }
    java.util.Random random = new java.util.Random(7);
    int refused = 0;
    int rounds = Expect.scale(20_000);
    for (int round = 0; round < rounds; round++) {
      byte[] damaged = Arrays.copyOf(frame, round % 2 == 0 ? frame.length : random.nextInt(frame.length));
      for (int flips = 0; flips < 3 && damaged.length > 0; flips++) {
        damaged[random.nextInt(damaged.length)] ^= (byte) (1 << random.nextInt(8));
      }
      try {
        Record.ofFrame(damaged).close();
      } catch (RouteCapException e) {
        refused++;
      }
    }
    // Flips that cancel each other out leave a good frame.
    assertTrue(refused > rounds * 99L / 100, refused + " of " + rounds);
    assertEquals(0, RouteCap.liveHandles());
  }
}
