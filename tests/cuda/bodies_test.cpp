// SPDX-License-Identifier: Apache-2.0
// What the threads of the CUDA plugin's kernels do, over whole grids, against the Thrust forms: every byte, mark and count must be the same. Nothing
// here needs a GPU or its compiler.
#include <cstring>
#include <set>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include "backend/cuda/kernel_list.h"
#include "backend/rows/sequential.h"
#include "plugin/fake_cudart/run_grid.h"
#include "rows/fixture.h"
#include "rows/random.h"
#include "support/dtype.h"

using namespace routecap;
using namespace routecap::rows;
using namespace routecap::rows::testing;
using fake_cudart::run_grid;

namespace {

/// Runs the body that the plugin would launch for these arguments.
struct Run {
  std::int64_t blocks;
  const void* arguments;
  template <class Body>
  int operator()() const {
    run_grid<Body>(*static_cast<const typename Body::Args*>(arguments), blocks, cuda::kBlockThreads);
    return 0;
  }
};

void run_capture(const cuda::CaptureArgs& args) {
  const int kernel = cuda::capture_kernel(args.job.shape.id_bytes, args.job.ids_dtype);
  const Run run{cuda::grid_of(args), &args};
  const int given = kernel % cuda::kGivenTypes;
  switch (kernel / cuda::kGivenTypes) {
    case 0: cuda::with_capture_body<HostWords, std::uint8_t>(given, run); break;
    case 1: cuda::with_capture_body<HostWords, std::uint16_t>(given, run); break;
    default: cuda::with_capture_body<HostWords, std::int32_t>(given, run);
  }
}

template <class Args>
void run_other(int kernel, const Args& args) {
  cuda::with_other_body<HostWords>(kernel, Run{cuda::grid_of(args), &args});
}

/// A given array: rows of `row_bytes`, a stride apart, `skew` bytes behind an aligned place.
struct Given {
  Given(std::int64_t rows, std::int64_t row_bytes, std::int64_t gap, std::int64_t skew, Random& random)
      : stride(row_bytes + gap), skewed(skew), bytes((rows - 1) * stride + row_bytes + skew, random) {}
  std::byte* data() { return bytes.data() + skewed; }
  std::int64_t stride;
  std::int64_t skewed;
  Fenced bytes;
};

constexpr std::int32_t kExperts[] = {2, 64, 256, 257, 65536, 65537, 100000};
constexpr std::int32_t kTopK[] = {1, 2, 3, 4, 6, 7, 8, 10, 16, 22, 60, 100, 260, 1025};

void write_id(std::byte* at, std::int32_t dtype, std::int64_t id) {
  with_given_type(dtype, [&]<class In>() { store_as(at, static_cast<In>(id)); });
}

/// What a schedule of captures must have met at least once.
using Met = std::set<std::tuple<int, std::int32_t, std::int32_t>>;  // kernel, group, alignment of the ids

void compare_captures(std::uint64_t seed, Met& met) {
  Random random(seed);
  const std::int32_t num_experts = kExperts[random.between(0, 6)];
  const std::int32_t top_k = kTopK[random.between(0, random.one_in(20) ? 13 : 10)];
  const std::int32_t weight_bytes = random.pick({0, 0, 2, 4});
  const auto layers = static_cast<std::int32_t>(random.between(1, 3));
  const RowShape shape = make_shape(layers, top_k, id_bytes_for(num_experts), weight_bytes, random.one_in(2));

  CaptureJob job;
  job.shape = shape;
  job.layer = static_cast<std::int32_t>(random.between(0, layers - 1));
  job.num_experts = num_experts;
  job.ids_dtype = static_cast<std::int32_t>(random.between(RCAP_DTYPE_UINT8, RCAP_DTYPE_INT64));
  const std::int32_t rows_of_block = cuda::spread(job, 4, 1).block_rows;
  // Around a warp, around a block, and around two.
  job.tokens = random.pick<std::int64_t>({1, 2, 31, 32, 33, 63, 64, 65}) + (random.one_in(2) ? 0 : random.pick({1, 2}) * rows_of_block - 32);
  if (job.tokens < 1) job.tokens = 1;
  job.first_row = random.between(0, 5);
  const std::int64_t device_rows = job.first_row + job.tokens + random.between(0, 9);

  const std::int64_t id_bytes = dtype_bytes(job.ids_dtype);
  const auto gap = [&] { return random.pick<std::int64_t>({0, 0, 16, 8, 4, 2, 1, 5}); };
  const auto skew = [&] { return random.pick<std::int64_t>({0, 0, 16, 8, 4, 2, 1, 3}); };
  Given ids(job.tokens, top_k * id_bytes, gap(), skew(), random);
  const bool mapped = random.one_in(4);
  const std::int64_t entries = random.between(1, 400);
  const std::int64_t good = mapped ? entries : num_experts;
  const bool bad_ones = random.one_in(3);
  for (std::int64_t i = 0; i < job.tokens; ++i) {
    for (std::int64_t k = 0; k < top_k; ++k) {
      std::int64_t id = random.between(0, good - 1);
      if (bad_ones && random.one_in(40)) id = random.pick<std::int64_t>({-1, good, -32768, 1 << 20});
      write_id(ids.data() + i * ids.stride + k * id_bytes, job.ids_dtype, id);
    }
  }
  job.ids = ids.data();
  job.ids_stride = ids.stride;

  job.weights_dtype = weight_bytes == 4 ? RCAP_DTYPE_FLOAT32 : random.pick({RCAP_DTYPE_FLOAT16, RCAP_DTYPE_BFLOAT16});
  job.weights_dtype_in = random.one_in(2) ? job.weights_dtype : RCAP_DTYPE_FLOAT32;
  const std::int64_t weight_in = weight_bytes == 0 ? 0 : dtype_bytes(job.weights_dtype_in);
  Given weights(job.tokens, top_k * weight_in, gap(), skew(), random);
  if (weight_bytes != 0) {
    job.weights = weights.data();
    job.weights_stride = weights.stride;
  }

  std::vector<std::byte> map(static_cast<std::size_t>(entries) * 8);
  if (mapped) {
    job.id_map_dtype = random.pick({RCAP_DTYPE_INT32, RCAP_DTYPE_INT64});
    job.id_map_entries = entries;
    for (std::int64_t i = 0; i < entries; ++i) {
      const std::int64_t logical = random.one_in(50) ? random.pick<std::int64_t>({-1, num_experts}) : random.between(0, num_experts - 1);
      write_id(map.data() + i * dtype_bytes(job.id_map_dtype), job.id_map_dtype, logical);
    }
    job.id_map = map.data();
  }
  std::vector<std::int32_t> row_ids;
  if (random.one_in(3)) {
    for (std::int64_t i = 0; i < job.tokens; ++i) row_ids.push_back(static_cast<std::int32_t>(random.between(-2, device_rows)));
    job.row_ids = row_ids.data();
  }

  Cache by_thrust(shape, device_rows, random);
  // Rows that were captured before.
  for (std::int64_t row = 0; row < device_rows; ++row) {
    if (random.one_in(30)) by_thrust.mark(job.layer, row) = static_cast<std::uint8_t>(random.pick({1, 3, 5}));
  }
  Cache by_body = by_thrust;

  CaptureJob thrust_job = job;
  thrust_job.cache = by_thrust.view();
  algorithm::capture<HostWords>(thrust::seq, thrust_job);
  CaptureJob body_job = job;
  body_job.cache = by_body.view();
  const cuda::CaptureArgs args = cuda::spread(body_job, id_bytes, weight_in);
  run_capture(args);

  CAPTURE(seed);
  CAPTURE(job.tokens);
  CAPTURE(top_k);
  CHECK(by_body.same_bytes(by_thrust));
  CHECK(by_body.strays() == by_thrust.strays());
  CHECK(by_body.intact());
  met.emplace(cuda::capture_kernel(shape.id_bytes, job.ids_dtype), args.group, args.ids_alignment);
}

void compare_snapshots(std::uint64_t seed, std::set<int>& met) {
  Random random(seed);
  const std::int32_t num_experts = kExperts[random.between(0, 6)];
  const std::int32_t top_k = kTopK[random.between(0, 10)];
  const auto layers = static_cast<std::int32_t>(random.pick({1, 2, 3, 31, 32, 33, 58, 63, 64, 65, 130}));
  const bool partial = random.one_in(2);
  const RowShape shape = make_shape(layers, top_k, id_bytes_for(num_experts), random.pick({0, 0, 2, 4}), partial);
  SnapshotJob job;
  job.shape = shape;
  job.tokens = random.pick<std::int64_t>({0, 1, 2, 31, 32, 33, 64, 255, 256, 257});
  job.first_row = random.between(0, 5);
  const std::int64_t device_rows = job.first_row + job.tokens + random.between(1, 9);
  Cache cache(shape, device_rows, random);
  for (std::int32_t layer = 0; layer < layers; ++layer) {
    const std::int64_t faults = random.pick<std::int64_t>({5, 100, 100000});
    for (std::int64_t row = 0; row < device_rows; ++row) {
      cache.mark(layer, row) = random.one_in(faults) ? static_cast<std::uint8_t>(random.pick({0, 3, 5, 7})) : std::uint8_t{1};
    }
    cache.extents[static_cast<std::size_t>(layer)].strays = random.one_in(4) ? random.between(1, 1000) : 0;
  }
  std::vector<std::uint8_t> partials(static_cast<std::size_t>(layers), 0);
  for (std::uint8_t& one : partials) one = partial && random.one_in(2) ? 1 : 0;
  job.cache = cache.view();
  job.partial = partials.data();
  std::vector<std::int64_t> rows;
  job.staged = job.tokens;
  if (random.one_in(2)) {
    job.staged = random.pick<std::int64_t>({0, 1, 31, 32, 33, 255, 256, 257});
    for (std::int64_t i = 0; i < job.staged; ++i)
      rows.push_back(random.one_in(6) ? random.pick<std::int64_t>({-1, -7, job.tokens}) : random.between(0, job.tokens));
    job.rows = rows.data();
  }

  struct Out {
    Out(const SnapshotJob& of, Random& noise)
        : payload(of.staged * of.shape.payload_bytes, noise),
          bad_layer(of.staged * 4, noise),
          captured(of.shape.layers * 8, noise),
          repeated(of.shape.layers * 8, noise),
          strays(of.shape.layers * 8, noise) {}
    void give(SnapshotJob& to) {
      to.payload = payload.data();
      to.bad_layer = reinterpret_cast<std::int32_t*>(bad_layer.data());
      to.captured = reinterpret_cast<std::int64_t*>(captured.data());
      to.repeated = reinterpret_cast<std::int64_t*>(repeated.data());
      to.strays = reinterpret_cast<std::int64_t*>(strays.data());
    }
    [[nodiscard]] bool intact() const { return payload.intact() && bad_layer.intact() && captured.intact() && repeated.intact() && strays.intact(); }
    bool operator==(const Out&) const = default;
    Fenced payload, bad_layer, captured, repeated, strays;
  };
  Out by_thrust(job, random);
  Out by_body = by_thrust;
  const Cache before = cache;
  by_thrust.give(job);
  algorithm::snapshot(thrust::seq, job);
  by_body.give(job);
  const std::int32_t word = cuda::word_of(shape);
  run_other(cuda::snapshot_kernel(word), cuda::spread(job));
  CAPTURE(seed);
  CAPTURE(word);
  CHECK(by_body == by_thrust);
  CHECK(by_body.intact());
  CHECK(cache.same_bytes(before));
  met.insert(word);

  run_other(cuda::kClearKernel, cuda::spread(shape, job.cache));
  for (std::int64_t i = 0; i < cache.marks.size(); ++i) REQUIRE(cache.marks.data()[i] == std::byte{0});
  CHECK(cache.strays() == std::vector<std::int64_t>(static_cast<std::size_t>(layers), 0));
  CHECK(cache.intact());
  CHECK(cache.ids == before.ids);
}

}  // namespace

TEST_CASE("capture's threads do what the Thrust form does, with every dtype, stride and alignment, around warps and blocks") {
  Met met;
  for (std::uint64_t seed = 1; seed <= 6000; ++seed) compare_captures(seed, met);
  // Every kernel, taking ids one by one and four at once, aligned for the group, for the id, and not at all.
  for (int kernel = 0; kernel < cuda::kSnapshotKernels; ++kernel) {
    const std::int32_t in = dtype_bytes(RCAP_DTYPE_UINT8 + kernel % cuda::kGivenTypes);
    CAPTURE(kernel);
    CHECK(met.count({kernel, 1, in}) == 1);
    CHECK(met.count({kernel, 4, in}) == 1);
    CHECK(met.count({kernel, 4, 4 * in < 16 ? 4 * in : 16}) == 1);
    if (in > 1) CHECK((met.count({kernel, 1, 1}) == 1 && met.count({kernel, 4, 1}) == 1));
  }
}

TEST_CASE("snapshot's threads do what the Thrust form does, and clear's leave no mark and no stray") {
  std::set<int> met;
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) compare_snapshots(seed, met);
  CHECK(met == std::set<int>{1, 2, 4, 8});
}

TEST_CASE("widen's threads read groups of numbers of any alignment, and nothing between them") {
  Random random(1);
  for (int round = 0; round < 300; ++round) {
    ListView list;
    list.element_bytes = random.pick({4, 8});
    list.groups = random.pick<std::int64_t>({0, 1, 3, 31, 255, 256, 257});
    list.width = random.between(1, 5);
    list.stride = list.width + random.between(0, 3);
    const std::int64_t skew = random.between(0, 7);
    const std::int64_t bytes = list.groups == 0 ? 0 : ((list.groups - 1) * list.stride + list.width) * list.element_bytes;
    Fenced data(bytes + skew, random);
    list.data = data.data() + skew;
    Fenced out(list.count() * 8, random);
    std::vector<std::int64_t> expected(static_cast<std::size_t>(list.count()));
    list.widen(expected.data());
    run_other(cuda::kWidenKernel, cuda::WidenArgs{list, reinterpret_cast<std::int64_t*>(out.data())});
    CHECK(out.intact());
    if (!expected.empty()) CHECK(std::memcmp(out.data(), expected.data(), expected.size() * 8) == 0);
  }
}

TEST_CASE("put and copy move every byte and no other, whole words or not") {
  Random random(2);
  for (const std::int64_t bytes : {std::int64_t{1}, std::int64_t{7}, std::int64_t{8}, std::int64_t{9}, std::int64_t{255}, std::int64_t{2048},
                                   std::int64_t{3583}, cuda::kPutBytes}) {
    Fenced from(bytes, random);
    Fenced to(bytes, random);
    cuda::PutArgs put;
    put.to = to.data();
    put.bytes = bytes;
    std::memcpy(put.data, from.data(), static_cast<std::size_t>(bytes));
    run_other(cuda::kPutKernel, put);
    CHECK(to == from);
  }
  for (const std::int64_t bytes : {0, 1, 8, 13, 2040, 8192, 8193, 16391, 100000}) {
    Fenced from(bytes, random);
    Fenced to(bytes, random);
    run_other(cuda::kCopyKernel, cuda::CopyArgs{to.data(), from.data(), bytes});
    CHECK(to == from);
  }
}
