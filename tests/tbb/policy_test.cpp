// SPDX-License-Identifier: Apache-2.0
// The Thrust forms of the row algorithms under Thrust's TBB policy: what they write is what the host's loops write.
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

#include <thrust/system/tbb/execution_policy.h>
#include "backend/rows/sequential.h"
#include "backend/rows/tuned.h"
#include "rows/fixture.h"

namespace routecap::rows::testing {
namespace {

constexpr std::int64_t kTokens = 3000;

struct ListedSlots {
  SlotList list;
  std::int64_t operator()(std::int64_t row) const { return list.at(list.first + row); }
};

CaptureJob capture_job(Cache& cache, const Fenced& ids, std::int32_t layer) {
  CaptureJob job;
  job.shape = cache.shape;
  job.cache = cache.view();
  job.layer = layer;
  job.num_experts = 200;  // noise of a byte: about every fifth row has a bad id
  job.ids = ids.data();
  job.ids_dtype = RCAP_DTYPE_UINT8;
  job.ids_stride = 4;
  job.tokens = kTokens;
  job.first_row = 3;
  return job;
}

}  // namespace

TEST_CASE("R7, R14, R22, R27: capture, snapshot and count under the TBB policy") {
  Random random(31);
  const RowShape shape = make_shape(5, 4, 1, 0, true);
  Cache alone(shape, kTokens + 10, random);
  Cache together = alone;
  const Kernels& kernels = best_kernels();
  std::vector<std::int32_t> row_ids(kTokens);
  std::iota(row_ids.rbegin(), row_ids.rend(), 0);
  row_ids[70] = -1;
  row_ids[700] = 1 << 20;
  const std::vector<std::uint8_t> partial{0, 1, 0, 0, 0};
  for (std::int32_t layer = 0; layer < 5; ++layer) {
    if (layer == 4) continue;
    const Fenced ids(kTokens * 4, random);
    for (Cache* cache : {&alone, &together}) {
      CaptureJob job = capture_job(*cache, ids, layer);
      if (layer == 1) job.row_ids = row_ids.data();
      if (cache == &alone) {
        tuned::capture(job, kernels);
      } else {
        algorithm::capture<HostWords>(thrust::tbb::par, job);
        const algorithm::RowRange covered = algorithm::covered(thrust::tbb::par, job);
        LayerExtent& extent = cache->extents[static_cast<std::size_t>(layer)];
        extent.first = covered.first;
        extent.end = covered.end;
      }
    }
  }
  REQUIRE(together.same_bytes(alone));
  REQUIRE(together.strays() == std::vector<std::int64_t>{0, 2, 0, 0, 0});
  for (std::size_t layer = 0; layer < 5; ++layer) {
    REQUIRE(together.extents[layer].first == alone.extents[layer].first);
    REQUIRE(together.extents[layer].end == alone.extents[layer].end);
  }
  SnapshotJob job;
  job.shape = shape;
  job.first_row = 3;
  job.tokens = job.staged = kTokens;
  job.partial = partial.data();
  struct Staged {
    Fenced payload, bad_layer, captured, repeated, strays;
    bool operator==(const Staged&) const = default;
  };
  Staged expected{Fenced(kTokens * shape.payload_bytes, random), Fenced(kTokens * 4, random), Fenced(40, random), Fenced(40, random),
                  Fenced(40, random)};
  Staged got = expected;
  for (Staged* out : {&expected, &got}) {
    job.payload = out->payload.data();
    job.bad_layer = reinterpret_cast<std::int32_t*>(out->bad_layer.data());
    job.captured = reinterpret_cast<std::int64_t*>(out->captured.data());
    job.repeated = reinterpret_cast<std::int64_t*>(out->repeated.data());
    job.strays = reinterpret_cast<std::int64_t*>(out->strays.data());
    if (out == &expected) {
      job.cache = alone.view();
      tuned::snapshot(job, kernels);
    } else {
      job.cache = together.view();
      algorithm::snapshot(thrust::tbb::par, job);
    }
  }
  REQUIRE(got == expected);
}

TEST_CASE("R7, R10: scatter and gather under the TBB policy") {
  Random random(32);
  const RowShape shape = make_shape(7, 4, 1, 2, true);
  constexpr std::int64_t kSlots = 4000;
  const std::int64_t stride = 16 + shape.payload_bytes;
  std::vector<std::uint64_t> words[2];
  std::vector<SlotExtension> extensions[2];
  std::vector<std::int64_t> order(kSlots);
  std::iota(order.begin(), order.end(), 0);
  for (std::vector<std::uint64_t>& store : words) store.assign(static_cast<std::size_t>(kSlots * stride / 8), 0);
  for (std::vector<SlotExtension>& store : extensions) store.resize(kSlots);
  const auto view = [&](std::size_t which) {
    StoreView store;
    store.base = reinterpret_cast<std::byte*>(words[which].data());
    store.extensions = extensions[which].data();
    store.num_slots = kSlots;
    store.slot_stride = stride;
    store.tags = true;
    return store;
  };
  for (const Sequence sequence : {4, 8, 2}) {
    for (std::size_t i = order.size() - 1; i > 0; --i)
      std::swap(order[i], order[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(i)))]);
    const Fenced payload(kTokens * shape.payload_bytes, random);
    const Fenced tags(kTokens * 8, random);
    std::vector<ScatterEntry> entries;
    for (std::int64_t i = 0; i < kTokens; ++i) entries.push_back({order[static_cast<std::size_t>(i)], random.one_in(8) ? -1 : i});
    ScatterJob job;
    job.shape = shape;
    job.payload = payload.data();
    job.tags = reinterpret_cast<const std::int64_t*>(tags.data());
    job.entries = entries.data();
    job.count = kTokens;
    job.sequence = sequence;
    job.weight_version = static_cast<std::int64_t>(sequence % 3);
    job.store = view(0);
    const ScatterResult one = tuned::scatter(job, best_kernels());
    job.store = view(1);
    const ScatterResult many = algorithm::scatter<HostWords>(thrust::tbb::par, job);
    REQUIRE(many.stored == one.stored);
    REQUIRE(many.missing == one.missing);
    REQUIRE(many.outdated == one.outdated);
    REQUIRE(words[1] == words[0]);
  }
  struct Out {
    Fenced ids, weights, validity, cells, versions;
    bool operator==(const Out&) const = default;
  };
  Out expected{Fenced(kTokens * shape.ids_bytes, random), Fenced(kTokens * shape.weights_bytes, random), Fenced((kTokens + 7) / 8, random),
               Fenced((kTokens * 7 + 7) / 8, random), Fenced(kTokens * 8, random)};
  Out got = expected;
  GatherJob job;
  job.shape = shape;
  job.rows = kTokens;
  job.reserved_slots = 5;
  job.floor = 2;
  const SlotList list{order.data(), 8, 1, kTokens + 500, 500};
  GatherResult results[2];
  for (const std::size_t which : {std::size_t{0}, std::size_t{1}}) {
    Out& out = which == 0 ? expected : got;
    job.store = view(which);
    job.ids = out.ids.data();
    job.weights = out.weights.data();
    job.row_validity = reinterpret_cast<std::uint8_t*>(out.validity.data());
    job.cell_validity = reinterpret_cast<std::uint8_t*>(out.cells.data());
    job.versions = reinterpret_cast<std::int64_t*>(out.versions.data());
    results[which] = which == 0 ? tuned::gather(job, list, best_kernels()) : algorithm::gather<HostWords>(thrust::tbb::par, job, ListedSlots{list});
  }
  REQUIRE(got == expected);
  REQUIRE(results[1].valid == results[0].valid);
  REQUIRE(results[1].version_min == results[0].version_min);
  REQUIRE(results[1].version_max == results[0].version_max);
  REQUIRE(results[0].valid > 0);
}

}  // namespace routecap::rows::testing
