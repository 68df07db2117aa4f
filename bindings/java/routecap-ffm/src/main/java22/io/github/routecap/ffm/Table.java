// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.ffm;

import io.github.routecap.internal.Span;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;

/** The library's function table ({@code struct rcap_api}): struct_size, abi, reserved, and the functions behind them. */
@SuppressWarnings("restricted")
final class Table {
  private static final long HEAD = 16;
  private static final int UNSUPPORTED = -9;

  private static Table loaded;

  private final MemorySegment table;

  private Table(MemorySegment table) {
    this.table = table;
  }

  /** The table that {@link FfmFunctions} will take its functions from. */
  static void load(MemorySegment address) {
    long size = address.reinterpret(HEAD).get(ValueLayout.JAVA_LONG, 0);
    loaded = new Table(address.reinterpret(size));
  }

  static Table loaded() {
    return loaded;
  }

  /** The function of a slot, for addresses. */
  MethodHandle function(int slot, FunctionDescriptor descriptor) {
    return handle(slot, descriptor);
  }

  /** The function of a slot, for arrays of the heap: none is moved, and no garbage collected, until it returns. */
  MethodHandle heapFunction(int slot, FunctionDescriptor descriptor) {
    return handle(slot, descriptor, Linker.Option.critical(true));
  }

  private MethodHandle handle(int slot, FunctionDescriptor descriptor, Linker.Option... options) {
    long place = HEAD + slot * ValueLayout.ADDRESS.byteSize();
    if (place >= table.byteSize()) {
      // The library is older than the function.
      var type = descriptor.toMethodType();
      MethodHandle answer = type.returnType() == void.class ? MethodHandles.empty(type) : MethodHandles.constant(type.returnType(), type.returnType() == int.class ? (Object) UNSUPPORTED : (Object) (long) UNSUPPORTED);
      return type.returnType() == void.class ? answer : MethodHandles.dropArguments(answer, 0, type.parameterList());
    }
    return Linker.nativeLinker().downcallHandle(table.get(ValueLayout.ADDRESS, place), descriptor, options);
  }

  /** An array for a call that takes arrays of the heap. */
  static MemorySegment segment(Span span) {
    if (!Span.onHeap(span)) {
      return MemorySegment.ofAddress(Span.address(span));
    }
    Object array = span.array();
    MemorySegment whole;
    if (array instanceof int[] ints) {
      whole = MemorySegment.ofArray(ints);
    } else if (array instanceof long[] longs) {
      whole = MemorySegment.ofArray(longs);
    } else if (array instanceof byte[] bytes) {
      whole = MemorySegment.ofArray(bytes);
    } else if (array instanceof short[] shorts) {
      whole = MemorySegment.ofArray(shorts);
    } else {
      whole = MemorySegment.ofArray((float[]) array);
    }
    return whole.asSlice(span.offset(), span.bytes());
  }

  /** A text of the library's. */
  static String text(long address) {
    return address == 0 ? "" : MemorySegment.ofAddress(address).reinterpret(Long.MAX_VALUE).getString(0);
  }

  /** What a downcall throws is a fault of this class. */
  static RuntimeException impossible(Throwable unexpected) {
    if (unexpected instanceof RuntimeException e) {
      return e;
    }
    if (unexpected instanceof Error e) {
      throw e;
    }
    return new IllegalStateException(unexpected);
  }
}
