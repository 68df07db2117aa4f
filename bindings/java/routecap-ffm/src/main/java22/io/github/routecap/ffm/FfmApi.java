// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.ffm;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/** The C API, and memory as buffers. */
final class FfmApi extends FfmFunctions {
  private final String origin;

  FfmApi(String origin) {
    this.origin = origin;
  }

  @Override
  public String kind() {
    return "ffm";
  }

  @Override
  public String origin() {
    return origin;
  }

  @Override
  public long address(ByteBuffer direct) {
    // The segment of a buffer begins at its position.
    return MemorySegment.ofBuffer(direct).address() - direct.position();
  }

  @Override
  @SuppressWarnings("restricted")
  public ByteBuffer view(long address, long bytes) {
    return MemorySegment.ofAddress(address).reinterpret(bytes).asByteBuffer();
  }
}
