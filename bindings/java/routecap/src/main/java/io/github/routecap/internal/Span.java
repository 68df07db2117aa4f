// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.internal;

import java.nio.ByteBuffer;

/**
 * The bytes of an array as the raw layer takes them: at an address, or in a primitive array of Java's heap. The fields are read by name in native code.
 */
public final class Span {
  /** The primitive array; of memory at an address, what keeps it alive. */
  private final Object array;

  /** The address, or -1 - offset in the array. */
  private final long address;

  private final long bytes;

  private Span(Object array, long address, long bytes) {
    this.array = array;
    this.address = address;
    this.bytes = bytes;
  }

  /** Memory at an address, which lives as long as {@code owner}. */
  public static Span at(long address, long bytes, Object owner) {
    return new Span(owner, address, bytes);
  }

  /** A part of a primitive array, in bytes. */
  public static Span in(Object array, long offset, long bytes) {
    return new Span(array, -1 - offset, bytes);
  }

  /** The number of bytes. */
  public long bytes() {
    return bytes;
  }

  /** The primitive array. */
  public Object array() {
    return array;
  }

  /** Where in the array it begins, in bytes. */
  public long offset() {
    return -1 - address;
  }

  /** Whether it lies in Java's heap. */
  public static boolean onHeap(Span span) {
    return span != null && span.address < 0 && span.bytes > 0;
  }

  /** The address for a call; 0 where nothing is given, and nowhere else: the library tells by it. */
  public static long address(Span span) {
    return span == null ? 0 : span.bytes == 0 ? Nothing.ADDRESS : span.address;
  }

  /** The length for a call, in elements. */
  public static long count(Span span, int elementBytes) {
    return span == null ? 0 : span.bytes / elementBytes;
  }

  /** Where no bytes lie. */
  private static final class Nothing {
    static final ByteBuffer MEMORY = ByteBuffer.allocateDirect(8);
    static final long ADDRESS = Native.api().address(MEMORY);
  }
}
