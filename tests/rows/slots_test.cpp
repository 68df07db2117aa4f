// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <map>
#include <numeric>

#include "backend/rows/sequential.h"
#include "backend/rows/tuned.h"
#include "rows/fixture.h"

namespace routecap::rows::testing {
namespace {

struct ListedSlots {
  SlotList list;
  std::int64_t operator()(std::int64_t row) const { return list.at(list.first + row); }
};

/// A store of its own, all words 0 as fresh pages are.
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
  std::uint64_t& stamp(std::int64_t slot) { return words[static_cast<std::size_t>(slot * view.slot_stride / 8)]; }
  [[nodiscard]] bool same_bytes(const Store& other) const {
    return words == other.words && std::equal(extensions.begin(), extensions.end(), other.extensions.begin(), [](const auto& a, const auto& b) {
             return a.row_sequence == b.row_sequence && a.weight_version == b.weight_version;
           });
  }

  StoreView view;
  std::vector<std::uint64_t> words;
  std::vector<SlotExtension> extensions;
};

/// What a slot must show.
struct NaiveSlot {
  Sequence sequence = 0;
  bool valid = false;
  bool pending = false;
  std::int64_t tag = 0;
  std::int64_t version = 0;
  std::vector<std::byte> payload;
};

/// Stores and reads at random, both forms beside an oracle.
class Trial {
 public:
  Trial(Random& random, const Kernels& kernels, const RowShape& shape, bool tags, std::int64_t slots)
      : random_(random),
        kernels_(kernels),
        shape_(shape),
        tags_(tags),
        thrust_(shape, slots, tags),
        tuned_(shape, slots, tags),
        naive_(static_cast<std::size_t>(slots)) {}

  void scatter(Sequence sequence, std::int64_t weight_version) {
    const auto slots = static_cast<std::int64_t>(naive_.size());
    const std::int64_t staged = random_.between(1, 20);
    Fenced payload(staged * shape_.payload_bytes, random_);
    std::vector<std::int64_t> tags(static_cast<std::size_t>(staged));
    for (std::int64_t& tag : tags) tag = random_.between(-3, 3);
    std::vector<std::int64_t> free(static_cast<std::size_t>(slots));
    std::iota(free.begin(), free.end(), 0);
    std::vector<ScatterEntry> entries;
    const std::int64_t count = random_.between(0, std::min<std::int64_t>(slots, 20));
    for (std::int64_t i = 0; i < count; ++i) {
      const auto at = static_cast<std::ptrdiff_t>(random_.between(0, static_cast<std::int64_t>(free.size()) - 1));
      entries.push_back({free[static_cast<std::size_t>(at)], random_.one_in(5) ? -1 : random_.between(0, staged - 1)});
      free.erase(free.begin() + at);
    }
    ScatterJob job;
    job.shape = shape_;
    job.payload = payload.data();
    job.tags = tags_ ? tags.data() : nullptr;
    job.entries = entries.data();
    job.count = count;
    job.sequence = sequence;
    job.weight_version = weight_version;
    job.store = thrust_.look();
    const ScatterResult a = algorithm::scatter<HostWords>(thrust::seq, job);
    job.store = tuned_.look();
    const ScatterResult b = tuned::scatter(job, kernels_);
    const ScatterResult expected = naive_scatter(job, entries);
    for (const ScatterResult& got : {a, b}) {
      REQUIRE(got.stored == expected.stored);
      REQUIRE(got.missing == expected.missing);
      REQUIRE(got.outdated == expected.outdated);
    }
    REQUIRE(tuned_.same_bytes(thrust_));
  }

  /// Makes a slot the target of a pending copy, as the store does.
  void make_pending(std::int64_t slot, Sequence sequence) {
    NaiveSlot& naive = naive_[static_cast<std::size_t>(slot)];
    if (naive.sequence >= sequence) return;
    thrust_.stamp(slot) = tuned_.stamp(slot) = Stamp(sequence, Stamp::kPending).bits();
    naive = NaiveSlot{};
    naive.sequence = sequence;
    naive.pending = true;
  }

  void gather(Sequence floor) {
    const std::int64_t rows = random_.pick<std::int64_t>({0, 1, 2, 7, 8, 9, 30, 64});
    const SlotListMaker maker(random_, rows, static_cast<std::int64_t>(naive_.size()));
    std::vector<std::int64_t> tags(static_cast<std::size_t>(rows));
    for (std::int64_t& tag : tags) tag = random_.between(-1, 1);
    GatherJob job;
    job.shape = shape_;
    job.rows = rows;
    job.reserved_slots = random_.pick<std::int64_t>({0, 0, 3});
    job.floor = floor;
    job.tags = tags_ && random_.one_in(2) ? tags.data() : nullptr;
    const bool with_weights = shape_.weight_bytes != 0 && random_.one_in(2);
    const bool with_rows = random_.one_in(2);
    const bool with_cells = random_.one_in(2);
    const Taken start(shape_, rows, random_);
    Taken a = start;
    Taken b = start;
    a.aim(job, with_weights, with_rows, with_cells);
    job.store = thrust_.look();
    const GatherResult from_thrust = algorithm::gather<HostWords>(thrust::seq, job, ListedSlots{maker.list});
    b.aim(job, with_weights, with_rows, with_cells);
    job.store = tuned_.look();
    const GatherResult from_tuned = tuned::gather(job, maker.list, kernels_);
    REQUIRE(a.intact());
    REQUIRE(b.intact());
    const std::int64_t pending = naive_pending(job, maker.slots);
    REQUIRE(from_thrust.pending_row == pending);
    REQUIRE(from_tuned.pending_row == pending);
    if (pending >= 0) return;
    REQUIRE(a == b);
    check(job, maker.slots, b, from_tuned);
    REQUIRE(from_thrust.valid == from_tuned.valid);
    REQUIRE(from_thrust.version_min == from_tuned.version_min);
    REQUIRE(from_thrust.version_max == from_tuned.version_max);
  }

 private:
  /// Outputs of a read.
  struct Taken {
    Taken(const RowShape& shape, std::int64_t rows, Random& random)
        : ids(rows * shape.ids_bytes, random),
          weights(rows * shape.weights_bytes, random),
          row_bits((rows + 7) / 8, random),
          cell_bits((rows * shape.layers + 7) / 8, random),
          versions(rows * 8, random) {}
    void aim(GatherJob& job, bool with_weights, bool with_rows, bool with_cells) {
      job.ids = ids.data();
      job.weights = with_weights ? weights.data() : nullptr;
      job.row_validity = with_rows ? reinterpret_cast<std::uint8_t*>(row_bits.data()) : nullptr;
      job.cell_validity = with_cells ? reinterpret_cast<std::uint8_t*>(cell_bits.data()) : nullptr;
      job.versions = reinterpret_cast<std::int64_t*>(versions.data());
    }
    [[nodiscard]] bool intact() const { return ids.intact() && weights.intact() && row_bits.intact() && cell_bits.intact() && versions.intact(); }
    friend bool operator==(const Taken&, const Taken&) = default;
    Fenced ids;
    Fenced weights;
    Fenced row_bits;
    Fenced cell_bits;
    Fenced versions;
  };

  /// A list in one of its four kinds, at any alignment, with the slots that it means.
  struct SlotListMaker {
    SlotListMaker(Random& random, std::int64_t rows, std::int64_t num_slots) {
      list.element_bytes = random.pick({4, 8});
      list.page_size = random.pick<std::int64_t>({1, 1, 2, 3, 16});
      list.first = random.between(0, 20);
      const std::int64_t tokens = list.first + rows;
      const std::int64_t numbers = (tokens + list.page_size - 1) / list.page_size;
      list.count = std::max<std::int64_t>(0, numbers - random.pick<std::int64_t>({0, 0, 1}));
      const std::int64_t shift = random.between(0, 7);
      bytes = Fenced(list.count * list.element_bytes + shift, random);
      list.data = bytes.data() + shift;
      std::vector<std::int64_t> values;
      for (std::int64_t i = 0; i < list.count; ++i) {
        values.push_back(random.one_in(6) ? -1 : random.between(0, num_slots / list.page_size - 1));
        std::byte* at = bytes.data() + shift + i * list.element_bytes;
        if (list.element_bytes == 4) {
          store_as(at, static_cast<std::int32_t>(values.back()));
        } else {
          store_as(at, values.back());
        }
      }
      for (std::int64_t row = 0; row < rows; ++row) {
        const std::int64_t token = list.first + row;
        const std::int64_t page = token / list.page_size < list.count ? values[static_cast<std::size_t>(token / list.page_size)] : -1;
        slots.push_back(page < 0 ? -1 : page * list.page_size + token % list.page_size);
      }
    }
    Fenced bytes;
    SlotList list;
    std::vector<std::int64_t> slots;
  };

  ScatterResult naive_scatter(const ScatterJob& job, const std::vector<ScatterEntry>& entries) {
    ScatterResult result;
    for (const ScatterEntry& entry : entries) {
      NaiveSlot& slot = naive_[static_cast<std::size_t>(entry.slot)];
      if (slot.sequence >= job.sequence) {
        if (entry.staged_row >= 0) ++result.outdated;
        continue;
      }
      slot = NaiveSlot{};
      slot.sequence = job.sequence;
      if (entry.staged_row < 0) {
        ++result.missing;
        continue;
      }
      ++result.stored;
      slot.valid = true;
      slot.tag = tags_ ? job.tags[entry.staged_row] : 0;
      slot.version = job.weight_version;
      const std::byte* in = job.payload + entry.staged_row * shape_.payload_bytes;
      slot.payload.assign(in, in + shape_.payload_bytes);
    }
    return result;
  }

  [[nodiscard]] std::int64_t naive_pending(const GatherJob& job, const std::vector<std::int64_t>& slots) const {
    for (std::int64_t row = 0; row < job.rows; ++row) {
      const std::int64_t slot = slots[static_cast<std::size_t>(row)];
      if (slot < 0 || slot < job.reserved_slots) continue;
      const NaiveSlot& naive = naive_[static_cast<std::size_t>(slot)];
      if (naive.pending && naive.sequence > job.floor) return row;
    }
    return -1;
  }

  static bool bit(const std::uint8_t* bits, std::int64_t index) { return ((bits[index / 8] >> (index % 8)) & 1) != 0; }

  void check(const GatherJob& job, const std::vector<std::int64_t>& slots, const Taken& got, const GatherResult& result) const {
    GatherResult expected;
    for (std::int64_t row = 0; row < job.rows; ++row) {
      const std::int64_t at = slots[static_cast<std::size_t>(row)];
      const NaiveSlot* slot = at < 0 || at < job.reserved_slots ? nullptr : &naive_[static_cast<std::size_t>(at)];
      const bool valid = slot != nullptr && slot->valid && slot->sequence > job.floor && (job.tags == nullptr || slot->tag == job.tags[row]);
      const std::vector<std::byte> missing(static_cast<std::size_t>(shape_.payload_bytes), std::byte{0xFF});
      const std::byte* from = valid ? slot->payload.data() : missing.data();
      REQUIRE(std::equal(from, from + shape_.ids_bytes, got.ids.data() + row * shape_.ids_bytes));
      const std::byte* from_weights = valid ? from + shape_.weights_offset : missing.data();
      if (job.weights != nullptr)
        REQUIRE(std::equal(from_weights, from_weights + shape_.weights_bytes, got.weights.data() + row * shape_.weights_bytes));
      if (job.row_validity != nullptr) REQUIRE(bit(job.row_validity, row) == valid);
      for (std::int64_t layer = 0; job.cell_validity != nullptr && layer < shape_.layers; ++layer) {
        const auto byte = valid && shape_.cell_words != 0 ? static_cast<unsigned>(from[shape_.cells_offset + layer / 8]) : 0xFFU;
        REQUIRE(bit(job.cell_validity, row * shape_.layers + layer) == (valid && ((byte >> (layer % 8)) & 1U) != 0));
      }
      const std::int64_t version = valid ? slot->version : 0;
      REQUIRE(load_as<std::int64_t>(got.versions.data() + row * 8) == version);
      if (!valid) continue;
      expected.version_min = expected.valid == 0 ? version : std::min(expected.version_min, version);
      expected.version_max = expected.valid == 0 ? version : std::max(expected.version_max, version);
      ++expected.valid;
    }
    REQUIRE(result.valid == expected.valid);
    REQUIRE(result.version_min == expected.version_min);
    REQUIRE(result.version_max == expected.version_max);
    if (job.row_validity != nullptr && job.rows % 8 != 0) REQUIRE((job.row_validity[job.rows / 8] >> (job.rows % 8)) == 0);
    const std::int64_t cells = job.rows * shape_.layers;
    if (job.cell_validity != nullptr && cells % 8 != 0) REQUIRE((job.cell_validity[cells / 8] >> (cells % 8)) == 0);
  }

  Random& random_;
  const Kernels& kernels_;
  RowShape shape_;
  bool tags_;
  Store thrust_;
  Store tuned_;
  std::vector<NaiveSlot> naive_;
};

}  // namespace

TEST_CASE("scatter and gather: random schedules in any order of numbers") {
  Random random(31);
  for (const Kernels* kernels : runnable_kernels()) {
    CAPTURE(kernels->name);
    for (int trial = 0; trial < 80; ++trial) {
      const std::int64_t layers = random.one_in(4) ? random.between(60, 130) : random.between(1, 12);
      const RowShape shape = make_shape(static_cast<std::int32_t>(layers), static_cast<std::int32_t>(random.between(1, 22)), random.pick({1, 2, 4}),
                                        random.pick({0, 2, 4}), random.one_in(2));
      Trial run(random, *kernels, shape, random.one_in(2), random.between(16, 60));
      for (int step = 0; step < 12; ++step) {
        run.scatter(random.between(1, 12), random.pick<std::int64_t>({0, 0, 5, 9}));
        if (random.one_in(3)) run.make_pending(random.between(0, 15), random.between(1, 12));
        run.gather(random.pick<std::int64_t>({0, 0, 0, 4, 12}));
      }
    }
  }
}

TEST_CASE("scatter and gather: every number of layers up to 130") {
  Random random(32);
  for (const Kernels* kernels : runnable_kernels()) {
    CAPTURE(kernels->name);
    for (std::int32_t layers = 1; layers <= 130; ++layers) {
      Trial run(random, *kernels, make_shape(layers, 8, 1, 0, true), false, 30);
      run.scatter(1, 0);
      run.scatter(2, 3);
      run.gather(0);
    }
  }
}

TEST_CASE("slot lists: numbers past the end and negative ones are holes") {
  const std::int32_t pages[] = {4, -1, -2, 0};
  SlotList list;
  list.data = pages;
  list.element_bytes = 4;
  list.count = 4;
  CHECK(list.at(0) == 4);
  CHECK(list.at(1) == -1);
  CHECK(list.at(2) == -1);
  CHECK(list.at(3) == 0);
  CHECK(list.at(4) == -1);
  list.page_size = 16;
  CHECK(list.at(0) == 64);
  CHECK(list.at(15) == 79);
  CHECK(list.at(16) == -1);
  CHECK(list.at(63) == 15);
  CHECK(list.at(64) == -1);
}

}  // namespace routecap::rows::testing
