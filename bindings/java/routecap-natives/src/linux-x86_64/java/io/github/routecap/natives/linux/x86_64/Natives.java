// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.natives.linux.x86_64;

import io.github.routecap.internal.NativeFiles;
import java.io.InputStream;

/** The native libraries for linux-x86_64. */
public final class Natives implements NativeFiles {
  /** For the service loader. */
  public Natives() {}

  @Override
  public String platform() {
    return "linux-x86_64";
  }

  @Override
  public InputStream open(String name) {
    return Natives.class.getResourceAsStream("/io/github/routecap/natives/" + name);
  }
}
