// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "support/device.h"

int main(int argc, char** argv) {
  return routecap_test::run_on_test_backend([&] { return doctest::Context(argc, argv).run(); });
}
