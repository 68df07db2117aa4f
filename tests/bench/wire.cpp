// SPDX-License-Identifier: Apache-2.0
//
// Records to their forms and back, in DeepSeek-V3's shape, 8192 rows, on one thread.
#include <routecap/routecap.h>

#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>

#include "bench/wire_measure.h"
#include "wire/base64.h"

namespace routecap_bench {
namespace {

constexpr std::int64_t kRows = 8192;
constexpr std::int64_t kStoredSlots = 65536;
constexpr std::int64_t kIdsBytes = kRows * kLayers * kTopK;  ///< uint8
constexpr double kNoAim = 0;
constexpr double kSlowestCsv = 150;  ///< MB/s

void require_ok(std::int32_t status, const rcap_error& error) {
  if (status != RCAP_STATUS_OK) throw std::runtime_error(error.text);
}

rcap_error made_error() {
  rcap_error error;
  rcap_error_init(&error, sizeof error);
  return error;
}

/// A capturer whose slots are full, and the rows of one request in them.
class World {
 public:
  World() {
    rcap_capturer_config config;
    rcap_capturer_config_init(&config, sizeof config);
    config.num_experts = kExperts;
    config.top_k = static_cast<std::int32_t>(kTopK);
    config.chunked_prefill_size = kRows;
    config.max_running_requests = 64;
    config.num_slots = kStoredSlots;
    config.pipeline_depth = 2;
    std::vector<std::int32_t> layers(kLayers);
    std::iota(layers.begin(), layers.end(), 3);
    require_ok(rcap_capturer_create(&config, layers.data(), kLayers, nullptr, &capturer_, &error_), error_);
    rcap_model* model = nullptr;
    require_ok(rcap_capturer_add_model(capturer_, RCAP_ROLE_TARGET, "target", &model, &error_), error_);
    std::vector<rcap_tap*> taps(kLayers);
    for (std::size_t column = 0; column < taps.size(); ++column) {
      require_ok(rcap_model_add_tap(model, layers[column], nullptr, nullptr, 0, &taps[column], &error_), error_);
    }
    require_ok(rcap_capturer_seal(capturer_, &error_), error_);
    std::mt19937_64 random(1);
    order_.resize(kStoredSlots);
    std::iota(order_.begin(), order_.end(), 0);
    std::shuffle(order_.begin(), order_.end(), random);
    std::vector<std::int32_t> ids(static_cast<std::size_t>(kRows * kTopK));
    for (std::int64_t first = 0; first < kStoredSlots; first += kRows) {
      for (rcap_tap* tap : taps) {
        for (std::int32_t& id : ids) id = static_cast<std::int32_t>(random() % kExperts);
        rcap_capture_layout layout;
        rcap_capture_layout_init(&layout, sizeof layout);
        layout.ids_dtype = RCAP_DTYPE_INT32;
        layout.columns = static_cast<std::int32_t>(kTopK);
        layout.tokens = kRows;
        require_ok(rcap_tap_capture(tap, &layout, ids.data(), kRows * kTopK * 4, nullptr, 0, nullptr, 0, nullptr, &error_), error_);
      }
      rcap_forward_layout layout;
      rcap_forward_layout_init(&layout, sizeof layout);
      layout.tokens = kRows;
      layout.acceptance = RCAP_ACCEPT_ALL;
      rcap_output* output = nullptr;
      require_ok(rcap_capturer_end_forward(capturer_, &layout, order_.data() + first, kRows * 8, nullptr, 0, nullptr, 0, nullptr, &output, &error_),
                 error_);
      require_ok(rcap_output_copy_to_host(output, nullptr, &error_), error_);
      require_ok(rcap_output_finalize(output, nullptr, &error_), error_);
      rcap_output_destroy(output);
    }
    rcap_read_layout layout = request();
    require_ok(rcap_capturer_read(capturer_, &layout, order_.data(), kRows * 8, nullptr, 0, &record_, &error_), error_);
  }
  ~World() {
    rcap_record_destroy(record_);
    rcap_capturer_destroy(capturer_);
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// One request's rows from their slots; with `walk` every call reads others, as requests come.
  void encode_slots(std::int32_t format, std::int32_t dtype, std::string& out, bool walk) {
    rcap_encode_options options = chosen(dtype);
    const rcap_read_layout layout = request();
    std::int64_t needed = 0;
    require_ok(rcap_capturer_encode(capturer_, &layout, order_.data() + at_, kRows * 8, nullptr, 0, format, &options, out.data(),
                                    static_cast<std::int64_t>(out.size()), &needed, &error_),
               error_);
    if (walk) at_ = (at_ + kRows) % kStoredSlots;
  }

  void encode_record(std::int32_t format, std::int32_t dtype, std::string& out) {
    rcap_encode_options options = chosen(dtype);
    std::int64_t needed = 0;
    require_ok(rcap_record_encode(record_, format, &options, out.data(), static_cast<std::int64_t>(out.size()), &needed, &error_), error_);
  }

  void decode(std::int32_t format, const std::string& bytes) {
    rcap_decode_hints hints;
    rcap_decode_hints_init(&hints, sizeof hints);
    if (format != RCAP_WIRE_FRAME && format != RCAP_WIRE_FRAME_BASE64) {
      hints.start = 0;
      hints.num_experts = kExperts;
      hints.top_k = static_cast<std::int32_t>(kTopK);
      hints.num_layers = static_cast<std::int32_t>(kLayers);
      // A moe-trace names its layers.
      hints.num_layers = format == RCAP_WIRE_CSV ? 0 : hints.num_layers;
    }
    rcap_record* record = nullptr;
    require_ok(rcap_record_decode(format, bytes.data(), static_cast<std::int64_t>(bytes.size()), &hints, nullptr, 0, &record, nullptr, &error_),
               error_);
    rcap_record_destroy(record);
  }

  std::string sized_for(std::int32_t format, std::int32_t dtype) {
    rcap_encode_options options = chosen(dtype);
    std::int64_t needed = 0;
    require_ok(rcap_record_encode(record_, format, &options, nullptr, 0, &needed, &error_), error_);
    return std::string(static_cast<std::size_t>(needed), '\0');
  }

 private:
  static rcap_encode_options chosen(std::int32_t dtype) {
    rcap_encode_options options;
    rcap_encode_options_init(&options, sizeof options);
    options.dtype = dtype;
    return options;
  }

  static rcap_read_layout request() {
    rcap_read_layout layout;
    rcap_read_layout_init(&layout, sizeof layout);
    layout.tokens = kRows + 1;
    return layout;
  }

  rcap_error error_ = made_error();
  rcap_capturer* capturer_ = nullptr;
  rcap_record* record_ = nullptr;
  std::vector<std::int64_t> order_;
  std::int64_t at_ = 0;
};

World& world() {
  static World made;
  return made;
}

/// Beside a memcpy of the rows as int32: what an engine that keeps them so copies before it has encoded anything.
void slots_to(benchmark::State& state, std::int32_t format, std::int32_t dtype, bool walk, double aim) {
  std::string out = world().sized_for(format, dtype);
  beside_memcpy(state, kIdsBytes * 4, aim, static_cast<std::int64_t>(out.size()), [&] { world().encode_slots(format, dtype, out, walk); });
}

/// Beside a memcpy of what is written.
void record_to(benchmark::State& state, std::int32_t format, std::int32_t dtype, double aim) {
  std::string out = world().sized_for(format, dtype);
  const auto bytes = static_cast<std::int64_t>(out.size());
  beside_memcpy(state, bytes, aim, bytes, [&] { world().encode_record(format, dtype, out); });
}

/// Beside a memcpy of what is read.
void record_from(benchmark::State& state, std::int32_t format, double aim) {
  std::string bytes = world().sized_for(format, RCAP_DTYPE_NONE);
  world().encode_record(format, RCAP_DTYPE_NONE, bytes);
  const auto size = static_cast<std::int64_t>(bytes.size());
  beside_memcpy(state, size, aim, size, [&] { world().decode(format, bytes); });
  if (format == RCAP_WIRE_CSV) state.counters["aim"] = kSlowestCsv;
}

/// Beside a memcpy of half of what is read and written together, as much traffic as a memcpy has.
void base64_encode(benchmark::State& state) {
  std::mt19937_64 random(1);
  std::vector<std::byte> in(static_cast<std::size_t>(kIdsBytes));
  for (std::byte& byte : in) byte = static_cast<std::byte>(random());
  std::string out(static_cast<std::size_t>(routecap::base64_encoded_size(kIdsBytes)), '\0');
  beside_memcpy(state, (kIdsBytes + static_cast<std::int64_t>(out.size())) / 2, 1.3, kIdsBytes,
                [&] { routecap::base64_encode(in.data(), kIdsBytes, out.data()); });
}

void base64_decode(benchmark::State& state) {
  std::mt19937_64 random(1);
  std::vector<std::byte> bytes(static_cast<std::size_t>(kIdsBytes));
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  std::string text(static_cast<std::size_t>(routecap::base64_encoded_size(kIdsBytes)), '\0');
  routecap::base64_encode(bytes.data(), kIdsBytes, text.data());
  const auto chars = static_cast<std::int64_t>(text.size());
  std::vector<std::byte> out(static_cast<std::size_t>(routecap::base64_decoded_size_at_most(chars)));
  beside_memcpy(state, (kIdsBytes + chars) / 2, 1.3, chars, [&] {
    if (!routecap::base64_decode(text.data(), chars, out.data()).ok()) throw std::logic_error("base64 that was just written is bad");
  });
}

template <class Run>
void add(const char* name, Run run) {
  benchmark::RegisterBenchmark(name, run)->UseManualTime()->Unit(benchmark::kMicrosecond)->MinTime(0.02);
}

void add_all() {
  add("wire_base64_encode", base64_encode);
  add("wire_base64_decode", base64_decode);
  add("wire_slots_to_sglang_uint8", [](benchmark::State& state) { slots_to(state, RCAP_WIRE_SGLANG, RCAP_DTYPE_UINT8, false, 0.6); });
  add("wire_slots_to_sglang_uint8_walk", [](benchmark::State& state) { slots_to(state, RCAP_WIRE_SGLANG, RCAP_DTYPE_UINT8, true, kNoAim); });
  add("wire_slots_to_sglang_int32", [](benchmark::State& state) { slots_to(state, RCAP_WIRE_SGLANG, RCAP_DTYPE_INT32, false, kNoAim); });
  add("wire_slots_to_vllm", [](benchmark::State& state) { slots_to(state, RCAP_WIRE_VLLM, RCAP_DTYPE_NONE, false, kNoAim); });
  add("wire_slots_to_npy", [](benchmark::State& state) { slots_to(state, RCAP_WIRE_NPY, RCAP_DTYPE_NONE, false, kNoAim); });
  add("wire_slots_to_prime", [](benchmark::State& state) { slots_to(state, RCAP_WIRE_PRIME, RCAP_DTYPE_NONE, false, kNoAim); });
  add("wire_slots_to_nemo", [](benchmark::State& state) { slots_to(state, RCAP_WIRE_NEMO, RCAP_DTYPE_NONE, false, kNoAim); });
  add("wire_slots_to_frame", [](benchmark::State& state) { slots_to(state, RCAP_WIRE_FRAME, RCAP_DTYPE_NONE, false, kNoAim); });
  add("wire_record_to_frame", [](benchmark::State& state) { record_to(state, RCAP_WIRE_FRAME, RCAP_DTYPE_NONE, 1.5); });
  add("wire_record_from_frame", [](benchmark::State& state) { record_from(state, RCAP_WIRE_FRAME, 2.0); });
  add("wire_record_to_sglang_int32", [](benchmark::State& state) { record_to(state, RCAP_WIRE_SGLANG, RCAP_DTYPE_INT32, kNoAim); });
  add("wire_record_from_sglang_int32", [](benchmark::State& state) { record_from(state, RCAP_WIRE_SGLANG, kNoAim); });
  add("wire_record_from_vllm", [](benchmark::State& state) { record_from(state, RCAP_WIRE_VLLM, kNoAim); });
  add("wire_record_to_csv", [](benchmark::State& state) { record_to(state, RCAP_WIRE_CSV, RCAP_DTYPE_NONE, kNoAim); });
  // Here the aim is a rate: MB/s.
  add("wire_record_from_csv", [](benchmark::State& state) { record_from(state, RCAP_WIRE_CSV, kNoAim); });
}

}  // namespace
}  // namespace routecap_bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  routecap_bench::add_all();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
