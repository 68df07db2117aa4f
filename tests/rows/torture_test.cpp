// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "backend/rows/tuned.h"
#include "rows/fixture.h"

namespace routecap::rows::testing {
namespace {

constexpr std::int64_t kSlots = 16;
constexpr std::int64_t kForwards = 3000;
constexpr int kWriters = 2;
constexpr int kReaders = 2;

/// The number of a forward, in every byte pair of its rows.
std::uint16_t signature(Sequence sequence) { return static_cast<std::uint16_t>(sequence); }

struct Shared {
  const Kernels* kernels = nullptr;
  RowShape shape = make_shape(3, 7, 2, 2, true);
  std::vector<std::uint64_t> words;
  std::vector<SlotExtension> extensions{static_cast<std::size_t>(kSlots)};
  StoreView store;
  std::atomic<Sequence> next{1};
  std::atomic<int> writing{kWriters};
};

/// Each forward writes every slot, rows or holes, with the next number: two writers meet in the same slots.
void write_forwards(Shared& shared) {
  std::vector<std::byte> payload(static_cast<std::size_t>(shared.shape.payload_bytes * kSlots));
  std::vector<std::int64_t> tags(static_cast<std::size_t>(kSlots));
  for (;;) {
    const Sequence sequence = shared.next.fetch_add(1);
    if (sequence > kForwards) break;
    for (std::size_t at = 0; at < payload.size(); at += 2) store_as(payload.data() + at, signature(sequence));
    std::vector<ScatterEntry> entries;
    for (std::int64_t slot = 0; slot < kSlots; ++slot) {
      tags[static_cast<std::size_t>(slot)] = slot;
      entries.push_back({(slot * 5 + sequence) % kSlots, (slot + sequence) % 7 == 0 ? -1 : (slot * 5 + sequence) % kSlots});
    }
    ScatterJob job;
    job.shape = shared.shape;
    job.store = shared.store;
    job.payload = payload.data();
    job.tags = tags.data();
    job.entries = entries.data();
    job.count = kSlots;
    job.sequence = sequence;
    job.weight_version = sequence % 3 == 0 ? 0 : sequence;
    tuned::scatter(job, *shared.kernels);
  }
  shared.writing.fetch_sub(1);
}

/// @return rows that mixed two forwards, or were of another slot
std::int64_t read_rows(Shared& shared) {
  const RowShape& shape = shared.shape;
  std::vector<std::int32_t> slots;
  std::vector<std::int64_t> tags;
  for (std::int32_t slot = 0; slot < kSlots; ++slot) {
    slots.push_back(slot);
    tags.push_back(slot);
  }
  std::vector<std::byte> ids(static_cast<std::size_t>(shape.ids_bytes * kSlots));
  std::vector<std::byte> weights(static_cast<std::size_t>(shape.weights_bytes * kSlots));
  std::vector<std::int64_t> versions(static_cast<std::size_t>(kSlots));
  std::uint8_t validity[(kSlots + 7) / 8];
  GatherJob job;
  job.shape = shape;
  job.store = shared.store;
  job.rows = kSlots;
  job.tags = tags.data();
  job.ids = ids.data();
  job.weights = weights.data();
  job.row_validity = validity;
  job.versions = versions.data();
  SlotList list;
  list.data = slots.data();
  list.element_bytes = 4;
  list.count = kSlots;
  std::int64_t mixed = 0;
  while (shared.writing.load() > 0) {
    tuned::gather(job, list, *shared.kernels);
    for (std::int64_t row = 0; row < kSlots; ++row) {
      if (((validity[row / 8] >> (row % 8)) & 1) == 0) continue;
      const auto first = load_as<std::uint16_t>(ids.data() + row * shape.ids_bytes);
      bool same = true;
      for (std::int64_t at = 0; at < shape.ids_bytes; at += 2) same &= load_as<std::uint16_t>(ids.data() + row * shape.ids_bytes + at) == first;
      for (std::int64_t at = 0; at < shape.weights_bytes; at += 2)
        same &= load_as<std::uint16_t>(weights.data() + row * shape.weights_bytes + at) == first;
      const std::int64_t version = versions[static_cast<std::size_t>(row)];
      same &= first % 3 == 0 ? version == 0 : version == first;
      if (!same) ++mixed;
    }
  }
  return mixed;
}

}  // namespace

TEST_CASE("R36: a row read while it is written is whole, old or new; R10: the highest number stays") {
  for (const Kernels* kernels : runnable_kernels()) {
    CAPTURE(kernels->name);
    Shared shared;
    shared.kernels = kernels;
    shared.store.tags = true;
    shared.store.num_slots = kSlots;
    shared.store.slot_stride = shared.store.payload_offset() + shared.shape.payload_bytes;
    shared.words.assign(static_cast<std::size_t>(kSlots * shared.store.slot_stride / 8), 0);
    shared.store.base = reinterpret_cast<std::byte*>(shared.words.data());
    shared.store.extensions = shared.extensions.data();
    std::atomic<std::int64_t> mixed{0};
    std::vector<std::thread> threads;
    threads.reserve(kReaders + kWriters);
    for (int i = 0; i < kReaders; ++i) threads.emplace_back([&] { mixed += read_rows(shared); });
    for (int i = 0; i < kWriters; ++i) threads.emplace_back([&] { write_forwards(shared); });
    for (std::thread& thread : threads) thread.join();
    CHECK(mixed.load() == 0);
    for (std::int64_t slot = 0; slot < kSlots; ++slot) {
      const Stamp stamp(shared.words[static_cast<std::size_t>(slot * shared.store.slot_stride / 8)]);
      CHECK(stamp.sequence() == kForwards);
      CHECK_FALSE(stamp.writing());
    }
  }
}

TEST_CASE("capture: layers are captured from different threads") {
  Random random(41);
  constexpr std::int64_t kRows = 300;
  const RowShape shape = make_shape(8, 8, 1, 0, false);
  Cache cache(shape, kRows, random);
  const CacheView view = cache.view();
  std::vector<std::int32_t> ids(static_cast<std::size_t>(kRows * 8));
  for (std::int32_t& id : ids) id = static_cast<std::int32_t>(random.between(0, 255));
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (std::int32_t layer = thread; layer < 8; layer += 4) {
        CaptureJob job;
        job.shape = shape;
        job.cache = view;
        job.layer = layer;
        job.num_experts = 256;
        job.ids = ids.data();
        job.ids_dtype = RCAP_DTYPE_INT32;
        job.ids_stride = 32;
        job.tokens = kRows;
        capture(job);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::int64_t layer = 0; layer < 8; ++layer) {
    for (std::int64_t row = 0; row < kRows; ++row) {
      REQUIRE(int{cache.mark(layer, row)} == kMarkCaptured);
      for (std::int64_t k = 0; k < 8; ++k) {
        REQUIRE(static_cast<int>(cache.ids.data()[(layer * kRows + row) * 8 + k]) == ids[static_cast<std::size_t>(row * 8 + k)]);
      }
    }
  }
}

}  // namespace routecap::rows::testing
