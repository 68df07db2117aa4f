// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.internal;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Direct memory of one call: its structs, what it fills, and its error. Nobody else writes to it while the call lasts, whatever thread it is on; between
 * calls it waits in a pool, so that a call allocates nothing.
 */
public final class Scratch implements AutoCloseable {
  // What lies where. The largest struct has 256 bytes.
  private static final int SECOND = 512;
  private static final int OUT = 1024;
  private static final int ERROR = 1152;
  private static final int TEXT = ERROR + Layouts.Error.SIZE;
  private static final int BYTES = 4096;

  // One place for each of a few threads that call at once; the places are a cache line apart.
  private static final int PLACES = 64;
  private static final int SPACING = 16;
  private static final AtomicReferenceArray<Scratch> POOL = new AtomicReferenceArray<>(PLACES * SPACING);

  private final ByteBuffer memory = ByteBuffer.allocateDirect(BYTES + 8).alignedSlice(8).order(ByteOrder.nativeOrder());
  private final long base = Native.api().address(memory);
  private final int place;
  private ByteBuffer longText;

  private Scratch(int place) {
    this.place = place;
    memory.putLong(ERROR, Layouts.Error.SIZE);
  }

  /** Memory for a call, to be closed after it. */
  public static Scratch take() {
    int place = (int) (Thread.currentThread().getId() & (PLACES - 1)) * SPACING;
    Scratch scratch = POOL.getAndSet(place, null);
    return scratch != null ? scratch : new Scratch(place);
  }

  @Override
  public void close() {
    longText = null;
    POOL.setRelease(place, this);
  }

  /** Begins the struct with zeros and its size. */
  public Scratch struct(int size) {
    return struct(0, size);
  }

  private Scratch struct(int start, int size) {
    for (int offset = 8; offset < size; offset += 8) {
      memory.putLong(start + offset, 0);
    }
    memory.putLong(start, size);
    return this;
  }

  /** Begins a second struct with zeros and its size, and gives its address. */
  public long second(int size) {
    struct(SECOND, size);
    return base + SECOND;
  }

  /** Puts the second struct, which was filled, in the place of the first. */
  public void takeSecond(int size) {
    memory.put(0, memory, SECOND, size);
  }

  /** The address of the struct. */
  public long address() {
    return base;
  }

  /** The address of the second struct. */
  public long secondAddress() {
    return base + SECOND;
  }

  /** The address of the error. */
  public long error() {
    return base + ERROR;
  }

  /** The address of a number that the call fills, which is 0 until it does; there are 16 of them. */
  public long out(int index) {
    memory.putLong(OUT + 8 * index, 0);
    return base + OUT + 8L * index;
  }

  /** A number that the call filled. */
  public long outLong(int index) {
    return memory.getLong(OUT + 8 * index);
  }

  /** A number that the call filled. */
  public int outInt(int index) {
    return memory.getInt(OUT + 8 * index);
  }

  /** A field of the struct. */
  public long getLong(int offset) {
    return memory.getLong(offset);
  }

  /** A field of the struct. */
  public int getInt(int offset) {
    return memory.getInt(offset);
  }

  /** A zero-terminated field of the struct. */
  public String text(int offset, int bytes) {
    byte[] field = new byte[bytes];
    memory.get(offset, field);
    int length = 0;
    while (length < bytes && field[length] != 0) {
      length++;
    }
    return new String(field, 0, length, StandardCharsets.UTF_8);
  }

  /** Sets a field of the struct. */
  public Scratch put(int offset, long value) {
    memory.putLong(offset, value);
    return this;
  }

  /** Sets a field of the struct. */
  public Scratch put(int offset, int value) {
    memory.putInt(offset, value);
    return this;
  }

  /** Sets a field of the second struct. */
  public Scratch putSecond(int offset, long value) {
    memory.putLong(SECOND + offset, value);
    return this;
  }

  /** Sets a field of the second struct. */
  public Scratch putSecond(int offset, int value) {
    memory.putInt(SECOND + offset, value);
    return this;
  }

  /** The address of a text, zero-terminated, for this call. */
  public long text(String text) {
    if (text == null) {
      throw new NullPointerException("name is null");
    }
    byte[] bytes = bytesOf(text);
    if (bytes.length < BYTES - TEXT) {
      memory.put(TEXT, bytes);
      memory.put(TEXT + bytes.length, (byte) 0);
      return base + TEXT;
    }
    longText = ByteBuffer.allocateDirect(bytes.length + 1).put(0, bytes);
    return Native.api().address(longText);
  }

  /** A name in UTF-8, refused where it would not arrive as it is: C ends it at its first zero, and half a pair of surrogates is no character. */
  private static byte[] bytesOf(String name) {
    if (name.indexOf(0) >= 0) {
      throw new IllegalArgumentException("name has a zero byte: \"" + name.replace("\0", "\\0") + '"');
    }
    for (int at = 0; at < name.length(); at++) {
      int character = name.codePointAt(at);
      if (character >= Character.MIN_SURROGATE && character <= Character.MAX_SURROGATE) {
        String text = String.format("name cannot be written in UTF-8: character %d of %d is half a pair of surrogates, %04x", at, name.length(), character);
        throw new IllegalArgumentException(text);
      }
      at += Character.charCount(character) - 1;
    }
    return name.getBytes(StandardCharsets.UTF_8);
  }

  /** What the call says of its failure. */
  public String errorText() {
    byte[] text = new byte[Layouts.Error.SIZE - Layouts.Error.TEXT];
    memory.get(ERROR + Layouts.Error.TEXT, text);
    int length = 0;
    while (length < text.length && text[length] != 0) {
      length++;
    }
    return new String(Arrays.copyOf(text, length), StandardCharsets.UTF_8);
  }

  /** The sequence that is lacking, or 0. */
  public long errorDetail() {
    return memory.getLong(ERROR + Layouts.Error.DETAIL);
  }
}
