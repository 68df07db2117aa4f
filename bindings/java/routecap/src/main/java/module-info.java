// SPDX-License-Identifier: Apache-2.0

/** Records which experts a Mixture-of-Experts model routed every token to. */
@SuppressWarnings("module") // Of the modules that are named below, a program has those that it needs.
module io.github.routecap {
  exports io.github.routecap;
  exports io.github.routecap.internal to
      io.github.routecap.ffm,
      io.github.routecap.natives.linux.x86_64,
      io.github.routecap.natives.linux.aarch64;

  uses io.github.routecap.internal.Provider;
  uses io.github.routecap.internal.NativeFiles;
}
