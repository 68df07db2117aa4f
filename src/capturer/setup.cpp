// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include "capturer/capturer.h"
#include "support/checked.h"
#include "support/choice.h"

namespace routecap {
namespace {

constexpr std::array<Choice, 2> kModelRoles{{{RCAP_ROLE_TARGET, "TARGET"}, {RCAP_ROLE_DRAFT, "DRAFT"}}};
constexpr std::array<Choice, 2> kCaptureGates{{{RCAP_CAPTURE_DENY, "DENY"}, {RCAP_CAPTURE_ALLOW, "ALLOW"}}};

}  // namespace

Capturer::Capturer(Geometry geometry, std::shared_ptr<Backend> backend)
    : geometry_(std::move(geometry)), backend_(std::move(backend)), pool_(OutputPool::create(*this)) {
  const rcap_capturer_config& config = geometry_.config();
  limits_ = {geometry_.device_rows().rows, config.num_slots, config.reserved_slots, geometry_.tags()};
  if (config.finalize_mode == RCAP_FINALIZE_OWN_THREAD) own_thread_.emplace(*this);
}

Capturer::~Capturer() {
  // The thread works with everything else here.
  own_thread_.reset();
}

Capturer::Stages::Stages(const Geometry& geometry, const rows::RowShape& row_shape, const CommitLimits& limits, LayerFacts layers, Backend& backend)
    : shape(row_shape),
      cache(geometry, shape, layers.partial, backend),
      store(geometry, shape),
      copies(store),
      stream(backend.make_stream()),
      ring(geometry, shape, backend),
      crew(backend.crew()),
      settler(shape, limits, geometry.config().check_level == RCAP_CHECK_FULL, std::move(layers), store, copies, crew) {}

void Capturer::require_sealed() const {
  if (!sealed()) fail(RCAP_STATUS_INVALID_STATE, "the capturer is not sealed");
}

void Capturer::require_unsealed(const char* what) const {
  if (sealed()) fail(RCAP_STATUS_INVALID_STATE, "%s: the capturer is sealed, models and taps are fixed", what);
}

Model& Capturer::add_model(std::int32_t role, std::string name) {
  require_unsealed("add_model");
  require_choice("role", role, kModelRoles);
  const auto target = std::find_if(models_.begin(), models_.end(), [](const auto& model) { return model->is_target(); });
  if (role == RCAP_ROLE_TARGET && target != models_.end()) {
    fail(RCAP_STATUS_INVALID_STATE, "model \"%.64s\": the capturer has the target \"%.64s\" already, one is allowed", name.c_str(),
         (*target)->name().c_str());
  }
  models_.push_back(std::make_unique<Model>(*this, role, std::move(name)));
  return *models_.back();
}

void Capturer::set_capture(Model& model, std::int32_t gate) {
  require_unsealed("set_capture");  // R20
  require_choice("gate", gate, kCaptureGates);
  // R18: a draft's rows would stand where the target's belong.
  if (gate == RCAP_CAPTURE_ALLOW && !model.is_target()) {
    fail(RCAP_STATUS_INVALID_ARGUMENT, "model \"%.64s\" is a draft: its capture cannot be allowed", model.name().c_str());
  }
  model.set_allowed(gate == RCAP_CAPTURE_ALLOW);
}

Tap& Capturer::add_tap(Model& model, std::int32_t layer_number, const rcap_tap_options& options, IdMap id_map) {
  require_unsealed("add_tap");
  if (layer_number < 0) fail(RCAP_STATUS_OUT_OF_RANGE, "layer_number is %d, it must not be negative", layer_number);
  const std::int32_t column = model.is_target() ? geometry_.column_of(layer_number) : -1;
  if (model.is_target() && column < 0) {
    fail(RCAP_STATUS_OUT_OF_RANGE, "layer_number is %d, not one of the %d captured layers (%d .. %d)", layer_number, geometry_.layers(),
         geometry_.layer_ids().front(), geometry_.layer_ids().back());
  }
  std::vector<std::int32_t>& layers = model.layers();
  if (std::find(layers.begin(), layers.end(), layer_number) != layers.end()) {
    fail(RCAP_STATUS_INVALID_STATE, "layer %d of model \"%.64s\" has a tap already, one is allowed", layer_number, model.name().c_str());
  }
  layers.reserve(layers.size() + 1);
  taps_.push_back(std::make_unique<Tap>(model, static_cast<std::int32_t>(taps_.size()), layer_number, column, options.flags, id_map));
  layers.push_back(layer_number);
  return *taps_.back();
}

void Capturer::seal() {
  require_unsealed("seal");
  const auto target = std::find_if(models_.begin(), models_.end(), [](const auto& model) { return model->is_target(); });
  if (target == models_.end()) fail(RCAP_STATUS_INVALID_STATE, "seal: the capturer has no target model");
  if (!(*target)->allowed()) fail(RCAP_STATUS_INVALID_STATE, "seal: capture of the target model \"%.64s\" is denied", (*target)->name().c_str());
  LayerFacts layers{geometry_.layer_ids(), std::vector<std::uint8_t>(geometry_.layer_ids().size(), 0)};
  std::vector<std::int32_t> flags(geometry_.layer_ids().size(), -1);
  bool has_partial = false;
  for (const auto& tap : taps_) {
    if (tap->column() < 0) continue;
    const auto column = static_cast<std::size_t>(tap->column());
    flags[column] = tap->flags();
    layers.partial[column] = tap->partial() ? 1 : 0;
    has_partial = has_partial || tap->partial();
  }
  const auto bare = std::find(flags.begin(), flags.end(), -1);
  if (bare != flags.end()) {
    fail(RCAP_STATUS_INVALID_STATE, "seal: captured layer %d has no tap of the target model \"%.64s\"",
         geometry_.layer_ids()[static_cast<std::size_t>(bare - flags.begin())], (*target)->name().c_str());
  }
  auto stages = std::make_unique<Stages>(geometry_, geometry_.row_shape(has_partial), limits_, std::move(layers), *backend_);
  for (const auto& tap : taps_) {
    if (tap->model().allowed()) tap->open(geometry_, stages->shape, stages->cache.view(), *backend_);
  }
  stages_ = std::move(stages);
  layer_flags_ = std::move(flags);
  has_partial_ = has_partial;
  sealed_.store(true, std::memory_order_release);
}

Tap& Capturer::tap(std::int32_t id) const {
  if (id < 0 || static_cast<std::size_t>(id) >= taps_.size()) {
    fail(RCAP_STATUS_NOT_FOUND, "tap_id is %d, %s (the capturer has %zu taps)", id, Allowed(0, std::ssize(taps_) - 1).text(), taps_.size());
  }
  return *taps_[static_cast<std::size_t>(id)];
}

rcap_capturer_stats Capturer::stats() {
  // In flight is what is unsettled now, not what nobody has looked after since it was dropped.
  if (sealed()) reap_orphans();
  const auto count = [](const std::atomic<std::int64_t>& counter) { return counter.load(std::memory_order_relaxed); };
  rcap_capturer_stats stats{};
  stats.struct_size = static_cast<std::int64_t>(sizeof stats);
  stats.forwards = count(counters_.forwards);
  stats.discarded_forwards = count(counters_.discarded);
  stats.busy = count(counters_.busy);
  stats.finalized = count(counters_.finalized);
  stats.dropped = count(counters_.dropped);
  stats.rows_stored = count(counters_.stored);
  stats.rows_bad = count(counters_.bad);
  stats.rows_outdated = count(counters_.outdated);
  stats.rows_reserved = count(counters_.reserved);
  stats.rows_rejected = count(counters_.rejected);
  stats.rows_stray = count(counters_.stray);
  stats.slots_released = count(counters_.released);
  stats.slots_copied = count(counters_.copied);
  stats.last_sequence = last_sequence_.load(std::memory_order_acquire);
  if (sealed()) {
    for (const auto& model : models_) stats.suppressed += model->suppressed();
    stats.copies_pending = stages_->copies.size();
    stats.in_flight = stages_->ring.in_flight();
  }
  return stats;
}

}  // namespace routecap
