// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.internal.jni;

import io.github.routecap.internal.Attempts;
import io.github.routecap.internal.ElfFile;
import io.github.routecap.internal.Extraction;
import io.github.routecap.internal.Named;
import io.github.routecap.internal.NativeApi;
import io.github.routecap.internal.NativeFiles;
import io.github.routecap.internal.Platform;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
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

  /** Loads it, or notes in {@code attempts} what was tried and gives null. What the user names is taken, and nothing else in its place. */
  public static NativeApi load(Attempts attempts) {
    Named named = Named.library();
    if (named != null && !loadNamed(named, attempts)) {
      return null;
    }
    if (origin == null) {
      installed(attempts);
    }
    if (origin == null) {
      extracted(attempts);
    }
    if (origin != null && preloaded != null && !isInPlace(named, attempts)) {
      return null;
    }
    return origin == null ? null : new JniApi(preloaded == null ? origin : origin + " over " + preloaded);
  }

  private static String origin;
  private static String preloaded;

  /** Loads what the user named: the JNI library, or the library itself. False where that cannot be. */
  private static boolean loadNamed(Named named, Attempts attempts) {
    if (!named.isAbsolute()) {
      attempts.named(named, "not an absolute path");
      return false;
    }
    boolean isJni = Path.of(named.path()).getFileName() != null && Path.of(named.path()).getFileName().toString().startsWith("lib" + NAME);
    String why = isJni ? refusal(Path.of(named.path())) : ElfFile.refusal(named.path());
    if (why != null) {
      attempts.named(named, why);
      return false;
    }
    try {
      System.load(named.path());
    } catch (UnsatisfiedLinkError | IllegalCallerException e) {
      attempts.named(named, e);
      return false;
    }
    if (isJni) {
      if (!answers(named.what(), attempts)) {
        return false;
      }
      origin = named.path();
    } else {
      preloaded = named.path();
    }
    return true;
  }

  /** Whether the library that was named is the one that the JNI library calls: one of another SONAME is loaded beside it, and never used. */
  private static boolean isInPlace(Named named, Attempts attempts) {
    try {
      Path wanted = Path.of(preloaded).toRealPath();
      for (String line : Files.readAllLines(Path.of("/proc/self/maps"))) {
        int begin = line.indexOf('/');
        String mapped = begin < 0 ? "" : line.substring(begin);
        if (mapped.substring(mapped.lastIndexOf('/') + 1).startsWith("libroutecap.so") && !mapped.equals(wanted.toString())) {
          attempts.named(named, "it is no libroutecap.so.0 for the JNI library, which calls " + mapped);
          return false;
        }
      }
    } catch (IOException e) {
      // Nobody can tell.
    }
    return true;
  }

  private static void installed(Attempts attempts) {
    String place = "System.loadLibrary(\"" + NAME + "\") in " + System.getProperty("java.library.path");
    String why = installedRefusal();
    if (why != null) {
      attempts.passed(place, why);
      return;
    }
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

  /** Why the file that {@link System#loadLibrary} takes, the first of its name, cannot be loaded. */
  private static String installedRefusal() {
    for (String folder : System.getProperty("java.library.path", "").split(File.pathSeparator)) {
      File file = new File(folder, System.mapLibraryName(NAME));
      if (file.exists()) {
        String why = refusal(file.toPath());
        return why == null ? null : file + " " + why;
      }
    }
    return null;
  }

  /** Why a JNI library cannot be loaded, or the library that it finds beside itself, unless one is loaded already. */
  private static String refusal(Path file) {
    String why = ElfFile.refusal(file.toString());
    if (why != null || preloaded != null) {
      return why;
    }
    Path beside = file.resolveSibling("libroutecap.so.0");
    if (!Files.exists(beside)) {
      return null;
    }
    why = ElfFile.refusal(beside.toString());
    return why == null ? null : beside + ", which it needs, " + why;
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
    String why = refusal(file);
    if (why != null) {
      attempts.passed(place, why);
      return;
    }
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
