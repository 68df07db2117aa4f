// SPDX-License-Identifier: Apache-2.0

//! Programs that must not compile (tests/ui). They are a package of their own so that they are built with what they use alone.
