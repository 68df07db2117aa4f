// SPDX-License-Identifier: Apache-2.0
// Rows stored and read by several threads, beside the same on one.
#include <doctest/doctest.h>

#include <numeric>

#include "rows/crew.h"
#include "rows/fixture.h"

namespace routecap::rows::testing {
namespace {

struct Store {
  Store(const RowShape& shape, std::int64_t slots, bool tags) : extensions(static_cast<std::size_t>(slots)) {
    view.num_slots = slots;
    view.tags = tags;
    view.slot_stride = view.payload_offset() + shape.payload_bytes;
    words.assign(static_cast<std::size_t>(slots * view.slot_stride / 8), 0);
  }
  StoreView look() {
    view.base = reinterpret_cast<std::byte*>(words.data());
    view.extensions = extensions.data();
    return view;
  }
  StoreView view;
  std::vector<std::uint64_t> words;
  std::vector<SlotExtension> extensions;
};

/// Scatters of some forwards into a store, then gathers, alone and together.
void check_store(Random& random, const RowShape& shape, bool tags) {
  constexpr std::int64_t kSlots = 300;
  Store alone(shape, kSlots, tags);
  Store together(shape, kSlots, tags);
  TestCrew crew(3);
  std::vector<std::int64_t> order(kSlots);
  std::iota(order.begin(), order.end(), 0);
  for (const Sequence sequence : {5, 9, 3, 12}) {
    for (std::size_t i = order.size() - 1; i > 0; --i)
      std::swap(order[i], order[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(i)))]);
    const std::int64_t count = random.between(9, 280);
    const Fenced payload(count * shape.payload_bytes, random);
    std::vector<std::int64_t> tag(static_cast<std::size_t>(count));
    for (std::int64_t& value : tag) value = random.between(-2, 2);
    std::vector<ScatterEntry> entries;
    for (std::int64_t i = 0; i < count; ++i) entries.push_back({order[static_cast<std::size_t>(i)], random.one_in(7) ? -1 : i});
    ScatterJob job;
    job.shape = shape;
    job.payload = payload.data();
    job.tags = tags ? tag.data() : nullptr;
    job.entries = entries.data();
    job.count = count;
    job.sequence = sequence;
    job.weight_version = random.between(0, 3);
    job.store = alone.look();
    const ScatterResult expected = scatter(job);
    job.store = together.look();
    const ScatterResult got = scatter(job, crew.crew());
    REQUIRE(got.stored == expected.stored);
    REQUIRE(got.missing == expected.missing);
    REQUIRE(got.outdated == expected.outdated);
  }
  REQUIRE(crew.jobs() == 4);
  REQUIRE(together.words == alone.words);
  if (random.one_in(3)) {
    // A target of a copy that is not done: the first such row is named, whoever comes to it.
    for (const std::int64_t slot : {order[40], order[200]}) {
      together.words[static_cast<std::size_t>(slot * together.view.slot_stride / 8)] = Stamp(20, Stamp::kPending).bits();
    }
  }
  const std::int64_t rows = random.between(9, 400);
  const std::int64_t shift = random.between(0, 5);
  std::vector<std::int32_t> listed(static_cast<std::size_t>(rows + shift));
  for (std::size_t i = 0; i < listed.size(); ++i) listed[i] = random.one_in(9) ? -1 : static_cast<std::int32_t>(order[i % kSlots]);
  std::vector<std::int64_t> tag(static_cast<std::size_t>(rows));
  for (std::int64_t& value : tag) value = random.between(-1, 1);
  struct Out {
    Fenced ids, weights, validity, cells, versions;
    bool operator==(const Out&) const = default;
  };
  const Out start{Fenced(rows * shape.ids_bytes, random), Fenced(rows * shape.weights_bytes, random), Fenced((rows + 7) / 8, random),
                  Fenced((rows * shape.layers + 7) / 8, random), Fenced(rows * 8, random)};
  GatherJob job;
  job.shape = shape;
  job.store = together.look();
  job.rows = rows;
  job.reserved_slots = 2;
  job.floor = random.one_in(3) ? 4 : 0;
  job.tags = tags && random.one_in(2) ? tag.data() : nullptr;
  const SlotList slots{listed.data(), 4, 1, rows + shift, shift};
  const bool with_cells = random.one_in(2);
  const auto aim = [&](Out& out) {
    job.ids = out.ids.data();
    job.weights = shape.weight_bytes == 0 ? nullptr : out.weights.data();
    job.row_validity = reinterpret_cast<std::uint8_t*>(out.validity.data());
    job.cell_validity = with_cells ? reinterpret_cast<std::uint8_t*>(out.cells.data()) : nullptr;
    job.versions = reinterpret_cast<std::int64_t*>(out.versions.data());
  };
  Out expected = start;
  Out got = start;
  aim(expected);
  const GatherResult one = gather(job, slots);
  aim(got);
  const GatherResult many = gather(job, slots, crew.crew());
  REQUIRE(crew.jobs() == 5);
  REQUIRE(many.pending_row == one.pending_row);
  if (one.pending_row >= 0) return;
  REQUIRE(got == expected);
  REQUIRE(many.valid == one.valid);
  REQUIRE(many.version_min == one.version_min);
  REQUIRE(many.version_max == one.version_max);
}

}  // namespace

TEST_CASE("R7, R8, R10, R36: scatter and gather by several threads store and read what one thread does") {
  Random random(28);
  for (int trial = 0; trial < 150; ++trial) {
    const RowShape shape = make_shape(static_cast<std::int32_t>(random.between(1, 9)), static_cast<std::int32_t>(random.between(1, 9)),
                                      random.pick({1, 2, 4}), random.pick({0, 2, 4}), random.one_in(2));
    check_store(random, shape, random.one_in(2));
  }
}

}  // namespace routecap::rows::testing
