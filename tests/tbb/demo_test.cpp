// SPDX-License-Identifier: Apache-2.0
// The reference engine's whole schedule on a backend that works in the host's memory, every row against its oracle.
#include <cstdlib>
#include <cstring>

#include <doctest/doctest.h>

#include "accelerator.h"
#include "engine.h"
#include "support/device.h"

using namespace routecap_test;

namespace {

class HostAccelerator final : public engine::Accelerator {
 public:
  [[nodiscard]] rcap_backend* backend() override { return test_backend(); }
  [[nodiscard]] void* upload(const void* data, std::int64_t bytes) override {
    void* memory = std::malloc(static_cast<std::size_t>(bytes));
    REQUIRE(memory != nullptr);
    std::memcpy(memory, data, static_cast<std::size_t>(bytes));
    return memory;
  }
  void give_back(void* memory) override { std::free(memory); }
};

void serve(engine::FinalizeMode mode) {
  constexpr std::int64_t kRequests = 24;
  for (std::int64_t seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    HostAccelerator accelerator;
    engine::Options options;
    options.requests = kRequests;
    options.seed = seed;
    options.dp = 2;
    options.finalize = mode;
    options.weights = seed % 2 == 0;
    options.quiet = true;
    options.accelerator = &accelerator;
    engine::Engine loop(options, nullptr);
    const engine::Outcome outcome = loop.run([](std::int64_t) {});
    CHECK_MESSAGE(outcome.rows.rows_wrong == 0, outcome.rows.first_wrong);
    CHECK(outcome.rows.rows_checked > 0);
    CHECK(outcome.requests == kRequests);
  }
}

}  // namespace

TEST_CASE("the reference engine reads no wrong row on several threads, finalized by the caller") { serve(engine::FinalizeMode::kCaller); }
TEST_CASE("the reference engine reads no wrong row on several threads, finalized on its own thread") { serve(engine::FinalizeMode::kThread); }
