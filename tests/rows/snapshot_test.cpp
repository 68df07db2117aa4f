// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "backend/rows/sequential.h"
#include "backend/rows/tuned.h"
#include "rows/fixture.h"

namespace routecap::rows::testing {
namespace {

/// Everything that a snapshot writes.
struct Staged {
  Staged(const RowShape& shape, std::int64_t rows, Random& random)
      : payload(shape.payload_bytes * rows, random),
        bad_layer(rows * 4, random),
        captured(static_cast<std::size_t>(shape.layers), -7),
        repeated(static_cast<std::size_t>(shape.layers), -7),
        strays(static_cast<std::size_t>(shape.layers), -7) {}

  void aim(SnapshotJob& job) {
    job.payload = payload.data();
    job.bad_layer = reinterpret_cast<std::int32_t*>(bad_layer.data());
    job.captured = captured.data();
    job.repeated = repeated.data();
    job.strays = strays.data();
  }

  [[nodiscard]] bool intact() const { return payload.intact() && bad_layer.intact(); }
  friend bool operator==(const Staged&, const Staged&) = default;

  Fenced payload;
  Fenced bad_layer;
  std::vector<std::int64_t> captured;
  std::vector<std::int64_t> repeated;
  std::vector<std::int64_t> strays;
};

/// How a layer's marks of the forward look.
enum class Marking { kAll, kNone, kSome, kMessy };

void mark_layer(Cache& cache, std::int64_t layer, Marking marking, Random& random) {
  for (std::int64_t row = 0; row < cache.rows; ++row) {
    std::uint8_t mark = 0;
    if (marking == Marking::kAll) mark = kMarkCaptured;
    if (marking == Marking::kSome) mark = random.one_in(2) ? kMarkCaptured : std::uint8_t{0};
    if (marking == Marking::kMessy) mark = random.pick<std::uint8_t>({0, 1, 1, 1, 3, 5, 7});
    cache.mark(layer, row) = mark;
  }
}

/// One staged row byte by byte, from what the layout says.
std::vector<std::byte> expected_row(Cache& cache, std::int64_t row, const std::vector<std::uint8_t>& partial) {
  const RowShape& shape = cache.shape;
  std::vector<std::byte> out(static_cast<std::size_t>(shape.payload_bytes), std::byte{0});
  for (std::int64_t layer = 0; layer < shape.layers; ++layer) {
    const bool captured = (cache.mark(layer, row) & kMarkCaptured) != 0;
    const bool stale = shape.cell_words != 0 && partial[static_cast<std::size_t>(layer)] != 0 && !captured;
    const std::int64_t cell = std::int64_t{shape.top_k} * shape.id_bytes;
    for (std::int64_t i = 0; i < cell; ++i) {
      out[static_cast<std::size_t>(layer * cell + i)] = stale ? std::byte{0xFF} : cache.ids.data()[(layer * cache.rows + row) * cell + i];
    }
    const std::int64_t weights = std::int64_t{shape.top_k} * shape.weight_bytes;
    for (std::int64_t i = 0; i < weights; ++i) {
      out[static_cast<std::size_t>(shape.weights_offset + layer * weights + i)] =
          stale ? std::byte{0xFF} : cache.weights.data()[(layer * cache.rows + row) * weights + i];
    }
    if (shape.cell_words != 0 && captured) out[static_cast<std::size_t>(shape.cells_offset + layer / 8)] |= static_cast<std::byte>(1U << (layer % 8));
  }
  return out;
}

void check_staged(const SnapshotJob& job, Cache& cache, const std::vector<std::uint8_t>& partial, const Staged& got, const Staged& before) {
  const RowShape& shape = cache.shape;
  const std::int64_t bytes = shape.payload_bytes;
  for (std::int64_t staged = 0; staged < job.staged; ++staged) {
    const std::int64_t row = job.rows == nullptr ? staged : job.rows[staged];
    const bool inside = row >= 0 && row < job.tokens;
    const auto bad_layer = load_as<std::int32_t>(got.bad_layer.data() + staged * 4);
    if (!inside) {
      REQUIRE(bad_layer == 0);
      REQUIRE(std::equal(got.payload.data() + staged * bytes, got.payload.data() + (staged + 1) * bytes, before.payload.data() + staged * bytes));
      continue;
    }
    // 0, the first layer with a bad id counted from 1, or the first PARTIAL layer that has the row twice, counted from -1.
    std::int32_t first_bad = 0;
    std::int32_t first_twice = 0;
    for (std::int32_t layer = shape.layers - 1; layer >= 0; --layer) {
      const std::uint8_t mark = cache.mark(layer, job.first_row + row);
      if ((mark & kMarkBadId) != 0) first_bad = layer + 1;
      if ((mark & kMarkRepeated) != 0 && shape.cell_words != 0 && partial[static_cast<std::size_t>(layer)] != 0) first_twice = -1 - layer;
    }
    REQUIRE(bad_layer == (first_twice != 0 ? first_twice : first_bad));
    const std::vector<std::byte> expected = expected_row(cache, job.first_row + row, partial);
    REQUIRE(std::equal(expected.begin(), expected.end(), got.payload.data() + staged * bytes));
  }
  for (std::int64_t layer = 0; layer < shape.layers; ++layer) {
    std::int64_t captured = 0;
    std::int64_t repeated = 0;
    for (std::int64_t row = job.first_row; row < job.first_row + job.tokens; ++row) {
      if ((cache.mark(layer, row) & kMarkCaptured) != 0) ++captured;
      if ((cache.mark(layer, row) & kMarkRepeated) != 0) ++repeated;
    }
    REQUIRE(got.captured[static_cast<std::size_t>(layer)] == captured);
    REQUIRE(got.repeated[static_cast<std::size_t>(layer)] == repeated);
    const std::int64_t strays = cache.extents[static_cast<std::size_t>(layer)].strays;
    REQUIRE(got.strays[static_cast<std::size_t>(layer)] == (shape.cell_words != 0 ? strays : -7));
  }
}

struct Plan {
  RowShape shape;
  std::int64_t tokens = 0;
  std::int64_t first_row = 0;
  std::int64_t behind = 0;  ///< rows of the cache behind the forward's
  bool listed = false;      ///< staged rows are named, some outside the forward
  bool tidy = false;        ///< every layer captured every row
};

void check_snapshot(const Plan& plan, Random& random) {
  const RowShape& shape = plan.shape;
  CAPTURE(shape.layers);
  CAPTURE(shape.top_k);
  CAPTURE(plan.tokens);
  Cache cache(shape, plan.first_row + plan.tokens + plan.behind, random);
  std::vector<std::uint8_t> partial(static_cast<std::size_t>(shape.layers));
  for (std::int64_t layer = 0; layer < shape.layers; ++layer) {
    partial[static_cast<std::size_t>(layer)] = static_cast<std::uint8_t>(random.between(0, 1));
    const auto marking = random.pick({Marking::kAll, Marking::kAll, Marking::kAll, Marking::kNone, Marking::kSome, Marking::kMessy});
    mark_layer(cache, layer, plan.tidy ? Marking::kAll : marking, random);
    if (shape.cell_words != 0 && random.one_in(3)) cache.extents[static_cast<std::size_t>(layer)].strays = random.between(1, 1 << 20);
  }
  const Cache before_cache = cache;
  std::vector<std::int64_t> rows;
  if (plan.listed) {
    const std::int64_t count = random.between(0, plan.tokens + 3);
    for (std::int64_t i = 0; i < count; ++i)
      rows.push_back(random.one_in(10) ? random.pick<std::int64_t>({-1, -2, plan.tokens, plan.tokens + 5}) : random.between(0, plan.tokens));
  }
  SnapshotJob job;
  job.shape = shape;
  job.cache = cache.view();
  job.first_row = plan.first_row;
  job.tokens = plan.tokens;
  job.rows = plan.listed ? rows.data() : nullptr;
  job.staged = plan.listed ? static_cast<std::int64_t>(rows.size()) : plan.tokens;
  job.partial = partial.data();
  if (plan.listed && rows.empty()) job.rows = &plan.tokens;  // an empty list is a list

  const Staged before(shape, job.staged, random);
  Staged thrust_form = before;
  thrust_form.aim(job);
  algorithm::snapshot(thrust::seq, job);
  REQUIRE(thrust_form.intact());
  check_staged(job, cache, partial, thrust_form, before);
  for (const Kernels* kernels : runnable_kernels()) {
    CAPTURE(kernels->name);
    Staged tuned_form = before;
    tuned_form.aim(job);
    tuned::snapshot(job, *kernels);
    REQUIRE(tuned_form.intact());
    REQUIRE(tuned_form == thrust_form);
  }
  REQUIRE(cache.same_bytes(before_cache));
}

}  // namespace

TEST_CASE("snapshot: layers from 1 to 130, with and without PARTIAL layers") {
  Random random(11);
  for (std::int32_t layers = 1; layers <= 130; ++layers) {
    for (const bool partial : {false, true}) {
      Plan plan;
      plan.shape = make_shape(layers, static_cast<std::int32_t>(random.between(1, 9)), random.pick({1, 2, 4}), random.pick({0, 2, 4}), partial);
      plan.tokens = random.between(1, 40);
      check_snapshot(plan, random);
    }
  }
}

TEST_CASE("snapshot: K from 1 to 22 in every width") {
  Random random(12);
  for (std::int32_t top_k = 1; top_k <= 22; ++top_k) {
    for (const std::int32_t id_bytes : {1, 2, 4}) {
      for (const std::int32_t weight_bytes : {0, 2, 4}) {
        Plan plan;
        plan.shape = make_shape(5, top_k, id_bytes, weight_bytes, random.one_in(2));
        plan.tokens = random.between(30, 70);
        plan.first_row = random.between(0, 5);
        plan.behind = random.between(0, 5);
        check_snapshot(plan, random);
      }
    }
  }
}

TEST_CASE("snapshot: rows around the edges of vectors and tiles") {
  Random random(13);
  for (const std::int64_t tokens : {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000}) {
    for (const bool tidy : {false, true}) {
      Plan plan;
      plan.shape = make_shape(7, 8, 1, 0, false);
      plan.tokens = tokens;
      plan.tidy = tidy;
      plan.first_row = random.between(0, 9);
      check_snapshot(plan, random);
    }
  }
}

TEST_CASE("R21: only the named rows are staged, and entries outside the forward are left alone") {
  Random random(14);
  for (int trial = 0; trial < 150; ++trial) {
    Plan plan;
    plan.shape = make_shape(static_cast<std::int32_t>(random.between(1, 70)), static_cast<std::int32_t>(random.between(1, 10)),
                            random.pick({1, 2, 4}), random.pick({0, 2, 4}), random.one_in(2));
    plan.tokens = random.between(1, 90);
    plan.first_row = random.between(0, 3);
    plan.behind = random.between(0, 3);
    plan.listed = true;
    plan.tidy = random.one_in(3);
    check_snapshot(plan, random);
  }
}

}  // namespace routecap::rows::testing
