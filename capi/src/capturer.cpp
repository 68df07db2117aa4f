// SPDX-License-Identifier: Apache-2.0
#include "capturer/capturer.h"

#include <routecap/routecap.h>

#include "arguments.h"
#include "backend_handle.h"
#include "guard.h"
#include "support/choice.h"
#include "support/dtype.h"

using namespace routecap;
using namespace routecap::capi;

namespace {

Geometry checked_geometry(const rcap_capturer_config* config, const int32_t* layer_ids, int64_t layer_ids_count) {
  const rcap_capturer_config checked = sized_in(config, "config");
  if (layer_ids_count < 1 || layer_ids_count > INT32_MAX) {
    fail(RCAP_STATUS_OUT_OF_RANGE, "layer_ids_count is %" PRId64 ", allowed are 1 .. %d", layer_ids_count, INT32_MAX);
  }
  require(layer_ids, "layer_ids");
  return Geometry::checked(checked, {layer_ids, static_cast<std::size_t>(layer_ids_count)});
}

constexpr std::array<Choice, 3> kIdMapDtypes{{{RCAP_DTYPE_NONE, "NONE"}, {RCAP_DTYPE_INT32, "INT32"}, {RCAP_DTYPE_INT64, "INT64"}}};

IdMap checked_id_map(const rcap_tap_options& options, const void* id_map, int64_t id_map_bytes) {
  require_choice("id_map_memory", options.id_map_memory, kMemories);
  if (options.id_map_dtype == RCAP_DTYPE_NONE) {
    if (id_map != nullptr || id_map_bytes != 0)
      fail(RCAP_STATUS_INVALID_ARGUMENT, "id_map is given (%" PRId64 " bytes), id_map_dtype is NONE", id_map_bytes);
    return {};
  }
  require_dtype("id_map_dtype", options.id_map_dtype, kIdMapDtypes);
  require(id_map, "id_map");
  const std::int32_t entry = dtype_bytes(options.id_map_dtype);
  if (id_map_bytes < entry || id_map_bytes % entry != 0) {
    fail(RCAP_STATUS_INVALID_ARGUMENT, "id_map_bytes is %" PRId64 ", it must be a positive multiple of %d", id_map_bytes, entry);
  }
  return {id_map, options.id_map_dtype, id_map_bytes / entry, options.id_map_memory};
}

}  // namespace

extern "C" {

rcap_status rcap_capturer_plan_get(const rcap_capturer_config* config, const int32_t* layer_ids, int64_t layer_ids_count, rcap_capturer_plan* plan,
                                   rcap_error* err) noexcept {
  return guard(err, [&] {
    require_out(plan, "plan");
    sized_out(plan, checked_geometry(config, layer_ids, layer_ids_count).plan());
  });
}

rcap_status rcap_capturer_create(const rcap_capturer_config* config, const int32_t* layer_ids, int64_t layer_ids_count, rcap_backend* backend,
                                 rcap_capturer** capturer, rcap_error* err) noexcept {
  return guard(err, [&] {
    require(capturer, "capturer");
    Geometry geometry = checked_geometry(config, layer_ids, layer_ids_count);
    auto shared = backend == nullptr ? open_host_backend() : live_backend(backend).backend;
    auto made = std::make_unique<Capturer>(std::move(geometry), std::move(shared));
    *capturer = reinterpret_cast<rcap_capturer*>(made.release());
  });
}

void rcap_capturer_destroy(rcap_capturer* self) noexcept {
  // In a forked child live_capturer throws: everything there belongs to the parent and stays as it is.
  guard(nullptr, [&] {
    if (self != nullptr) delete &live_capturer(self);
  });
}

rcap_status rcap_capturer_add_model(rcap_capturer* self, int32_t role, const char* name, rcap_model** model, rcap_error* err) noexcept {
  return guard(err, [&] {
    Capturer& capturer = live_capturer(self);
    require(name, "name");
    require(model, "model");
    *model = reinterpret_cast<rcap_model*>(&capturer.add_model(role, name));
  });
}

rcap_status rcap_model_set_capture(rcap_model* self, int32_t gate, rcap_error* err) noexcept {
  return guard(err, [&] {
    Model& model = live_model(self);
    model.capturer().set_capture(model, gate);
  });
}

rcap_status rcap_model_add_tap(rcap_model* self, int32_t layer_number, const rcap_tap_options* options, const void* id_map, int64_t id_map_bytes,
                               rcap_tap** tap, rcap_error* err) noexcept {
  return guard(err, [&] {
    Model& model = live_model(self);
    require(tap, "tap");
    const rcap_tap_options checked = options == nullptr ? rcap_tap_options{} : sized_in(options, "options");
    require_zero(checked.reserved, "options->reserved");
    require_flags("flags", checked.flags, kTapFlags);
    const IdMap map = checked_id_map(checked, id_map, id_map_bytes);
    *tap = reinterpret_cast<rcap_tap*>(&model.capturer().add_tap(model, layer_number, checked, map));
  });
}

rcap_status rcap_capturer_seal(rcap_capturer* self, rcap_error* err) noexcept {
  return guard(err, [&] { live_capturer(self).seal(); });
}

rcap_status rcap_tap_capture(rcap_tap* self, const rcap_capture_layout* layout, const void* ids, int64_t ids_bytes, const void* weights,
                             int64_t weights_bytes, const int32_t* row_ids, int64_t row_ids_count, void* stream, rcap_error* err) noexcept {
  return guard(err, [&] {
    Tap& tap = live_tap(self);
    if (!tap.is_open()) {
      if (!tap.model().capturer().sealed()) fail(RCAP_STATUS_INVALID_STATE, "layer %d: the capturer is not sealed", tap.layer_number());
      tap.model().count_suppressed();  // R18: nothing else of the call is looked at
      return;
    }
    const CaptureArguments arguments{raw(ids, ids_bytes, "ids_bytes"), raw(weights, weights_bytes, "weights_bytes"), row_ids, row_ids_count};
    tap.capture(sized_in(layout, "layout"), arguments, stream);
  });
}

int32_t rcap_tap_is_enabled(const rcap_tap* self, rcap_error* err) noexcept {
  return guard_as<int32_t>(err, [&]() -> int32_t { return live_tap(self).model().allowed() ? 1 : 0; });
}

int32_t rcap_tap_id(const rcap_tap* self, rcap_error* err) noexcept {
  return guard_as<int32_t>(err, [&] { return live_tap(self).id(); });
}

rcap_status rcap_capturer_tap(rcap_capturer* self, int32_t tap_id, rcap_tap** tap, rcap_error* err) noexcept {
  return guard(err, [&] {
    const Capturer& capturer = live_capturer(self);
    require(tap, "tap");
    *tap = reinterpret_cast<rcap_tap*>(&capturer.tap(tap_id));
  });
}

rcap_status rcap_capturer_stats_get(const rcap_capturer* self, rcap_capturer_stats* stats, rcap_error* err) noexcept {
  return guard(err, [&] {
    Capturer& capturer = live_capturer(self);
    require_out(stats, "stats");
    sized_out(stats, capturer.stats());
  });
}

}  // extern "C"
