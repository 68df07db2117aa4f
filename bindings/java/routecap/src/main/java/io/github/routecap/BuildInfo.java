// Generated from capi/abi/api.json by bindings/swig/java_types.py; do not edit.
// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import io.github.routecap.internal.Layouts;
import io.github.routecap.internal.Scratch;

/**
 * How the library was built and what it uses on this machine.
 *
 * @param abiVersion ABI number, as {@link RouteCap#abiVersion()}.
 * @param version Product version, zero-terminated.
 * @param compiler Compiler and its version.
 * @param simd Instruction set that the row loops use on this machine: {@code scalar}, {@code avx2}, {@code avx512} or
 *     {@code neon}.
 * @param features Blank-separated list: {@code thrust=1.17.2 asserts=off}.
 */
public record BuildInfo(
    int abiVersion,
    String version,
    String compiler,
    String simd,
    String features) {

  /** Reads the struct that the library filled. */
  static BuildInfo from(Scratch scratch) {
    return new BuildInfo(
        scratch.getInt(Layouts.BuildInfo.ABI_VERSION),
        scratch.text(Layouts.BuildInfo.VERSION, 32),
        scratch.text(Layouts.BuildInfo.COMPILER, 64),
        scratch.text(Layouts.BuildInfo.SIMD, 16),
        scratch.text(Layouts.BuildInfo.FEATURES, 128));
  }
}
