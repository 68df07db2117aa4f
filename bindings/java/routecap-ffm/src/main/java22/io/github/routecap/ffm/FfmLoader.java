// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.ffm;

import io.github.routecap.internal.Attempts;
import io.github.routecap.internal.ElfFile;
import io.github.routecap.internal.Extraction;
import io.github.routecap.internal.Named;
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

  /** What the user names is taken, and nothing else in its place. */
  static NativeApi load(Attempts attempts) {
    Named named = Named.library();
    if (named != null) {
      if (!named.isAbsolute()) {
        attempts.named(named, "not an absolute path");
        return null;
      }
      return open(named.what(), named.path(), attempts, named);
    }
    NativeApi api = open("the dynamic linker's " + FfmFunctions.SONAME, FfmFunctions.SONAME, attempts, null);
    return api != null ? api : extracted(attempts);
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
        NativeApi api = open(place + " in " + folder, folder.resolve(FfmFunctions.SONAME).toString(), attempts, null);
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
  private static NativeApi open(String place, String library, Attempts attempts, Named named) {
    String why = library.startsWith("/") ? ElfFile.refusal(library) : null;
    if (why != null) {
      if (named != null) {
        attempts.named(named, why);
      } else {
        attempts.passed(place, why);
      }
      return null;
    }
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
      if (named != null) {
        attempts.named(named, e);
      } else {
        attempts.failed(place, e);
      }
      return null;
    } catch (Throwable e) {
      throw Table.impossible(e);
    }
  }
}
