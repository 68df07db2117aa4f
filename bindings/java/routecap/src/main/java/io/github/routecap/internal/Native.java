// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.internal;

import io.github.routecap.LibraryNotFoundException;
import io.github.routecap.internal.jni.JniLoader;
import java.util.List;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;

/** The library of this process, loaded once, when it is first needed. */
public final class Native {
  // A failure is kept rather than thrown here, so that every use says the same.
  private static final NativeApi API;
  private static final List<String> ATTEMPTS;

  static {
    Attempts attempts = new Attempts();
    API = load(attempts);
    ATTEMPTS = attempts.lines();
  }

  private Native() {}

  /** The C API. */
  public static NativeApi api() {
    NativeApi api = API;
    if (api == null) {
      throw new LibraryNotFoundException(ATTEMPTS);
    }
    return api;
  }

  private static NativeApi load(Attempts attempts) {
    String wanted = System.getProperty("routecap.api", "");
    if (!wanted.equals("jni")) {
      NativeApi api = provided(attempts, wanted);
      if (api != null || !wanted.isEmpty()) {
        return api;
      }
    }
    return JniLoader.load(attempts);
  }

  private static NativeApi provided(Attempts attempts, String wanted) {
    boolean found = false;
    for (var providers = ServiceLoader.load(Provider.class, Provider.class.getClassLoader()).iterator(); ; ) {
      try {
        if (!providers.hasNext()) {
          break;
        }
        Provider provider = providers.next();
        if (!wanted.isEmpty() && !provider.kind().equals(wanted)) {
          continue;
        }
        found = true;
        if (!provider.usable()) {
          attempts.passed(provider.kind(), "Java " + Runtime.version().feature() + " cannot do it");
          continue;
        }
        NativeApi api = provider.load(attempts);
        if (api != null) {
          return api;
        }
      } catch (ServiceConfigurationError | LinkageError | IllegalCallerException e) {
        attempts.failed("a provider of " + Provider.class.getName(), e);
      }
    }
    if (!wanted.isEmpty() && !found) {
      attempts.passed("-Droutecap.api=" + wanted, "there is no such way to call the library (jni is built in, ffm is the jar routecap-ffm, on Java 22 and newer)");
    }
    return null;
  }
}
