// SPDX-License-Identifier: Apache-2.0
#include "unit/fault_entries.h"

#include <utility>

#include <doctest/doctest.h>

namespace routecap_test {

World::World(bool sealed) {
  Setup setup;
  setup.seal = sealed;
  setup.config.tags = 1;
  setup.config.weights_dtype = RCAP_DTYPE_FLOAT16;
  setup.config.pipeline_depth = 4;
  setup.tap_flags = {0, RCAP_TAP_PARTIAL, 0};
  setup.drafts = {{5}};
  rig = std::make_unique<Rig>(setup);
  if (!sealed) return;
  rig->store({1, 2}, {10, 11});
  pending = rig->forward({3}, {10});
  later = rig->forward_later({4, 5});
  rig->capture(0, {6, 7});
  rig->capture_rows(1, {7}, {1});
  rig->capture(2, {6, 7});
  auto layout = make<rcap_read_layout>();
  layout.tokens = 3;
  rcap_record* handle = nullptr;
  REQUIRE(rcap_capturer_read(rig->get(), &layout, slots, 16, nullptr, 0, &handle, nullptr) == RCAP_STATUS_OK);
  given = Record(handle);
  info = make<rcap_record_info>();
  REQUIRE(rcap_record_info_get(given.get(), &info, nullptr) == RCAP_STATUS_OK);
  const std::int32_t other = 4;
  auto one_layer = make<rcap_record_layout>();
  one_layer.rows = info.rows;
  one_layer.num_experts = info.num_experts;
  one_layer.top_k = info.top_k;
  one_layer.weights_dtype = info.weights_dtype;
  const std::int64_t cells = info.rows * info.top_k;
  const std::vector<std::uint8_t> ids(static_cast<std::size_t>(cells), 1);
  const std::vector<std::uint16_t> weights(static_cast<std::size_t>(cells), 0);
  rcap_record* other_handle = nullptr;
  REQUIRE(rcap_record_create(&one_layer, &other, 1, nullptr, 0, ids.data(), cells, weights.data(), 2 * cells, nullptr, 0, &other_handle, nullptr) ==
          RCAP_STATUS_OK);
  other_layer = Record(other_handle);
  for (std::int32_t format = RCAP_WIRE_FRAME; format <= RCAP_WIRE_CSV; ++format) {
    std::vector<char>& form = forms.at(static_cast<std::size_t>(format));
    std::int64_t needed = 0;
    REQUIRE(rcap_record_encode(given.get(), format, nullptr, buffer.data(), static_cast<std::int64_t>(buffer.size()), &needed, nullptr) ==
            RCAP_STATUS_OK);
    form.assign(buffer.begin(), buffer.begin() + needed);
  }
  Setup threaded;
  threaded.config.finalize_mode = RCAP_FINALIZE_OWN_THREAD;
  own = std::make_unique<Rig>(threaded);
}

std::vector<Entry> entries() {
  std::vector<Entry> all;
  const auto add = [&](const char* function, std::function<std::int32_t(World&)> call, bool sealed = true) {
    all.push_back({function, std::move(call), sealed});
  };
  static const std::int32_t kLayers[3] = {3, 5, 9};
  add("rcap_build_info_get", [](World& w) {
    auto info = make<rcap_build_info>();
    return rcap_build_info_get(&info, w.error);
  });
  add("rcap_layout_rows", [](World& w) {
    std::int64_t first = 0;
    std::int64_t tokens = 0;
    return rcap_layout_rows(RCAP_ROWS_CONCATENATED, w.slots, 2, 1, 2, 0, 0, &first, &tokens, w.error);
  });
  add("rcap_backend_open", [](World& w) {
    rcap_backend* handle = nullptr;
    const auto status = rcap_backend_open("host", nullptr, &handle, w.error);
    w.backend.reset(handle);
    return status;
  });
#if defined(ROUTECAP_TEST_PLUGIN)
  add("rcap_backend_open", [](World& w) {
    rcap_backend* handle = nullptr;
    const auto status = rcap_backend_open(ROUTECAP_TEST_PLUGIN, nullptr, &handle, w.error);
    w.backend.reset(handle);
    return status;
  });
#endif
  add("rcap_backend_search", [](World& w) {
    std::int64_t needed = 0;
    return rcap_backend_search("nowhere", w.buffer.data(), static_cast<std::int64_t>(w.buffer.size()), &needed, w.error);
  });
  add("rcap_backend_describe", [](World& w) {
    rcap_backend* handle = nullptr;
    auto info = make<rcap_backend_info>();
    const auto status = rcap_backend_open("host", nullptr, &handle, w.error);
    w.backend.reset(handle);
    return status == RCAP_STATUS_OK ? rcap_backend_describe(handle, &info, w.error) : status;
  });
  add("rcap_capturer_plan_get", [](World& w) {
    auto plan = make<rcap_capturer_plan>();
    return rcap_capturer_plan_get(&w.rig->setup().config, kLayers, 3, &plan, w.error);
  });
  for (const bool own : {false, true}) {
    add("rcap_capturer_create", [own](World& w) {
      rcap_capturer_config config = w.rig->setup().config;
      config.finalize_mode = own ? RCAP_FINALIZE_OWN_THREAD : RCAP_FINALIZE_CALLER;
      rcap_capturer* handle = nullptr;
      const auto status = rcap_capturer_create(&config, kLayers, 3, nullptr, &handle, w.error);
      w.capturer.reset(handle);
      return status;
    });
  }
  add(
      "rcap_capturer_add_model",
      [](World& w) {
        rcap_model* model = nullptr;
        return rcap_capturer_add_model(w.rig->get(), RCAP_ROLE_DRAFT, "a name that is too long for any small buffer", &model, w.error);
      },
      false);
  add(
      "rcap_model_set_capture", [](World& w) { return rcap_model_set_capture(w.rig->target(), RCAP_CAPTURE_ALLOW, w.error); }, false);
  add(
      "rcap_model_add_tap",
      [](World& w) {
        rcap_model* model = nullptr;
        rcap_tap* tap = nullptr;
        const auto status = rcap_capturer_add_model(w.rig->get(), RCAP_ROLE_DRAFT, "mtp", &model, w.error);
        return status == RCAP_STATUS_OK ? rcap_model_add_tap(model, 5, nullptr, nullptr, 0, &tap, w.error) : status;
      },
      false);
  add(
      "rcap_capturer_seal", [](World& w) { return rcap_capturer_seal(w.rig->get(), w.error); }, false);
  add("rcap_tap_capture", [](World& w) {
    static const std::int32_t ids[4] = {1, 2, 3, 4};
    static const float weights[4] = {1, 2, 3, 4};
    auto layout = make<rcap_capture_layout>();
    layout.columns = 4;
    layout.tokens = 1;
    layout.first_row = 30;
    layout.weights_dtype = RCAP_DTYPE_FLOAT32;
    return rcap_tap_capture(w.rig->tap(0), &layout, ids, 16, weights, 16, nullptr, 0, nullptr, w.error);
  });
  add("rcap_tap_capture", [](World& w) {
    static const std::int32_t ids[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const float weights[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const std::int32_t row_ids[2] = {9, 3};
    auto layout = make<rcap_capture_layout>();
    layout.columns = 4;
    layout.tokens = 2;
    layout.first_row = 30;
    layout.weights_dtype = RCAP_DTYPE_FLOAT32;
    return rcap_tap_capture(w.rig->tap(1), &layout, ids, 32, weights, 32, row_ids, 2, nullptr, w.error);
  });
  add("rcap_tap_is_enabled", [](World& w) { return rcap_tap_is_enabled(w.rig->tap(0), w.error) - 1; });
  add("rcap_tap_id", [](World& w) { return rcap_tap_id(w.rig->tap(0), w.error); });
  add("rcap_capturer_tap", [](World& w) {
    rcap_tap* tap = nullptr;
    return rcap_capturer_tap(w.rig->get(), 1, &tap, w.error);
  });
  add("rcap_capturer_stats_get", [](World& w) {
    auto stats = make<rcap_capturer_stats>();
    return rcap_capturer_stats_get(w.rig->get(), &stats, w.error);
  });
  for (const std::int32_t acceptance : {RCAP_ACCEPT_ALL, RCAP_ACCEPT_GIVEN, RCAP_ACCEPT_LATER}) {
    for (const std::int32_t memory : {RCAP_MEMORY_HOST, RCAP_MEMORY_DEVICE}) {
      add("rcap_capturer_end_forward", [acceptance, memory](World& w) {
        auto layout = make<rcap_forward_layout>();
        layout.tokens = 2;
        layout.acceptance = acceptance;
        layout.slots_memory = memory;
        layout.rows_memory = memory;
        layout.weight_version = 3;
        rcap_output* handle = nullptr;
        const bool given = acceptance == RCAP_ACCEPT_GIVEN;
        const auto status = rcap_capturer_end_forward(w.rig->get(), &layout, w.other_slots, 16, given ? w.rows : nullptr, given ? 16 : 0, w.tags, 2,
                                                      nullptr, &handle, w.error);
        w.output.reset(handle);
        return status;
      });
    }
  }
  add("rcap_capturer_discard_forward", [](World& w) { return rcap_capturer_discard_forward(w.rig->get(), nullptr, w.error); });
  add("rcap_output_sequence", [](World& w) { return static_cast<std::int32_t>(rcap_output_sequence(w.pending.get(), w.error)) - 2; });
  for (const std::int32_t memory : {RCAP_MEMORY_HOST, RCAP_MEMORY_DEVICE}) {
    add("rcap_output_accept", [memory](World& w) {
      auto layout = make<rcap_accept_layout>();
      layout.rows_memory = memory;
      layout.slots_memory = memory;
      return rcap_output_accept(w.later.get(), &layout, w.rows, 16, w.other_slots, 16, nullptr, w.error);
    });
  }
  add("rcap_output_device_rows", [](World& w) {
    void* data = nullptr;
    std::int64_t bytes = 0;
    return rcap_output_device_rows(w.pending.get(), &data, &bytes, w.error);
  });
  add("rcap_output_copy_to_host", [](World& w) { return rcap_output_copy_to_host(w.pending.get(), nullptr, w.error); });
  add("rcap_output_ready", [](World& w) { return rcap_output_ready(w.pending.get(), w.error); });
  add("rcap_output_wait", [](World& w) { return rcap_output_wait(w.pending.get(), 1000, w.error) - RCAP_STATUS_TIMEOUT; });
  add("rcap_output_finalize", [](World& w) {
    auto summary = make<rcap_summary>();
    const auto status = rcap_output_copy_to_host(w.pending.get(), nullptr, w.error);
    return status == RCAP_STATUS_OK ? rcap_output_finalize(w.pending.get(), &summary, w.error) : status;
  });
  add("rcap_capturer_completion_fd", [](World& w) {
    std::int32_t fd = 0;
    return rcap_capturer_completion_fd(w.own->get(), &fd, w.error);
  });
  add("rcap_capturer_next_completed", [](World& w) {
    std::int64_t sequence = 0;
    std::int32_t status = 0;
    const auto answer = rcap_capturer_next_completed(w.own->get(), 0, &sequence, &status, w.error);
    return answer == RCAP_STATUS_TIMEOUT ? RCAP_STATUS_OK : answer;
  });
  // The first end_forward of an own-thread capturer starts its thread.
  add("rcap_capturer_end_forward", [](World& w) {
    const auto layout = make<rcap_forward_layout>();
    rcap_output* handle = nullptr;
    const auto status = rcap_capturer_end_forward(w.own->get(), &layout, nullptr, 0, nullptr, 0, nullptr, 0, nullptr, &handle, w.error);
    w.output.reset(handle);
    return status;
  });
  add("rcap_capturer_release_slots", [](World& w) {
    const auto layout = make<rcap_slots_layout>();
    return rcap_capturer_release_slots(w.rig->get(), &layout, w.slots, 16, nullptr, w.error);
  });
  add("rcap_capturer_release_all", [](World& w) { return rcap_capturer_release_all(w.rig->get(), nullptr, w.error); });
  add("rcap_capturer_copy_slots", [](World& w) {
    const auto layout = make<rcap_slots_layout>();
    return rcap_capturer_copy_slots(w.rig->get(), &layout, w.slots, 16, w.other_slots, 16, nullptr, w.error);  // waits for a forward
  });
  add("rcap_capturer_slot_info_get", [](World& w) {
    auto info = make<rcap_slot_info>();
    return rcap_capturer_slot_info_get(w.rig->get(), 10, &info, w.error);
  });
  add("rcap_capturer_read", [](World& w) {
    auto layout = make<rcap_read_layout>();
    layout.tokens = 3;
    rcap_record* handle = nullptr;
    const auto status = rcap_capturer_read(w.rig->get(), &layout, w.slots, 16, w.tags, 2, &handle, w.error);
    w.record.reset(handle);
    return status;
  });
  add("rcap_capturer_read_into", [](World& w) {
    auto layout = make<rcap_read_layout>();
    layout.tokens = 3;
    std::uint8_t ids[24];
    std::uint8_t validity[2];
    auto info = make<rcap_read_info>();
    return rcap_capturer_read_into(w.rig->get(), &layout, w.slots, 16, nullptr, 0, ids, 24, nullptr, 0, validity, 2, &info, w.error);
  });
  add("rcap_record_create", [](World& w) {
    auto layout = make<rcap_record_layout>();
    layout.rows = 2;
    layout.num_experts = 64;
    layout.top_k = 2;
    static const std::uint8_t ids[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    rcap_record* handle = nullptr;
    const auto status = rcap_record_create(&layout, kLayers, 3, nullptr, 0, ids, 12, nullptr, 0, nullptr, 0, &handle, w.error);
    w.record.reset(handle);
    return status;
  });
  add("rcap_record_info_get", [](World& w) {
    auto info = make<rcap_record_info>();
    return rcap_record_info_get(w.given.get(), &info, w.error);
  });
  add("rcap_record_ids", [](World& w) {
    const void* d = nullptr;
    std::int64_t n = 0;
    return rcap_record_ids(w.given.get(), &d, &n, w.error);
  });
  add("rcap_record_weights", [](World& w) {
    const void* d = nullptr;
    std::int64_t n = 0;
    return rcap_record_weights(w.given.get(), &d, &n, w.error);
  });
  add("rcap_record_row_validity", [](World& w) {
    const void* d = nullptr;
    std::int64_t n = 0;
    return rcap_record_row_validity(w.given.get(), &d, &n, w.error);
  });
  add("rcap_record_cell_validity", [](World& w) {
    const void* d = nullptr;
    std::int64_t n = 0;
    return rcap_record_cell_validity(w.given.get(), &d, &n, w.error);
  });
  add("rcap_record_layer_ids", [](World& w) {
    const std::int32_t* d = nullptr;
    std::int64_t n = 0;
    return rcap_record_layer_ids(w.given.get(), &d, &n, w.error);
  });
  add("rcap_record_layer_flags", [](World& w) {
    const std::int32_t* d = nullptr;
    std::int64_t n = 0;
    return rcap_record_layer_flags(w.given.get(), &d, &n, w.error);
  });
  add("rcap_record_version_spans", [](World& w) {
    const std::int64_t* starts = nullptr;
    const std::int64_t* versions = nullptr;
    std::int64_t n = 0;
    return rcap_record_version_spans(w.given.get(), &starts, &versions, &n, w.error);
  });
  add("rcap_record_slice", [](World& w) {
    rcap_record* handle = nullptr;
    const auto status = rcap_record_slice(w.given.get(), 1, 2, &handle, w.error);
    w.record.reset(handle);
    return status;
  });
  add_record_entries(all);
  add_trainer_entries(all);
  return all;
}

std::vector<Entry> refused_entries() {
  std::vector<Entry> all;
  all.push_back({"create", [](World& w) {
                   rcap_capturer_config config = w.rig->setup().config;
                   config.top_k = 65;
                   static const std::int32_t layers[3] = {3, 5, 9};
                   rcap_capturer* handle = nullptr;
                   return rcap_capturer_create(&config, layers, 3, nullptr, &handle, w.error);
                 }});
  all.push_back({"release", [](World& w) {
                   static const std::int64_t bad[2] = {1, 1000};
                   const auto layout = make<rcap_slots_layout>();
                   return rcap_capturer_release_slots(w.rig->get(), &layout, bad, 16, nullptr, w.error);
                 }});
  all.push_back({"end_forward", [](World& w) {
                   static const std::int64_t bad[2] = {1, 1000};
                   auto layout = make<rcap_forward_layout>();
                   layout.tokens = 2;
                   rcap_output* handle = nullptr;
                   return rcap_capturer_end_forward(w.rig->get(), &layout, bad, 16, nullptr, 0, w.tags, 2, nullptr, &handle, w.error);
                 }});
  all.push_back(
      {"seal", [](World& w) { return rcap_capturer_seal(w.rig->get(), w.error) == RCAP_STATUS_INVALID_STATE ? RCAP_STATUS_OUT_OF_RANGE : 0; }});
  return all;
}

}  // namespace routecap_test
