// SPDX-License-Identifier: Apache-2.0

/** The native libraries for linux-aarch64. */
@SuppressWarnings("module") // The name ends with the architecture.
module io.github.routecap.natives.linux.aarch64 {
  requires io.github.routecap;

  provides io.github.routecap.internal.NativeFiles with
      io.github.routecap.natives.linux.aarch64.Natives;
}
