// SPDX-License-Identifier: Apache-2.0

/** The library through java.lang.foreign, and memory segments in place of buffers. */
package io.github.routecap.ffm;
