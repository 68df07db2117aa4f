// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.ffm;

import io.github.routecap.Array;
import io.github.routecap.DType;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/** Memory segments as arrays of the library. Java 22 and newer. */
public final class Segments {
  private Segments() {}

  /**
   * A native segment's memory. Nothing is copied. The segment's arena stays open as long as the calls it is given to demand.
   *
   * @param dtype the elements' dtype
   * @param segment native memory; a heap segment's array is passed itself
   * @return the memory
   * @throws IllegalArgumentException if the segment lies in the heap or may only be read, or is no whole number of elements
   */
  public static Array array(DType dtype, MemorySegment segment) {
    Objects.requireNonNull(dtype, "dtype is null");
    if (!Objects.requireNonNull(segment, "segment is null").isNative()) {
      throw new IllegalArgumentException("the segment lies in Java's heap: pass its array, with Array.of");
    }
    if (segment.isReadOnly()) {
      throw new IllegalArgumentException("the segment is read-only; a read-only buffer may be passed: segment.asByteBuffer()");
    }
    if (!segment.scope().isAlive()) {
      throw new IllegalStateException("the segment's arena is closed");
    }
    return Array.at(dtype, segment.address(), segment.byteSize(), segment);
  }
}
