// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "backend/backend.h"

namespace routecap_test {

/// The host backend with an accelerator's manners: copies complete when the test says so, and any call may meet a device fault.
class DeferredBackend final : public routecap::Backend {
 public:
  std::atomic<bool> defer{false};  ///< copies wait for finish_copies()
  std::atomic<bool> fail_snapshot{false};
  std::atomic<bool> fail_copy{false};
  std::atomic<bool> fail_event{false};

  void finish_copies();

  void describe(rcap_backend_info& info) const override { host_->describe(info); }
  routecap::Memory allocate(routecap::MemoryHome home, std::int64_t bytes, const char* what) override { return host_->allocate(home, bytes, what); }
  void capture(const routecap::rows::CaptureJob& job, void* stream) override { host_->capture(job, stream); }
  void snapshot(const routecap::rows::SnapshotJob& job, const routecap::NamedRows& named, void* stream) override;
  void forget(const routecap::rows::RowShape& shape, const routecap::rows::CacheView& cache, void* stream) override {
    host_->forget(shape, cache, stream);
  }
  void widen(const routecap::ListView& list, std::int64_t* out, void* stream) override { host_->widen(list, out, stream); }
  void copy_to_host(const routecap::HostCopy& copy, void* stream, routecap::Transfer& transfer) override;
  bool complete(const routecap::Transfer& transfer) override;
  void wait(const routecap::Transfer& transfer) override;
  /// What has failed here has failed for good.
  [[nodiscard]] bool lost() const override { return fail_snapshot || fail_copy || fail_event; }

 private:
  std::shared_ptr<routecap::Backend> host_ = routecap::open_host_backend();
  std::mutex mutex_;
  std::condition_variable finished_;
  std::vector<std::function<void()>> copies_;
  std::vector<std::unique_ptr<std::atomic<bool>>> events_;
};

}  // namespace routecap_test
