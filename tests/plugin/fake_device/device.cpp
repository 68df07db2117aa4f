// SPDX-License-Identifier: Apache-2.0
#include "device.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

using fake_device::Event;
using fake_device::Fault;
using fake_device::Refusal;
using fake_device::Stream;

/// Memory that was given back and may still be worked on: it goes when every stream has passed the place where it was at that time.
struct rcap_plugin_device::Parked {
  void* address = nullptr;
  std::shared_ptr<void> memory;
  std::vector<std::pair<std::shared_ptr<Stream>, std::int64_t>> passes;
};

rcap_plugin_device::rcap_plugin_device(const rcap_plugin_host& host, const rcap_plugin_options& options, const fake_device_settings& settings)
    : host_(host),
      ordinal_(options.device_ordinal),
      settings_(settings),
      pace_(std::make_shared<fake_device::Pace>(settings.seed, settings.delay_ns)),
      default_stream_(std::make_shared<Stream>(pace_)) {}

rcap_plugin_device::~rcap_plugin_device() {
  pace_->hold(false);
  for (const auto& stream : all_streams()) {
    pace_->wait([&] { return stream->done() >= stream->queued(); });
  }
}

bool rcap_plugin_device::enter(std::int32_t status_of_fault) {
  if (pace_->failing()) throw Refusal{RCAP_STATUS_DEVICE, "the device is lost"};
  if (calls_.fetch_add(1, std::memory_order_relaxed) != call_to_fail_.load(std::memory_order_relaxed)) return false;
  const std::int32_t fault = fault_.load(std::memory_order_relaxed);
  if (fault == kFaultLate) return true;
  if (fault == kFaultSticky) {
    lose("a call was told to");
    throw Refusal{RCAP_STATUS_DEVICE, "the device fell off the bus"};
  }
  throw Refusal{status_of_fault, "told to fail"};
}

void rcap_plugin_device::fail_call(std::int64_t call, std::int32_t fault) {
  fault_.store(fault, std::memory_order_relaxed);
  call_to_fail_.store(call, std::memory_order_relaxed);
}

void rcap_plugin_device::lose(std::string why) {
  {
    const std::lock_guard lock(mutex_);
    if (why_lost_.empty()) why_lost_ = std::move(why);
  }
  pace_->fail();
}

std::string rcap_plugin_device::why_lost() const {
  const std::lock_guard lock(mutex_);
  return why_lost_.empty() && pace_->failing() ? "work was told to fail" : why_lost_;
}

void* rcap_plugin_device::allocate(std::int32_t home, std::int64_t bytes, bool of_engine) {
  sweep();
  const std::int64_t limit = home == RCAP_PLUGIN_DEVICE ? settings_.device_bytes : settings_.pinned_bytes;
  std::atomic<std::int64_t>& held = held_[home];
  if (!of_engine && limit != 0 && held.load(std::memory_order_relaxed) + bytes > limit) return nullptr;
  void* memory = nullptr;
  if (home == RCAP_PLUGIN_DEVICE) {
    const auto pages = fake_device::TwofoldPages::of(bytes);
    if (pages == nullptr) return nullptr;
    space_.add(pages);
    memory = pages->given();
  } else {
    // Of its exact size, so that a sanitizer sees what goes past it.
    std::shared_ptr<std::byte[]> pinned(new std::byte[static_cast<std::size_t>(bytes == 0 ? 1 : bytes)]());
    memory = pinned.get();
    const std::lock_guard lock(mutex_);
    pinned_[memory] = {{pinned, memory}, bytes};
  }
  (of_engine ? engine_bytes_ : held).fetch_add(bytes, std::memory_order_relaxed);
  return memory;
}

void rcap_plugin_device::release(std::int32_t home, void* memory, bool of_engine) {
  Parked parked;
  std::int64_t bytes = 0;
  if (home == RCAP_PLUGIN_DEVICE) {
    // It stays in the address space: work that is queued with it looks it up when it runs.
    const auto pages = space_.find(memory);
    if (pages == nullptr || is_parked(memory)) return lose("memory is given back that is nobody's");
    bytes = pages->bytes();
    parked.address = memory;
    parked.memory = pages;
  } else {
    const std::lock_guard lock(mutex_);
    const auto found = pinned_.find(memory);
    if (found == pinned_.end()) std::abort();
    bytes = found->second.bytes;
    parked.memory = std::move(found->second.memory);
    pinned_.erase(found);
  }
  (of_engine ? engine_bytes_ : held_[home]).fetch_sub(bytes, std::memory_order_relaxed);
  for (auto& stream : all_streams()) parked.passes.emplace_back(stream, stream->queued());
  {
    const std::lock_guard lock(mutex_);
    parked_.push_back(std::move(parked));
  }
  // Both ways are allowed: to wait, and to know better.
  if (!pace_->held() && default_stream_->coin()) drain();
  sweep();
}

void rcap_plugin_device::release_pinned_now(void* memory) {
  const std::lock_guard lock(mutex_);
  const auto found = pinned_.find(memory);
  if (found == pinned_.end()) std::abort();
  held_[RCAP_PLUGIN_PINNED].fetch_sub(found->second.bytes, std::memory_order_relaxed);
  pinned_.erase(found);
}

void rcap_plugin_device::sweep() {
  std::vector<Parked> over;
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < parked_.size();) {
      bool passed = true;
      for (const auto& [stream, queued] : parked_[i].passes) passed = passed && stream->done() >= queued;
      if (!passed) {
        ++i;
        continue;
      }
      over.push_back(std::move(parked_[i]));
      parked_.erase(parked_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  for (const Parked& parked : over) {
    if (parked.address != nullptr) space_.remove(parked.address);
  }
}

bool rcap_plugin_device::is_parked(const void* memory) const {
  const std::lock_guard lock(mutex_);
  return std::any_of(parked_.begin(), parked_.end(), [memory](const Parked& parked) { return parked.address == memory; });
}

bool rcap_plugin_device::is_pinned(const void* address, std::int64_t bytes) const {
  const std::lock_guard lock(mutex_);
  auto found = pinned_.upper_bound(const_cast<void*>(address));
  if (found == pinned_.begin()) return false;
  --found;
  const std::int64_t offset = static_cast<const std::byte*>(address) - static_cast<const std::byte*>(found->first);
  return offset <= found->second.bytes && bytes <= found->second.bytes - offset;
}

std::byte* rcap_plugin_device::inner(const void* address, std::int64_t bytes, const char* what) const {
  std::byte* found = space_.inner(address, bytes);
  if (found == nullptr) throw Fault{std::string(what) + " does not lie in memory of the device"};
  return found;
}

std::vector<std::shared_ptr<Stream>> rcap_plugin_device::all_streams() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Stream>> all = {default_stream_};
  for (const auto& [handle, stream] : streams_) all.push_back(stream);
  return all;
}

std::shared_ptr<Stream> rcap_plugin_device::stream(void* handle) {
  if (handle == nullptr) return default_stream_;
  const std::lock_guard lock(mutex_);
  const auto found = streams_.find(handle);
  if (found == streams_.end()) throw Refusal{RCAP_STATUS_INVALID_ARGUMENT, "stream is no stream of this device"};
  return found->second;
}

void* rcap_plugin_device::create_stream() {
  auto made = std::make_shared<Stream>(pace_);
  void* handle = made.get();
  const std::lock_guard lock(mutex_);
  streams_[handle] = std::move(made);
  return handle;
}

void rcap_plugin_device::destroy_stream(void* handle) {
  std::shared_ptr<Stream> gone;
  {
    const std::lock_guard lock(mutex_);
    const auto found = streams_.find(handle);
    if (found == streams_.end()) return;
    gone = std::move(found->second);
    streams_.erase(found);
  }
  // What is queued there still runs; the thread ends behind it.
  pace_->wait([&] { return pace_->held() || gone->done() >= gone->queued(); });
}

void* rcap_plugin_device::create_event() {
  auto made = std::make_shared<Event>();
  void* handle = made.get();
  const std::lock_guard lock(mutex_);
  events_[handle] = std::move(made);
  return handle;
}

void rcap_plugin_device::destroy_event(void* handle) {
  const std::lock_guard lock(mutex_);
  events_.erase(handle);
}

std::shared_ptr<Event> rcap_plugin_device::event(void* handle) {
  const std::lock_guard lock(mutex_);
  const auto found = events_.find(handle);
  if (found == events_.end()) throw Refusal{RCAP_STATUS_INVALID_ARGUMENT, "event is no event of this device"};
  return found->second;
}

void rcap_plugin_device::queue(void* handle, std::function<void()> work) {
  stream(handle)->queue([this, work = std::move(work)] {
    try {
      work();
    } catch (const Fault& fault) {
      lose(fault.what);
    }
  });
}

void rcap_plugin_device::record(const std::shared_ptr<Event>& event, void* handle) {
  const auto on = stream(handle);
  const std::int64_t number = event->record();
  on->queue([event, number, raw = on.get()] { event->reach(number, raw->lateness()); });
}

void rcap_plugin_device::wait_in_order(const std::shared_ptr<Event>& event, void* handle) {
  const std::int64_t number = event->recorded();
  stream(handle)->queue([event, number, pace = pace_] { pace->wait([&] { return event->reached(number) || pace->failing(); }); });
}

void rcap_plugin_device::drain() {
  for (const auto& stream : all_streams()) {
    const std::int64_t queued = stream->queued();
    pace_->wait([&] { return stream->done() >= queued || pace_->held(); });
  }
}
