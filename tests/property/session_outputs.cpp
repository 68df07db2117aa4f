// SPDX-License-Identifier: Apache-2.0
//
// What becomes of outputs: copied, polled, finalized in any order, dropped, outlived.
#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "property/session.h"
#include "support/device.h"

namespace routecap_test::property {
namespace {

constexpr std::int64_t kLongWait = 10'000'000'000;
constexpr std::size_t kMostOutputs = 12;

}  // namespace

/// Some live output; the newest is the plainest choice.
std::size_t Session::pick(Draws& draws) const { return outputs_.size() - 1 - static_cast<std::size_t>(draws.below(std::ssize(outputs_))); }

void Session::catch_up(const LiveOutput& output) {
  if (test_backend() == nullptr || finalizing_ == Finalizing::kOwnThread || !model_.ready(output.number)) return;
  Error error;
  expect(rcap_output_wait(output.handle, kLongWait, error), {RCAP_STATUS_OK}, error, "wait for the device");
}

/// A dropped output's block is free when its copy is over, and what only the device knew of its slots is settled then (R32, R33).
void Session::catch_up_with_drops() const {
  if (test_backend() == nullptr || finalizing_ == Finalizing::kOwnThread) return;
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::nanoseconds(kLongWait);
  for (auto stats = make<rcap_capturer_stats>();; std::this_thread::yield()) {
    auto info = make<rcap_slot_info>();
    static_cast<void>(rcap_capturer_slot_info_get(capturer_, 0, &info, nullptr));
    static_cast<void>(rcap_capturer_stats_get(capturer_, &stats, nullptr));
    if (stats.in_flight <= model_.stats().in_flight) return;
    demand(std::chrono::steady_clock::now() < give_up, "the block of a dropped output stays taken (R32)");
  }
}

void Session::copy_to_host(const LiveOutput& output) {
  Error error;
  const std::int32_t status = rcap_output_copy_to_host(output.handle, copies_, error);
  note("copy_to_host " + std::to_string(output.number) + " -> " + name(status));
  expect(status, {RCAP_STATUS_OK}, error, "copy_to_host");
  model_.copy_to_host(output.number);
}

/// Finalizes whatever its state; with an own thread it may or may not have settled by itself.
void Session::finalize(const LiveOutput& output) {
  catch_up(output);
  if (finalizing_ == Finalizing::kOwnThread) model_.copy_to_host(output.number);  // the own thread starts the copy (R31)
  Statuses allowed = model_.may_finalize(output.number);
  if (finalizing_ == Finalizing::kOwnThread && !model_.is_settled(output.number) && !allowed.refuses()) {
    allowed = {RCAP_STATUS_OK, RCAP_STATUS_NOT_READY};
  }
  Error error;
  auto summary = make<rcap_summary>();
  const std::int32_t status = rcap_output_finalize(output.handle, &summary, error);
  note("finalize " + std::to_string(output.number) + " -> " + name(status));
  expect(status, allowed, error, "finalize");
  if (status != RCAP_STATUS_OK) return;
  model_.finalize(output.number);
  check_summary(summary, output.number);
}

void Session::check_summary(const rcap_summary& library, Sequence number) const {
  const rcap_summary& model = model_.summary(number);
  met("fault " + std::to_string(model.first_bad_fault));
  met("row stored", model.rows_stored);
  met("row bad", model.rows_bad);
  met("row outdated", model.rows_outdated);
  met("row reserved", model.rows_reserved);
  met("row rejected", model.rows_rejected);
  met("row stray", model.rows_stray);
  const std::string of = " of the summary of " + std::to_string(number);
  same(library.sequence, model.sequence, "sequence" + of);
  same(library.step, model.step, "step" + of);
  same(library.entries, model.entries, "entries" + of);
  same(library.rows_bad, model.rows_bad, "rows_bad" + of);
  same(library.rows_stored + library.rows_outdated, model.rows_stored + model.rows_outdated, "rows_stored + rows_outdated" + of);
  // On its own thread a forward may settle before or after the release that outdates it.
  if (finalizing_ == Finalizing::kCaller) same(library.rows_stored, model.rows_stored, "rows_stored" + of);
  same(library.rows_reserved, model.rows_reserved, "rows_reserved" + of);
  same(library.rows_rejected, model.rows_rejected, "rows_rejected" + of);
  same(library.rows_stray, model.rows_stray, "rows_stray" + of);
  same(library.first_stray_layer, model.first_stray_layer, "first_stray_layer" + of);
  same(library.first_bad_fault, model.first_bad_fault, "first_bad_fault" + of);
  same(library.first_bad_layer, model.first_bad_layer, "first_bad_layer" + of);
  same(library.first_bad_row, model.first_bad_row, "first_bad_row" + of);
  same(library.first_bad_slot, model.first_bad_slot, "first_bad_slot" + of);
  same(library.layers_bad, model.layers_bad, "layers_bad" + of);
  same(library.first_bad_layer_number, model.first_bad_layer_number, "first_bad_layer_number" + of);
  if (model.layers_bad == 0) return;
  same(library.layer_rows_captured, model.layer_rows_captured, "layer_rows_captured" + of);
  same(library.layer_rows_expected, model.layer_rows_expected, "layer_rows_expected" + of);
}

void Session::settle(Draws& draws) {
  if (outputs_.empty()) return;
  const LiveOutput output = outputs_[pick(draws)];
  copy_to_host(output);
  finalize(output);
  // Settled outputs are answered again and again (R31), but not kept for ever.
  while (outputs_.size() > kMostOutputs) {
    const auto settled = std::find_if(outputs_.begin(), outputs_.end(), [&](const LiveOutput& live) { return model_.is_settled(live.number); });
    if (settled == outputs_.end()) break;
    drop(static_cast<std::size_t>(settled - outputs_.begin()));
  }
}

void Session::poll(Draws& draws) {
  if (outputs_.empty()) return;
  const LiveOutput output = outputs_[pick(draws)];
  catch_up(output);
  const bool settled = model_.is_settled(output.number);
  const bool racing = finalizing_ == Finalizing::kOwnThread && !settled && model_.is_accepted(output.number);
  const bool ready = finalizing_ == Finalizing::kOwnThread ? settled : model_.ready(output.number);
  Error error;
  same(rcap_output_sequence(output.handle, error), output.number, "sequence of an output");
  if (!racing) same(rcap_output_ready(output.handle, error), ready ? 1 : 0, "ready of " + std::to_string(output.number));
  const std::int64_t timeout = draws.chance(20) ? 100'000 : 0;
  const std::int32_t status = rcap_output_wait(output.handle, timeout, error);
  note("wait for " + std::to_string(output.number) + " -> " + name(status));
  const Statuses either = {RCAP_STATUS_OK, RCAP_STATUS_TIMEOUT};
  expect(status, racing ? either : Statuses{ready ? RCAP_STATUS_OK : RCAP_STATUS_TIMEOUT}, error, "wait");
  expect(rcap_output_wait(output.handle, -1, error), {RCAP_STATUS_INVALID_ARGUMENT}, error, "wait with a negative timeout");
  if (!racing) check_device_rows(output);
}

/// The staged block before it settles: what a collective over ranks would read.
void Session::check_device_rows(const LiveOutput& output) {
  Error error;
  void* data = nullptr;
  std::int64_t bytes = 0;
  const std::int32_t status = rcap_output_device_rows(output.handle, &data, &bytes, error);
  note("device_rows of " + std::to_string(output.number) + " -> " + name(status));
  if (model_.is_settled(output.number)) {
    expect(status, {RCAP_STATUS_INVALID_STATE}, error, "device_rows of a settled output");
    return;
  }
  expect(status, {RCAP_STATUS_OK}, error, "device_rows");
  const std::vector<RowPointer> staged = model_.staged_rows(output.number);
  const auto row_bytes =
      static_cast<std::int64_t>(expected_payload(geometry_, Row{std::vector<std::optional<Row::Cell>>(geometry_.layers()), 0, 0, 0}).size());
  same(bytes, std::ssize(staged) * row_bytes, "bytes of the staged rows");
  const std::vector<std::byte> rows = bytes_on_device(data, bytes);
  for (std::size_t i = 0; i < staged.size(); ++i) {
    if (!staged[i]) continue;
    const auto* payload = rows.data() + static_cast<std::int64_t>(i) * row_bytes;
    demand(same_payload(geometry_, *staged[i], payload), "staged row " + std::to_string(i) + " of " + std::to_string(output.number) + " differs");
  }
}

/// Destroys an output in whatever state. With an own thread an accepted one goes on to be stored (R33).
void Session::drop(std::size_t index) {
  const LiveOutput output = outputs_[index];
  outputs_.erase(outputs_.begin() + static_cast<std::ptrdiff_t>(index));
  note("destroy output " + std::to_string(output.number) + (model_.is_settled(output.number) ? " (settled)" : ""));
  rcap_output_destroy(output.handle);
  met(model_.is_settled(output.number) ? "destroyed settled" : model_.is_accepted(output.number) ? "dropped accepted" : "dropped unaccepted");
  if (finalizing_ == Finalizing::kCaller) {
    model_.drop(output.number);
    catch_up_with_drops();
  } else if (!model_.is_accepted(output.number) && !model_.is_settled(output.number)) {
    model_.drop(output.number);
    ++dropped_lately_;
  }
}

/// Everything that is accepted reaches the store, the rest is dropped, and no output is left.
void Session::settle_all() {
  if (finalizing_ == Finalizing::kOwnThread) synchronize();
  while (!outputs_.empty()) {
    const LiveOutput output = outputs_.front();
    if (finalizing_ == Finalizing::kCaller && !model_.is_settled(output.number) && model_.is_accepted(output.number)) {
      copy_to_host(output);
      finalize(output);
    }
    drop(0);
  }
  if (finalizing_ == Finalizing::kOwnThread) {
    synchronize();
    dropped_lately_ = 0;
  }
}

/// Own thread: waits until every accepted forward has settled, those whose output was given back included.
void Session::synchronize() {
  Error error;
  std::int64_t open = 0;
  for (const Sequence number : model_.unsettled()) {
    if (!model_.is_accepted(number)) {
      ++open;
      continue;
    }
    const auto live = std::find_if(outputs_.begin(), outputs_.end(), [&](const LiveOutput& output) { return output.number == number; });
    if (live == outputs_.end()) continue;
    const std::int32_t status = rcap_output_wait(live->handle, kLongWait, error);
    expect(status, {RCAP_STATUS_OK}, error, "wait for " + std::to_string(number) + " in own-thread mode");
    finalize(*live);
    demand(model_.is_settled(number), "finalize after wait answered OK is OK");
  }
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::nanoseconds(kLongWait);
  auto stats = make<rcap_capturer_stats>();
  for (;;) {
    expect(rcap_capturer_stats_get(capturer_, &stats, error), {RCAP_STATUS_OK}, error, "stats");
    if (stats.in_flight == open) break;
    demand(std::chrono::steady_clock::now() < give_up, "detached outputs do not settle (R33)");
    std::this_thread::yield();
  }
  note("waited for every accepted forward");
  for (const Sequence number : model_.unsettled()) {
    if (model_.is_accepted(number)) model_.finalize(number);
  }
  check_completions();
}

/// Every settled forward is told once by `rcap_capturer_next_completed`; a dropped one is not, it has no finalize to speak of.
void Session::check_completions() {
  Error error;
  for (;;) {
    Sequence sequence = 0;
    std::int32_t status = RCAP_STATUS_INTERNAL;
    const std::int32_t answer = rcap_capturer_next_completed(capturer_, 0, &sequence, &status, error);
    expect(answer, {RCAP_STATUS_OK, RCAP_STATUS_TIMEOUT}, error, "next_completed");
    if (answer == RCAP_STATUS_TIMEOUT) break;
    same(status, RCAP_STATUS_OK, "status of completion " + std::to_string(sequence));
    demand(sequence > model_.forgotten() && completions_.insert(sequence).second, "forward " + std::to_string(sequence) + " completed twice");
  }
  const rcap_capturer_stats stats = model_.stats();
  same(completions_forgotten_ + std::ssize(completions_), stats.finalized, "completions told");
}

/// The capturer is gone: every call but destroy says so (R34).
void Session::check_closed(const LiveOutput& output) const {
  Error error;
  void* data = nullptr;
  std::int64_t bytes = 0;
  auto summary = make<rcap_summary>();
  auto layout = make<rcap_accept_layout>();
  same(rcap_output_sequence(output.handle, error), RCAP_STATUS_CLOSED, "sequence of an output whose capturer is gone");
  same(rcap_output_ready(output.handle, error), RCAP_STATUS_CLOSED, "ready of an output whose capturer is gone");
  expect(rcap_output_copy_to_host(output.handle, nullptr, error), {RCAP_STATUS_CLOSED}, error, "copy_to_host");
  expect(rcap_output_wait(output.handle, 0, error), {RCAP_STATUS_CLOSED}, error, "wait");
  expect(rcap_output_finalize(output.handle, &summary, error), {RCAP_STATUS_CLOSED}, error, "finalize");
  expect(rcap_output_accept(output.handle, &layout, nullptr, 0, nullptr, 0, nullptr, error), {RCAP_STATUS_CLOSED}, error, "accept");
  expect(rcap_output_device_rows(output.handle, &data, &bytes, error), {RCAP_STATUS_CLOSED}, error, "device_rows");
}

}  // namespace routecap_test::property
