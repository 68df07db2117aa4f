// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import io.github.routecap.internal.Layouts;
import io.github.routecap.internal.Native;
import io.github.routecap.internal.Scratch;

/** The library as a whole. */
public final class RouteCap {
  private RouteCap() {}

  /**
   * The library's product version.
   *
   * @return for example {@code 0.1.0}
   */
  public static String version() {
    return Native.api().rcap_version_string();
  }

  /**
   * The library's ABI number.
   *
   * @return a positive number
   */
  public static int abiVersion() {
    return Native.api().rcap_abi_version();
  }

  /**
   * Tells how the library was built and what it uses on this machine.
   *
   * @return the build
   */
  public static BuildInfo build() {
    try (Scratch scratch = Scratch.take()) {
      scratch.struct(Layouts.BuildInfo.SIZE);
      Failure.check(Native.api().rcap_build_info_get(scratch.address(), scratch.error()), scratch);
      return BuildInfo.from(scratch);
    }
  }

  /**
   * How the library is called.
   *
   * @return {@code jni}, or {@code ffm} where the jar {@code routecap-ffm} is there and Java is 22 or newer
   */
  public static String api() {
    return Native.api().kind();
  }

  /**
   * Where the library was found.
   *
   * @return the file or name that was loaded
   */
  public static String origin() {
    return Native.api().origin();
  }

  /**
   * The capturers, outputs, records and backends that are neither closed nor collected: a leak shows here.
   *
   * @return how many there are now
   */
  public static long liveHandles() {
    return Cell.live();
  }
}
