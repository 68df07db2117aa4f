// Generated from capi/abi/api.json by bindings/swig/java_types.py; do not edit.
// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

import io.github.routecap.internal.Layouts;
import io.github.routecap.internal.Scratch;

/**
 * What a backend says of itself.
 *
 * @param deviceOrdinal Which device of its kind.
 * @param threads Threads it uses at most.
 * @param hostMemory whether its memory can be read by the host without a copy.
 * @param name Name, as for {@link Backend#open(String)}.
 * @param description Device and driver in words.
 * @param deviceBytes Bytes of device memory that capturers hold at the moment. This and the counters below are 0 where
 *     the backend does not count, as the host.
 * @param pinnedBytes The same of pinned host memory.
 * @param captures Captures since it was opened.
 * @param snapshots Snapshots: one for each forward.
 * @param copies Copies to the host.
 * @param copiedBytes Bytes that these copies moved.
 * @param lost whether the device has failed for good (R34): close everything and open it again, in a new process where
 *     its driver needs one.
 */
public record BackendInfo(
    int deviceOrdinal,
    int threads,
    boolean hostMemory,
    String name,
    String description,
    long deviceBytes,
    long pinnedBytes,
    long captures,
    long snapshots,
    long copies,
    long copiedBytes,
    boolean lost) {

  /** Reads the struct that the library filled. */
  static BackendInfo from(Scratch scratch) {
    return new BackendInfo(
        scratch.getInt(Layouts.BackendInfo.DEVICE_ORDINAL),
        scratch.getInt(Layouts.BackendInfo.THREADS),
        scratch.getInt(Layouts.BackendInfo.HOST_MEMORY) != 0,
        scratch.text(Layouts.BackendInfo.NAME, 32),
        scratch.text(Layouts.BackendInfo.DESCRIPTION, 128),
        scratch.getLong(Layouts.BackendInfo.DEVICE_BYTES),
        scratch.getLong(Layouts.BackendInfo.PINNED_BYTES),
        scratch.getLong(Layouts.BackendInfo.CAPTURES),
        scratch.getLong(Layouts.BackendInfo.SNAPSHOTS),
        scratch.getLong(Layouts.BackendInfo.COPIES),
        scratch.getLong(Layouts.BackendInfo.COPIED_BYTES),
        scratch.getInt(Layouts.BackendInfo.LOST) != 0);
  }
}
