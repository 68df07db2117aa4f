// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.internal;

import java.io.InputStream;

/** A jar that carries the native libraries of one platform, found by {@link java.util.ServiceLoader}. Only its own code can read its resources. */
public interface NativeFiles {
  /** Operating system and architecture as {@link Platform#name()} has them. */
  String platform();

  /** One of its files, or null. */
  InputStream open(String name);
}
