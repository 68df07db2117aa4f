// SPDX-License-Identifier: Apache-2.0

/** Calls the library without JNI, through java.lang.foreign, on Java 22 and newer; on older ones it does nothing. */
module io.github.routecap.ffm {
  requires transitive io.github.routecap;

  exports io.github.routecap.ffm;

  uses io.github.routecap.internal.NativeFiles;

  provides io.github.routecap.internal.Provider with
      io.github.routecap.ffm.FfmProvider;
}
