// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstring>

#include "backend/backend.h"
#include "backend/plugin/loader.h"
#include "backend/plugin/plugin_backend.h"
#include "backend/rows/rows.h"
#include "support/mapping.h"

namespace routecap {
namespace {

/// Works on the caller's thread and ignores streams: program order is stream order. There is one memory: what was staged is where the host wants it.
class HostBackend final : public Backend {
 public:
  void describe(rcap_backend_info& info) const override {
    info.device_ordinal = 0;
    info.threads = 1;
    info.host_memory = 1;
    std::snprintf(info.name, sizeof info.name, "host");
    std::snprintf(info.description, sizeof info.description, "sequential, on the caller's thread, %s row loops", rows::simd_level());
  }

  Memory allocate(MemoryHome /*home*/, std::int64_t bytes, const char* what) override {
    auto mapping = std::make_shared<Mapping>(Mapping::of(bytes, what));
    return {mapping, mapping->data()};
  }

  Memory host_side(const Memory& device, std::int64_t /*bytes*/, const char* /*what*/) override { return device; }

  void capture(const rows::CaptureJob& job, void* /*stream*/) override { rows::capture(job); }

  void snapshot(const rows::SnapshotJob& job, const NamedRows& /*named*/, void* /*stream*/) override {
    rows::snapshot(job);
    rows::clear_marks(job.shape, job.cache);
  }

  void forget(const rows::RowShape& shape, const rows::CacheView& cache, void* /*stream*/) override { rows::clear_marks(shape, cache); }

  void widen(const ListView& list, std::int64_t* out, void* /*stream*/) override { list.widen(out); }

  void copy_to_host(const HostCopy& /*copy*/, void* /*stream*/, Transfer& transfer) override { transfer.started = true; }

  bool complete(const Transfer& transfer) override { return transfer.started; }

  void wait(const Transfer& /*transfer*/) override {}
};

}  // namespace

std::shared_ptr<Backend> open_host_backend() { return std::make_shared<HostBackend>(); }

std::shared_ptr<Backend> open_backend(std::string_view name, const rcap_backend_options& options) {
  if (name != "host") return open_plugin_backend(find_plugin(name), options);
  if (options.device_ordinal != 0) fail(RCAP_STATUS_OUT_OF_RANGE, "device_ordinal is %d, the host backend has only device 0", options.device_ordinal);
  if (options.threads < 0 || options.threads > 1) {
    fail(RCAP_STATUS_OUT_OF_RANGE, "threads is %d, the host backend works on the caller's thread alone: 0 or 1", options.threads);
  }
  return open_host_backend();
}

}  // namespace routecap
