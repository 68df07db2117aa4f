// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.ffm;

import io.github.routecap.internal.Attempts;
import io.github.routecap.internal.NativeApi;
import io.github.routecap.internal.Provider;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * Offers the foreign function interface to the binding, which finds it by itself. Compiled for Java 17, so that an older Java can ask it and pass on; what
 * it stands for is compiled for Java 22.
 */
@SuppressWarnings("exports") // Only the binding itself asks it.
public final class FfmProvider implements Provider {
  private static final int SINCE = 22;

  /** For the service loader. */
  public FfmProvider() {}

  @Override
  public String kind() {
    return "ffm";
  }

  @Override
  public boolean usable() {
    return Runtime.version().feature() >= SINCE;
  }

  @Override
  public NativeApi load(Attempts attempts) {
    try {
      MethodHandles.Lookup here = MethodHandles.lookup();
      Class<?> loader = here.findClass("io.github.routecap.ffm.FfmLoader");
      return (NativeApi) here.findStatic(loader, "load", MethodType.methodType(NativeApi.class, Attempts.class)).invoke(attempts);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new LinkageError("the jar routecap-ffm is incomplete", e);
    }
  }
}
