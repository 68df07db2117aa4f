// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/rig.h"

/// The verify forward that the tests of R21 commit parts of.
namespace routecap_test {

inline Setup verifying() {
  Setup setup;
  setup.config.num_verify_tokens = 4;
  return setup;
}

/// Two requests, each [last, d1, d2, d3]: rows 0-3 are seeds 1-4, rows 4-7 seeds 5-8; cache locations 20-23 and 30-33.
inline const Seeds kRows = {1, 2, 3, 4, 5, 6, 7, 8};
inline const Slots kLocations = {20, 21, 22, 23, 30, 31, 32, 33};

}  // namespace routecap_test
