// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Frames of a stream. */
final class Frames {
  /** What every version of a frame begins with, and the frame's size behind it (capi/docs/frame.md). */
  private static final byte[] START = {(byte) 0x89, 'R', 'C', 'A', 'P', '\r', '\n', 0x1a, 1, 0, 0, 0, 4, 3, 2, 1};

  private static final int HEAD = 24;
  private static final int CHUNK = 1 << 16;

  private Frames() {}

  static Record read(InputStream input) throws IOException {
    byte[] head = input.readNBytes(HEAD);
    if (head.length == 0) {
      return null;
    }
    int known = Math.min(head.length, START.length);
    if (!Arrays.equals(head, 0, known, START, 0, known)) {
      // Another version may have its size elsewhere; the library says what is wrong.
      return Record.ofFrame(head);
    }
    if (head.length < HEAD) {
      throw new EOFException("the input ends after " + head.length + " bytes of a frame");
    }
    long size = ByteBuffer.wrap(head).order(ByteOrder.LITTLE_ENDIAN).getLong(START.length);
    if (size < HEAD) {
      return Record.ofFrame(head);
    }
    if (size > Integer.MAX_VALUE - 8) {
      throw new RouteCapException(Code.UNSUPPORTED, "the frame has " + Long.toUnsignedString(size) + " bytes, an array at most " + (Integer.MAX_VALUE - 8));
    }
    ByteArrayOutputStream frame = new ByteArrayOutputStream(HEAD);
    frame.write(head);
    byte[] chunk = new byte[(int) Math.min(CHUNK, size - HEAD)];
    for (long left = size - HEAD; left > 0; ) {
      int got = input.read(chunk, 0, (int) Math.min(chunk.length, left));
      if (got < 0) {
        throw new EOFException("the input ends after " + frame.size() + " bytes of a frame of " + size);
      }
      frame.write(chunk, 0, got);
      left -= got;
    }
    return Record.ofFrame(frame.toByteArray());
  }
}
