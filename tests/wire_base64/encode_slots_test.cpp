// SPDX-License-Identifier: Apache-2.0
//
// `rcap_capturer_encode` must write what `rcap_capturer_read` and `rcap_record_encode` write, whatever stands in the slots.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "scene.h"
#include "two_ways.h"

namespace routecap_test {
namespace {

/// A capturer whose rows are so long that a request of 120 is three pieces.
constexpr std::int64_t kLongLayers = 200;
constexpr std::int64_t kLongRows = 120;

Setup long_rows() {
  Setup setup;
  setup.layer_ids.resize(kLongLayers);
  std::iota(setup.layer_ids.begin(), setup.layer_ids.end(), 0);
  setup.config.top_k = 8;
  return setup;
}

/// Enough for any form of such a request.
constexpr std::int64_t kRoom = 2 << 20;

Asked all_of(const Slots& slots) {
  Asked asked;
  asked.layout.tokens = static_cast<std::int64_t>(slots.size()) + 1;
  asked.slots = packed(slots, RCAP_DTYPE_INT64);
  return asked;
}

Slots numbered(std::int64_t from, std::int64_t count) {
  Slots slots(static_cast<std::size_t>(count));
  std::iota(slots.begin(), slots.end(), from);
  return slots;
}

}  // namespace

TEST_CASE("one pass writes what a record's encoder writes, whatever stands in the slots") {
  const char* scale = std::getenv("ROUTECAP_PROPERTY_SCALE");
  const int scenes = 150 * (scale == nullptr ? 1 : std::max(std::atoi(scale), 1));
  std::map<std::string, int> seen;
  for (int seed = 0; seed < scenes; ++seed) {
    Scene scene(static_cast<std::uint64_t>(seed));
    for (int read = 0; read < 6; ++read) {
      const Asked asked = scene.ask();
      for (std::int32_t format = RCAP_WIRE_FRAME; format <= RCAP_WIRE_CSV; ++format) {
        const rcap_encode_options options = scene.choose(format);
        CAPTURE(seed);
        CAPTURE(rcap_wire_format_name(format));
        CAPTURE(options.dtype);
        CAPTURE(options.missing);
        CAPTURE(asked.layout.tokens);
        CAPTURE(asked.layout.start);
        REQUIRE(difference(scene.rig(), asked, format, options) == "");
        ++seen[name(by_record(scene.rig(), asked, format, options).status)];
      }
    }
  }
  // The scenes reached what the comparison is about.
  for (const std::int32_t status : {RCAP_STATUS_OK, RCAP_STATUS_NOT_READY, RCAP_STATUS_OUT_OF_RANGE, RCAP_STATUS_UNSUPPORTED}) {
    INFO(name(status));
    CHECK(seen[name(status)] > 20);
  }
}

TEST_CASE("a request of several pieces, a hole in each of them") {
  Rig rig(long_rows());
  Seeds seeds(60);
  std::iota(seeds.begin(), seeds.end(), 100);
  rig.store(seeds, numbered(0, 60));
  std::iota(seeds.begin(), seeds.end(), 300);
  rig.store(seeds, numbered(60, 60));
  for (const std::int64_t hole : {-1, 0, 39, 40, 41, 79, 80, 118, 119}) {
    Slots slots = numbered(0, kLongRows);
    if (hole >= 0) slots[static_cast<std::size_t>(hole)] = -1;
    for (std::int32_t format = RCAP_WIRE_FRAME; format <= RCAP_WIRE_CSV; ++format) {
      for (const std::int32_t missing : {RCAP_MISSING_REFUSE, RCAP_MISSING_FILL}) {
        rcap_encode_options options = default_options();
        if (format >= RCAP_WIRE_SGLANG && format <= RCAP_WIRE_LISTS) options.missing = missing;
        INFO(rcap_wire_format_name(format), ", hole ", hole, ", missing ", missing);
        CHECK(difference(rig, all_of(slots), format, options) == "");
      }
    }
    if (hole < 0) continue;
    const Answered refused = in_one_pass(rig, all_of(slots), RCAP_WIRE_SGLANG, default_options(), kRoom);
    CHECK(refused.status == RCAP_STATUS_OUT_OF_RANGE);
    CHECK(refused.text == by_record(rig, all_of(slots), RCAP_WIRE_SGLANG, default_options()).text);
    CHECK(refused.text.find("row " + std::to_string(hole) + " ") != std::string::npos);
  }
}

TEST_CASE("R12: a row that waits for a copy comes before a hole that the form cannot say") {
  Rig rig(long_rows());
  Seeds seeds(60);
  std::iota(seeds.begin(), seeds.end(), 100);
  const Output output = rig.forward(seeds, numbered(0, 60));
  rig.copy({7}, {119});
  Slots slots = numbered(0, kLongRows);  // all but the last are missing
  const Answered waiting = in_one_pass(rig, all_of(slots), RCAP_WIRE_SGLANG, default_options(), kRoom);
  CHECK(waiting.status == RCAP_STATUS_NOT_READY);
  CHECK(waiting.detail == Rig::sequence(output));
  rig.settle(output);
  CHECK(in_one_pass(rig, all_of(slots), RCAP_WIRE_SGLANG, default_options(), kRoom).status == RCAP_STATUS_OUT_OF_RANGE);
  slots.erase(slots.begin() + 60, slots.begin() + 119);
  CHECK(difference(rig, all_of(slots), RCAP_WIRE_SGLANG, default_options()) == "");
}

TEST_CASE("R36: it waits as a read does") {
  Rig rig;
  const Output output = rig.forward({1, 2, 3}, {4, 5, 6});
  Asked asked = all_of({4, 5, 6});
  asked.layout.after_sequence = Rig::sequence(output);
  CHECK(in_one_pass(rig, asked, RCAP_WIRE_NEMO, default_options(), kRoom).status == RCAP_STATUS_NOT_READY);
  // The size goes by the number of rows and waits for nothing.
  CHECK(in_one_pass(rig, asked, RCAP_WIRE_NEMO, default_options(), -1).status == RCAP_STATUS_OK);
  asked.layout.timeout_ns = 20'000'000'000;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    rig.settle(output);
  });
  const Answered waited = in_one_pass(rig, asked, RCAP_WIRE_NEMO, default_options(), kRoom);
  other.join();
  CHECK(waited.status == RCAP_STATUS_OK);
  CHECK(difference(rig, asked, RCAP_WIRE_NEMO, default_options()) == "");
}

TEST_CASE("arguments are refused as by a read and by an encoder") {
  Rig rig;
  rig.store({1, 2}, {4, 5});
  const Asked asked = all_of({4, 5});
  Error error;
  std::int64_t needed = -7;
  char buffer[4096];
  const auto slots_bytes = static_cast<std::int64_t>(asked.slots.size());
  const rcap_encode_options options = default_options();
  const auto call = [&](const rcap_read_layout* layout, std::int32_t format, const rcap_encode_options* chosen, void* out, std::int64_t bytes,
                        std::int64_t* count) {
    return name(rcap_capturer_encode(rig.get(), layout, asked.slots.data(), slots_bytes, nullptr, 0, format, chosen, out, bytes, count, error));
  };
  CHECK(call(&asked.layout, RCAP_WIRE_SGLANG, nullptr, buffer, sizeof buffer, &needed) == "RCAP_STATUS_OK");
  CHECK(call(nullptr, RCAP_WIRE_SGLANG, &options, buffer, sizeof buffer, &needed) == "RCAP_STATUS_INVALID_ARGUMENT");
  CHECK(call(&asked.layout, 0, &options, buffer, sizeof buffer, &needed) == "RCAP_STATUS_INVALID_ARGUMENT");
  CHECK(call(&asked.layout, RCAP_WIRE_CSV + 1, &options, buffer, sizeof buffer, &needed) == "RCAP_STATUS_INVALID_ARGUMENT");
  CHECK(call(&asked.layout, RCAP_WIRE_SGLANG, &options, nullptr, 10, &needed) == "RCAP_STATUS_INVALID_ARGUMENT");
  CHECK(call(&asked.layout, RCAP_WIRE_SGLANG, &options, buffer, -1, &needed) == "RCAP_STATUS_INVALID_ARGUMENT");
  CHECK(call(&asked.layout, RCAP_WIRE_SGLANG, &options, buffer, sizeof buffer, nullptr) == "RCAP_STATUS_INVALID_ARGUMENT");
  rcap_encode_options other = options;
  other.zstd_level = 3;
  CHECK(call(&asked.layout, RCAP_WIRE_SGLANG, &other, buffer, sizeof buffer, &needed) == "RCAP_STATUS_UNSUPPORTED");
  Asked beyond = asked;
  beyond.layout.start = 9;
  CHECK(call(&beyond.layout, RCAP_WIRE_SGLANG, &options, buffer, sizeof buffer, &needed) == "RCAP_STATUS_OUT_OF_RANGE");
  Setup unsealed;
  unsealed.seal = false;
  const Rig young(unsealed);
  CHECK(rcap_capturer_encode(young.get(), &asked.layout, asked.slots.data(), slots_bytes, nullptr, 0, RCAP_WIRE_SGLANG, &options, buffer,
                             sizeof buffer, &needed, error) == RCAP_STATUS_INVALID_STATE);
}

TEST_CASE("R36: rows that are written meanwhile are whole, old or new or missing") {
  Rig rig(long_rows());
  constexpr std::int64_t kSlots = 60;
  const auto seeds_of = [](std::int64_t first) {
    Seeds seeds(kSlots);
    std::iota(seeds.begin(), seeds.end(), first);
    return seeds;
  };
  const Seeds odd = seeds_of(1000);
  const Seeds even = seeds_of(2000);
  rig.store(odd, numbered(0, kSlots));
  std::atomic<bool> over{false};
  std::atomic<int> reads{0};
  // Until a read has begun and ended: of what stands then, one at least is seen.
  const auto let_read = [&] {
    for (const int seen = reads.load(); !over.load() && reads.load() < seen + 2;) std::this_thread::yield();
  };
  std::thread writer([&] {
    for (std::size_t turn = 0; !over.load(); ++turn) {
      if (turn % 20 == 0) rig.store(turn % 40 == 0 ? even : odd, numbered(0, kSlots));
      if (turn % 30 == 0) rig.release(numbered(0, kSlots / 2));
      // The last row comes and goes all the time: whether it is there is asked before and after the others are read.
      rig.release({kSlots - 1});
      if (turn % 8 == 0) let_read();
      rig.store({turn % 2 == 0 ? even.back() : odd.back()}, {kSlots - 1});
      if (turn % 8 == 4) let_read();
    }
  });
  const auto shown = [&](std::int64_t seed) {
    std::string bytes;
    for (const std::int32_t id : rig.expected(seed)) {
      bytes.push_back(static_cast<char>(id & 0xFF));
      bytes.push_back(static_cast<char>(id >> 8));
    }
    return bytes;
  };
  // Each row as text once: the comparison must not outlast the reads.
  std::vector<std::string> odd_rows;
  std::vector<std::string> even_rows;
  for (const std::int64_t seed : odd) odd_rows.push_back(shown(seed));
  for (const std::int64_t seed : even) even_rows.push_back(shown(seed));
  const std::string missing_row(kLongLayers * 8 * 2, '\xFF');
  rcap_encode_options options = default_options();
  options.dtype = RCAP_DTYPE_INT16;
  options.missing = RCAP_MISSING_MINUS_ONE;
  Asked asked = all_of(numbered(0, kSlots));
  asked.layout.tokens = kSlots;
  asked.layout.flags = RCAP_READ_INCLUDE_LAST;
  const std::size_t row_bytes = kLongLayers * 8 * 2;
  bool whole = true;
  std::set<std::size_t> counts;
  const auto saw_both = [&counts] { return counts.count(kSlots) == 1 && counts.count(kSlots - 1) == 1; };
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  for (int turn = 0; whole && (turn < 200 || (!saw_both() && std::chrono::steady_clock::now() < deadline)); ++turn) {
    if (turn >= 200) std::this_thread::yield();  // the writer may be waiting for this core
    const Answered found = in_one_pass(rig, asked, RCAP_WIRE_NPY, options, kRoom);
    reads.fetch_add(1);
    if (found.status != RCAP_STATUS_OK) {
      whole = false;
      break;
    }
    const std::size_t header = found.bytes.find('\n') + 1;
    const std::size_t rows = (found.bytes.size() - header) / row_bytes;
    counts.insert(rows);
    whole = found.bytes.find("(" + std::to_string(rows) + ", 200, 8)") != std::string::npos && (found.bytes.size() - header) % row_bytes == 0;
    for (std::size_t row = 0; row < rows && whole; ++row) {
      const std::string bytes = found.bytes.substr(header + row * row_bytes, row_bytes);
      whole = bytes == odd_rows[row] || bytes == even_rows[row] || bytes == missing_row;
      // R2: a last row that is not there is one row less, never a missing one.
      if (row + 1 == static_cast<std::size_t>(kSlots)) whole = whole && bytes != missing_row;
    }
  }
  over = true;
  writer.join();
  CHECK(whole);
  CHECK(counts.count(kSlots) == 1);
  CHECK(counts.count(kSlots - 1) == 1);
}

}  // namespace routecap_test
