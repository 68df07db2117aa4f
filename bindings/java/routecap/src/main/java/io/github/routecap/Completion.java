// SPDX-License-Identifier: Apache-2.0
package io.github.routecap;

/**
 * An output that settled.
 *
 * @param sequence the forward's number
 * @param code what its settling says: {@link Code#OK} or {@link Code#DEVICE}
 */
public record Completion(long sequence, Code code) {}
