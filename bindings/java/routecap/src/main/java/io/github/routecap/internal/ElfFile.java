// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.internal;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A look at a file before the dynamic linker maps it: what reaches beyond the end of a file that was cut short is a SIGBUS there. */
public final class ElfFile {
  private static final int HEADER = 64;
  private static final int HEADER_32 = 52;
  private static final int SEGMENT = 56;
  private static final int MAGIC = 0x7f454c46;
  private static final int LITTLE = 1;
  private static final int BIG = 2;
  private static final int CLASS_64 = 2;
  private static final int TYPE_SHARED = 3;
  // Kinds of segments that the dynamic linker reads.
  private static final int LOAD = 1;
  private static final int DYNAMIC = 2;

  private ElfFile() {}

  /** Why the dynamic linker must not see a file; null where nothing speaks against it, or it cannot be opened, which the dynamic linker says. */
  public static String refusal(String name) {
    Path path;
    try {
      path = Path.of(name);
    } catch (InvalidPathException e) {
      return null;
    }
    // Java says of it no more than that it cannot be loaded.
    if (Files.notExists(path)) {
      return "cannot open shared object file: No such file or directory";
    }
    if (!Files.exists(path)) {
      return null;
    }
    // Asked before it is opened: a FIFO would wait for somebody to write into it.
    if (!Files.isRegularFile(path)) {
      return "is not a file";
    }
    FileChannel file;
    try {
      file = FileChannel.open(path, StandardOpenOption.READ);
    } catch (IOException e) {
      return null;
    }
    try (file) {
      return refusal(file);
    } catch (IOException e) {
      return "cannot read it: " + e.getMessage();
    }
  }

  private static String refusal(FileChannel file) throws IOException {
    long size = file.size();
    ByteBuffer header = read(file, 0, HEADER);
    int has = header.limit();
    int kind = has < HEADER_32 ? 0 : header.get(4);
    int order = has < HEADER_32 ? 0 : header.get(5);
    if (has < HEADER_32
        || header.order(ByteOrder.BIG_ENDIAN).getInt(0) != MAGIC
        || (kind != 1 && kind != CLASS_64)
        || (order != LITTLE && order != BIG)
        || (kind == CLASS_64 && has < HEADER)) {
      return "is no shared object: no ELF header in its " + size + " bytes";
    }
    header.order(order == LITTLE ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN);
    int machine = unsigned(header, 18);
    int own = ownMachine();
    if (kind != CLASS_64 || order != ownOrder() || (own != 0 && machine != own)) {
      return String.format(
          "is for another architecture: ELF machine %d (%d bit, %s-endian), this process is %d (64 bit, %s-endian)",
          machine, 32 * kind, endian(order), own, endian(ownOrder()));
    }
    int type = unsigned(header, 16);
    if (type != TYPE_SHARED) {
      return "is no shared object: ELF type " + type + ", one has " + TYPE_SHARED;
    }
    int bytes = unsigned(header, 54);
    int segments = unsigned(header, 56);
    if (bytes != SEGMENT || segments == 0) {
      return "is not a whole shared object: " + segments + " program headers of " + bytes + " bytes";
    }
    long segmentsAt = header.getLong(32);
    long sectionsAt = header.getLong(40);
    String why = lacks("the program headers", segmentsAt, (long) segments * SEGMENT, size);
    if (why == null && sectionsAt != 0) {
      why = lacks("the section headers", sectionsAt, (long) unsigned(header, 60) * unsigned(header, 58), size);
    }
    return why != null ? why : segmentsRefusal(read(file, segmentsAt, segments * SEGMENT).order(ByteOrder.nativeOrder()), segments, size);
  }

  private static String segmentsRefusal(ByteBuffer table, int segments, long size) {
    if (table.limit() < segments * SEGMENT) {
      return "is not a whole shared object: its program headers cannot be read";
    }
    boolean loads = false;
    for (int at = 0; at < segments * SEGMENT; at += SEGMENT) {
      int kind = table.getInt(at);
      if (kind == LOAD || kind == DYNAMIC) {
        String why = lacks("a segment", table.getLong(at + 8), table.getLong(at + 32), size);
        if (why != null) {
          return why;
        }
      }
      loads |= kind == LOAD;
    }
    return loads ? null : "is not a whole shared object: no segment to load";
  }

  /** That a part of a file reaches beyond its end. Offset and count are unsigned. */
  private static String lacks(String part, long offset, long count, long size) {
    if (Long.compareUnsigned(offset, size) <= 0 && Long.compareUnsigned(count, size - offset) <= 0) {
      return null;
    }
    return "is not a whole shared object: " + part + " of " + Long.toUnsignedString(count) + " bytes at " + Long.toUnsignedString(offset)
        + ", the file has " + size;
  }

  /** At most so many bytes; fewer where the file ends. */
  private static ByteBuffer read(FileChannel file, long offset, int count) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(count);
    while (bytes.hasRemaining() && file.read(bytes, offset + bytes.position()) > 0) {
      // More may come.
    }
    return bytes.flip();
  }

  private static int unsigned(ByteBuffer bytes, int at) {
    return Short.toUnsignedInt(bytes.getShort(at));
  }

  private static int ownOrder() {
    return ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? LITTLE : BIG;
  }

  private static String endian(int order) {
    return order == LITTLE ? "little" : "big";
  }

  /** 0 where this does not know the machine, which is then left to the dynamic linker. */
  private static int ownMachine() {
    String platform = Platform.name();
    if (platform.endsWith("-x86_64")) {
      return 62;
    }
    return platform.endsWith("-aarch64") ? 183 : 0;
  }
}
