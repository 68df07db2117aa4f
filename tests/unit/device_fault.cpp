// SPDX-License-Identifier: Apache-2.0
// R34 where the device fails, R31 - R33 where its copies take time: through a backend that fails and dawdles when told to.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "backend/backend.h"
#include "backend_handle.h"
#include "support/rig.h"

using namespace routecap_test;

namespace {

/// The host backend, with a switch for every way in which a device goes wrong.
class Moody : public routecap::Backend {
 public:
  void describe(rcap_backend_info& info) const override { host_->describe(info); }
  routecap::Memory allocate(routecap::MemoryHome home, std::int64_t bytes, const char* what) override { return host_->allocate(home, bytes, what); }
  void capture(const routecap::rows::CaptureJob& job, void* stream) override {
    fail_if(capture_fails);
    host_->capture(job, stream);
  }
  void snapshot(const routecap::rows::SnapshotJob& job, const routecap::NamedRows& named, void* stream) override {
    fail_if(snapshot_fails);
    host_->snapshot(job, named, stream);
  }
  void forget(const routecap::rows::RowShape& shape, const routecap::rows::CacheView& cache, void* stream) override {
    host_->forget(shape, cache, stream);
  }
  void widen(const routecap::ListView& list, std::int64_t* out, void* stream) override { host_->widen(list, out, stream); }
  void copy_to_host(const routecap::HostCopy& copy, void* /*stream*/, routecap::Transfer& transfer) override {
    fail_if(copy_fails);
    transfer.started = true;
    const std::lock_guard lock(mutex_);
    if (!dawdles) {
      move(copy);
      return;
    }
    // The bytes arrive when the device is told to go on, not before.
    waiting_.push_back([copy] { move(copy); });
  }
  bool complete(const routecap::Transfer& transfer) override {
    fail_if(complete_fails);
    const std::lock_guard lock(mutex_);
    return transfer.started && waiting_.empty();
  }
  void wait(const routecap::Transfer&) override {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [&] { return waiting_.empty(); });
    fail_if(complete_fails);
  }
  /// What was on its way arrives.
  void go_on() {
    const std::lock_guard lock(mutex_);
    for (const auto& copy : waiting_) copy();
    waiting_.clear();
    arrived_.notify_all();
  }

  std::atomic<bool> capture_fails{false};
  std::atomic<bool> snapshot_fails{false};
  std::atomic<bool> copy_fails{false};
  std::atomic<bool> complete_fails{false};
  std::atomic<bool> dawdles{false};

 private:
  /// A device's staging blocks have a host side of their own, unlike the host's.
  static void move(const routecap::HostCopy& copy) { std::memcpy(copy.pinned, copy.device, static_cast<std::size_t>(copy.bytes)); }
  static void fail_if(bool wanted) {
    if (wanted) routecap::fail(RCAP_STATUS_DEVICE, "the device has fallen off the bus");
  }
  std::shared_ptr<routecap::Backend> host_ = routecap::open_host_backend();
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<std::function<void()>> waiting_;
};

/// A capturer on such a backend.
struct Moods {
  std::shared_ptr<Moody> device = std::make_shared<Moody>();
  std::unique_ptr<Rig> rig;

  explicit Moods(std::int32_t mode = RCAP_FINALIZE_CALLER) {
    Setup setup;
    setup.config.finalize_mode = mode;
    setup.config.pipeline_depth = 2;
    const Backend handle(reinterpret_cast<rcap_backend*>(new routecap::capi::BackendHandle(device)));
    setup.backend = handle.get();
    rig = std::make_unique<Rig>(setup);
  }
};

}  // namespace

TEST_CASE("R34: a device fault during the copy ends the output with DEVICE, nothing is stored from it, and its block is free") {
  for (const bool at_start : {true, false}) {
    CAPTURE(at_start);
    Moods moods;
    Rig& rig = *moods.rig;
    rig.store({1, 2}, {10, 11});
    const Output bad = rig.forward({3, 4}, {11, 12});
    const Output good = rig.forward({5}, {13});
    Error error;
    if (at_start) {
      moods.device->copy_fails = true;
      CHECK(name(rcap_output_copy_to_host(bad.get(), nullptr, error)) == "RCAP_STATUS_DEVICE");
      CHECK_FALSE(error.text().empty());
      moods.device->copy_fails = false;
    } else {
      CHECK(rcap_output_copy_to_host(bad.get(), nullptr, error) == RCAP_STATUS_OK);
      moods.device->complete_fails = true;
    }
    auto summary = make<rcap_summary>();
    CHECK(name(rcap_output_finalize(bad.get(), &summary, error)) == "RCAP_STATUS_DEVICE");
    moods.device->complete_fails = false;
    CHECK(name(rcap_output_finalize(bad.get(), &summary, error)) == "RCAP_STATUS_DEVICE");  // the same answer again
    CHECK(rig.show({10, 11, 12}) == "1 - -");                                               // settled at its number: neither new nor stale
    CHECK(rig.words(rig.read({.slots = {10, 11, 12}, .after_sequence = 2})) == "1 - -");    // nobody waits for it
    CHECK(rig.settle(good).rows_stored == 1);                                               // the other outputs are fine
    CHECK(rig.show({13}) == "5");
    CHECK(rig.stats().finalized == 3);
    CHECK(rig.stats().dropped == 0);
    CHECK(rig.stats().in_flight == 0);
    CHECK(rig.store({6, 7}, {11, 12}).rows_stored == 2);
    CHECK(rig.show({11, 12}) == "6 7");
  }
}

TEST_CASE("R34: a device fault in own-thread mode is told by wait, finalize and the completion") {
  Moods moods(RCAP_FINALIZE_OWN_THREAD);
  Rig& rig = *moods.rig;
  std::int64_t sequence = 0;
  std::int32_t status = 0;
  CHECK(name(rcap_capturer_next_completed(rig.get(), 0, &sequence, &status, nullptr)) == "RCAP_STATUS_TIMEOUT");
  moods.device->copy_fails = true;
  const Output bad = rig.forward({1}, {10});
  REQUIRE(rcap_capturer_next_completed(rig.get(), 20'000'000'000, &sequence, &status, nullptr) == RCAP_STATUS_OK);
  CHECK(sequence == 1);
  CHECK(name(status) == "RCAP_STATUS_DEVICE");
  moods.device->copy_fails = false;
  CHECK(name(rcap_output_finalize(bad.get(), nullptr, nullptr)) == "RCAP_STATUS_DEVICE");
  CHECK(rig.show({10}) == "-");
  CHECK(rig.store({2}, {10}).rows_stored == 1);
  CHECK(rig.show({10}) == "2");
}

TEST_CASE("R34: a device fault at a capture or at end_forward is told at once; end_forward takes no number and the block stays free") {
  Moods moods;
  Rig& rig = *moods.rig;
  Error error;
  moods.device->capture_fails = true;
  CHECK(name(rig.capture(0, {1}, 0, error)) == "RCAP_STATUS_DEVICE");
  CHECK_FALSE(error.text().empty());
  moods.device->capture_fails = false;
  rig.discard();
  rig.capture_all({1});
  moods.device->snapshot_fails = true;
  Output output;
  for (int i = 0; i < 5; ++i) CHECK(name(rig.try_end({.tokens = 1, .slots = {10}}, output, error)) == "RCAP_STATUS_DEVICE");
  CHECK(rig.last_sequence() == 0);
  CHECK(rig.stats().in_flight == 0);
  moods.device->snapshot_fails = false;
  rig.discard();
  CHECK(rig.store({2}, {10}).rows_stored == 1);
  CHECK(rig.show({10}) == "2");
}

TEST_CASE("R31: while the copy is on its way, ready is 0, wait times out and finalize is NOT_READY; nothing is corrupted") {
  Moods moods;
  Rig& rig = *moods.rig;
  rig.store({1}, {10});
  moods.device->dawdles = true;
  const Output output = rig.forward({2, 3}, {10, 11});
  Error error;
  CHECK(rcap_output_copy_to_host(output.get(), nullptr, error) == RCAP_STATUS_OK);
  CHECK(rcap_output_ready(output.get(), error) == 0);
  CHECK(name(rcap_output_wait(output.get(), 2'000'000, error)) == "RCAP_STATUS_TIMEOUT");
  CHECK(name(rcap_output_finalize(output.get(), nullptr, error)) == "RCAP_STATUS_NOT_READY");
  CHECK(rig.show({10, 11}) == "1 -");
  // The device cache is the next forward's meanwhile (R30).
  rig.capture_all({7, 8});
  moods.device->go_on();
  CHECK(rcap_output_ready(output.get(), error) == 1);
  CHECK(rcap_output_finalize(output.get(), nullptr, error) == RCAP_STATUS_OK);
  CHECK(rig.show({10, 11}) == "2 3");
}

TEST_CASE("R31: the capturer's own thread waits for the copy as well: nothing is stored before it is complete") {
  Moods moods(RCAP_FINALIZE_OWN_THREAD);
  Rig& rig = *moods.rig;
  rig.store({1}, {10});
  moods.device->dawdles = true;
  const Output output = rig.forward({2, 3}, {10, 11});
  CHECK(name(rcap_output_wait(output.get(), 20'000'000, nullptr)) == "RCAP_STATUS_TIMEOUT");
  CHECK(rig.show({10, 11}) == "1 -");
  moods.device->dawdles = false;
  moods.device->go_on();
  CHECK(rig.settle(output).rows_stored == 2);
  CHECK(rig.show({10, 11}) == "2 3");
}

TEST_CASE("R32, R33: a dropped output's rows are missing, and its block is free, only when its copy is over") {
  Moods moods;
  Rig& rig = *moods.rig;
  rig.store({1, 2}, {10, 11});
  rig.capture_all({3});
  moods.device->dawdles = true;
  Output dropped = rig.end({.tokens = 1, .slots = {10}, .slots_memory = RCAP_MEMORY_DEVICE});  // only the copy tells which slot
  std::thread device([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    moods.device->go_on();
  });
  if (rcap_output_copy_to_host(dropped.get(), nullptr, nullptr) == RCAP_STATUS_OK) dropped.reset();
  device.join();
  moods.device->dawdles = false;
  CHECK(rig.store({5}, {12}).rows_stored == 1);
  CHECK(rig.store({6}, {13}).rows_stored == 1);
  CHECK(rig.show({10, 11, 12, 13}) == "- 2 5 6");
}
