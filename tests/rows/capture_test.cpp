// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <limits>
#include <numeric>

#include "backend/rows/sequential.h"
#include "backend/rows/tuned.h"
#include "rows/fixture.h"
#include "rows/naive.h"

namespace routecap::rows::testing {
namespace {

constexpr std::int32_t kGivenTypes[] = {RCAP_DTYPE_UINT8, RCAP_DTYPE_UINT16, RCAP_DTYPE_INT16, RCAP_DTYPE_INT32, RCAP_DTYPE_INT64};

/// What a capture is made of, before it is a job.
struct Plan {
  std::int32_t experts = 256;
  std::int32_t top_k = 8;
  std::int32_t layers = 1;
  std::int32_t layer = 0;
  std::int32_t ids_dtype = RCAP_DTYPE_INT32;
  std::int32_t weights_in = 0;
  std::int32_t weights_kept = 0;
  std::int64_t tokens = 0;
  std::int64_t first_row = 0;
  std::int64_t device_rows = 0;
  std::int64_t stride_extra = 0;
  std::int64_t misalign = 0;
  std::int64_t bad_one_in = 0;  ///< 0 = every id is good
  std::int64_t map_entries = 0;
  std::int32_t map_dtype = RCAP_DTYPE_INT32;
  bool row_ids = false;
};

std::int64_t given_bytes(std::int32_t dtype) {
  return dtype == RCAP_DTYPE_UINT8 ? 1 : dtype == RCAP_DTYPE_INT64 ? 8 : dtype == RCAP_DTYPE_INT32 ? 4 : 2;
}
std::int64_t weight_bytes(std::int32_t dtype) { return dtype == 0 ? 0 : dtype == RCAP_DTYPE_FLOAT32 ? 4 : 2; }

std::int64_t lowest(std::int32_t dtype) {
  switch (dtype) {
    case RCAP_DTYPE_INT16: return std::numeric_limits<std::int16_t>::min();
    case RCAP_DTYPE_INT32: return std::numeric_limits<std::int32_t>::min();
    case RCAP_DTYPE_INT64: return std::numeric_limits<std::int64_t>::min();
    default: return 0;
  }
}

std::int64_t highest(std::int32_t dtype) {
  switch (dtype) {
    case RCAP_DTYPE_UINT8: return 255;
    case RCAP_DTYPE_UINT16: return 65535;
    case RCAP_DTYPE_INT16: return 32767;
    case RCAP_DTYPE_INT32: return std::numeric_limits<std::int32_t>::max();
    default: return std::numeric_limits<std::int64_t>::max();
  }
}

/// The arrays of one capture, both as numbers and as an engine would hand them over. The last row ends where the memory does.
class Given {
 public:
  Given(const Plan& plan, Random& random) : plan_(plan) {
    numbers.first_row = plan.first_row;
    numbers.num_experts = plan.experts;
    if (plan.weights_in != plan.weights_kept) numbers.narrows_to = plan.weights_kept == RCAP_DTYPE_FLOAT16 ? 16 : 8;
    make_map(random);
    make_ids(random);
    if (plan.weights_kept != 0) make_weights(random);
    if (plan.row_ids) make_row_ids(random);
  }

  CaptureJob job(Cache& cache) const {
    CaptureJob job;
    job.shape = cache.shape;
    job.cache = cache.view();
    job.layer = plan_.layer;
    job.num_experts = plan_.experts;
    job.ids = ids_.data() + plan_.misalign;
    job.ids_dtype = plan_.ids_dtype;
    job.ids_stride = ids_stride_;
    job.weights = plan_.weights_kept != 0 ? weights_.data() + plan_.misalign : nullptr;
    job.weights_dtype_in = plan_.weights_in;
    job.weights_dtype = plan_.weights_kept;
    job.weights_stride = weights_stride_;
    job.id_map = plan_.map_entries != 0 ? map_.data() : nullptr;
    job.id_map_dtype = plan_.map_dtype;
    job.id_map_entries = plan_.map_entries;
    job.tokens = plan_.tokens;
    job.first_row = plan_.first_row;
    job.row_ids = plan_.row_ids ? numbers.row_ids.data() : nullptr;
    return job;
  }

  NaiveGiven numbers;

 private:
  std::int64_t bad_id(Random& random) const {
    const std::int64_t limit = plan_.map_entries != 0 ? plan_.map_entries : plan_.experts;
    const std::int64_t id = random.pick<std::int64_t>({-1, limit, limit + 1, lowest(plan_.ids_dtype), highest(plan_.ids_dtype), limit + 256});
    return std::clamp(id, lowest(plan_.ids_dtype), highest(plan_.ids_dtype));
  }

  bool spoil(Random& random) const { return plan_.bad_one_in != 0 && random.one_in(plan_.bad_one_in); }

  void make_map(Random& random) {
    map_ = Fenced(plan_.map_entries * given_bytes(plan_.map_dtype), random);
    for (std::int64_t i = 0; i < plan_.map_entries; ++i) {
      const std::int64_t logical = spoil(random) ? random.pick<std::int64_t>({-1, plan_.experts}) : random.between(0, plan_.experts - 1);
      numbers.map.push_back(logical);
      put(map_.data() + i * given_bytes(plan_.map_dtype), plan_.map_dtype, logical);
    }
  }

  void make_ids(Random& random) {
    const std::int64_t size = given_bytes(plan_.ids_dtype);
    const std::int64_t limit = plan_.map_entries != 0 ? plan_.map_entries : plan_.experts;
    const std::int64_t top = std::min(limit - 1, highest(plan_.ids_dtype));
    ids_stride_ = plan_.top_k * size + plan_.stride_extra;
    ids_ = Fenced(plan_.misalign + (plan_.tokens == 0 ? 0 : (plan_.tokens - 1) * ids_stride_ + plan_.top_k * size), random);
    for (std::int64_t token = 0; token < plan_.tokens; ++token) {
      std::vector<std::int64_t>& row = numbers.ids.emplace_back();
      for (std::int64_t k = 0; k < plan_.top_k; ++k) {
        row.push_back(spoil(random) ? bad_id(random) : random.pick<std::int64_t>({0, top, random.between(0, top)}));
        put(ids_.data() + plan_.misalign + token * ids_stride_ + k * size, plan_.ids_dtype, row.back());
      }
    }
  }

  void make_weights(Random& random) {
    const std::int64_t size = weight_bytes(plan_.weights_in);
    weights_stride_ = plan_.top_k * size + plan_.stride_extra;
    weights_ = Fenced(plan_.misalign + (plan_.tokens == 0 ? 0 : (plan_.tokens - 1) * weights_stride_ + plan_.top_k * size), random);
    for (std::int64_t token = 0; token < plan_.tokens; ++token) {
      std::vector<std::uint32_t>& row = numbers.weights.emplace_back();
      for (std::int64_t k = 0; k < plan_.top_k; ++k) {
        const std::byte* at = weights_.data() + plan_.misalign + token * weights_stride_ + k * size;
        row.push_back(size == 4 ? load_as<std::uint32_t>(at) : load_as<std::uint16_t>(at));
      }
    }
  }

  void make_row_ids(Random& random) {
    std::vector<std::int32_t>& rows = numbers.row_ids;
    rows.resize(static_cast<std::size_t>(plan_.device_rows - plan_.first_row));
    std::iota(rows.begin(), rows.end(), 0);
    for (std::int64_t i = static_cast<std::int64_t>(rows.size()) - 1; i > 0; --i) {
      std::swap(rows[static_cast<std::size_t>(i)], rows[static_cast<std::size_t>(random.between(0, i))]);
    }
    rows.resize(static_cast<std::size_t>(plan_.tokens), 0);
    const auto behind = static_cast<std::int32_t>(plan_.device_rows - plan_.first_row);
    using Limits = std::numeric_limits<std::int32_t>;
    for (std::int32_t& row : rows) {
      if (spoil(random)) row = random.pick<std::int32_t>({-1, behind, Limits::max(), Limits::min(), rows[0]});
    }
  }

  static void put(std::byte* at, std::int32_t dtype, std::int64_t value) {
    switch (given_bytes(dtype)) {
      case 1: return store_as(at, static_cast<std::uint8_t>(value));
      case 2: return store_as(at, static_cast<std::uint16_t>(value));
      case 4: return store_as(at, static_cast<std::uint32_t>(value));
      default: return store_as(at, value);
    }
  }

  Plan plan_;
  Fenced ids_;
  Fenced weights_;
  Fenced map_;
  std::int64_t ids_stride_ = 0;
  std::int64_t weights_stride_ = 0;
};

std::int64_t kept_id(const Cache& cache, std::int64_t layer, std::int64_t row, std::int64_t k) {
  const std::int64_t index = (layer * cache.rows + row) * cache.shape.top_k + k;
  if (cache.shape.id_bytes == 1) return load_as<std::uint8_t>(cache.ids.data() + index);
  if (cache.shape.id_bytes == 2) return load_as<std::uint16_t>(cache.ids.data() + index * 2);
  return load_as<std::int32_t>(cache.ids.data() + index * 4);
}

std::uint32_t kept_weight(const Cache& cache, std::int64_t layer, std::int64_t row, std::int64_t k) {
  const std::int64_t index = (layer * cache.rows + row) * cache.shape.top_k + k;
  return cache.shape.weight_bytes == 4 ? load_as<std::uint32_t>(cache.weights.data() + index * 4)
                                       : load_as<std::uint16_t>(cache.weights.data() + index * 2);
}

/// The captured layer as the oracle has it; every other byte as it was before.
void check_against(const std::vector<NaiveCell>& cells, Cache& got, Cache& before, std::int32_t layer) {
  for (std::int64_t at = 0; at < got.shape.layers; ++at) {
    for (std::int64_t row = 0; row < got.rows; ++row) {
      const NaiveCell cell = at == layer ? cells[static_cast<std::size_t>(row)] : NaiveCell{};
      const int mark = (cell.captured ? kMarkCaptured : 0) | (cell.repeated ? kMarkRepeated : 0) | (cell.bad ? kMarkBadId : 0);
      REQUIRE(int{got.mark(at, row)} == mark);
      if (cell.bad) continue;
      for (std::int64_t k = 0; k < got.shape.top_k; ++k) {
        REQUIRE(kept_id(got, at, row, k) == (cell.captured ? cell.ids[static_cast<std::size_t>(k)] : kept_id(before, at, row, k)));
        if (got.shape.weight_bytes == 0) continue;
        REQUIRE(kept_weight(got, at, row, k) == (cell.captured ? cell.weights[static_cast<std::size_t>(k)] : kept_weight(before, at, row, k)));
      }
    }
  }
}

std::vector<std::int64_t> expected_strays(const Plan& plan, std::int64_t strays) {
  std::vector<std::int64_t> by_layer(static_cast<std::size_t>(plan.layers), 0);
  by_layer[static_cast<std::size_t>(plan.layer)] = strays;
  return by_layer;
}

/// All forms, `times` captures one after the other into the same rows.
void check_capture(const Plan& plan, Random& random, int times = 1) {
  CAPTURE(plan.experts);
  CAPTURE(plan.top_k);
  CAPTURE(plan.ids_dtype);
  CAPTURE(plan.tokens);
  const RowShape shape =
      make_shape(plan.layers, plan.top_k, id_bytes_for(plan.experts), static_cast<std::int32_t>(weight_bytes(plan.weights_kept)), false);
  Cache before(shape, plan.device_rows, random);
  std::vector<NaiveCell> cells(static_cast<std::size_t>(plan.device_rows));
  Cache thrust_form = before;
  std::vector<Cache> tuned_forms(runnable_kernels().size(), before);
  std::int64_t strays = 0;
  for (int time = 0; time < times; ++time) {
    const Given given(plan, random);
    strays += naive_capture(cells, given.numbers);
    algorithm::capture<HostWords>(thrust::seq, given.job(thrust_form));
    for (std::size_t i = 0; i < tuned_forms.size(); ++i) tuned::capture(given.job(tuned_forms[i]), *runnable_kernels()[i]);
  }
  REQUIRE(thrust_form.intact());
  REQUIRE(thrust_form.strays() == expected_strays(plan, strays));
  check_against(cells, thrust_form, before, plan.layer);
  for (std::size_t i = 0; i < tuned_forms.size(); ++i) {
    CAPTURE(runnable_kernels()[i]->name);
    REQUIRE(tuned_forms[i].intact());
    REQUIRE(tuned_forms[i].same_bytes(thrust_form));
    REQUIRE(tuned_forms[i].strays() == expected_strays(plan, strays));
    for (std::int32_t layer = 0; layer < plan.layers; ++layer) {
      const LayerExtent extent = tuned_forms[i].extents[static_cast<std::size_t>(layer)];
      for (std::int64_t row = 0; row < plan.device_rows; ++row) {
        REQUIRE((tuned_forms[i].mark(layer, row) == 0 || (row >= extent.first && row < extent.end)));
      }
    }
    clear_marks(shape, tuned_forms[i].view());
    for (std::int32_t layer = 0; layer < plan.layers; ++layer) {
      const LayerExtent extent = tuned_forms[i].extents[static_cast<std::size_t>(layer)];
      REQUIRE(extent.first == extent.end);
      REQUIRE(extent.strays == 0);
      for (std::int64_t row = 0; row < plan.device_rows; ++row) REQUIRE(int{tuned_forms[i].mark(layer, row)} == 0);
    }
  }
}

Plan random_plan(Random& random) {
  Plan plan;
  plan.experts = random.pick<std::int32_t>({1, 2, 8, 127, 128, 129, 255, 256, 257, 384, 32768, 32769, 65535, 65536, 65537, 1 << 20});
  plan.top_k = static_cast<std::int32_t>(random.one_in(3) ? std::min(8, plan.experts) : random.between(1, std::min(22, plan.experts)));
  plan.layers = random.pick<std::int32_t>({1, 2, 5});
  plan.layer = static_cast<std::int32_t>(random.between(0, plan.layers - 1));
  plan.ids_dtype = kGivenTypes[random.between(0, 4)];
  plan.tokens = random.pick<std::int64_t>({0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 256, 257, random.between(0, 700)});
  plan.first_row = random.pick<std::int64_t>({0, 1, 13});
  plan.device_rows = plan.first_row + plan.tokens + random.pick<std::int64_t>({0, 1, 40});
  plan.device_rows = std::max<std::int64_t>(plan.device_rows, 1);
  plan.stride_extra = random.pick<std::int64_t>({0, 0, 0, 1, 3, 4, 8, 64});
  plan.misalign = random.pick<std::int64_t>({0, 0, 1, 2, 5});
  plan.bad_one_in = random.pick<std::int64_t>({0, 0, 5, 400});
  if (random.one_in(2)) {
    plan.weights_kept = random.pick<std::int32_t>({RCAP_DTYPE_FLOAT16, RCAP_DTYPE_BFLOAT16, RCAP_DTYPE_FLOAT32});
    plan.weights_in = random.one_in(2) ? RCAP_DTYPE_FLOAT32 : plan.weights_kept;
  }
  return plan;
}

}  // namespace

TEST_CASE("capture: every pair of types, given rows dense and strided") {
  Random random(1);
  for (const std::int32_t experts : {1, 256, 257, 65536, 65537}) {
    for (const std::int32_t dtype : kGivenTypes) {
      for (const std::int64_t extra : {0, 12}) {
        Plan plan;
        plan.experts = experts;
        plan.top_k = std::min(8, experts);
        plan.ids_dtype = dtype;
        plan.stride_extra = extra;
        plan.tokens = 67;
        plan.device_rows = 70;
        plan.first_row = 2;
        check_capture(plan, random);
      }
    }
  }
}

TEST_CASE("capture: K from 1 to 22 and rows around the edges of vectors") {
  Random random(2);
  for (std::int32_t top_k = 1; top_k <= 22; ++top_k) {
    for (const std::int64_t tokens : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33}) {
      Plan plan;
      plan.top_k = top_k;
      plan.tokens = tokens;
      plan.device_rows = tokens;
      plan.misalign = random.between(0, 7);
      check_capture(plan, random);
    }
  }
}

TEST_CASE("R22: a bad id marks its own row, wherever in a block it stands") {
  Random random(3);
  for (std::int64_t tokens : {1, 5, 256, 300, 1030}) {
    for (const std::int64_t bad_one_in : {1, 50, 4000}) {
      Plan plan;
      plan.experts = 200;
      plan.tokens = tokens;
      plan.device_rows = tokens + 3;
      plan.first_row = 3;
      plan.bad_one_in = bad_one_in;
      check_capture(plan, random);
    }
  }
}

TEST_CASE("capture: random plans") {
  Random random(4);
  for (int trial = 0; trial < 400; ++trial) check_capture(random_plan(random), random);
}

TEST_CASE("R27: rows that are captured again keep the first bytes and are marked repeated") {
  Random random(5);
  for (int trial = 0; trial < 60; ++trial) check_capture(random_plan(random), random, 2);
}

TEST_CASE("R22: the physical to logical map is applied while narrowing") {
  Random random(6);
  for (int trial = 0; trial < 150; ++trial) {
    Plan plan = random_plan(random);
    plan.map_entries = plan.experts + random.between(0, 40);
    plan.map_entries = std::min<std::int64_t>(plan.map_entries, 5000);
    plan.map_dtype = random.pick<std::int32_t>({RCAP_DTYPE_INT32, RCAP_DTYPE_INT64});
    check_capture(plan, random);
  }
}

TEST_CASE("R7, R14: row_ids of a PARTIAL layer place rows, count what lies outside and mark what is named twice") {
  Random random(7);
  for (int trial = 0; trial < 150; ++trial) {
    Plan plan = random_plan(random);
    plan.row_ids = true;
    check_capture(plan, random, random.one_in(4) ? 2 : 1);
  }
}

TEST_CASE("R14: strays are forgotten with the marks, also where every entry of row_ids was one") {
  Random random(8);
  Cache cache(make_shape(3, 2, 1, 0, true), 4, random);
  const std::vector<std::uint8_t> ids = {1, 2, 3, 4};
  const std::vector<std::int32_t> row_ids = {-1, 4};
  CaptureJob job;
  job.shape = cache.shape;
  job.cache = cache.view();
  job.layer = 1;
  job.num_experts = 8;
  job.ids = ids.data();
  job.ids_dtype = RCAP_DTYPE_UINT8;
  job.ids_stride = 2;
  job.tokens = 2;
  job.row_ids = row_ids.data();
  capture(job);
  REQUIRE(cache.strays() == std::vector<std::int64_t>{0, 2, 0});
  REQUIRE(cache.extents[1].first == cache.extents[1].end);
  clear_marks(cache.shape, cache.view());
  REQUIRE(cache.strays() == std::vector<std::int64_t>{0, 0, 0});
}

}  // namespace routecap::rows::testing
