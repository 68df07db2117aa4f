// SPDX-License-Identifier: Apache-2.0
#include "property/session.h"
#include "plugin/fake_device/control.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace routecap_test::property {
namespace {

constexpr std::array<std::int64_t, 13> kExperts = {8, 64, 200, 256, 257, 300, 5, 2, 1, 32768, 65536, 65537, 100000};
constexpr std::array<std::int64_t, 6> kLayers = {1, 2, 3, 4, 2, 70};
constexpr std::array<std::int32_t, 4> kWeights = {RCAP_DTYPE_NONE, RCAP_DTYPE_FLOAT32, RCAP_DTYPE_FLOAT16, RCAP_DTYPE_BFLOAT16};
constexpr std::int64_t kBusyTimeout = 2'000'000;
constexpr std::size_t kTouchedAfterCommand = 3;

/// Rows of the device buffer as R13 puts it, one rank's share.
std::int64_t rows_of_rank(const rcap_capturer_config& config) {
  const std::int64_t prefill = std::max(config.chunked_prefill_size, config.max_forward_tokens);
  const std::int64_t running = config.max_running_requests * std::max<std::int64_t>(1, config.num_verify_tokens);
  const std::int64_t most = std::max({prefill, running, config.max_graph_tokens});
  return (most + config.attn_tp_size - 1) / config.attn_tp_size * config.attn_tp_size;
}

}  // namespace

std::string text_of(const Numbers& numbers) {
  std::string text = "[";
  for (const std::int64_t number : numbers) text += (text.size() > 1 ? ", " : "") + std::to_string(number);
  return text + "]";
}

Session::Session(const DrawList& geometry, Finalizing finalizing, Variant variant, Census* census)
    : finalizing_(finalizing), model_(Geometry{}), config_(make<rcap_capturer_config>()), census_(census) {
  Draws draws(geometry);
  make_geometry(draws);
  model_ = Model(geometry_, variant);
  if (test_device() != nullptr) copies_ = test_device_control()->stream_create(test_device());
  make_capturer(draws);
  closing_ = geometry;
}

Session::~Session() {
  close();
  if (copies_ != nullptr) test_device_control()->stream_destroy(test_device(), copies_);
}

void Session::close() {
  for (const LiveOutput& output : outputs_) rcap_output_destroy(output.handle);
  outputs_.clear();
  rcap_capturer_destroy(capturer_);
  capturer_ = nullptr;
}

void Session::make_geometry(Draws& draws) {
  geometry_.experts = kExperts[static_cast<std::size_t>(draws.below(std::ssize(kExperts)))];
  geometry_.top_k = 1 + draws.below(std::min<std::int64_t>(geometry_.experts, 5));
  const std::int64_t layers = kLayers[static_cast<std::size_t>(draws.below(std::ssize(kLayers)))];
  const std::int64_t step = 1 + draws.below(3);
  for (std::int64_t column = 0; column < layers; ++column) geometry_.layer_numbers.push_back(static_cast<std::int32_t>(1 + column * step));
  // The first layer always runs on every row: a row of which no layer captured anything is no subject of the contract.
  const std::int64_t partial = draws.chance(40) ? 1 + draws.below(3) : 0;
  for (std::int64_t column = 0; column < layers; ++column) geometry_.partial.push_back(column > 0 && partial != 0 && column % partial == 0);
  geometry_.weights_dtype = kWeights[static_cast<std::size_t>(draws.below(std::ssize(kWeights)))];
  geometry_.tags = draws.chance(40);
  geometry_.full_check = draws.chance(50);
  geometry_.page_size = std::int64_t{1} << draws.below(3);
  geometry_.slots = geometry_.page_size * (4 + draws.below(16 / geometry_.page_size));
  geometry_.reserved = draws.below(3);
  geometry_.depth = 1 + draws.below(5);

  config_.num_experts = static_cast<std::int32_t>(geometry_.experts);
  config_.top_k = static_cast<std::int32_t>(geometry_.top_k);
  config_.num_fused_shared_experts = static_cast<std::int32_t>(draws.below(3));
  config_.weights_dtype = geometry_.weights_dtype;
  config_.weights_kind = static_cast<std::int32_t>(draws.below(3));
  config_.check_level = geometry_.full_check ? RCAP_CHECK_FULL : RCAP_CHECK_BASIC;
  config_.finalize_mode = finalizing_ == Finalizing::kOwnThread ? RCAP_FINALIZE_OWN_THREAD : RCAP_FINALIZE_CALLER;
  config_.busy_policy = finalizing_ == Finalizing::kOwnThread && draws.chance(50) ? RCAP_BUSY_WAIT : RCAP_BUSY_REFUSE;
  config_.busy_timeout_ns = kBusyTimeout;
  config_.tags = geometry_.tags ? 1 : 0;
  config_.pipeline_depth = static_cast<std::int32_t>(geometry_.depth);
  (draws.chance(30) ? config_.max_forward_tokens : config_.chunked_prefill_size) = 4 + draws.below(6);
  config_.max_running_requests = 1 + draws.below(4);
  config_.num_verify_tokens = draws.below(5);
  config_.max_graph_tokens = draws.below(10);
  config_.attn_tp_size = 1 + draws.below(3);
  config_.dp_size = 1 + draws.below(3);
  config_.num_slots = geometry_.slots;
  config_.page_size = geometry_.page_size;
  config_.reserved_slots = geometry_.reserved;
  rows_per_rank_ = rows_of_rank(config_);
  geometry_.device_rows = rows_per_rank_ * config_.dp_size;
}

void Session::make_capturer(Draws& draws) {
  Error error;
  const auto count = static_cast<std::int64_t>(geometry_.layers());
  auto plan = make<rcap_capturer_plan>();
  expect(rcap_capturer_plan_get(&config_, geometry_.layer_numbers.data(), count, &plan, error), {RCAP_STATUS_OK}, error, "plan");
  same(plan.device_rows, geometry_.device_rows, "device rows (R13)");
  same(plan.ids_dtype, ids_dtype(geometry_.experts), "id dtype (R28)");
  expect(rcap_capturer_create(&config_, geometry_.layer_numbers.data(), count, test_backend(), &capturer_, error), {RCAP_STATUS_OK}, error, "create");
  note("capturer: E " + std::to_string(geometry_.experts) + ", K " + std::to_string(geometry_.top_k) + ", L " + std::to_string(count) + ", slots " +
       std::to_string(geometry_.slots) + " (" + std::to_string(geometry_.reserved) + " reserved, pages of " + std::to_string(geometry_.page_size) +
       "), device rows " + std::to_string(geometry_.device_rows) + ", depth " + std::to_string(geometry_.depth) + ", weights dtype " +
       std::to_string(geometry_.weights_dtype) + (geometry_.tags ? ", tags" : "") + (geometry_.full_check ? ", full check" : "") +
       (geometry_.any_partial() ? ", partial layers" : "") + (finalizing_ == Finalizing::kOwnThread ? ", own thread" : ""));
  add_taps(draws);
  expect(rcap_capturer_seal(capturer_, error), {RCAP_STATUS_OK}, error, "seal");
  if (finalizing_ == Finalizing::kOwnThread) {
    Sequence sequence = 0;
    std::int32_t status = 0;
    expect(rcap_capturer_next_completed(capturer_, 0, &sequence, &status, error), {RCAP_STATUS_TIMEOUT}, error, "next_completed before any");
  }
}

void Session::add_taps(Draws& draws) {
  Error error;
  rcap_model* target = nullptr;
  rcap_model* draft = nullptr;
  expect(rcap_capturer_add_model(capturer_, RCAP_ROLE_TARGET, "target", &target, error), {RCAP_STATUS_OK}, error, "add the target");
  expect(rcap_capturer_add_model(capturer_, RCAP_ROLE_DRAFT, "draft", &draft, error), {RCAP_STATUS_OK}, error, "add a draft");
  taps_.resize(geometry_.layers());
  for (std::size_t column = 0; column < geometry_.layers(); ++column) {
    Tap& tap = taps_[column];
    auto options = make<rcap_tap_options>();
    if (geometry_.partial[column]) options.flags = RCAP_TAP_PARTIAL;
    if (column < 4 && geometry_.experts <= 300 && draws.chance(25)) {
      // A few more physical experts than logical ones: the busiest stand twice.
      tap.map_dtype = draws.chance(50) ? RCAP_DTYPE_INT32 : RCAP_DTYPE_INT64;
      tap.id_map = std::make_shared<Numbers>();
      const std::int64_t twice = draws.below(3);
      for (std::int64_t i = 0; i < geometry_.experts + twice; ++i) tap.id_map->push_back(i % geometry_.experts);
      std::vector<std::byte> bytes;
      for (const std::int64_t id : *tap.id_map) append(bytes, id, tap.map_dtype);
      options.id_map_dtype = tap.map_dtype;
      options.id_map_memory = draws.chance(50) ? RCAP_MEMORY_DEVICE : RCAP_MEMORY_HOST;
      tap.map = Placed(bytes, options.id_map_memory);
    }
    expect(rcap_model_add_tap(target, geometry_.layer_numbers[column], &options, tap.map.data(), tap.map.bytes(), &tap.handle, error),
           {RCAP_STATUS_OK}, error, "add a tap");
  }
  for (const std::int32_t layer : {geometry_.layer_numbers.front(), geometry_.layer_numbers.back() + 1}) {
    expect(rcap_model_add_tap(draft, layer, nullptr, nullptr, 0, &draft_taps_.emplace_back(), error), {RCAP_STATUS_OK}, error, "add a draft's tap");
  }
}

void Session::mismatch(const std::string& what) const {
  std::string text = what + "\nafter these calls:\n";
  for (const std::string& line : trace_) text += "  " + line + "\n";
  throw Mismatch(text);
}

void Session::same(std::int64_t library, std::int64_t model, const std::string& what) const {
  if (library != model) mismatch(what + ": the library says " + std::to_string(library) + ", the contract " + std::to_string(model));
}

void Session::expect(std::int32_t status, const Statuses& allowed, const Error& error, const std::string& what) const {
  if (!allowed.allows(status)) {
    mismatch(what + ": the library answers " + name(status) + " '" + error.text() + "', the contract " + allowed.text());
  }
  same(error.code(), status, what + ": code of the error");
  met(what.substr(0, what.find_first_of("0123456789")) + " " + name(status));
  const bool answer = status == RCAP_STATUS_OK || status == RCAP_STATUS_BUSY || status == RCAP_STATUS_NOT_READY || status == RCAP_STATUS_TIMEOUT;
  demand(error.text().empty() == answer, what + ": error text is '" + error.text() + "' with " + name(status));
  demand(error.text().find('\n') == std::string::npos, what + ": error text has several lines");
}

/// Demands that `rcap_error.detail` names one of the forwards that are lacking, or nothing where none is (R36).
void Session::expect_lacking(const Error& error, const std::set<Sequence>& lacking, const std::string& what) const {
  if (lacking.empty()) return same(error.detail(), 0, what);
  if (lacking.count(error.detail()) != 0) return;
  mismatch(what + ": the library says " + std::to_string(error.detail()) + ", the contract " + text_of(Numbers(lacking.begin(), lacking.end())));
}

void Session::check_stats() const {
  Error error;
  auto stats = make<rcap_capturer_stats>();
  expect(rcap_capturer_stats_get(capturer_, &stats, error), {RCAP_STATUS_OK}, error, "stats");
  const rcap_capturer_stats model = model_.stats();
  if (model.copies_pending > 0) met("a copy that waits");
  same(stats.suppressed, model.suppressed, "stats.suppressed");
  same(stats.forwards, model.forwards, "stats.forwards");
  same(stats.discarded_forwards, model.discarded_forwards, "stats.discarded_forwards");
  same(stats.busy, model.busy, "stats.busy");
  same(stats.finalized, model.finalized, "stats.finalized");
  same(stats.dropped, model.dropped, "stats.dropped");
  same(stats.rows_stored + stats.rows_outdated, model.rows_stored + model.rows_outdated, "stats.rows_stored + rows_outdated");
  if (finalizing_ == Finalizing::kCaller) same(stats.rows_stored, model.rows_stored, "stats.rows_stored");
  same(stats.rows_bad, model.rows_bad, "stats.rows_bad");
  same(stats.rows_reserved, model.rows_reserved, "stats.rows_reserved");
  same(stats.rows_rejected, model.rows_rejected, "stats.rows_rejected");
  same(stats.rows_stray, model.rows_stray, "stats.rows_stray");
  same(stats.slots_released, model.slots_released, "stats.slots_released");
  same(stats.slots_copied, model.slots_copied, "stats.slots_copied");
  same(stats.in_flight, model.in_flight, "stats.in_flight");
  same(stats.last_sequence, model.last_sequence, "stats.last_sequence");
  demand(stats.copies_pending >= model.copies_pending && stats.copies_pending <= model_.most_copies_pending(),
         "stats.copies_pending: the library says " + std::to_string(stats.copies_pending) + ", the contract " + std::to_string(model.copies_pending) +
             " to " + std::to_string(model_.most_copies_pending()));
}

void Session::run(const Command& command) {
  Draws draws(command.draws);
  switch (command.kind) {
    case Kind::kForward: forward(draws); break;
    case Kind::kAccept: accept(draws); break;
    case Kind::kSettle: settle(draws); break;
    case Kind::kCopyToHost:
      if (!outputs_.empty()) copy_to_host(outputs_[pick(draws)]);
      break;
    case Kind::kFinalize:
      if (!outputs_.empty()) finalize(outputs_[pick(draws)]);
      break;
    case Kind::kPoll: poll(draws); break;
    case Kind::kDrop:
      if (!outputs_.empty()) drop(pick(draws));
      break;
    case Kind::kRelease: release(draws); break;
    case Kind::kReleaseAll: release_all(); break;
    case Kind::kCopySlots: copy_slots(draws); break;
    case Kind::kDiscard: discard(); break;
    case Kind::kRead: read(draws); break;
    case Kind::kAlgebra: algebra(draws); break;
    case Kind::kDraft: draft(draws); break;
    case Kind::kStrayCapture: stray_capture(draws); break;
    case Kind::kRebalance: rebalance(draws); break;
    case Kind::kMisuse: misuse(draws); break;
    case Kind::kNothing:
    case Kind::kCount: return;
  }
  if (finalizing_ == Finalizing::kOwnThread) {
    if (!draws.chance(30)) return;
    synchronize();
  }
  check_stats();
  for (std::size_t i = 0; i < kTouchedAfterCommand; ++i) check_slot(draws.below(geometry_.slots));
}

void Session::check_every_slot() {
  check_stats();
  ReadCall every;
  for (std::int64_t slot = 0; slot < geometry_.slots; ++slot) {
    check_slot(slot);
    every.list = {slot};
    every.tokens = 2;
    check_read(every, RCAP_DTYPE_INT64, 0, model_, false);
  }
  every.list.clear();
  every.tokens = geometry_.slots + 1;
  for (std::int64_t slot = geometry_.slots; slot-- > 0;) every.list.push_back(slot);
  check_read(every, RCAP_DTYPE_INT32, 0, model_, true);
}

void Session::rest() {
  settle_all();
  check_every_slot();
  for (const KeptRecord& kept : records_) check_record(kept.record.get(), kept.expected);
  records_.clear();
  completions_forgotten_ += std::ssize(completions_);
  completions_.clear();
  model_.forget();
  trace_.resize(1);  // how the capturer was made
  note("at rest after number " + std::to_string(model_.last_sequence()));
}

void Session::finish() {
  if (finalizing_ == Finalizing::kOwnThread) synchronize();
  check_every_slot();
  Draws draws(closing_);
  if (draws.below(2) == 1) {
    note("the capturer is destroyed first");
    rcap_capturer_destroy(capturer_);
    capturer_ = nullptr;
    for (const LiveOutput& output : outputs_) check_closed(output);
  }
  close();
  for (const KeptRecord& kept : records_) check_record(kept.record.get(), kept.expected);
}

void Session::run(const Schedule& schedule, Finalizing finalizing, Variant variant, Census* census) {
  Session session(schedule.geometry, finalizing, variant, census);
  for (const Command& command : schedule.commands) session.run(command);
  session.finish();
}

}  // namespace routecap_test::property
