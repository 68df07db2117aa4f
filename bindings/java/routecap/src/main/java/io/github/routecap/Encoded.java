// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import io.github.routecap.internal.Scratch;
import io.github.routecap.internal.Span;
import java.util.Arrays;

/** Asks an encoder for the size, makes room, and encodes. */
final class Encoded {
  private Encoded() {}

  interface Encoder {
    int encode(Span room, long needed);
  }

  static byte[] bytes(Scratch scratch, Encoder encoder) {
    byte[] bytes = new byte[0];
    while (true) {
      int status = encoder.encode(bytes.length == 0 ? null : Span.in(bytes, 0, bytes.length), scratch.out(0));
      long needed = scratch.outLong(0);
      if ((status == Code.OUT_OF_RANGE.value() || status == 0) && needed > bytes.length) {
        if (needed > Integer.MAX_VALUE - 8) {
          throw new RouteCapException(Code.UNSUPPORTED, "the form has " + needed + " bytes, an array at most " + (Integer.MAX_VALUE - 8) + "; slice the record");
        }
        bytes = new byte[(int) needed];
        continue;
      }
      Failure.check(status, scratch);
      return needed == bytes.length ? bytes : Arrays.copyOf(bytes, (int) needed);
    }
  }
}
