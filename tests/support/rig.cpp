// SPDX-License-Identifier: Apache-2.0
#include "support/rig.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "support/device.h"

namespace routecap_test {
namespace {

constexpr std::int64_t kPatience = 20'000'000'000;  // an own thread that needs longer hangs

template <class T>
Placed placed(const std::vector<T>& values, std::int32_t memory) {
  return {values.data(), static_cast<std::int64_t>(values.size() * sizeof(T)), memory};
}

}  // namespace

Setup::Setup() : config(make<rcap_capturer_config>()) {
  config.num_experts = 64;
  config.top_k = 4;
  config.chunked_prefill_size = 64;
  config.max_running_requests = 16;
  config.num_slots = 128;
  config.pipeline_depth = 4;
  backend = test_backend();
}

std::int64_t size_of(std::int32_t dtype) {
  switch (dtype) {
    case RCAP_DTYPE_UINT8: return 1;
    case RCAP_DTYPE_UINT16:
    case RCAP_DTYPE_INT16:
    case RCAP_DTYPE_FLOAT16:
    case RCAP_DTYPE_BFLOAT16: return 2;
    case RCAP_DTYPE_INT32:
    case RCAP_DTYPE_FLOAT32: return 4;
    case RCAP_DTYPE_INT64: return 8;
    default: return 0;
  }
}

std::vector<std::byte> packed(const std::vector<std::int64_t>& values, std::int32_t dtype) {
  const auto size = static_cast<std::size_t>(size_of(dtype));
  std::vector<std::byte> bytes(values.size() * size);
  // The low bytes of a little-endian integer are the integer cut to that width.
  for (std::size_t i = 0; i < values.size(); ++i) std::memcpy(bytes.data() + i * size, &values[i], size);
  return bytes;
}

void require_ok(std::int32_t status, const std::string& what, const std::string& text, const char* file, int line) {
  if (status == RCAP_STATUS_OK) return;
  throw std::runtime_error(std::string(file) + ":" + std::to_string(line) + ": " + what + " answered " + name(status) + ": " + text);
}

bool bit(const std::vector<std::byte>& bitmap, std::int64_t index) {
  return (std::to_integer<unsigned>(bitmap.at(static_cast<std::size_t>(index / 8))) >> (index % 8) & 1U) != 0;
}

Rig::Rig(const Setup& setup, const char* file, int line) : setup_(setup), router_(setup.config.num_experts, setup.config.top_k) {
  Error error;
  rcap_capturer* capturer = nullptr;
  const auto ok = [&](std::int32_t status, const char* what) { require_ok(status, what, error.text(), file, line); };
  ok(rcap_capturer_create(&setup_.config, setup_.layer_ids.data(), layers(), setup_.backend, &capturer, error), "create");
  capturer_.reset(capturer);
  ok(rcap_capturer_add_model(capturer, RCAP_ROLE_TARGET, "target", &target_, error), "add_model");
  for (std::size_t column = 0; column < setup_.layer_ids.size(); ++column) {
    auto options = make<rcap_tap_options>();
    options.flags = column < setup_.tap_flags.size() ? setup_.tap_flags[column] : 0;
    rcap_tap* tap = nullptr;
    ok(rcap_model_add_tap(target_, setup_.layer_ids[column], &options, nullptr, 0, &tap, error), "add_tap");
    taps_.push_back(tap);
  }
  for (const auto& numbers : setup_.drafts) {
    rcap_model* draft = nullptr;
    ok(rcap_capturer_add_model(capturer, RCAP_ROLE_DRAFT, "draft", &draft, error), "add_model");
    draft_taps_.emplace_back();
    for (const std::int32_t number : numbers) {
      rcap_tap* tap = nullptr;
      ok(rcap_model_add_tap(draft, number, nullptr, nullptr, 0, &tap, error), "add_tap");
      draft_taps_.back().push_back(tap);
    }
  }
  if (setup_.seal) ok(rcap_capturer_seal(capturer, error), "seal");
}

std::vector<std::int32_t> Rig::expected(std::int64_t seed) const {
  std::vector<std::int32_t> row;
  for (const std::int32_t layer : setup_.layer_ids) {
    const auto ids = router_.ids(seed, layer);
    row.insert(row.end(), ids.begin(), ids.end());
  }
  return row;
}

void Rig::remember(const Seeds& seeds) {
  for (const std::int64_t seed : seeds) {
    const auto [place, inserted] = seed_of_.emplace(expected(seed), seed);
    if (place->second != seed) throw std::runtime_error("two seeds of this test have one row: choose others");
  }
}

std::int32_t Rig::capture(std::size_t column, const Seeds& seeds, std::int64_t first_row, rcap_error* error) {
  return capture_with(tap(column), setup_.layer_ids.at(column), seeds, first_row, error);
}

std::int32_t Rig::capture_with(rcap_tap* tap, std::int32_t layer_number, const Seeds& seeds, std::int64_t first_row, rcap_error* error) {
  remember(seeds);
  const std::int32_t columns = top_k() + setup_.config.num_fused_shared_experts;
  std::vector<std::int32_t> ids;
  std::vector<float> weights;
  for (const std::int64_t seed : seeds) {
    const auto row = router_.ids(seed, layer_number);
    ids.insert(ids.end(), row.begin(), row.end());
    const auto row_weights = router_.weights(seed, layer_number);
    weights.insert(weights.end(), row_weights.begin(), row_weights.end());
    for (std::int32_t shared = 0; shared < setup_.config.num_fused_shared_experts; ++shared) {
      ids.push_back(setup_.config.num_experts + shared);  // as a fused kernel numbers them: behind the routed ones
      weights.push_back(1.0F);
    }
  }
  auto layout = make<rcap_capture_layout>();
  layout.ids_dtype = RCAP_DTYPE_INT32;
  layout.weights_dtype = RCAP_DTYPE_FLOAT32;
  layout.columns = columns;
  layout.tokens = static_cast<std::int64_t>(seeds.size());
  layout.first_row = first_row;
  // Ids of either memory mean the same: on a device, half of the calls take each.
  if (test_backend() != nullptr && (layout.tokens % 2 + first_row % 2 + layer_number % 2) % 2 != 0) layout.memory = RCAP_MEMORY_DEVICE;
  if (setup_.config.weights_dtype == RCAP_DTYPE_NONE) weights.clear();
  const Placed given = placed(ids, layout.memory);
  const Placed given_weights = placed(weights, layout.memory);
  return rcap_tap_capture(tap, &layout, given.data(), given.bytes(), given_weights.data(), given_weights.bytes(), nullptr, 0, nullptr, error);
}

std::int32_t Rig::capture_rows(std::size_t column, const Seeds& seeds, const std::vector<std::int32_t>& row_ids, std::int64_t first_row,
                               std::int32_t memory, rcap_error* error) {
  remember(seeds);
  std::vector<std::int32_t> ids;
  std::vector<float> weights;
  for (const std::int64_t seed : seeds) {
    const auto row = router_.ids(seed, setup_.layer_ids.at(column));
    ids.insert(ids.end(), row.begin(), row.end());
    const auto row_weights = router_.weights(seed, setup_.layer_ids.at(column));
    weights.insert(weights.end(), row_weights.begin(), row_weights.end());
  }
  auto layout = make<rcap_capture_layout>();
  layout.ids_dtype = RCAP_DTYPE_INT32;
  layout.weights_dtype = RCAP_DTYPE_FLOAT32;
  layout.memory = memory;
  layout.columns = top_k();
  layout.tokens = static_cast<std::int64_t>(seeds.size());
  layout.first_row = first_row;
  if (setup_.config.weights_dtype == RCAP_DTYPE_NONE) weights.clear();
  const Placed given = placed(ids, memory);
  const Placed given_weights = placed(weights, memory);
  const Placed given_rows = placed(row_ids, memory);
  return rcap_tap_capture(tap(column), &layout, given.data(), given.bytes(), given_weights.data(), given_weights.bytes(),
                          given_rows.as<std::int32_t>(), static_cast<std::int64_t>(row_ids.size()), nullptr, error);
}

void Rig::capture_all(const Seeds& seeds, std::int64_t first_row, const char* file, int line) {
  for (std::size_t column = 0; column < taps_.size(); ++column) {
    Error error;
    require_ok(capture(column, seeds, first_row, error), "capture", error.text(), file, line);
  }
}

std::int32_t Rig::try_end(const Forward& forward, Output& output, rcap_error* error) {
  auto layout = make<rcap_forward_layout>();
  layout.first_row = forward.first_row;
  layout.tokens = forward.tokens;
  layout.acceptance = forward.acceptance;
  layout.slots_dtype = forward.slots_dtype;
  layout.rows_dtype = forward.rows_dtype;
  layout.slots_memory = forward.slots_memory;
  layout.rows_memory = forward.rows_memory;
  layout.tags_memory = forward.tags_memory;
  layout.groups = forward.groups;
  layout.group_width = forward.group_width;
  layout.slots_group_stride = forward.slots_group_stride;
  layout.rows_group_stride = forward.rows_group_stride;
  layout.step = forward.step;
  layout.weight_version = forward.weight_version;
  const Placed slots(packed(forward.slots, forward.slots_dtype), forward.slots_memory);
  const Placed rows(packed(forward.rows, forward.rows_dtype), forward.rows_memory);
  std::vector<std::int64_t> tags = forward.tags;
  if (setup_.config.tags != 0 && tags.empty()) tags.assign(static_cast<std::size_t>(std::max<std::int64_t>(forward.tokens, 0)), 0);
  const Placed given_tags = placed(tags, forward.tags_memory);
  rcap_output* handle = nullptr;
  const std::int32_t status =
      rcap_capturer_end_forward(get(), &layout, slots.data(), slots.bytes(), rows.data(), rows.bytes(), given_tags.as<std::int64_t>(),
                                static_cast<std::int64_t>(tags.size()), nullptr, &handle, error);
  output.reset(handle);
  if ((status == RCAP_STATUS_OK) != (handle != nullptr)) throw std::runtime_error("end_forward gives an output exactly when it answers OK");
  return status;
}

Output Rig::end(const Forward& forward, const char* file, int line) {
  Error error;
  Output output;
  require_ok(try_end(forward, output, error), "end_forward", error.text(), file, line);
  return output;
}

Output Rig::forward(const Seeds& seeds, const Slots& slots, const char* file, int line) {
  capture_all(seeds, 0, file, line);
  Forward forward{.tokens = static_cast<std::int64_t>(seeds.size()), .slots = slots};
  if (setup_.config.tags != 0) {
    for (const std::int64_t seed : seeds) forward.tags.push_back(tag(seed));
  }
  return end(forward, file, line);
}

Output Rig::forward_later(const Seeds& seeds, const Slots& may_write, const char* file, int line) {
  capture_all(seeds, 0, file, line);
  return end({.tokens = static_cast<std::int64_t>(seeds.size()), .acceptance = RCAP_ACCEPT_LATER, .slots = may_write}, file, line);
}

rcap_summary Rig::settle(const Output& output, const char* file, int line) const {
  Error error;
  auto summary = make<rcap_summary>();
  if (setup_.config.finalize_mode == RCAP_FINALIZE_CALLER) {
    require_ok(rcap_output_copy_to_host(output.get(), nullptr, error), "copy_to_host", error.text(), file, line);
  }
  require_ok(rcap_output_wait(output.get(), kPatience, error), "wait", error.text(), file, line);
  require_ok(rcap_output_finalize(output.get(), &summary, error), "finalize", error.text(), file, line);
  if (summary.entries != summary.rows_stored + summary.rows_bad + summary.rows_outdated + summary.rows_reserved) {
    throw std::runtime_error(std::string(file) + ":" + std::to_string(line) + ": the parts of the summary do not add up to its entries");
  }
  return summary;
}

rcap_summary Rig::store(const Seeds& seeds, const Slots& slots, const char* file, int line) {
  return settle(forward(seeds, slots, file, line), file, line);
}

std::int32_t Rig::try_accept(const Output& output, const Accept& accept, rcap_error* error) {
  auto layout = make<rcap_accept_layout>();
  layout.slots_dtype = accept.slots_dtype;
  layout.rows_dtype = accept.rows_dtype;
  layout.slots_memory = accept.slots_memory;
  layout.rows_memory = accept.rows_memory;
  layout.groups = accept.groups;
  layout.group_width = accept.group_width;
  layout.slots_group_stride = accept.slots_group_stride;
  layout.rows_group_stride = accept.rows_group_stride;
  const Placed slots(packed(accept.slots, accept.slots_dtype), accept.slots_memory);
  const Placed rows(packed(accept.rows, accept.rows_dtype), accept.rows_memory);
  return rcap_output_accept(output.get(), &layout, rows.data(), rows.bytes(), slots.data(), slots.bytes(), nullptr, error);
}

void Rig::accept(const Output& output, const Accept& accept, const char* file, int line) {
  Error error;
  require_ok(try_accept(output, accept, error), "accept", error.text(), file, line);
}

std::int32_t Rig::try_release(const Slots& slots, rcap_error* error, std::int32_t unit, std::int32_t memory) {
  auto layout = make<rcap_slots_layout>();
  layout.unit = unit;
  layout.memory = memory;
  const Placed given = placed(slots, memory);
  return rcap_capturer_release_slots(get(), &layout, given.data(), given.bytes(), nullptr, error);
}

std::int32_t Rig::try_copy(const Slots& from, const Slots& to, rcap_error* error, std::int32_t unit, std::int32_t memory) {
  auto layout = make<rcap_slots_layout>();
  layout.unit = unit;
  layout.memory = memory;
  const Placed given = placed(from, memory);
  const Placed given_to = placed(to, memory);
  return rcap_capturer_copy_slots(get(), &layout, given.data(), given.bytes(), given_to.data(), given_to.bytes(), nullptr, error);
}

void Rig::release(const Slots& slots, const char* file, int line) {
  Error error;
  require_ok(try_release(slots, error), "release_slots", error.text(), file, line);
}

void Rig::copy(const Slots& from, const Slots& to, const char* file, int line) {
  Error error;
  require_ok(try_copy(from, to, error), "copy_slots", error.text(), file, line);
}

void Rig::release_all(const char* file, int line) {
  Error error;
  require_ok(rcap_capturer_release_all(get(), nullptr, error), "release_all", error.text(), file, line);
}

void Rig::discard(const char* file, int line) {
  Error error;
  require_ok(rcap_capturer_discard_forward(get(), nullptr, error), "discard_forward", error.text(), file, line);
}

void Rig::settle_drops(std::int64_t in_flight, const char* file, int line) const {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::nanoseconds(kPatience);
  for (; stats().in_flight > in_flight; std::this_thread::yield()) {
    static_cast<void>(info(0, file, line));
    if (std::chrono::steady_clock::now() > deadline)
      throw std::runtime_error(std::string(file) + ":" + std::to_string(line) + ": a block stays taken");
  }
}

rcap_capturer_stats Rig::stats() const {
  Error error;
  auto stats = make<rcap_capturer_stats>();
  require_ok(rcap_capturer_stats_get(get(), &stats, error), "stats", error.text(), __FILE__, __LINE__);
  return stats;
}

rcap_slot_info Rig::info(std::int64_t slot, const char* file, int line) const {
  Error error;
  auto info = make<rcap_slot_info>();
  require_ok(rcap_capturer_slot_info_get(get(), slot, &info, error), "slot_info", error.text(), file, line);
  return info;
}

}  // namespace routecap_test
