// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include <doctest/doctest.h>

#include "property/schedules.h"
#include "support/device.h"

/// RapidCheck reads RC_PARAMS once. Its own default is another seed every time; a test run should find the same tomorrow, so the seed is fixed unless
/// the caller names one (`RC_PARAMS="seed=7"`, or the `reproduce=` that a failure prints).
int main(int argc, char** argv) {
  routecap_test::property::set_default_parameters();
  return routecap_test::run_on_test_backend([&] { return doctest::Context(argc, argv).run(); });
}
