// SPDX-License-Identifier: Apache-2.0
//
// doctest's own code, compiled once for all test programs: it takes longer than most of them.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
