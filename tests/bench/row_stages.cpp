// SPDX-License-Identifier: Apache-2.0
//
// The row algorithms by themselves, in DeepSeek-V3's shape: what the stages of the library cannot be faster than.
#include <memory>
#include <numeric>
#include <random>

#include "backend/rows/rows.h"
#include "bench/measure.h"
#include "routecap/routecap.h"

namespace routecap_bench {
namespace {

using namespace routecap::rows;

RowShape deepseek_shape() {
  RowShape shape;
  shape.layers = static_cast<std::int32_t>(kLayers);
  shape.top_k = static_cast<std::int32_t>(kTopK);
  shape.id_bytes = 1;
  shape.ids_bytes = kLayers * kTopK;
  shape.weights_offset = shape.ids_bytes;
  shape.cells_offset = shape.ids_bytes;
  shape.payload_bytes = shape.ids_bytes;
  return shape;
}

/// Cache, staging and store of one capturer, with a forward captured.
class World {
 public:
  explicit World(std::int64_t tokens) : tokens_(tokens) {
    std::mt19937_64 random(1);
    for (std::int32_t& id : given_) id = static_cast<std::int32_t>(random() % kExperts);
    std::iota(order_.begin(), order_.end(), 0);
    std::shuffle(order_.begin(), order_.end(), random);
    store_.base = reinterpret_cast<std::byte*>(words_.data());
    store_.num_slots = kSlots;
    store_.slot_stride = 8 + shape_.payload_bytes;
    aim_slots();
    capture_layers();
    take_snapshot();
  }

  void capture_layers() { capture_from(tokens_ * kTopK); }

  /// A forward for a later stage to be measured on: all layers get the same ids, so that what is captured does not empty the caches in between.
  void capture_same() { capture_from(0); }

  void take_snapshot() {
    SnapshotJob job;
    job.shape = shape_;
    job.cache = cache();
    job.tokens = tokens_;
    job.staged = tokens_;
    job.payload = payload_.data();
    job.bad_layer = bad_layer_.data();
    job.captured = captured_.data();
    job.repeated = repeated_.data();
    snapshot(job);
  }

  void clear() { clear_marks(shape_, cache()); }

  void scatter_rows() {
    ScatterJob job;
    job.shape = shape_;
    job.store = store_;
    job.payload = payload_.data();
    job.entries = entries_.data();
    job.count = tokens_;
    job.sequence = ++sequence_;
    benchmark::DoNotOptimize(scatter(job));
  }

  void gather_rows() {
    GatherJob job;
    job.shape = shape_;
    job.store = store_;
    job.rows = tokens_;
    job.ids = read_.data();
    job.row_validity = validity_.data();
    SlotList list;
    list.data = slots_.data();
    list.count = tokens_;
    benchmark::DoNotOptimize(gather(job, list));
  }

  /// The next n slots of the random order: a walk through all of them.
  void walk() {
    at_ = (at_ + tokens_) % kSlots;
    aim_slots();
  }

 private:
  /// @param step  ids from one layer's to the next one's
  void capture_from(std::int64_t step) {
    for (std::int64_t layer = 0; layer < kLayers; ++layer) {
      CaptureJob job;
      job.shape = shape_;
      job.cache = cache();
      job.layer = static_cast<std::int32_t>(layer);
      job.num_experts = kExperts;
      job.ids = given_.data() + layer * step;
      job.ids_dtype = RCAP_DTYPE_INT32;
      job.ids_stride = kTopK * 4;
      job.tokens = tokens_;
      capture(job);
    }
  }

  CacheView cache() {
    CacheView view;
    view.ids = ids_.data();
    view.marks = marks_.data();
    view.extents = extents_.data();
    view.device_rows = kDeviceRows;
    return view;
  }

  void aim_slots() {
    for (std::int64_t row = 0; row < tokens_; ++row) {
      const auto at = static_cast<std::size_t>(row);
      slots_[at] = order_[static_cast<std::size_t>((at_ + row) % kSlots)];
      entries_[at] = {slots_[at], row};
    }
  }

  template <class T>
  static std::vector<T> sized(std::int64_t count) {
    return std::vector<T>(static_cast<std::size_t>(count));
  }

  std::int64_t tokens_;
  RowShape shape_ = deepseek_shape();
  std::vector<std::int32_t> given_ = sized<std::int32_t>(kLayers * tokens_ * kTopK);
  std::vector<std::byte> ids_ = sized<std::byte>(kLayers * kDeviceRows * kTopK);
  std::vector<std::uint8_t> marks_ = sized<std::uint8_t>(kLayers * kDeviceRows);
  std::vector<LayerExtent> extents_ = sized<LayerExtent>(kLayers);
  std::vector<std::byte> payload_ = sized<std::byte>(tokens_ * shape_.payload_bytes);
  std::vector<std::int32_t> bad_layer_ = sized<std::int32_t>(tokens_);
  std::vector<std::int64_t> captured_ = sized<std::int64_t>(kLayers);
  std::vector<std::int64_t> repeated_ = sized<std::int64_t>(kLayers);
  std::vector<std::uint64_t> words_ = sized<std::uint64_t>(kSlots * (1 + shape_.payload_bytes / 8));
  std::vector<std::int64_t> order_ = sized<std::int64_t>(kSlots);
  std::vector<std::int64_t> slots_ = sized<std::int64_t>(tokens_);
  std::vector<ScatterEntry> entries_ = sized<ScatterEntry>(tokens_);
  std::vector<std::byte> read_ = sized<std::byte>(tokens_ * shape_.payload_bytes);
  std::vector<std::uint8_t> validity_ = sized<std::uint8_t>((tokens_ + 7) / 8);
  StoreView store_;
  std::int64_t at_ = 0;
  routecap::Sequence sequence_ = 0;
};

double aim_of(std::int64_t tokens, double at_8192, double at_256) { return tokens == 8192 ? at_8192 : tokens == 256 ? at_256 : 0; }

void rows_capture(benchmark::State& state) {
  World world(state.range(0));
  measure(
      state, state.range(0), aim_of(state.range(0), 0.75, 1.0), [&] { world.clear(); }, [&] { world.capture_layers(); });
}

void rows_end_forward(benchmark::State& state) {
  World world(state.range(0));
  measure(
      state, state.range(0), aim_of(state.range(0), 0.5, 0.8),
      [&] {
        world.clear();
        world.capture_same();
      },
      [&] {
        world.take_snapshot();
        world.clear();
      });
}

void rows_scatter(benchmark::State& state) {
  World world(state.range(0));
  measure(
      state, state.range(0), aim_of(state.range(0), 0.45, 0.5), [] {}, [&] { world.scatter_rows(); });
}

void rows_scatter_walk(benchmark::State& state) {
  World world(state.range(0));
  measure(
      state, state.range(0), 0, [&] { world.walk(); }, [&] { world.scatter_rows(); });
}

void rows_gather(benchmark::State& state) {
  World world(state.range(0));
  world.scatter_rows();
  measure(
      state, state.range(0), aim_of(state.range(0), 0.5, 0.5), [] {}, [&] { world.gather_rows(); });
}

void rows_gather_walk(benchmark::State& state) {
  World world(state.range(0));
  for (std::int64_t stored = 0; stored < kSlots; stored += state.range(0)) {
    world.walk();
    world.scatter_rows();
  }
  measure(
      state, state.range(0), 0, [&] { world.walk(); }, [&] { world.gather_rows(); });
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->Arg(1)->Arg(64)->Arg(256)->Arg(8192)->UseManualTime()->Unit(benchmark::kMicrosecond)->MinTime(0.02);
}

BENCHMARK(rows_capture)->Apply(sizes);
BENCHMARK(rows_end_forward)->Apply(sizes);
BENCHMARK(rows_scatter)->Apply(sizes);
BENCHMARK(rows_scatter_walk)->Apply(sizes);
BENCHMARK(rows_gather)->Apply(sizes);
BENCHMARK(rows_gather_walk)->Apply(sizes);

}  // namespace
}  // namespace routecap_bench

BENCHMARK_MAIN();
