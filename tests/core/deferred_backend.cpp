// SPDX-License-Identifier: Apache-2.0
#include "deferred_backend.h"

#include <cstring>

namespace routecap_test {

void DeferredBackend::finish_copies() {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& copy : copies_) copy();
  copies_.clear();
  finished_.notify_all();
}

void DeferredBackend::snapshot(const routecap::rows::SnapshotJob& job, const routecap::NamedRows& named, void* stream) {
  if (fail_snapshot) routecap::fail(RCAP_STATUS_DEVICE, "the device fell off the bus");
  host_->snapshot(job, named, stream);
}

void DeferredBackend::copy_to_host(const routecap::HostCopy& given, void* /*stream*/, routecap::Transfer& transfer) {
  if (fail_copy) routecap::fail(RCAP_STATUS_DEVICE, "the device fell off the bus");
  const std::lock_guard<std::mutex> lock(mutex_);
  events_.push_back(std::make_unique<std::atomic<bool>>(false));
  std::atomic<bool>* done = events_.back().get();
  transfer.event = done;
  transfer.started = true;
  auto copy = [given, done] {
    // An accelerator's staging blocks have a host side of their own, unlike the host's.
    std::memcpy(given.pinned, given.device, static_cast<std::size_t>(given.bytes));
    done->store(true, std::memory_order_release);
  };
  if (defer) {
    copies_.emplace_back(copy);
  } else {
    copy();
  }
}

void DeferredBackend::wait(const routecap::Transfer& transfer) {
  std::unique_lock<std::mutex> lock(mutex_);
  finished_.wait(lock, [&] { return static_cast<std::atomic<bool>*>(transfer.event)->load(std::memory_order_acquire); });
}

bool DeferredBackend::complete(const routecap::Transfer& transfer) {
  if (fail_event) routecap::fail(RCAP_STATUS_DEVICE, "the device fell off the bus");
  return static_cast<std::atomic<bool>*>(transfer.event)->load(std::memory_order_acquire);
}

}  // namespace routecap_test
