// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.internal.jni;

import io.github.routecap.internal.Attempts;
import io.github.routecap.internal.Extraction;
import io.github.routecap.internal.NativeApi;
import io.github.routecap.internal.NativeFiles;
import io.github.routecap.internal.Platform;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;

/**
 * Finds and loads the JNI library. It names the library itself as a dependency: one that was loaded before, under the same SONAME, is taken.
 */
public final class JniLoader {
  /** The name for {@link System#loadLibrary}. */
  private static final String NAME = "routecapjni";

  private JniLoader() {}

  /** Loads it, or notes in {@code attempts} what was tried and gives null. */
  public static NativeApi load(Attempts attempts) {
    if (!named("-Droutecap.library", System.getProperty("routecap.library"), attempts)
        && !named("ROUTECAP_LIBRARY", System.getenv("ROUTECAP_LIBRARY"), attempts)) {
      // Nothing names the library: the one that is found is taken.
      preloaded = null;
    }
    if (origin == null) {
      installed(attempts);
    }
    if (origin == null) {
      extracted(attempts);
    }
    return origin == null ? null : new JniApi(preloaded == null ? origin : origin + " over " + preloaded);
  }

  private static String origin;
  private static String preloaded;

  /** A path that the user gave: of the JNI library, or of the library itself. True where it was loaded. */
  private static boolean named(String what, String path, Attempts attempts) {
    if (path == null || path.isEmpty()) {
      return false;
    }
    String place = what + "=" + path;
    if (!Path.of(path).isAbsolute()) {
      attempts.passed(place, "not an absolute path");
      return false;
    }
    try {
      System.load(path);
    } catch (UnsatisfiedLinkError | IllegalCallerException e) {
      attempts.failed(place, e);
      return false;
    }
    if (Path.of(path).getFileName().toString().startsWith("lib" + NAME)) {
      if (!answers(place, attempts)) {
        return false;
      }
      origin = path;
    } else {
      preloaded = path;
    }
    return true;
  }

  private static void installed(Attempts attempts) {
    String place = "System.loadLibrary(\"" + NAME + "\") in " + System.getProperty("java.library.path");
    try {
      System.loadLibrary(NAME);
    } catch (UnsatisfiedLinkError | IllegalCallerException e) {
      attempts.failed(place, e);
      return;
    }
    if (answers(place, attempts)) {
      origin = "System.loadLibrary(\"" + NAME + "\")";
    }
  }

  private static void extracted(Attempts attempts) {
    boolean found = false;
    for (var jars = ServiceLoader.load(NativeFiles.class, NativeFiles.class.getClassLoader()).iterator(); ; ) {
      try {
        if (!jars.hasNext()) {
          break;
        }
        NativeFiles jar = jars.next();
        if (!jar.platform().equals(Platform.name())) {
          attempts.passed("the natives for " + jar.platform(), "this machine is " + Platform.name());
          found = true;
          continue;
        }
        found = true;
        loadExtracted(jar, attempts);
      } catch (ServiceConfigurationError | LinkageError e) {
        attempts.failed("a provider of " + NativeFiles.class.getName(), e);
      }
      if (origin != null) {
        return;
      }
    }
    if (!found) {
      attempts.passed("the jar routecap-natives", "there is none with classifier " + Platform.name() + " on the class or module path");
    }
  }

  private static void loadExtracted(NativeFiles jar, Attempts attempts) {
    String place = "the jar routecap-natives (" + jar.platform() + ")";
    Path file;
    try {
      file = Extraction.extract(jar).resolve(System.mapLibraryName(NAME));
    } catch (IOException e) {
      attempts.failed(place, e);
      return;
    }
    place += " in " + file.getParent();
    try {
      System.load(file.toString());
    } catch (UnsatisfiedLinkError | IllegalCallerException e) {
      attempts.failed(place, e);
      if (Extraction.isNoexec(file.getParent())) {
        attempts.passed(place, Extraction.NOEXEC);
      }
      return;
    }
    if (answers(place, attempts)) {
      origin = file.toString();
    }
  }

  /** Whether what was loaded is the JNI library of this version. */
  private static boolean answers(String place, Attempts attempts) {
    try {
      int abi = routecap.rcap_abi_version();
      if (abi >= 1) {
        return true;
      }
      attempts.passed(place, "its ABI number is " + abi);
    } catch (UnsatisfiedLinkError e) {
      attempts.failed(place, e);
    }
    return false;
  }
}
