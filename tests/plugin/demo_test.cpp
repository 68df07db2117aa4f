// SPDX-License-Identifier: Apache-2.0
// The reference engine's whole schedule on the fake device, every row against its oracle, with many seeds of delays.
#include <cstdlib>
#include <string>

#include <doctest/doctest.h>

#include "accelerator.h"
#include "engine.h"
#include "plugin/fake_device/control.h"
#include "support/device.h"

using namespace routecap_test;

namespace {

/// The fake device, as an engine has its own.
class FakeAccelerator final : public engine::Accelerator {
 public:
  [[nodiscard]] rcap_backend* backend() override { return test_backend(); }
  [[nodiscard]] void* upload(const void* data, std::int64_t bytes) override {
    void* memory = test_device_control()->allocate(test_device(), bytes);
    REQUIRE(memory != nullptr);
    test_device_control()->write(test_device(), memory, data, bytes);
    return memory;
  }
  void give_back(void* memory) override { test_device_control()->release(test_device(), memory); }
};

void serve(engine::FinalizeMode mode) {
  constexpr std::int64_t kRequests = 8;
  static std::int64_t seed = 0;

  FakeAccelerator accelerator;
  engine::Options options;
  options.requests = kRequests;
  options.seed = ++seed;
  options.dp = 2;
  options.finalize = mode;
  options.weights = seed % 2 == 0;
  options.quiet = true;
  options.accelerator = &accelerator;
  engine::Engine loop(options, nullptr);
  const engine::Outcome outcome = loop.run([](std::int64_t) {});
  CAPTURE(seed);
  CHECK_MESSAGE(outcome.rows.rows_wrong == 0, outcome.rows.first_wrong);
  CHECK(outcome.rows.rows_checked > 0);
  CHECK(outcome.requests == kRequests);
}

}  // namespace

TEST_CASE("the reference engine reads no wrong row on the fake device, finalized by the caller") { serve(engine::FinalizeMode::kCaller); }
TEST_CASE("the reference engine reads no wrong row on the fake device, finalized on its own thread") { serve(engine::FinalizeMode::kThread); }
