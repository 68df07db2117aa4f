// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.ffm;

import io.github.routecap.internal.Attempts;
import io.github.routecap.internal.Extraction;
import io.github.routecap.internal.NativeApi;
import io.github.routecap.internal.NativeFiles;
import io.github.routecap.internal.Platform;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ServiceLoader;

/** Finds and loads the library. It stays in the process. */
final class FfmLoader {
  private FfmLoader() {}

  static NativeApi load(Attempts attempts) {
    NativeApi api = named("-Droutecap.library", System.getProperty("routecap.library"), attempts);
    if (api == null) {
      api = named("ROUTECAP_LIBRARY", System.getenv("ROUTECAP_LIBRARY"), attempts);
    }
    if (api == null) {
      api = open("the dynamic linker's " + FfmFunctions.SONAME, FfmFunctions.SONAME, attempts);
    }
    return api != null ? api : extracted(attempts);
  }

  private static NativeApi named(String what, String path, Attempts attempts) {
    if (path == null || path.isEmpty()) {
      return null;
    }
    if (!Path.of(path).isAbsolute()) {
      attempts.passed(what + "=" + path, "not an absolute path");
      return null;
    }
    return open(what + "=" + path, path, attempts);
  }

  private static NativeApi extracted(Attempts attempts) {
    for (NativeFiles jar : ServiceLoader.load(NativeFiles.class, NativeFiles.class.getClassLoader())) {
      String place = "the jar routecap-natives (" + jar.platform() + ")";
      if (!jar.platform().equals(Platform.name())) {
        attempts.passed(place, "this machine is " + Platform.name());
        continue;
      }
      try {
        Path folder = Extraction.extract(jar);
        NativeApi api = open(place + " in " + folder, folder.resolve(FfmFunctions.SONAME).toString(), attempts);
        if (api == null && Extraction.isNoexec(folder)) {
          attempts.passed(place + " in " + folder, Extraction.NOEXEC);
        }
        return api;
      } catch (IOException e) {
        attempts.failed(place, e);
      }
    }
    return null;
  }

  @SuppressWarnings("restricted")
  private static NativeApi open(String place, String library, Attempts attempts) {
    try {
      if (library.startsWith("/")) {
        // A lookup does not say why it fails; this does.
        System.load(library);
      }
      SymbolLookup lookup = SymbolLookup.libraryLookup(library, Arena.global());
      MemorySegment symbol = lookup.find("rcap_get_api").orElse(MemorySegment.NULL);
      if (symbol.address() == 0) {
        attempts.passed(place, "it has no rcap_get_api");
        return null;
      }
      var get = Linker.nativeLinker().downcallHandle(symbol, FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.JAVA_INT));
      MemorySegment table = (MemorySegment) get.invokeExact(FfmFunctions.ABI);
      if (table.address() == 0) {
        attempts.passed(place, "it is older than ABI " + FfmFunctions.ABI);
        return null;
      }
      Table.load(table);
      return new FfmApi(library);
    } catch (IllegalArgumentException | UnsatisfiedLinkError | IllegalCallerException e) {
      attempts.failed(place, e);
      return null;
    } catch (Throwable e) {
      throw Table.impossible(e);
    }
  }
}
