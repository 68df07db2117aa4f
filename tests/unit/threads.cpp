// SPDX-License-Identifier: Apache-2.0
// Exactly the concurrency that the header promises, pair by pair; meant to be run under a thread sanitizer.
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "unit/coded_rows.h"

using namespace routecap_test;

namespace {

constexpr int kRounds = kSlow ? 60 : 400;
constexpr std::int64_t kPatience = 30'000'000'000;

/// Outputs on their way from the engine's thread to others.
class Mailbox {
 public:
  void put(Output output) {
    const std::lock_guard lock(mutex_);
    outputs_.push_back(std::move(output));
    changed_.notify_one();
  }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  /// The next output; none once closed and empty.
  Output take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || !outputs_.empty(); });
    if (outputs_.empty()) return {};
    Output output = std::move(outputs_.front());
    outputs_.pop_front();
    return output;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Output> outputs_;
  bool closed_ = false;
};

bool finalize(const Output& output) {
  auto summary = make<rcap_summary>();
  return rcap_output_copy_to_host(output.get(), nullptr, nullptr) == RCAP_STATUS_OK &&
         rcap_output_wait(output.get(), kPatience, nullptr) == RCAP_STATUS_OK && rcap_output_ready(output.get(), nullptr) == 1 &&
         rcap_output_finalize(output.get(), &summary, nullptr) == RCAP_STATUS_OK && rcap_output_sequence(output.get(), nullptr) == summary.sequence &&
         summary.rows_bad == 0;
}

/// Whatever may be asked at any time. Returns whether every answer was one that may be given.
bool ask_everything(const Rig& rig, CodedReader& reader, const Slots& slots) {
  auto stats = make<rcap_capturer_stats>();
  auto info = make<rcap_slot_info>();
  rcap_tap* tap = nullptr;
  bool good = rcap_capturer_stats_get(rig.get(), &stats, nullptr) == RCAP_STATUS_OK && stats.last_sequence >= 0 && stats.in_flight >= 0;
  good = good && rcap_capturer_tap(rig.get(), 1, &tap, nullptr) == RCAP_STATUS_OK && rcap_tap_id(tap, nullptr) == 1 &&
         rcap_tap_is_enabled(tap, nullptr) == 1;
  const std::int32_t status = rcap_capturer_slot_info_get(rig.get(), slots[0], &info, nullptr);
  good = good && (status == RCAP_STATUS_OK || status == RCAP_STATUS_NOT_READY);
  const std::int32_t read = reader.read(slots);
  if (read == RCAP_STATUS_NOT_READY) return good;
  good = good && read == RCAP_STATUS_OK;
  for (std::size_t i = 0; i < slots.size(); ++i) good = good && reader.code(i) != -2;
  return good;
}

}  // namespace

TEST_CASE("threads: captures on different taps run at once, with reads, stats and outputs of earlier forwards") {
  constexpr std::int32_t kTaps = 4;
  Rig rig(coded_setup(kTaps));
  Mailbox mailbox;
  std::atomic<int> wrong{0};
  std::atomic<bool> done{false};
  std::barrier begin(kTaps + 1);
  std::barrier captured(kTaps + 1);
  const auto codes_of = [](int round) {
    return std::vector<std::int64_t>{round * 4 % kCodes, (round * 4 + 1) % kCodes, (round * 4 + 2) % kCodes, (round * 4 + 3) % kCodes};
  };
  std::vector<std::thread> threads;
  for (std::int32_t layer = 0; layer < kTaps; ++layer) {
    threads.emplace_back([&, layer] {
      for (int round = 0; round < kRounds; ++round) {
        begin.arrive_and_wait();
        if (capture_coded(rig, layer, codes_of(round)) != RCAP_STATUS_OK) ++wrong;
        captured.arrive_and_wait();
      }
    });
  }
  threads.emplace_back([&] {
    while (const Output output = mailbox.take()) wrong += finalize(output) ? 0 : 1;
  });
  threads.emplace_back([&] {
    CodedReader reader(rig, 4);
    while (!done) wrong += ask_everything(rig, reader, {10, 11, 12, 13}) ? 0 : 1;
  });
  for (int round = 0; round < kRounds; ++round) {
    begin.arrive_and_wait();
    captured.arrive_and_wait();
    Output output;
    std::int32_t status = RCAP_STATUS_BUSY;
    while ((status = end_coded(rig, codes_of(round), {10, 11, 12, 13}, output)) == RCAP_STATUS_BUSY) std::this_thread::yield();
    if (status != RCAP_STATUS_OK) {
      ++wrong;
    } else {
      mailbox.put(std::move(output));
    }
  }
  mailbox.close();
  threads[kTaps].join();
  done = true;
  for (std::thread& thread : threads) {
    if (thread.joinable()) thread.join();
  }
  CHECK(wrong == 0);
  CodedReader reader(rig, 4);
  REQUIRE(reader.read({10, 11, 12, 13}) == RCAP_STATUS_OK);
  for (std::size_t i = 0; i < 4; ++i) CHECK(reader.code(i) == codes_of(kRounds - 1)[i]);
}

TEST_CASE("threads: end_forward, release, copy and discard on the engine's thread, while others finalize, drop, accept, read and look") {
  Setup setup = coded_setup(3);
  setup.config.pipeline_depth = 6;
  Rig rig(setup);
  Mailbox finals;
  Mailbox laters;
  std::atomic<int> wrong{0};
  std::atomic<bool> done{false};
  std::vector<std::thread> workers;
  for (int i = 0; i < 2; ++i) {
    workers.emplace_back([&] {
      int count = 0;
      while (Output output = finals.take()) {
        if (++count % 7 == 0) {
          output.reset();  // dropped
        } else {
          wrong += finalize(output) ? 0 : 1;
        }
      }
    });
  }
  workers.emplace_back([&] {
    int count = 0;
    while (Output output = laters.take()) {
      if (++count % 5 == 0) continue;  // never accepted
      if (Rig::try_accept(output, {.rows = {1, 0}}) != RCAP_STATUS_OK) ++wrong;
      wrong += finalize(output) ? 0 : 1;
    }
  });
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&, i] {
      CodedReader reader(rig, 6);
      while (!done) wrong += ask_everything(rig, reader, {i + 8, 9, 10, 11, 12, 13}) ? 0 : 1;
    });
  }
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<std::int64_t> codes = {round % kCodes, (round + 7777) % kCodes};
    const bool later = round % 3 == 0;
    for (std::int32_t layer = 0; layer < 3; ++layer) {
      if (capture_coded(rig, layer, codes) != RCAP_STATUS_OK) ++wrong;
    }
    if (round % 11 == 0) {
      rig.discard();
      continue;
    }
    Output output;
    std::int32_t status = RCAP_STATUS_BUSY;
    const Slots slots = {8 + round % 3, 11 + round % 3};
    while ((status = end_coded(rig, codes, slots, output, later ? RCAP_ACCEPT_LATER : RCAP_ACCEPT_ALL)) == RCAP_STATUS_BUSY)
      std::this_thread::yield();
    if (status != RCAP_STATUS_OK) {
      ++wrong;
      continue;
    }
    (later ? laters : finals).put(std::move(output));
    if (round % 4 == 0) rig.copy({8, 9}, {12, 13});
    if (round % 5 == 0) rig.release({10});
    if (round % 50 == 0) rig.release_all();
  }
  finals.close();
  laters.close();
  for (std::thread& worker : workers) worker.join();
  done = true;
  for (std::thread& reader : readers) reader.join();
  CHECK(wrong == 0);
  CHECK(rig.stats().in_flight == 0);
  CHECK(rig.stats().copies_pending == 0);
}

TEST_CASE("threads: outputs of overlapping slots are finalized at once by many threads, and the highest number wins") {
  constexpr int kThreads = 6;
  Setup setup = coded_setup(2);
  setup.config.pipeline_depth = kThreads;
  Rig rig(setup);
  for (int round = 0; round < kRounds / 4; ++round) {
    std::vector<Output> outputs(kThreads);
    for (int i = 0; i < kThreads; ++i) {
      const std::vector<std::int64_t> codes = {round * 16 + i, round * 16 + i + 8};
      for (std::int32_t layer = 0; layer < 2; ++layer) REQUIRE(capture_coded(rig, layer, codes) == RCAP_STATUS_OK);
      REQUIRE(end_coded(rig, codes, {5, 20 + i}, outputs[static_cast<std::size_t>(i)]) == RCAP_STATUS_OK);
    }
    std::atomic<int> wrong{0};
    std::barrier begin(kThreads);
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        begin.arrive_and_wait();
        wrong += finalize(outputs[static_cast<std::size_t>(kThreads - 1 - i)]) ? 0 : 1;
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
    CodedReader reader(rig, 3);
    REQUIRE(reader.read({5, 20, 25}) == RCAP_STATUS_OK);
    REQUIRE(reader.code(0) == round * 16 + kThreads - 1);
    REQUIRE(reader.code(1) == round * 16 + 8);
    REQUIRE(reader.code(2) == round * 16 + 13);
  }
}

TEST_CASE("threads: in own-thread mode the engine, the capturer's thread, waiters and completion takers run at once") {
  Setup setup = coded_setup(2, RCAP_FINALIZE_OWN_THREAD);
  setup.config.busy_policy = RCAP_BUSY_WAIT;
  setup.config.busy_timeout_ns = kPatience;
  Rig rig(setup);
  std::int32_t fd = -1;
  REQUIRE(rcap_capturer_completion_fd(rig.get(), &fd, nullptr) == RCAP_STATUS_OK);
  std::atomic<int> wrong{0};
  std::atomic<std::int64_t> engine_at{0};
  std::atomic<bool> done{false};
  std::mutex mutex;
  std::set<std::int64_t> completed;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      std::int64_t sequence = 0;
      std::int32_t status = 0;
      for (;;) {
        const std::int32_t answer = rcap_capturer_next_completed(rig.get(), 1'000'000, &sequence, &status, nullptr);
        if (answer == RCAP_STATUS_TIMEOUT) {
          if (done) return;
          continue;
        }
        if (answer != RCAP_STATUS_OK || status != RCAP_STATUS_OK) ++wrong;
        const std::lock_guard lock(mutex);
        if (!completed.insert(sequence).second) ++wrong;
      }
    });
  }
  threads.emplace_back([&] {
    std::uint64_t total = 0;
    while (!done) {
      pollfd waiting = {fd, POLLIN, 0};
      if (poll(&waiting, 1, 1) != 1) continue;
      std::uint64_t count = 0;
      if (read(fd, &count, sizeof count) == sizeof count) total += count;
    }
    if (total > static_cast<std::uint64_t>(kRounds)) ++wrong;
  });
  threads.emplace_back([&] {
    CodedReader reader(rig, 2);
    while (!done) {
      const std::int64_t sequence = engine_at.load();
      if (reader.read({3, 4}, sequence, kPatience) != RCAP_STATUS_OK || reader.code(0) == -2 || reader.code(1) == -2) ++wrong;
      if (sequence > 0 && reader.code(0) == -1) ++wrong;  // it was awaited
    }
  });
  std::set<std::int64_t> expected;
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<std::int64_t> codes = {round % kCodes, (round + 1) % kCodes};
    for (std::int32_t layer = 0; layer < 2; ++layer) wrong += capture_coded(rig, layer, codes) == RCAP_STATUS_OK ? 0 : 1;
    Output output;
    if (end_coded(rig, codes, {3, 4}, output) != RCAP_STATUS_OK) {
      ++wrong;
      continue;
    }
    engine_at = rig.sequence(output);
    expected.insert(engine_at);
    if (round % 2 == 0 && rcap_output_wait(output.get(), kPatience, nullptr) != RCAP_STATUS_OK) ++wrong;
  }
  CodedReader reader(rig, 2);
  CHECK(reader.read({3, 4}, engine_at, kPatience) == RCAP_STATUS_OK);
  CHECK(reader.code(0) == (kRounds - 1) % kCodes);
  for (int patience = 0; patience < 20000; ++patience) {
    {
      const std::lock_guard lock(mutex);
      if (completed.size() == expected.size()) break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(completed == expected);
}

TEST_CASE("threads: a read that waits is woken by another thread's finalize, accept or drop") {
  Setup setup = coded_setup(2);
  Rig rig(setup);
  for (int round = 0; round < 30; ++round) {
    const std::vector<std::int64_t> codes = {round};
    for (std::int32_t layer = 0; layer < 2; ++layer) REQUIRE(capture_coded(rig, layer, codes) == RCAP_STATUS_OK);
    Output output;
    REQUIRE(end_coded(rig, codes, {7}, output, round % 3 == 1 ? RCAP_ACCEPT_LATER : RCAP_ACCEPT_ALL) == RCAP_STATUS_OK);
    const std::int64_t sequence = rig.sequence(output);
    std::int32_t status = -99;
    std::int64_t code = -99;
    std::thread waiter([&] {
      CodedReader reader(rig, 1);
      status = reader.read({7}, sequence, kPatience);
      code = reader.code(0);
    });
    if (round % 3 == 1) CHECK(Rig::try_accept(output, {.rows = {0}}) == RCAP_STATUS_OK);
    if (round % 3 == 2) {
      output.reset();
    } else {
      CHECK(finalize(output));
    }
    waiter.join();
    CHECK(status == RCAP_STATUS_OK);
    CHECK(code == (round % 3 == 2 ? -1 : round));
  }
}

TEST_CASE("threads: a record is shared by many threads") {
  Rig rig(coded_setup(2));
  for (std::int32_t layer = 0; layer < 2; ++layer) REQUIRE(capture_coded(rig, layer, {1, 2, 3}) == RCAP_STATUS_OK);
  Output output;
  REQUIRE(end_coded(rig, {1, 2, 3}, {7, 8, 9}, output) == RCAP_STATUS_OK);
  REQUIRE(finalize(output));
  auto layout = make<rcap_read_layout>();
  layout.tokens = 4;
  const std::int64_t slots[3] = {7, 8, 9};
  rcap_record* handle = nullptr;
  REQUIRE(rcap_capturer_read(rig.get(), &layout, slots, 24, nullptr, 0, &handle, nullptr) == RCAP_STATUS_OK);
  const Record record(handle);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        const void* data = nullptr;
        std::int64_t bytes = 0;
        const std::int64_t* starts = nullptr;
        const std::int64_t* versions = nullptr;
        rcap_record* slice = nullptr;
        auto info = make<rcap_record_info>();
        if (rcap_record_ids(record.get(), &data, &bytes, nullptr) != RCAP_STATUS_OK || static_cast<const std::uint16_t*>(data)[8] != 2) ++wrong;
        if (rcap_record_version_spans(record.get(), &starts, &versions, &bytes, nullptr) != RCAP_STATUS_OK || bytes != 1) ++wrong;
        if (rcap_record_slice(record.get(), 1, 3, &slice, nullptr) != RCAP_STATUS_OK) ++wrong;
        if (rcap_record_info_get(slice, &info, nullptr) != RCAP_STATUS_OK || info.rows != 2) ++wrong;
        rcap_record_destroy(slice);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("threads: capturers on threads of their own have nothing to do with each other (R35)") {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 5; ++round) {
        Rig rig(coded_setup(2, i == 0 ? RCAP_FINALIZE_OWN_THREAD : RCAP_FINALIZE_CALLER));
        for (std::int64_t step = 0; step < kRounds / 10; ++step) {
          for (std::int32_t layer = 0; layer < 2; ++layer) wrong += capture_coded(rig, layer, {i * 1000 + step}) == RCAP_STATUS_OK ? 0 : 1;
          Output output;
          wrong += end_coded(rig, {i * 1000 + step}, {step % 100}, output) == RCAP_STATUS_OK ? 0 : 1;
          rig.settle(output);
          CodedReader reader(rig, 1);
          wrong += reader.read({step % 100}) == RCAP_STATUS_OK && reader.code(0) == i * 1000 + step ? 0 : 1;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}
