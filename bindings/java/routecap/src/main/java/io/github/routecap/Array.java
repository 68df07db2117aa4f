// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import static io.github.routecap.Given.given;

import io.github.routecap.internal.Native;
import io.github.routecap.internal.Span;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;

/**
 * Elements of one dtype, in a primitive array, in direct memory, or in the memory of a backend's device. Nothing is copied: the library reads or fills
 * the memory itself during a call, and keeps no pointer to it (an id map excepted, which must be direct).
 *
 * <p>What is not given is null. An Array without elements is given and has length 0: it names no rows, where one that is not given would name all, and is
 * refused where elements are due.
 *
 * <p>An Array may be made once and used for many calls. A primitive array is lent to the library for the time of the call, during which garbage
 * collection may have to wait; calls that wait for something never hold one. Long arrays are better direct.
 */
public final class Array {
  private final Span span;
  private final DType dtype;
  private final Memory memory;
  private final boolean readOnly;

  private Array(Span span, DType dtype, Memory memory, boolean readOnly) {
    this.span = span;
    this.dtype = dtype;
    this.memory = memory;
    this.readOnly = readOnly;
  }

  private static Array of(Object elements, int length, int from, int count, DType dtype) {
    Objects.checkFromIndexSize(from, count, length);
    int bytes = size(dtype);
    return new Array(Span.in(elements, (long) from * bytes, (long) count * bytes), dtype, Memory.HOST, false);
  }

  /**
   * All of an array.
   *
   * @param elements not copied
   * @return the array's memory as {@link DType#INT32}
   */
  public static Array of(int... elements) {
    return of(given(elements, "elements"), 0, elements.length);
  }

  /**
   * A part of an array.
   *
   * @param elements not copied
   * @param from index of the first element
   * @param count number of elements
   * @return the array's memory as {@link DType#INT32}
   */
  public static Array of(int[] elements, int from, int count) {
    return of(given(elements, "elements"), elements.length, from, count, DType.INT32);
  }

  /**
   * All of an array.
   *
   * @param elements not copied
   * @return the array's memory as {@link DType#INT64}
   */
  public static Array of(long... elements) {
    return of(given(elements, "elements"), 0, elements.length);
  }

  /**
   * A part of an array.
   *
   * @param elements not copied
   * @param from index of the first element
   * @param count number of elements
   * @return the array's memory as {@link DType#INT64}
   */
  public static Array of(long[] elements, int from, int count) {
    return of(given(elements, "elements"), elements.length, from, count, DType.INT64);
  }

  /**
   * All of an array.
   *
   * @param elements not copied
   * @return the array's memory as {@link DType#FLOAT32}
   */
  public static Array of(float... elements) {
    return of(given(elements, "elements"), elements.length, 0, elements.length, DType.FLOAT32);
  }

  /**
   * All of an array.
   *
   * @param elements not copied; read as unsigned
   * @return the array's memory as {@link DType#UINT8}
   */
  public static Array of(byte... elements) {
    return of(given(elements, "elements"), elements.length, 0, elements.length, DType.UINT8);
  }

  /**
   * All of an array whose elements have 16 bits.
   *
   * @param dtype {@link DType#UINT16}, {@link DType#INT16}, {@link DType#FLOAT16} or {@link DType#BFLOAT16}
   * @param elements not copied
   * @return the array's memory
   * @throws IllegalArgumentException if the dtype has another size
   */
  public static Array of(DType dtype, short... elements) {
    given(elements, "elements");
    if (size(dtype) != 2) {
      throw new IllegalArgumentException("elements of " + dtype + " have " + size(dtype) + " bytes, a short has 2");
    }
    return of(given(elements, "elements"), elements.length, 0, elements.length, dtype);
  }

  /**
   * Direct memory from a buffer's position to its limit. The buffer stays as it is, and its memory stays alive as long as the Array.
   *
   * @param dtype the elements' dtype
   * @param buffer a direct buffer in the machine's byte order; a read-only one is never written to
   * @return the buffer's memory
   * @throws IllegalArgumentException if the buffer is not direct ({@link #of(byte...)} takes a heap buffer's array), is in the other byte order and its
   *     elements have more than a byte, or is no whole number of elements
   */
  public static Array of(DType dtype, ByteBuffer buffer) {
    int bytes = size(dtype);
    if (!given(buffer, "buffer").isDirect()) {
      throw new IllegalArgumentException("a heap buffer cannot be passed without a copy; allocate it with ByteBuffer.allocateDirect, or pass its array");
    }
    if (bytes > 1 && buffer.order() != ByteOrder.nativeOrder()) {
      throw new IllegalArgumentException("the buffer is " + buffer.order() + " and this machine " + ByteOrder.nativeOrder() + "; set order(ByteOrder.nativeOrder())");
    }
    if (buffer.remaining() % bytes != 0) {
      throw new IllegalArgumentException(buffer.remaining() + " bytes from position to limit are no whole number of " + dtype);
    }
    long address = buffer.hasRemaining() ? Native.api().address(buffer) + buffer.position() : 0;
    return new Array(Span.at(address, buffer.remaining(), buffer), dtype, Memory.HOST, buffer.isReadOnly());
  }

  /**
   * Native memory of the host at an address, for example of a MemorySegment.
   *
   * @param dtype the elements' dtype
   * @param address where it begins
   * @param bytes how many
   * @param owner kept alive as long as the Array, or null
   * @return the memory, valid as long as whoever owns it says
   */
  public static Array at(DType dtype, long address, long bytes, Object owner) {
    return new Array(Span.at(address, checked(dtype, bytes), owner), dtype, Memory.HOST, false);
  }

  /**
   * Memory of the backend's device at an address.
   *
   * @param dtype the elements' dtype
   * @param address where it begins on the device
   * @param bytes how many
   * @return the memory, which stays valid until the stream has passed the call it is given to
   */
  public static Array device(DType dtype, long address, long bytes) {
    return new Array(Span.at(address, checked(dtype, bytes), null), dtype, Memory.DEVICE, false);
  }

  private static long checked(DType dtype, long bytes) {
    if (bytes < 0 || bytes % size(dtype) != 0) {
      throw new IllegalArgumentException(bytes + " bytes are no whole number of " + dtype);
    }
    return bytes;
  }

  /**
   * The same memory, to be treated as a device's: with the host backend, bad entries are then found row by row at {@link Output#settle()}, as they would
   * be on an accelerator.
   *
   * @return another view of the memory
   */
  public Array onDevice() {
    return new Array(span, dtype, Memory.DEVICE, readOnly);
  }

  /**
   * The type of the elements.
   *
   * @return the dtype
   */
  public DType dtype() {
    return dtype;
  }

  /**
   * The size of the whole array.
   *
   * @return bytes
   */
  public long bytes() {
    return span.bytes();
  }

  /**
   * Where the array lives.
   *
   * @return the kind of memory
   */
  public Memory memory() {
    return memory;
  }

  /** Bytes of an element. */
  static int size(DType dtype) {
    return switch (given(dtype, "dtype")) {
      case UINT8 -> 1;
      case UINT16, INT16, FLOAT16, BFLOAT16 -> 2;
      case INT32, FLOAT32 -> 4;
      case INT64 -> 8;
      case NONE -> throw new IllegalArgumentException("elements have a dtype");
    };
  }

  /** The memory for a call that reads it. */
  static Span in(Array array) {
    return array == null ? null : array.span;
  }

  /** The memory of an array of one dtype, for a call that counts elements. */
  static Span in(Array array, DType dtype, String what) {
    if (array != null && array.dtype != dtype) {
      throw new IllegalArgumentException(what + " are " + array.dtype + ", not " + dtype);
    }
    return in(array);
  }

  /** The memory for a call that fills it. */
  static Span out(Array array, String what) {
    if (array == null) {
      return null;
    }
    if (array.readOnly) {
      throw new IllegalArgumentException(what + " are in a read-only buffer");
    }
    if (array.memory != Memory.HOST) {
      throw new IllegalArgumentException("a read fills host memory; " + what + " are on a device");
    }
    return array.span;
  }

  /** The memory for a call that may wait: an array of the heap is copied, since no such call may hold one. */
  static Span staged(Array array) {
    if (array == null || !Span.onHeap(array.span)) {
      return in(array);
    }
    ByteBuffer copy = ByteBuffer.allocateDirect(Math.toIntExact(array.span.bytes())).order(ByteOrder.nativeOrder());
    int first = Math.toIntExact(array.span.offset() / size(array.dtype));
    int count = Math.toIntExact(array.span.bytes() / size(array.dtype));
    Object elements = array.span.array();
    if (elements instanceof long[]) {
      copy.asLongBuffer().put((long[]) elements, first, count);
    } else if (elements instanceof int[]) {
      copy.asIntBuffer().put((int[]) elements, first, count);
    } else if (elements instanceof short[]) {
      copy.asShortBuffer().put((short[]) elements, first, count);
    } else if (elements instanceof float[]) {
      copy.asFloatBuffer().put((float[]) elements, first, count);
    } else {
      copy.put(0, (byte[]) elements, first, count);
    }
    return Span.at(Native.api().address(copy), array.span.bytes(), copy);
  }

  /** Whether it lies in Java's heap. */
  static boolean onHeap(Array array) {
    return array != null && Span.onHeap(array.span);
  }

  /** The dtype for a layout: the library wants one also where no array is given. */
  static int dtypeOr(Array array, DType absent) {
    return (array == null ? absent : array.dtype).value();
  }

  static int memoryOf(Array array) {
    return (array == null ? Memory.HOST : array.memory).value();
  }
}
