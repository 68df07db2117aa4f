// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <string>

#include <doctest/doctest.h>

/// RapidCheck takes another seed every time by itself; a test run should find the same tomorrow. RC_PARAMS (RapidCheck's own) names another or
/// reproduces a failure, ROUTECAP_PROPERTY_SCALE makes every search that many times longer.
int main(int argc, char** argv) {
  const char* scale = std::getenv("ROUTECAP_PROPERTY_SCALE");
  const long times = scale == nullptr ? 1 : std::strtol(scale, nullptr, 10);
  const std::string parameters = "seed=39 max_success=" + std::to_string(200 * (times > 0 ? times : 1));
  setenv("RC_PARAMS", parameters.c_str(), 0);
  return doctest::Context(argc, argv).run();
}
