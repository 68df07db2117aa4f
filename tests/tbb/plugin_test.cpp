// SPDX-License-Identifier: Apache-2.0
// The TBB plugin through the public API: its threads, its options, and rows that are those of the host backend.
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "support/rig.h"

using namespace routecap_test;
namespace fs = std::filesystem;

namespace {

struct Opened {
  std::int32_t status = RCAP_STATUS_OK;
  std::string text;
  Backend backend;
};

Opened open(std::int32_t threads, std::int32_t ordinal = 0, const char* name = "tbb") {
  Error error;
  auto options = make<rcap_backend_options>();
  options.device_ordinal = ordinal;
  options.threads = threads;
  rcap_backend* backend = nullptr;
  Opened opened;
  opened.status = rcap_backend_open(name, &options, &backend, error);
  opened.backend.reset(backend);
  opened.text = error.text();
  return opened;
}

Backend opened(std::int32_t threads, const char* name = "tbb") {
  Opened made = open(threads, 0, name);
  REQUIRE_MESSAGE(made.status == RCAP_STATUS_OK, made.text);
  return std::move(made.backend);
}

rcap_backend_info info_of(const Backend& backend) {
  auto info = make<rcap_backend_info>();
  REQUIRE(rcap_backend_describe(backend.get(), &info, nullptr) == RCAP_STATUS_OK);
  return info;
}

std::int32_t processors() {
  cpu_set_t set;
  REQUIRE(::sched_getaffinity(0, sizeof set, &set) == 0);
  return CPU_COUNT(&set);
}

/// Two threads are what most of this needs: with one processor the plugin has none to lend.
bool has_two() {
  if (processors() >= 2) return true;
  MESSAGE("skipped: this process has one processor");
  return false;
}

std::vector<std::string> threads_of_process() {
  std::vector<std::string> ids;
  for (const auto& entry : fs::directory_iterator("/proc/self/task")) ids.push_back(entry.path().filename());
  return ids;
}

/// Whether a thread takes none of the signals that can be blocked.
bool blocks_all_signals(const std::string& id) {
  std::ifstream status("/proc/self/task/" + id + "/status");
  std::string word;
  while (status >> word) {
    if (word != "SigBlk:") continue;
    status >> word;
    // Without SIGKILL and SIGSTOP, and the two that the C library keeps for itself.
    const std::uint64_t wanted = ~((std::uint64_t{1} << 8) | (std::uint64_t{1} << 18) | (std::uint64_t{3} << 31));
    return (std::stoull(word, nullptr, 16) & wanted) == wanted;
  }
  return false;
}

/// 24 layers, 8 of 256 experts: a layer's capture is divided from 3197 rows on.
Setup large_setup(rcap_backend* backend, std::int32_t layers = 24) {
  Setup setup;
  setup.config.num_experts = 256;
  setup.config.top_k = 8;
  setup.config.chunked_prefill_size = 8192;
  setup.config.num_slots = 10000;
  setup.layer_ids.resize(static_cast<std::size_t>(layers));
  std::iota(setup.layer_ids.begin(), setup.layer_ids.end(), 3);
  setup.backend = backend;
  return setup;
}

/// Reads slots 0 .. rows - 1, whose rows are replaced meanwhile: row i is of seed i + 1 .. i + 6. @return rows that are none of these (R36)
int rows_neither_old_nor_new(const Rig& rig, std::int64_t rows) {
  std::vector<std::int64_t> slots(static_cast<std::size_t>(rows));
  std::iota(slots.begin(), slots.end(), 0);
  const auto row_bytes = static_cast<std::ptrdiff_t>(rig.layers()) * rig.top_k();
  std::vector<std::uint8_t> ids(static_cast<std::size_t>(rows * row_bytes));
  auto layout = make<rcap_read_layout>();
  layout.tokens = rows + 1;
  auto info = make<rcap_read_info>();
  const rcap_status status = rcap_capturer_read_into(rig.get(), &layout, slots.data(), rows * 8, nullptr, 0, ids.data(),
                                                     static_cast<std::int64_t>(ids.size()), nullptr, 0, nullptr, 0, &info, nullptr);
  if (status != RCAP_STATUS_OK || info.rows_valid != rows) return 1;
  int wrong = 0;
  for (std::int64_t row = 0; row < rows; row += 97) {
    bool known = false;
    for (std::int64_t seed = row + 1; seed <= row + 6; ++seed) {
      const std::vector<std::int32_t> expected = rig.expected(seed);
      known = known || std::equal(expected.begin(), expected.end(), ids.begin() + row * row_bytes);
    }
    wrong += known ? 0 : 1;
  }
  return wrong;
}

std::vector<std::int64_t> numbers(std::int64_t first, std::int64_t count) {
  std::vector<std::int64_t> made(static_cast<std::size_t>(count));
  std::iota(made.begin(), made.end(), first);
  return made;
}

}  // namespace

TEST_CASE("the plugin lies beside the library, is found by its name and describes itself") {
  const Backend backend = opened(0);
  const rcap_backend_info info = info_of(backend);
  CHECK(std::string(info.name) == "tbb");
  CHECK(info.threads == std::min(processors(), 4));
  CHECK(info.host_memory == 1);
  CHECK(info.device_ordinal == 0);
  CHECK(info.lost == 0);
  CHECK(std::string(info.description).rfind("oneTBB 2", 0) == 0);
  CHECK(std::string(info.description).find(" row loops") != std::string::npos);
  CHECK(info_of(opened(1)).threads == 1);
}

TEST_CASE("an option that it cannot keep is refused with its value and its limit") {
  const std::string limit = "allowed are 0 (the default, " + std::to_string(std::min(processors(), 4)) + ") .. " + std::to_string(processors()) +
                            ", the processors of this process";
  for (const std::int32_t threads : {-1, processors() + 1, 100000}) {
    const Opened refused = open(threads);
    CHECK(refused.status == RCAP_STATUS_OUT_OF_RANGE);
    CHECK(refused.text == "backend \"tbb\": open: threads is " + std::to_string(threads) + ", " + limit);
  }
  const Opened second = open(0, 1);
  CHECK(second.status == RCAP_STATUS_OUT_OF_RANGE);
  CHECK(second.text == "backend \"tbb\": open: device_ordinal is 1, the TBB backend has only device 0");
}

TEST_CASE("no thread before it is of use, never more than asked for, none of them takes signals") {
  if (!has_two()) return;
  const std::vector<std::string> before = threads_of_process();
  const Backend backend = opened(2);
  Rig rig(large_setup(backend.get()));
  rig.store(numbers(1, 200), numbers(0, 200));
  CHECK(rig.read({.slots = numbers(0, 200)}).info.rows_valid == 200);
  CHECK(threads_of_process().size() == before.size());
  // One thread is its caller's.
  const Backend single = opened(1);
  Rig alone(large_setup(single.get()));
  alone.store(numbers(1, 8192), numbers(0, 8192));
  CHECK(threads_of_process().size() == before.size());

  for (int round = 0; round < 3; ++round) {
    rig.store(numbers(1, 8192), numbers(0, 8192));
    CHECK(rig.read({.slots = numbers(0, 8192)}).info.rows_valid == 8192);
    CHECK(threads_of_process().size() <= before.size() + 1);
  }
  // oneTBB starts a thread some time after it is asked to.
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (threads_of_process().size() == before.size() && std::chrono::steady_clock::now() < until) {
    REQUIRE(rig.read({.slots = numbers(0, 8192)}).info.rows_valid == 8192);
  }
  std::size_t fresh = 0;
  for (const std::string& id : threads_of_process()) {
    if (std::find(before.begin(), before.end(), id) != before.end()) continue;
    ++fresh;
    CHECK(blocks_all_signals(id));
  }
  CHECK(fresh == 1);
  // The caller's thread is as it was.
  CHECK_FALSE(blocks_all_signals(std::to_string(::getpid())));
}

TEST_CASE("R30, R36: rows around the sizes that are divided are the host backend's, byte for byte") {
  const Backend backend = opened(0);
  for (const std::int32_t weights : {RCAP_DTYPE_NONE, RCAP_DTYPE_BFLOAT16}) {
    Setup setup = large_setup(backend.get(), 5);
    setup.config.weights_dtype = weights;
    setup.tap_flags = {0, RCAP_TAP_PARTIAL, 0, 0, 0};
    Rig rig(setup);
    setup.backend = nullptr;
    Rig host(setup);
    std::int64_t seed = 1;
    for (const std::int64_t rows : {1, 2000, 3196, 3197, 3200, 3264, 8191, 8192}) {
      CAPTURE(rows);
      const Seeds seeds = numbers(seed, rows);
      seed += 17;
      for (Rig* each : {&rig, &host}) {
        for (std::size_t column = 0; column < 5; ++column) {
          const Seeds half(seeds.begin(), seeds.begin() + (rows + 1) / 2);
          REQUIRE(each->capture(column, column == 1 ? half : seeds) == RCAP_STATUS_OK);
        }
        const rcap_summary summary = each->settle(each->end({.tokens = rows, .slots = numbers(seed, rows)}));
        CHECK(summary.rows_stored == rows);
      }
      const Rows got = rig.read({.slots = numbers(seed - 9, rows + 18)});
      const Rows expected = host.read({.slots = numbers(seed - 9, rows + 18)});
      CHECK(got.info.rows_valid == expected.info.rows_valid);
      CHECK(got.ids == expected.ids);
      CHECK(got.weights == expected.weights);
      CHECK(got.row_validity == expected.row_validity);
      CHECK(got.cell_validity == expected.cell_validity);
      CHECK(got.ids_of(9, 0) == rig.router().ids(seeds.front(), 3));
    }
  }
  CHECK(info_of(backend).device_bytes == 0);
  CHECK(info_of(backend).pinned_bytes == 0);
}

TEST_CASE("one memory: no pinned side of the staging blocks, and a copy to the host that moves nothing") {
  const Backend backend = opened(2);
  {
    Setup setup;
    setup.backend = backend.get();
    Rig rig(setup);
    CHECK(rig.store({1, 2}, {10, 11}).rows_stored == 2);
    CHECK(rig.show({10, 11}) == "1 2");
    const rcap_backend_info info = info_of(backend);
    CHECK(info.device_bytes > 0);
    CHECK(info.pinned_bytes == 0);
    CHECK(info.copies == 1);
    CHECK(info.copied_bytes == 0);
  }
  CHECK(info_of(backend).device_bytes == 0);
}

TEST_CASE("R35: several capturers, on one backend and on their own, finalized in the background and read meanwhile") {
  const Backend shared = opened(0);
  std::vector<std::thread> engines;
  std::atomic<int> wrong{0};
  for (int engine = 0; engine < 4; ++engine) {
    engines.emplace_back([&, engine] {
      rcap_backend* own = nullptr;
      if (engine % 2 != 0 && rcap_backend_open("tbb", nullptr, &own, nullptr) != RCAP_STATUS_OK) ++wrong;
      const Backend kept(own);
      Setup setup = large_setup(own != nullptr ? own : shared.get(), 3);
      setup.config.finalize_mode = engine < 2 ? RCAP_FINALIZE_CALLER : RCAP_FINALIZE_OWN_THREAD;
      Rig rig(setup);
      const std::int64_t rows = 4000 + engine * 500;
      rig.store(numbers(1, rows), numbers(0, rows));
      std::atomic<bool> stop{false};
      std::thread reader([&] {
        while (!stop) wrong += rows_neither_old_nor_new(rig, rows);
      });
      for (int forward = 0; forward < 6; ++forward) {
        rig.store(numbers(1 + forward, rows), numbers(0, rows));
        const Rows read = rig.read({.slots = numbers(0, rows)});
        if (read.ids_of(rows - 1, 2) != rig.router().ids(rows + forward, 5)) ++wrong;
      }
      stop = true;
      reader.join();
    });
  }
  for (std::thread& engine : engines) engine.join();
  CHECK(wrong == 0);
}

TEST_CASE("a child of a fork has no threads: its calls answer FORKED and it may end; the parent goes on") {
  const Backend backend = opened(0);
  Rig rig(large_setup(backend.get()));
  rig.store(numbers(1, 8192), numbers(0, 8192));
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    auto layout = make<rcap_read_layout>();
    layout.tokens = 2;
    const std::int64_t slots[] = {0, 1};
    auto info = make<rcap_read_info>();
    const rcap_status status = rcap_capturer_read_into(rig.get(), &layout, slots, 16, nullptr, 0, nullptr, 0, nullptr, 0, nullptr, 0, &info, nullptr);
    rcap_capturer_destroy(rig.get());
    ::_exit(status == RCAP_STATUS_FORKED ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  rig.store(numbers(5, 8192), numbers(0, 8192));
  CHECK(rig.read({.slots = numbers(0, 8192)}).ids_of(0, 0) == rig.router().ids(5, 3));
}

TEST_CASE("backends come and go, their threads with them") {
  for (int round = 0; round < 40; ++round) {
    const Backend backend = opened(0);
    Rig rig(large_setup(backend.get(), 2));
    rig.store(numbers(1, 4000), numbers(0, 4000));
    REQUIRE(rig.read({.slots = numbers(0, 4000)}).info.rows_valid == 4000);
  }
  CHECK(threads_of_process().size() == 1);
}
