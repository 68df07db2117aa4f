// SPDX-License-Identifier: Apache-2.0
// Many readers, writers, releases and copies over few slots: each row that is read is whole, and what remains is what the contract says.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "unit/coded_rows.h"

using namespace routecap_test;

namespace {

constexpr std::int64_t kSlotsHere = 24;
constexpr auto kTime = std::chrono::milliseconds(kSlow ? 4000 : 2500);

/// One numbered operation, as the contract sees it.
struct Operation {
  enum Kind { kForward, kRelease, kReleaseAll, kCopy } kind = kForward;
  Slots slots{};  // written, released, or copied to
  Slots from{};
  std::vector<std::int64_t> codes{};
  enum Fate { kStored, kDropped, kNeverAccepted } fate = kStored;
};

/// What every slot shows once all is settled: operations applied in the order of their numbers.
std::vector<std::int64_t> replay(const std::map<std::int64_t, Operation>& operations) {
  std::vector<std::int64_t> shown(kSlotsHere, -1);
  for (const auto& [number, operation] : operations) {
    const std::vector<std::int64_t> before = shown;
    if (operation.kind == Operation::kReleaseAll) shown.assign(kSlotsHere, -1);
    for (std::size_t i = 0; i < operation.slots.size(); ++i) {
      std::int64_t& slot = shown[static_cast<std::size_t>(operation.slots[i])];
      if (operation.kind == Operation::kRelease) slot = -1;
      if (operation.kind == Operation::kCopy) slot = before[static_cast<std::size_t>(operation.from[i])];
      if (operation.kind == Operation::kForward && operation.fate == Operation::kStored) slot = operation.codes[i];
      if (operation.kind == Operation::kForward && operation.fate == Operation::kDropped) slot = -1;
    }
  }
  return shown;
}

/// Different slots in random order.
Slots pick(std::mt19937_64& random, std::size_t count) {
  Slots all;
  for (std::int64_t slot = 0; slot < kSlotsHere; ++slot) all.push_back(slot);
  std::shuffle(all.begin(), all.end(), random);
  all.resize(count);
  return all;
}

struct Work {
  Output output;
  std::int64_t sequence = 0;
  bool later = false;
  std::size_t rows = 0;
};

/// The engine's thread, `finalizers` that settle or drop outputs in any order, `readers` that look at every row they get.
void torture(std::int32_t mode, std::uint64_t seed) {
  Setup setup = coded_setup(5, mode);
  setup.config.num_slots = kSlotsHere;
  setup.config.pipeline_depth = 7;
  Rig rig(setup);
  std::map<std::int64_t, Operation> operations;
  std::mutex operations_mutex;
  std::mutex work_mutex;
  std::condition_variable work_there;
  std::deque<Work> work;
  std::atomic<bool> engine_done{false};
  std::atomic<bool> all_done{false};
  std::atomic<int> torn{0};
  std::atomic<int> wrong{0};
  std::atomic<long> rows_seen{0};

  std::vector<std::thread> finalizers;
  for (std::uint64_t i = 0; i < 2; ++i) {
    finalizers.emplace_back([&, i] {
      std::mt19937_64 random(seed * 31 + i);
      for (;;) {
        Work item;
        {
          std::unique_lock lock(work_mutex);
          work_there.wait(lock, [&] { return engine_done || !work.empty(); });
          if (work.empty()) return;
          const auto index = static_cast<std::ptrdiff_t>(random() % work.size());  // not in the order of their numbers
          item = std::move(work[static_cast<std::size_t>(index)]);
          work.erase(work.begin() + index);
        }
        const auto set_fate = [&](Operation::Fate fate) {
          const std::lock_guard lock(operations_mutex);
          operations[item.sequence].fate = fate;
        };
        if (item.later) {
          if (random() % 6 == 0) {
            set_fate(Operation::kNeverAccepted);
            item.output.reset();
            continue;
          }
          Accept accept;
          for (std::size_t row = 0; row < item.rows; ++row) accept.rows.push_back(static_cast<std::int64_t>(row));
          if (Rig::try_accept(item.output, accept) != RCAP_STATUS_OK) ++wrong;
        }
        if (random() % 8 == 0) {
          // Where the capturer finalizes, this is only a detachment.
          if (mode == RCAP_FINALIZE_CALLER) set_fate(Operation::kDropped);
          item.output.reset();
          continue;
        }
        const auto summary = rig.settle(item.output);
        if (summary.rows_bad != 0 || summary.sequence != item.sequence) ++wrong;
      }
    });
  }

  std::vector<std::thread> readers;
  for (std::uint64_t i = 0; i < 2; ++i) {
    readers.emplace_back([&, i] {
      std::mt19937_64 random(seed * 77 + i);
      CodedReader reader(rig, kSlotsHere);
      std::vector<std::int64_t> newest(kSlotsHere, 0);
      while (!all_done) {
        const Slots slots = pick(random, 1 + random() % 8);
        const std::int32_t status = reader.read(slots);
        if (status == RCAP_STATUS_OK) {
          for (std::size_t row = 0; row < slots.size(); ++row) {
            if (reader.code(row) == -2) ++torn;
            if (reader.code(row) >= 0) ++rows_seen;
          }
        } else if (status != RCAP_STATUS_NOT_READY) {
          ++wrong;
        }
        auto info = make<rcap_slot_info>();
        if (rcap_capturer_slot_info_get(rig.get(), slots[0], &info, nullptr) == RCAP_STATUS_OK) {
          std::int64_t& seen = newest[static_cast<std::size_t>(slots[0])];
          if (info.sequence < seen) ++wrong;  // a slot never goes back
          seen = info.sequence;
          if (info.valid == 1 && (info.row_sequence < 1 || info.row_sequence > info.sequence)) ++wrong;
        }
      }
    });
  }

  std::mt19937_64 random(seed);
  std::int64_t next_code = 0;
  const auto end = std::chrono::steady_clock::now() + kTime;
  while (std::chrono::steady_clock::now() < end) {
    const std::uint64_t dice = random() % 100;
    if (dice < 70) {
      Operation operation;
      operation.slots = pick(random, 1 + random() % 6);
      for (std::size_t i = 0; i < operation.slots.size(); ++i) operation.codes.push_back(next_code++ % kCodes);
      const bool later = random() % 4 == 0;
      for (std::int32_t layer = 0; layer < 5; ++layer) wrong += capture_coded(rig, layer, operation.codes) == RCAP_STATUS_OK ? 0 : 1;
      Output output;
      std::int32_t status = RCAP_STATUS_BUSY;
      while ((status = end_coded(rig, operation.codes, operation.slots, output, later ? RCAP_ACCEPT_LATER : RCAP_ACCEPT_ALL)) == RCAP_STATUS_BUSY) {
        std::this_thread::yield();
      }
      if (status != RCAP_STATUS_OK) {
        ++wrong;
        continue;
      }
      const std::int64_t sequence = rig.sequence(output);
      Work item{std::move(output), sequence, later, operation.slots.size()};
      {
        const std::lock_guard lock(operations_mutex);
        operations[sequence] = std::move(operation);
      }
      const std::lock_guard lock(work_mutex);
      work.push_back(std::move(item));
      work_there.notify_one();
      continue;
    }
    Operation operation;
    if (dice < 84) {
      operation.kind = Operation::kCopy;
      operation.slots = pick(random, 1 + random() % 4);
      for (std::size_t i = 0; i < operation.slots.size(); ++i) operation.from.push_back(static_cast<std::int64_t>(random() % kSlotsHere));
      rig.copy(operation.from, operation.slots);
    } else if (dice < 99) {
      operation.kind = Operation::kRelease;
      operation.slots = pick(random, 1 + random() % 4);
      rig.release(operation.slots);
    } else {
      operation.kind = Operation::kReleaseAll;
      rig.release_all();
    }
    const std::int64_t number = rig.last_sequence();
    const std::lock_guard lock(operations_mutex);
    operations[number] = std::move(operation);
  }
  {
    const std::lock_guard lock(work_mutex);
    engine_done = true;
    work_there.notify_all();
  }
  for (std::thread& thread : finalizers) thread.join();
  const std::int64_t last = rig.last_sequence();
  CodedReader reader(rig, kSlotsHere);
  Slots all;
  for (std::int64_t slot = 0; slot < kSlotsHere; ++slot) all.push_back(slot);
  REQUIRE(reader.read(all, last, 20'000'000'000) == RCAP_STATUS_OK);  // detached outputs are still on their way
  all_done = true;
  for (std::thread& thread : readers) thread.join();

  CHECK(torn == 0);
  CHECK(wrong == 0);
  CHECK(rows_seen > 1000);
  CHECK(operations.size() == static_cast<std::size_t>(last));
  const auto expected = replay(operations);
  for (std::int64_t slot = 0; slot < kSlotsHere; ++slot) {
    CAPTURE(slot);
    CHECK(reader.code(static_cast<std::size_t>(slot)) == expected[static_cast<std::size_t>(slot)]);
  }
  CHECK(rig.stats().in_flight == 0);
  CHECK(rig.stats().copies_pending == 0);
}

}  // namespace

TEST_CASE("R36: under fire, every row read is whole, old or new, never mixed; in the end the highest number has won (the caller finalizes)") {
  torture(RCAP_FINALIZE_CALLER, 1);
}

TEST_CASE("R36: under fire, every row read is whole, old or new, never mixed; in the end the highest number has won (own thread)") {
  torture(RCAP_FINALIZE_OWN_THREAD, 2);
}
