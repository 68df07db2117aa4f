// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "routecap/routecap.h"

namespace routecap::abi {

using Structs = std::tuple<int
#define RCAP_STRUCT(type, initializer) , type
#include "structs.inc"
#undef RCAP_STRUCT
                           >;

inline void destroy(rcap_backend* handle) { rcap_backend_destroy(handle); }
inline void destroy(rcap_capturer* handle) { rcap_capturer_destroy(handle); }
inline void destroy(rcap_output* handle) { rcap_output_destroy(handle); }
inline void destroy(rcap_record* handle) { rcap_record_destroy(handle); }

template <typename Handle>
concept Owned = requires(Handle handle) {
  destroy(handle);
};

// How far a capturer has come when the function is called.
enum class Stage { ADDING_MODELS, ADDING_TAPS, SEALING, SEALED, STAGED, ACCEPTING, COPIED, COMPLETING };

inline Stage stage_of(std::string_view function) {
  static const std::map<std::string_view, Stage> kStages = {
      {"rcap_capturer_add_model", Stage::ADDING_MODELS},
      {"rcap_model_set_capture", Stage::ADDING_TAPS},
      {"rcap_model_add_tap", Stage::ADDING_TAPS},
      {"rcap_capturer_seal", Stage::SEALING},
      {"rcap_output_accept", Stage::ACCEPTING},
      {"rcap_output_wait", Stage::COPIED},
      {"rcap_output_finalize", Stage::COPIED},
      {"rcap_capturer_completion_fd", Stage::COMPLETING},
      {"rcap_capturer_next_completed", Stage::COMPLETING},
  };
  if (const auto found = kStages.find(function); found != kStages.end()) {
    return found->second;
  }
  return function.starts_with("rcap_output_") ? Stage::STAGED : Stage::SEALED;
}

// Memory of one array argument.
using Array = std::array<std::int64_t, 16>;

// One row of one layer with one id, as nested lists.
inline constexpr std::string_view kLists = "[[[0]]]";

// A name that the function knows.
inline const char* text_of(std::string_view function) { return function == "rcap_wire_format_of" ? "frame" : "host"; }

// Lengths and numbers that are not 0. A name without a function holds for all of them.
inline std::int64_t number_of(const std::string& function, const std::string& parameter) {
  static const std::map<std::string, std::int64_t> kNumbers = {
      {"attn_tp_size", 1},
      {"tokens_per_rank_count", 1},
      {"layer_ids_count", 1},
      {"layer_flags_count", 1},
      {"row_ids_count", 1},
      {"tags_count", 1},
      {"slots_bytes", 8},
      {"rows_bytes", 8},
      {"from_bytes", 8},
      {"to_bytes", 8},
      {"id_map_bytes", 8},
      {"rcap_capturer_add_model.role", RCAP_ROLE_DRAFT},
      {"rcap_model_set_capture.gate", RCAP_CAPTURE_ALLOW},
      {"rcap_tap_capture.ids_bytes", 4},
      {"rcap_tap_capture.weights_bytes", 4},
      {"rcap_capturer_next_completed.timeout_ns", 60'000'000'000},
      {"rcap_capturer_read_into.ids_bytes", 64},
      {"rcap_capturer_read_into.weights_bytes", 64},
      {"rcap_capturer_read_into.validity_bytes", 64},
      {"rcap_record_create.ids_bytes", 1},
      {"rcap_record_create.weights_bytes", 4},
      {"rcap_record_create.validity_bytes", 1},
      {"rcap_record_slice.end", 1},
      {"rcap_record_append.overlap", RCAP_OVERLAP_KEEP_OLD},
      {"positions_count", 1},
      {"other_positions_count", 1},
      {"by_layer_count", 1},
      {"rcap_record_encode.format", RCAP_WIRE_LISTS},
      {"rcap_record_decode.format", RCAP_WIRE_LISTS},
      {"rcap_capturer_encode.format", RCAP_WIRE_SGLANG},
      {"bytes_bytes", static_cast<std::int64_t>(kLists.size())},
      {"rcap_backend_search.text_bytes", static_cast<std::int64_t>(sizeof(Array))},
      {"buffer_bytes", static_cast<std::int64_t>(sizeof(Array))},
      {"rcap_record_fill.ids_bytes", 8},
      {"row_mask_bytes", 1},
      {"cell_mask_bytes", 1},
      {"lengths_count", 1},
      {"offsets_count", 2},
      {"multiple", 1},
      {"item_bytes", 1},
      {"pad_bytes", 1},
      {"num_layers", 1},
      {"pp_size", 1},
      {"vp_size", 1},
      {"moe_layers_count", 1},
      {"selected_count", 1},
      {"rcap_layers_split.tokens", 1},
      {"rcap_layers_split.whole_bytes", 1},
      {"rcap_layers_split.part_bytes", 1},
      {"rcap_layers_gather.tokens", 1},
      {"rcap_layers_gather.whole_bytes", 1},
      {"rcap_layers_gather.part_bytes", 1},
  };
  if (const auto found = kNumbers.find(function + "." + parameter); found != kNumbers.end()) {
    return found->second;
  }
  const auto found = kNumbers.find(parameter);
  return found == kNumbers.end() ? 0 : found->second;
}

// One layer, one expert of two per token, weights and tags kept, a PARTIAL tap: so every array of every function has a use.
class Scene {
 public:
  explicit Scene(std::string_view function) {
#define RCAP_STRUCT(type, initializer) type##_init(&structure<type>(), sizeof(type));
#include "structs.inc"
#undef RCAP_STRUCT
    rcap_error_init(&err, sizeof err);
    auto& config = structure<rcap_capturer_config>();
    config.num_experts = 2;
    config.top_k = 1;
    config.weights_dtype = RCAP_DTYPE_FLOAT32;
    config.tags = 1;
    config.chunked_prefill_size = 4;
    config.num_slots = 4;
    structure<rcap_tap_options>().flags = RCAP_TAP_PARTIAL;
    auto& capture = structure<rcap_capture_layout>();
    capture.weights_dtype = RCAP_DTYPE_FLOAT32;
    capture.columns = 1;
    capture.tokens = 1;
    auto& forward = structure<rcap_forward_layout>();
    forward.tokens = 1;
    forward.acceptance = RCAP_ACCEPT_GIVEN;
    structure<rcap_read_layout>().tokens = 2;
    auto& record = structure<rcap_record_layout>();
    record.rows = 1;
    record.num_experts = 2;
    record.top_k = 1;
    record.weights_dtype = RCAP_DTYPE_FLOAT32;
    structure<rcap_decode_hints>().num_experts = 2;
    structure<rcap_decode_hints>().start = 0;
    structure<rcap_fill_layout>().tokens = 1;
    structure<rcap_fill_layout>().length = 1;
    // Nothing is stored where a capturer's slots are encoded.
    structure<rcap_encode_options>().missing = RCAP_MISSING_MINUS_ONE;
    stacks_ = function == "rcap_record_stack";
    build(stage_of(function));
  }

  ~Scene() {
    for (const auto& end : ends_) {
      end();
    }
    rcap_record_destroy(handle<rcap_record>());
    rcap_record_destroy(other_layer_);
    rcap_output_destroy(handle<rcap_output>());
    rcap_capturer_destroy(handle<rcap_capturer>());
    rcap_backend_destroy(handle<rcap_backend>());
  }
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  template <typename Struct>
  Struct& structure() {
    return std::get<Struct>(structs_);
  }
  template <typename Handle>
  Handle*& handle() {
    return std::get<Handle*>(handles_);
  }

  // A handle as an argument. Two records are the same one, except where they must not have the same layer.
  template <typename Handle>
  Handle* argument() {
    if constexpr (std::is_same_v<Handle, rcap_record>) {
      if (stacks_ && std::exchange(record_given_, true)) {
        return other_layer_;
      }
    }
    return handle<Handle>();
  }

  // Zeros, which are a legal id, slot, row, tag, flag set and layer number; targets of a copy must differ from its sources, and so must the positions
  // of two records.
  void* array(std::string_view parameter) {
    auto& bytes = arrays_.emplace_back();
    bytes.front() = parameter == "to" || parameter == "other_positions" ? 1 : 0;
    if (parameter == "bytes") std::copy(kLists.begin(), kLists.end(), static_cast<char*>(static_cast<void*>(bytes.data())));
    return bytes.data();
  }

  // Where a function puts what it gives; a handle that the caller owns is given back.
  template <typename Value>
  Value* out() {
    auto* const place = static_cast<Value*>(static_cast<void*>(arrays_.emplace_back().data()));
    if constexpr (Owned<Value>) {
      ends_.push_back([place] { destroy(*place); });
    }
    return place;
  }

  rcap_error err{};

 private:
  void build(Stage stage) {
    auto& config = structure<rcap_capturer_config>();
    config.finalize_mode = stage == Stage::COMPLETING ? RCAP_FINALIZE_OWN_THREAD : RCAP_FINALIZE_CALLER;
    const std::int32_t layer = 0;
    ok(rcap_backend_open("host", nullptr, &handle<rcap_backend>(), &err));
    ok(rcap_capturer_create(&config, &layer, 1, nullptr, &handle<rcap_capturer>(), &err));
    build_record(0, handle<rcap_record>());
    build_record(1, other_layer_);
    if (stage == Stage::ADDING_MODELS) {
      return;
    }
    ok(rcap_capturer_add_model(handle<rcap_capturer>(), RCAP_ROLE_TARGET, "target", &handle<rcap_model>(), &err));
    if (stage == Stage::ADDING_TAPS) {
      structure<rcap_tap_options>().id_map_dtype = RCAP_DTYPE_INT32;
      return;
    }
    ok(rcap_model_add_tap(handle<rcap_model>(), layer, &structure<rcap_tap_options>(), nullptr, 0, &handle<rcap_tap>(), &err));
    if (stage == Stage::SEALING) {
      return;
    }
    ok(rcap_capturer_seal(handle<rcap_capturer>(), &err));
    if (stage != Stage::SEALED) {
      build_output(stage);
    }
  }

  void build_record(std::int32_t layer, rcap_record*& record) {
    const std::uint8_t id = 1;
    const float weight = 1;
    ok(rcap_record_create(&structure<rcap_record_layout>(), &layer, 1, nullptr, 0, &id, sizeof id, &weight, sizeof weight, nullptr, 0, &record,
                          &err));
  }

  void build_output(Stage stage) {
    auto layout = structure<rcap_forward_layout>();
    layout.acceptance = stage == Stage::ACCEPTING ? RCAP_ACCEPT_LATER : RCAP_ACCEPT_ALL;
    const std::int64_t slot = 0;
    const std::int64_t tag = 0;
    if (stage == Stage::COMPLETING) {
      std::int32_t fd = -1;
      ok(rcap_capturer_completion_fd(handle<rcap_capturer>(), &fd, &err));
    }
    ok(rcap_capturer_end_forward(handle<rcap_capturer>(), &layout, &slot, sizeof slot, nullptr, 0, &tag, 1, nullptr, &handle<rcap_output>(), &err));
    if (stage == Stage::COPIED) {
      ok(rcap_output_copy_to_host(handle<rcap_output>(), nullptr, &err));
    }
  }

  void ok(rcap_status status) {
    INFO(std::string(err.text));
    REQUIRE_EQ(status, RCAP_STATUS_OK);
  }

  Structs structs_{};
  std::tuple<rcap_backend*, rcap_capturer*, rcap_model*, rcap_tap*, rcap_output*, rcap_record*> handles_{};
  rcap_record* other_layer_ = nullptr;
  bool stacks_ = false;
  bool record_given_ = false;
  std::deque<Array> arrays_;
  std::vector<std::function<void()>> ends_;
};

}  // namespace routecap::abi
