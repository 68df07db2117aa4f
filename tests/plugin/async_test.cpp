// SPDX-License-Identifier: Apache-2.0
// The contract where everything takes its time: streams of the engine's own, copies on another, events that are seen late.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "plugin/fake_device/control.h"
#include "support/device.h"
#include "support/rig.h"

using namespace routecap_test;

namespace {

constexpr std::int64_t kPatience = 20'000'000'000;

const fake_device_control& control() { return *test_device_control(); }

/// A stream of the engine's.
class EngineStream {
 public:
  EngineStream() : handle_(control().stream_create(test_device())) {}
  EngineStream(const EngineStream&) = delete;
  EngineStream& operator=(const EngineStream&) = delete;
  ~EngineStream() { control().stream_destroy(test_device(), handle_); }
  operator void*() const { return handle_; }  // NOLINT(google-explicit-constructor): an argument of every call

 private:
  void* handle_;
};

/// Keeps every stream from beginning anything.
class Held {
 public:
  Held() { control().hold(test_device(), 1); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() { go_on(); }
  void go_on() { control().hold(test_device(), 0); }
};

/// The engine's router output: one array in device memory that every layer of every forward is written into, in stream order, as kernels do.
class RouterOutput {
 public:
  explicit RouterOutput(const Rig& rig)
      : rig_(rig), ids_(std::vector<std::byte>(static_cast<std::size_t>(64 * rig.top_k() * 4)), RCAP_MEMORY_DEVICE) {}

  /// Every layer of one forward.
  void capture(const Seeds& seeds, void* stream, std::int64_t first_row = 0) const {
    for (std::size_t column = 0; column < rig_.setup().layer_ids.size(); ++column) {
      std::vector<std::int32_t> ids;
      for (const std::int64_t seed : seeds) {
        const auto row = rig_.router().ids(seed, rig_.setup().layer_ids[column]);
        ids.insert(ids.end(), row.begin(), row.end());
      }
      const auto bytes = static_cast<std::int64_t>(ids.size() * 4);
      control().write_in_order(test_device(), const_cast<void*>(ids_.data()), ids.data(), bytes, stream);
      auto layout = make<rcap_capture_layout>();
      layout.memory = RCAP_MEMORY_DEVICE;
      layout.columns = rig_.top_k();
      layout.tokens = static_cast<std::int64_t>(seeds.size());
      layout.first_row = first_row;
      REQUIRE(rcap_tap_capture(rig_.tap(column), &layout, ids_.data(), bytes, nullptr, 0, nullptr, 0, stream, nullptr) == RCAP_STATUS_OK);
    }
  }

 private:
  const Rig& rig_;
  Placed ids_;
};

struct Ended {
  std::int32_t status = RCAP_STATUS_OK;
  Output output;
};

Ended end(const Rig& rig, const Slots& slots, void* stream, std::int32_t acceptance = RCAP_ACCEPT_ALL, std::int32_t memory = RCAP_MEMORY_HOST) {
  auto layout = make<rcap_forward_layout>();
  layout.tokens = static_cast<std::int64_t>(slots.size());
  layout.acceptance = acceptance;
  layout.slots_memory = memory;
  const Placed given(slots.data(), layout.tokens * 8, memory);
  rcap_output* handle = nullptr;
  Ended ended;
  ended.status = rcap_capturer_end_forward(rig.get(), &layout, given.data(), given.bytes(), nullptr, 0, nullptr, 0, stream, &handle, nullptr);
  ended.output.reset(handle);
  return ended;
}

void copy(const Output& output, void* stream) { REQUIRE(rcap_output_copy_to_host(output.get(), stream, nullptr) == RCAP_STATUS_OK); }

void settle(const Output& output) {
  REQUIRE(rcap_output_wait(output.get(), kPatience, nullptr) == RCAP_STATUS_OK);
  REQUIRE(rcap_output_finalize(output.get(), nullptr, nullptr) == RCAP_STATUS_OK);
}

/// The rows that an oracle of slots expects, as `Rig::show` writes them.
std::string words_of(const std::vector<std::int64_t>& seed_of_slot) {
  std::string words;
  for (const std::int64_t seed : seed_of_slot) words += (words.empty() ? "" : " ") + (seed == 0 ? std::string("-") : std::to_string(seed));
  return words;
}

/// A rig whose seeds are known before anything is captured through a stream, so that `show` names them.
class KnownRig : public Rig {
 public:
  explicit KnownRig(const Setup& setup = Setup()) : Rig(setup) {
    Seeds all;
    for (std::int64_t seed = 1; seed <= 60; ++seed) all.push_back(seed);
    for (std::size_t column = 0; column < setup.layer_ids.size(); ++column) REQUIRE(capture(column, all) == RCAP_STATUS_OK);
    discard();
    control().synchronize(test_device());  // that was the default stream: the test's have no order with it
  }
};

Setup of_depth(std::int32_t depth, std::int32_t mode = RCAP_FINALIZE_CALLER) {
  Setup setup;
  setup.config.pipeline_depth = depth;
  setup.config.finalize_mode = mode;
  return setup;
}

/// Name of the plugin that the run is on.
std::string backend_name() {
  auto info = make<rcap_backend_info>();
  REQUIRE(rcap_backend_describe(test_backend(), &info, nullptr) == RCAP_STATUS_OK);
  return info.name;
}

const Slots kSlots = {10, 11, 12, 13, 14, 15};

}  // namespace

TEST_CASE("the host cannot touch the device's memory: a read of it ends the process") {
  void* memory = control().allocate(test_device(), 64);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::signal(SIGSEGV, SIG_DFL);
    ::signal(SIGBUS, SIG_DFL);
    ::_exit(*static_cast<volatile char*>(memory) == 0 ? 7 : 8);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK((WTERMSIG(status) == SIGSEGV || WTERMSIG(status) == SIGBUS));
  control().release(test_device(), memory);
}

TEST_CASE("R30: after end_forward the next forward may overwrite the device buffer at once") {
  KnownRig rig;
  const EngineStream forwards;
  const EngineStream copies;
  const RouterOutput router(rig);
  std::vector<Output> outputs;
  // Nothing has run when the second forward is queued behind the first, into the same rows of the same buffer.
  Held held;
  for (std::int64_t forward = 0; forward < 4; ++forward) {
    router.capture({forward * 3 + 1, forward * 3 + 2, forward * 3 + 3}, forwards);
    Ended ended = end(rig, {forward * 3, forward * 3 + 1, forward * 3 + 2}, forwards);
    REQUIRE(ended.status == RCAP_STATUS_OK);
    copy(ended.output, copies);
    outputs.push_back(std::move(ended.output));
  }
  CHECK(rig.show({0, 1, 2}) == "- - -");
  held.go_on();
  for (const Output& output : outputs) settle(output);
  CHECK(rig.show({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}) == "1 2 3 4 5 6 7 8 9 10 11 12");
}

TEST_CASE("R31: finalize before the copy is complete is NOT_READY, whatever the streams do; a later call succeeds") {
  KnownRig rig;
  const EngineStream forwards;
  const RouterOutput router(rig);
  Held held;
  router.capture({1, 2}, forwards);
  const Ended ended = end(rig, {10, 11}, forwards);
  CHECK(rcap_output_ready(ended.output.get(), nullptr) == 0);
  CHECK(rcap_output_finalize(ended.output.get(), nullptr, nullptr) == RCAP_STATUS_NOT_READY);
  copy(ended.output, nullptr);
  CHECK(rcap_output_ready(ended.output.get(), nullptr) == 0);
  CHECK(rcap_output_wait(ended.output.get(), 1'000'000, nullptr) == RCAP_STATUS_TIMEOUT);
  CHECK(rcap_output_finalize(ended.output.get(), nullptr, nullptr) == RCAP_STATUS_NOT_READY);
  CHECK(rig.show({10, 11}) == "- -");
  held.go_on();
  settle(ended.output);
  CHECK(rig.show({10, 11}) == "1 2");
}

TEST_CASE("R30, R31: a copy on any stream comes behind the staging, however far behind its stream is") {
  KnownRig rig;
  const EngineStream forwards;
  const RouterOutput router(rig);
  for (std::int64_t round = 0; round < 5; ++round) {
    const EngineStream copies;
    router.capture({round + 1, round + 20}, forwards);
    const Ended ended = end(rig, {10, 11}, forwards);
    copy(ended.output, copies);  // this stream has nothing else to do and would be there first
    settle(ended.output);
    CHECK(rig.show({10, 11}) == words_of({round + 1, round + 20}));
  }
}

TEST_CASE("R9, R10: outputs finalized in any order, with releases between: the highest number of a slot wins") {
  // Every order of three forwards; one slot is released between the second and the third.
  for (const std::vector<std::size_t>& order :
       std::vector<std::vector<std::size_t>>{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}) {
    KnownRig rig;
    const EngineStream forwards;
    const EngineStream copies;
    const RouterOutput router(rig);
    std::vector<Output> outputs;
    for (std::int64_t forward = 0; forward < 3; ++forward) {
      router.capture({forward * 2 + 1, forward * 2 + 2}, forwards);
      Ended ended = end(rig, {10, 11 + forward}, forwards);
      REQUIRE(ended.status == RCAP_STATUS_OK);
      copy(ended.output, copies);
      outputs.push_back(std::move(ended.output));
      if (forward == 1) REQUIRE(rig.try_release({11, 12}, nullptr, RCAP_UNIT_SLOT, RCAP_MEMORY_DEVICE) == RCAP_STATUS_OK);
    }
    for (const std::size_t which : order) settle(outputs[which]);
    CHECK(rig.show({10, 11, 12, 13}) == "5 - - 6");
  }
}

TEST_CASE("R12: copies take rows along of forwards that are on their way, and are not ready before") {
  KnownRig rig;
  const EngineStream forwards;
  const RouterOutput router(rig);
  Held held;
  router.capture({1, 2}, forwards);
  const Ended ended = end(rig, {10, 11}, forwards);
  // Slots in host memory: a list on the device would be waited for, and its stream is held.
  REQUIRE(rig.try_copy({10, 11, 30}, {20, 21, 22}) == RCAP_STATUS_OK);
  CHECK(rig.show({20}) == "NOT_READY(1)");
  copy(ended.output, nullptr);
  CHECK(rig.show({21}) == "NOT_READY(1)");
  held.go_on();
  settle(ended.output);
  CHECK(rig.show({10, 11, 20, 21, 22}) == "1 2 1 2 -");
  REQUIRE(rig.try_copy({20}, {23}, nullptr, RCAP_UNIT_SLOT, RCAP_MEMORY_DEVICE) == RCAP_STATUS_OK);
  CHECK(rig.show({23}) == "1");
}

TEST_CASE("R14: what only the device knows is found when the forward settles, row by row, and the neighbours are stored") {
  KnownRig rig;
  const EngineStream forwards;
  const RouterOutput router(rig);
  router.capture({1, 2, 3, 4}, forwards);
  const Ended ended = end(rig, {10, 999, 11, -7}, forwards, RCAP_ACCEPT_ALL, RCAP_MEMORY_DEVICE);
  REQUIRE(ended.status == RCAP_STATUS_OK);
  copy(ended.output, nullptr);
  REQUIRE(rcap_output_wait(ended.output.get(), kPatience, nullptr) == RCAP_STATUS_OK);
  auto summary = make<rcap_summary>();
  REQUIRE(rcap_output_finalize(ended.output.get(), &summary, nullptr) == RCAP_STATUS_OK);
  CHECK(summary.rows_stored == 2);
  CHECK(summary.rows_bad == 2);
  CHECK(summary.first_bad_fault == RCAP_FAULT_SLOT_OUT_OF_RANGE);
  CHECK(summary.first_bad_row == 1);
  CHECK(summary.first_bad_slot == 999);
  CHECK(rig.show({10, 11, 12}) == "1 3 -");
  // A release that names one slot too many is refused whole, from device memory too.
  Error error;
  CHECK(rig.try_release({10, 128}, error, RCAP_UNIT_SLOT, RCAP_MEMORY_DEVICE) == RCAP_STATUS_OUT_OF_RANGE);
  CHECK(rig.show({10, 11}) == "1 3");
}

TEST_CASE("R21: an acceptance from device memory does not wait; finalize is NOT_READY until it is there; rejected rows leave no trace") {
  for (const std::int32_t mode : {RCAP_FINALIZE_CALLER, RCAP_FINALIZE_OWN_THREAD}) {
    CAPTURE(mode);
    KnownRig rig(of_depth(2, mode));
    const EngineStream forwards;
    const EngineStream sampler;
    const RouterOutput router(rig);
    router.capture({1, 2, 3, 4}, forwards);
    const Ended ended = end(rig, {10, 11, 12, 13}, forwards, RCAP_ACCEPT_LATER);
    REQUIRE(ended.status == RCAP_STATUS_OK);
    if (mode == RCAP_FINALIZE_CALLER) {
      copy(ended.output, nullptr);
      REQUIRE(rcap_output_wait(ended.output.get(), kPatience, nullptr) == RCAP_STATUS_OK);
    }
    CHECK(rcap_output_finalize(ended.output.get(), nullptr, nullptr) == RCAP_STATUS_NOT_READY);
    {
      Held held;
      // What the sampler's kernel writes, the engine hands over in stream order, before it is there.
      const std::int32_t accepted[] = {0, 1, -1, 3};
      const std::int32_t nothing[] = {-1, -1, -1, -1};
      Placed rows(nothing, sizeof nothing, RCAP_MEMORY_DEVICE);
      control().write_in_order(test_device(), const_cast<void*>(rows.data()), accepted, sizeof accepted, sampler);
      auto layout = make<rcap_accept_layout>();
      layout.rows_dtype = RCAP_DTYPE_INT32;
      layout.rows_memory = RCAP_MEMORY_DEVICE;
      REQUIRE(rcap_output_accept(ended.output.get(), &layout, rows.data(), rows.bytes(), nullptr, 0, sampler, nullptr) == RCAP_STATUS_OK);
      CHECK(rcap_output_finalize(ended.output.get(), nullptr, nullptr) == RCAP_STATUS_NOT_READY);
      CHECK(rig.show({10, 11}) == "- -");
    }
    settle(ended.output);
    CHECK(rig.show({10, 11, 12, 13}) == "1 2 - 4");
  }
}

TEST_CASE("R32: when every block is in flight end_forward is BUSY and keeps the captures; no block is overwritten") {
  KnownRig rig(of_depth(2));
  const EngineStream forwards;
  const EngineStream copies;
  const RouterOutput router(rig);
  std::vector<Output> outputs;
  Held held;
  for (std::int64_t forward = 0; forward < 2; ++forward) {
    router.capture({forward + 1}, forwards);
    Ended ended = end(rig, {10 + forward}, forwards);
    copy(ended.output, copies);
    outputs.push_back(std::move(ended.output));
  }
  router.capture({3}, forwards);
  CHECK(end(rig, {12}, forwards).status == RCAP_STATUS_BUSY);
  outputs.front().reset();  // dropped: its block is free when its copy is over, not before
  CHECK(end(rig, {12}, forwards).status == RCAP_STATUS_BUSY);
  CHECK(rig.stats().in_flight == 2);
  held.go_on();
  rig.settle_drops(1);
  const Ended third = end(rig, {12}, forwards);
  REQUIRE(third.status == RCAP_STATUS_OK);
  copy(third.output, copies);
  settle(third.output);
  settle(outputs.back());
  CHECK(rig.show({10, 11, 12}) == "- 2 3");
}

TEST_CASE("R33: a dropped output is in flight until its copy is over, and no call but the one for statistics is needed to see it end") {
  KnownRig rig(of_depth(2));
  const EngineStream forwards;
  const EngineStream copies;
  const RouterOutput router(rig);
  Held held;
  router.capture({1}, forwards);
  Ended ended = end(rig, {10}, forwards);
  copy(ended.output, copies);
  ended.output.reset();
  CHECK(rig.stats().in_flight == 1);
  held.go_on();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::nanoseconds(kPatience);
  while (rig.stats().in_flight != 0 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  CHECK(rig.stats().in_flight == 0);
}

TEST_CASE("R32, R34: a block whose copy the device failed is no other forward's before nothing writes into it any more") {
  KnownRig rig(of_depth(1));
  const EngineStream forwards;
  const EngineStream copies;
  const RouterOutput router(rig);
  Held held;
  router.capture({1, 2}, forwards);
  const Ended failed = end(rig, {10, 11}, forwards);
  copy(failed.output, copies);
  // The query fails, and the copy is still to come.
  control().fail_call(test_device(), control().calls(test_device()), kFaultOnce);
  CHECK(rcap_output_finalize(failed.output.get(), nullptr, nullptr) == RCAP_STATUS_DEVICE);
  CHECK(rig.show({10, 11}) == "- -");
  CHECK(rig.stats().in_flight == 1);
  router.capture({3, 4}, forwards);
  CHECK(end(rig, {11, 12}, forwards).status == RCAP_STATUS_BUSY);
  held.go_on();
  rig.settle_drops();
  const Ended next = end(rig, {11, 12}, forwards);
  REQUIRE(next.status == RCAP_STATUS_OK);
  copy(next.output, copies);
  settle(next.output);
  CHECK(rig.show({10, 11, 12}) == "- 3 4");
}

TEST_CASE("R34: after the device is lost every output ends with DEVICE, every call says so, and the capturer can be destroyed") {
  for (const std::int32_t mode : {RCAP_FINALIZE_CALLER, RCAP_FINALIZE_OWN_THREAD}) {
    CAPTURE(mode);
    const FreshDevice fresh(3, 50'000);
    {
      KnownRig rig(of_depth(4, mode));
      const EngineStream forwards;
      const RouterOutput router(rig);
      rig.store({1, 2}, {10, 11});
      std::vector<Output> outputs;
      for (std::int64_t forward = 0; forward < 4; ++forward) {
        router.capture({forward + 3}, forwards);
        Ended ended = end(rig, {11 + forward}, forwards, forward == 3 ? RCAP_ACCEPT_LATER : RCAP_ACCEPT_ALL);
        REQUIRE(ended.status == RCAP_STATUS_OK);
        outputs.push_back(std::move(ended.output));
        if (forward == 0) control().hold(test_device(), 1);
      }
      control().lose(test_device());
      for (const Output& output : outputs) {
        if (mode == RCAP_FINALIZE_CALLER) static_cast<void>(rcap_output_copy_to_host(output.get(), nullptr, nullptr));
        CHECK(rcap_output_wait(output.get(), kPatience, nullptr) == RCAP_STATUS_OK);
        const std::int32_t status = rcap_output_finalize(output.get(), nullptr, nullptr);
        // In own-thread mode the first may have been stored before.
        CHECK((status == RCAP_STATUS_DEVICE || (mode == RCAP_FINALIZE_OWN_THREAD && &output == &outputs.front() && status == RCAP_STATUS_OK)));
      }
      CHECK(rig.show({10}) == "1");
      CHECK(rig.show({12, 13, 14}) == "- - -");
      rig.settle_drops();  // a block is free, and the device lost, when the piece of work that was running is over
      Error error;
      CHECK(rig.capture(0, {9}, 0, error) == RCAP_STATUS_DEVICE);
      CHECK(error.text() == "backend \"" + backend_name() + "\": capture: the device is lost");
      CHECK(end(rig, {15}, forwards).status == RCAP_STATUS_DEVICE);
      CHECK(rcap_capturer_discard_forward(rig.get(), nullptr, nullptr) == RCAP_STATUS_DEVICE);
      auto info = make<rcap_backend_info>();
      // Another stream may be at a piece of work of its own still; the device is lost when that is over.
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::nanoseconds(kPatience);
      do {
        REQUIRE(rcap_backend_describe(test_backend(), &info, nullptr) == RCAP_STATUS_OK);
      } while (info.lost == 0 && std::chrono::steady_clock::now() < deadline);
      CHECK(info.lost == 1);
      rig.release({10});  // what is with the host goes on
      CHECK(rig.show({10}) == "-");
      control().hold(test_device(), 0);
    }
    CHECK(FreshDevice::bytes_held() == 0);
  }
}

TEST_CASE("a device that is full refuses the seal, gives everything back, and takes it when there is room") {
  auto plan = make<rcap_capturer_plan>();
  Setup setup;
  setup.seal = false;
  REQUIRE(rcap_capturer_plan_get(&setup.config, setup.layer_ids.data(), 3, &plan, nullptr) == RCAP_STATUS_OK);
  const FreshDevice fresh(1, 0, plan.device_bytes - 1);
  setup.backend = test_backend();
  {
    const Rig rig(setup);
    Error error;
    CHECK(rcap_capturer_seal(rig.get(), error) == RCAP_STATUS_OUT_OF_MEMORY);
    CHECK(error.text().find("bytes of device memory cannot be had from backend \"" + backend_name() + "\": ") != std::string::npos);
    CHECK(FreshDevice::bytes_held() == 0);
    CHECK(rcap_capturer_seal(rig.get(), error) == RCAP_STATUS_OUT_OF_MEMORY);
  }
  setup.config.pipeline_depth -= 1;
  setup.seal = true;
  Rig smaller(setup);
  smaller.store({1}, {10});
  CHECK(smaller.show({10}) == "1");
}

TEST_CASE("R32: in own-thread mode end_forward waits for a block, and every row arrives") {
  Setup setup = of_depth(1, RCAP_FINALIZE_OWN_THREAD);
  setup.config.busy_policy = RCAP_BUSY_WAIT;
  setup.config.busy_timeout_ns = kPatience;
  KnownRig rig(setup);
  const EngineStream forwards;
  const RouterOutput router(rig);
  for (std::int64_t forward = 0; forward < 6; ++forward) {
    router.capture({forward + 1}, forwards);
    CHECK(end(rig, {kSlots[static_cast<std::size_t>(forward)]}, forwards).status == RCAP_STATUS_OK);  // and let go of at once (R33)
  }
  CHECK(rig.words(rig.read({.slots = kSlots, .after_sequence = 6, .timeout_ns = kPatience})) == "1 2 3 4 5 6");
}

TEST_CASE("R33: a dropped output's rows are missing, also where only the device knows which; older ones do not come back") {
  for (const std::int32_t memory : {RCAP_MEMORY_HOST, RCAP_MEMORY_DEVICE}) {
    for (const bool copied : {false, true}) {
      CAPTURE(memory);
      CAPTURE(copied);
      KnownRig rig;
      const EngineStream forwards;
      const RouterOutput router(rig);
      rig.store({1, 2, 3}, {10, 11, 12});
      router.capture({4, 5}, forwards);
      Ended ended = end(rig, {10, 11}, forwards, RCAP_ACCEPT_ALL, memory);
      if (copied) copy(ended.output, nullptr);
      const std::int64_t sequence = Rig::sequence(ended.output);
      ended.output.reset();
      CHECK(rig.words(rig.read({.slots = {10, 11, 12}, .after_sequence = sequence, .timeout_ns = kPatience})) == "- - 3");
      rig.settle_drops();
      CHECK(rig.stats().dropped == 1);
    }
  }
}

TEST_CASE("R34: a capturer may be destroyed with everything in flight; its outputs say CLOSED and the device is given back") {
  for (const std::int32_t mode : {RCAP_FINALIZE_CALLER, RCAP_FINALIZE_OWN_THREAD}) {
    const EngineStream forwards;
    const EngineStream copies;
    std::vector<Output> outputs;
    {
      KnownRig rig(of_depth(3, mode));
      const RouterOutput router(rig);
      for (std::int64_t forward = 0; forward < 3; ++forward) {
        router.capture({forward + 1}, forwards);
        Ended ended = end(rig, {10 + forward}, forwards, forward == 2 ? RCAP_ACCEPT_LATER : RCAP_ACCEPT_ALL);
        REQUIRE(ended.status == RCAP_STATUS_OK);
        if (forward != 1) copy(ended.output, copies);
        outputs.push_back(std::move(ended.output));
      }
    }
    for (const Output& output : outputs) CHECK(rcap_output_finalize(output.get(), nullptr, nullptr) == RCAP_STATUS_CLOSED);
    control().synchronize(test_device());
    auto info = make<rcap_backend_info>();
    REQUIRE(rcap_backend_describe(test_backend(), &info, nullptr) == RCAP_STATUS_OK);
    CHECK(info.device_bytes == 0);
    CHECK(info.pinned_bytes == 0);
    CHECK(info.lost == 0);
  }
}

TEST_CASE("R36: a read waits for the forwards that it names and for no later one") {
  KnownRig rig;
  const EngineStream forwards;
  const EngineStream copies;
  const RouterOutput router(rig);
  std::vector<Output> outputs;
  for (std::int64_t forward = 0; forward < 2; ++forward) {
    router.capture({forward + 1, forward + 20}, forwards);
    Ended ended = end(rig, {10, 11 + forward}, forwards);
    copy(ended.output, copies);
    outputs.push_back(std::move(ended.output));
  }
  CHECK(rig.words(rig.read({.slots = {10}, .after_sequence = 1})) == "NOT_READY(1)");
  std::thread finalizer([&] { settle(outputs.front()); });
  const std::string first = rig.words(rig.read({.slots = {10, 11}, .after_sequence = 1, .timeout_ns = kPatience}));
  finalizer.join();
  CHECK(first == "1 20");
  CHECK(rig.words(rig.read({.slots = {10}, .after_sequence = 2})) == "NOT_READY(2)");
  settle(outputs.back());
  CHECK(rig.words(rig.read({.slots = {10, 11, 12}, .after_sequence = 2})) == "2 20 21");
}

TEST_CASE("two streams capture halves of one forward; the engine joins them before it ends it (R27)") {
  KnownRig rig;
  const EngineStream first;
  const EngineStream second;
  const RouterOutput router_of_first(rig);
  const RouterOutput router_of_second(rig);
  for (std::int64_t round = 0; round < 5; ++round) {
    router_of_first.capture({round + 1, round + 2}, first);
    router_of_second.capture({round + 30, round + 31}, second, 2);
    control().stream_wait(test_device(), first, second);
    const Ended ended = end(rig, {10, 11, 12, 13}, first);
    control().stream_wait(test_device(), second, first);
    copy(ended.output, second);
    settle(ended.output);
    CHECK(rig.show({10, 11, 12, 13}) == words_of({round + 1, round + 2, round + 30, round + 31}));
  }
}

TEST_CASE("R35: capturers of two devices, and two of one, do not meet") {
  Error error;
  auto options = make<rcap_backend_options>();
  options.device_ordinal = 1;
  rcap_backend* handle = nullptr;
  REQUIRE(rcap_backend_open(std::getenv("ROUTECAP_TEST_FAKE_DEVICE"), &options, &handle, error) == RCAP_STATUS_OK);
  const Backend other(handle);
  auto info = make<rcap_backend_info>();
  REQUIRE(rcap_backend_describe(other.get(), &info, error) == RCAP_STATUS_OK);
  CHECK(info.device_ordinal == 1);
  Setup setup;
  setup.backend = other.get();
  // Its own memory is not this run's device's: only host arrays go there.
  setup.config.num_experts = 64;
  Rig here;
  Rig beside;
  here.store({1}, {10});
  beside.store({2}, {10});
  control().lose(control().latest());
  CHECK(here.show({10}) == "1");
  CHECK(beside.show({10}) == "2");
  CHECK(here.store({3}, {11}).rows_stored == 1);
  options.device_ordinal = 2;
  CHECK(rcap_backend_open(std::getenv("ROUTECAP_TEST_FAKE_DEVICE"), &options, &handle, error) == RCAP_STATUS_OUT_OF_RANGE);
}
