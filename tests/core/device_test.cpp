// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "capturer/capturer.h"
#include "deferred_backend.h"

namespace {

using routecap_test::DeferredBackend;

/// One layer, K = 1, E = 256, eight slots; row i of a forward holds the id first + i.
struct Engine {
  explicit Engine(std::int32_t finalize_mode = RCAP_FINALIZE_CALLER, std::int32_t depth = 1, std::int32_t tap_flags = 0) {
    rcap_capturer_config config{};
    rcap_capturer_config_init(&config, sizeof config);
    config.num_experts = 256;
    config.top_k = 1;
    config.chunked_prefill_size = 8;
    config.num_slots = 8;
    config.pipeline_depth = depth;
    config.finalize_mode = finalize_mode;
    const std::vector<std::int32_t> layers = {5};
    core = std::make_unique<routecap::Capturer>(routecap::Geometry::checked(config, layers), backend);
    capturer = reinterpret_cast<rcap_capturer*>(core.get());
    rcap_model* model = nullptr;
    REQUIRE(rcap_capturer_add_model(capturer, RCAP_ROLE_TARGET, "target", &model, nullptr) == RCAP_STATUS_OK);
    rcap_tap_options options{};
    rcap_tap_options_init(&options, sizeof options);
    options.flags = tap_flags;
    REQUIRE(rcap_model_add_tap(model, 5, &options, nullptr, 0, &tap, nullptr) == RCAP_STATUS_OK);
    REQUIRE(rcap_capturer_seal(capturer, nullptr) == RCAP_STATUS_OK);
  }

  /// `row_ids` stand in device memory; without any, rows follow one another.
  void capture(std::int32_t first, std::int64_t tokens, const std::vector<std::int32_t>& row_ids = {}) const {
    rcap_capture_layout layout{};
    rcap_capture_layout_init(&layout, sizeof layout);
    layout.columns = 1;
    layout.tokens = tokens;
    if (!row_ids.empty()) layout.memory = RCAP_MEMORY_DEVICE;
    std::vector<std::int32_t> ids;
    for (std::int64_t i = 0; i < tokens; ++i) ids.push_back(first + static_cast<std::int32_t>(i));
    REQUIRE(rcap_tap_capture(tap, &layout, ids.data(), tokens * 4, nullptr, 0, row_ids.empty() ? nullptr : row_ids.data(), std::ssize(row_ids),
                             nullptr, nullptr) == RCAP_STATUS_OK);
  }

  rcap_status end(const std::vector<std::int64_t>& slots, rcap_output** output, std::int32_t memory = RCAP_MEMORY_HOST) const {
    rcap_forward_layout layout{};
    rcap_forward_layout_init(&layout, sizeof layout);
    layout.tokens = static_cast<std::int64_t>(slots.size());
    layout.slots_memory = memory;
    return rcap_capturer_end_forward(capturer, &layout, slots.data(), layout.tokens * 8, nullptr, 0, nullptr, 0, nullptr, output, nullptr);
  }

  rcap_output* forward(std::int32_t first, const std::vector<std::int64_t>& slots, std::int32_t memory = RCAP_MEMORY_HOST) const {
    capture(first, static_cast<std::int64_t>(slots.size()));
    rcap_output* output = nullptr;
    REQUIRE(end(slots, &output, memory) == RCAP_STATUS_OK);
    return output;
  }

  void store(std::int32_t first, const std::vector<std::int64_t>& slots) const {
    rcap_output* output = forward(first, slots);
    REQUIRE(rcap_output_copy_to_host(output, nullptr, nullptr) == RCAP_STATUS_OK);
    REQUIRE(rcap_output_finalize(output, nullptr, nullptr) == RCAP_STATUS_OK);
    rcap_output_destroy(output);
  }

  /// The id in each slot, "-" for a missing one.
  std::string show(const std::vector<std::int64_t>& slots) const {
    rcap_read_layout layout{};
    rcap_read_layout_init(&layout, sizeof layout);
    layout.tokens = static_cast<std::int64_t>(slots.size()) + 1;
    std::vector<std::uint8_t> ids(slots.size());
    std::uint8_t validity[2] = {};  // of the rows, and with a PARTIAL tap of the cells
    REQUIRE(rcap_capturer_read_into(capturer, &layout, slots.data(), static_cast<std::int64_t>(slots.size()) * 8, nullptr, 0, ids.data(),
                                    static_cast<std::int64_t>(ids.size()), nullptr, 0, validity, sizeof validity, nullptr,
                                    nullptr) == RCAP_STATUS_OK);
    std::string text;
    for (std::size_t i = 0; i < slots.size(); ++i) text += ((validity[0] >> i & 1) != 0 ? std::to_string(ids[i]) : "-") + " ";
    text.pop_back();
    return text;
  }

  rcap_capturer_stats stats() const {
    rcap_capturer_stats stats{};
    rcap_capturer_stats_init(&stats, sizeof stats);
    REQUIRE(rcap_capturer_stats_get(capturer, &stats, nullptr) == RCAP_STATUS_OK);
    return stats;
  }

  std::shared_ptr<DeferredBackend> backend = std::make_shared<DeferredBackend>();
  std::unique_ptr<routecap::Capturer> core;
  rcap_capturer* capturer = nullptr;
  rcap_tap* tap = nullptr;
};

}  // namespace

TEST_CASE("R31: finalize before the copy is complete is NOT_READY, and a later one succeeds") {
  const Engine engine;
  engine.backend->defer = true;
  rcap_output* output = engine.forward(40, {1, 2});
  REQUIRE(rcap_output_copy_to_host(output, nullptr, nullptr) == RCAP_STATUS_OK);
  CHECK(rcap_output_ready(output, nullptr) == 0);
  CHECK(rcap_output_wait(output, 1000, nullptr) == RCAP_STATUS_TIMEOUT);
  CHECK(rcap_output_finalize(output, nullptr, nullptr) == RCAP_STATUS_NOT_READY);
  CHECK(engine.show({1, 2}) == "- -");
  engine.backend->finish_copies();
  CHECK(rcap_output_ready(output, nullptr) == 1);
  CHECK(rcap_output_finalize(output, nullptr, nullptr) == RCAP_STATUS_OK);
  CHECK(engine.show({1, 2}) == "40 41");
  rcap_output_destroy(output);
}

TEST_CASE("R32, R33: the block of a dropped output is free, and its rows are missing, when its copy is over") {
  for (const std::int32_t memory : {RCAP_MEMORY_HOST, RCAP_MEMORY_DEVICE}) {
    const Engine engine;
    engine.store(10, {1, 2, 3});
    engine.backend->defer = true;
    rcap_output* output = engine.forward(40, {1, 2}, memory);
    REQUIRE(rcap_output_copy_to_host(output, nullptr, nullptr) == RCAP_STATUS_OK);
    rcap_output_destroy(output);
    CHECK(engine.stats().dropped == 1);
    CHECK(engine.stats().in_flight == 1);
    engine.capture(50, 1);
    rcap_output* next = nullptr;
    CHECK(engine.end({4}, &next) == RCAP_STATUS_BUSY);
    // Slots that the host knows are settled at once; those that only the device knows come with the copy.
    CHECK(engine.show({1, 2, 3}) == (memory == RCAP_MEMORY_HOST ? "- - 12" : "10 11 12"));
    CHECK(engine.stats().in_flight == 1);
    engine.backend->finish_copies();
    CHECK(engine.show({1, 2, 3}) == "- - 12");
    CHECK(engine.stats().in_flight == 0);
    CHECK(engine.end({4}, &next) == RCAP_STATUS_OK);
    rcap_output_destroy(next);
    engine.backend->finish_copies();
  }
}

TEST_CASE("R34: a device fault in the copy ends the output with DEVICE; nothing is stored, nothing stays stale") {
  for (const bool in_event : {false, true}) {
    const Engine engine;
    engine.store(10, {1, 2, 3});
    rcap_output* output = engine.forward(40, {1, 2});
    (in_event ? engine.backend->fail_event : engine.backend->fail_copy) = true;
    CHECK(rcap_output_copy_to_host(output, nullptr, nullptr) == (in_event ? RCAP_STATUS_OK : RCAP_STATUS_DEVICE));
    CHECK(rcap_output_finalize(output, nullptr, nullptr) == RCAP_STATUS_DEVICE);
    CHECK(rcap_output_finalize(output, nullptr, nullptr) == RCAP_STATUS_DEVICE);
    CHECK(engine.show({1, 2, 3}) == "- - 12");
    CHECK(engine.stats().in_flight == 0);
    rcap_output_destroy(output);
    CHECK(engine.stats().dropped == 0);
    (in_event ? engine.backend->fail_event : engine.backend->fail_copy) = false;
    engine.store(60, {2});
    CHECK(engine.show({1, 2, 3}) == "- 60 12");
  }
}

TEST_CASE("R34: slots that only the failed device knew are left as they were") {
  const Engine engine;
  engine.store(10, {1, 2});
  rcap_output* output = engine.forward(40, {1, 2}, RCAP_MEMORY_DEVICE);
  engine.backend->fail_copy = true;
  CHECK(rcap_output_copy_to_host(output, nullptr, nullptr) == RCAP_STATUS_DEVICE);
  CHECK(rcap_output_finalize(output, nullptr, nullptr) == RCAP_STATUS_DEVICE);
  CHECK(engine.show({1, 2}) == "10 11");
  rcap_output_destroy(output);
}

TEST_CASE("R32: an end_forward that meets a device fault takes no number and may be repeated") {
  const Engine engine;
  engine.capture(40, 2);
  engine.backend->fail_snapshot = true;
  rcap_output* output = nullptr;
  CHECK(engine.end({1, 2}, &output) == RCAP_STATUS_DEVICE);
  CHECK(output == nullptr);
  CHECK(engine.stats().last_sequence == 0);
  CHECK(engine.stats().in_flight == 0);
  engine.backend->fail_snapshot = false;
  REQUIRE(engine.end({1, 2}, &output) == RCAP_STATUS_OK);
  REQUIRE(rcap_output_copy_to_host(output, nullptr, nullptr) == RCAP_STATUS_OK);
  CHECK(rcap_output_finalize(output, nullptr, nullptr) == RCAP_STATUS_OK);
  CHECK(engine.show({1, 2}) == "40 41");
  rcap_output_destroy(output);
}

TEST_CASE("R14: stray row_ids stay counted through a refused end_forward and come to the host with the copy, once") {
  const Engine engine(RCAP_FINALIZE_CALLER, 1, RCAP_TAP_PARTIAL);
  engine.capture(40, 4, {1, 8, -1, 0});
  engine.backend->fail_snapshot = true;
  rcap_output* output = nullptr;
  CHECK(engine.end({1, 2}, &output) == RCAP_STATUS_DEVICE);
  engine.backend->fail_snapshot = false;
  engine.backend->defer = true;
  REQUIRE(engine.end({1, 2}, &output) == RCAP_STATUS_OK);
  // What the next forward captures is not this one's.
  engine.capture(50, 1, {9});
  REQUIRE(rcap_output_copy_to_host(output, nullptr, nullptr) == RCAP_STATUS_OK);
  engine.backend->finish_copies();
  rcap_summary summary{};
  rcap_summary_init(&summary, sizeof summary);
  REQUIRE(rcap_output_finalize(output, &summary, nullptr) == RCAP_STATUS_OK);
  CHECK(summary.rows_stray == 2);
  CHECK(summary.first_stray_layer == 5);
  CHECK(summary.rows_stored == 2);
  CHECK(engine.show({1, 2}) == "43 40");
  rcap_output_destroy(output);
  engine.backend->defer = false;
  REQUIRE(engine.end({3}, &output) == RCAP_STATUS_OK);
  REQUIRE(rcap_output_copy_to_host(output, nullptr, nullptr) == RCAP_STATUS_OK);
  REQUIRE(rcap_output_finalize(output, &summary, nullptr) == RCAP_STATUS_OK);
  CHECK(summary.rows_stray == 1);
  CHECK(engine.stats().rows_stray == 3);
  rcap_output_destroy(output);
}

TEST_CASE("R34: with an own thread a device fault is told by finalize and by next_completed") {
  const Engine engine(RCAP_FINALIZE_OWN_THREAD, 2);
  std::int64_t sequence = 0;
  std::int32_t status = RCAP_STATUS_OK;
  CHECK(rcap_capturer_next_completed(engine.capturer, 0, &sequence, &status, nullptr) == RCAP_STATUS_TIMEOUT);
  engine.backend->fail_copy = true;
  rcap_output* output = engine.forward(40, {1, 2});
  CHECK(rcap_capturer_next_completed(engine.capturer, INT64_MAX, &sequence, &status, nullptr) == RCAP_STATUS_OK);
  CHECK(sequence == 1);
  CHECK(status == RCAP_STATUS_DEVICE);
  CHECK(rcap_output_wait(output, INT64_MAX, nullptr) == RCAP_STATUS_OK);
  CHECK(rcap_output_finalize(output, nullptr, nullptr) == RCAP_STATUS_DEVICE);
  CHECK(engine.show({1, 2}) == "- -");
  rcap_output_destroy(output);
}

TEST_CASE("R31: an own thread stores nothing before its copy is complete") {
  const Engine engine(RCAP_FINALIZE_OWN_THREAD, 2);
  engine.backend->defer = true;
  rcap_output* output = engine.forward(40, {1, 2});
  CHECK(rcap_output_wait(output, 20'000'000, nullptr) == RCAP_STATUS_TIMEOUT);
  CHECK(rcap_output_finalize(output, nullptr, nullptr) == RCAP_STATUS_NOT_READY);
  CHECK(engine.show({1, 2}) == "- -");
  // The thread may reach the copy only now: what it queues after this is not held back.
  engine.backend->defer = false;
  engine.backend->finish_copies();
  CHECK(rcap_output_wait(output, INT64_MAX, nullptr) == RCAP_STATUS_OK);
  CHECK(rcap_output_finalize(output, nullptr, nullptr) == RCAP_STATUS_OK);
  CHECK(engine.show({1, 2}) == "40 41");
  rcap_output_destroy(output);
}
