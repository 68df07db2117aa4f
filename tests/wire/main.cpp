// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <iostream>

#include "files.h"

int main(int argc, char** argv) {
  doctest::Context context(argc, argv);
  const int result = context.run();
  // Said last, where ctest's reports look for the reason.
  if (!wire_test::skipped().empty()) std::cout << "SKIPPED: " << wire_test::skipped() << '\n';
  return result;
}
