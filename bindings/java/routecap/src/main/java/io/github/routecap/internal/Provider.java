// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.internal;

/** A way to call the library other than JNI, found by {@link java.util.ServiceLoader}. */
public interface Provider {
  /** Its name, for {@code -Droutecap.api}. */
  String kind();

  /** Whether this Java can do it. */
  boolean usable();

  /** Loads the library, or notes in {@code attempts} what was tried and gives null. */
  NativeApi load(Attempts attempts);
}
