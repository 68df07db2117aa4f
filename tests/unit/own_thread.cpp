// SPDX-License-Identifier: Apache-2.0
// Finalization on the capturer's own thread: R31 - R33, completions, waiting.
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "support/device.h"
#include "support/rig.h"

using namespace routecap_test;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kPatience = 20 * kSecond;

Setup own_thread(std::int32_t depth = 4) {
  Setup setup;
  setup.config.finalize_mode = RCAP_FINALIZE_OWN_THREAD;
  setup.config.pipeline_depth = depth;
  return setup;
}

/// Reads after waiting for a sequence.
std::string awaited(const Rig& rig, const Slots& slots, std::int64_t sequence) {
  return rig.words(rig.read({.slots = slots, .after_sequence = sequence, .timeout_ns = kPatience}));
}

}  // namespace

TEST_CASE("R31: in own-thread mode end_forward starts the copy and the rows arrive without another call") {
  Rig rig(own_thread());
  const Output output = rig.forward({1, 2}, {10, 11});
  CHECK(awaited(rig, {10, 11}, 1) == "1 2");
  CHECK(rcap_output_wait(output.get(), kPatience, nullptr) == RCAP_STATUS_OK);
  CHECK(rcap_output_ready(output.get(), nullptr) == 1);
  auto summary = make<rcap_summary>();
  CHECK(rcap_output_finalize(output.get(), &summary, nullptr) == RCAP_STATUS_OK);
  CHECK(summary.rows_stored == 2);
  CHECK(summary.sequence == 1);
  CHECK(rcap_output_copy_to_host(output.get(), nullptr, nullptr) == RCAP_STATUS_OK);  // harmless
  CHECK(rig.stats().finalized == 1);
}

TEST_CASE("R33: in own-thread mode destroying an accepted output only detaches it; its rows are stored") {
  Rig rig(own_thread());
  for (std::int64_t i = 0; i < 50; ++i) {
    Output output;
    rig.capture_all({i + 1});
    // With four blocks and nobody waiting, the engine may be ahead of the thread.
    while (rig.try_end({.tokens = 1, .slots = {i}}, output) == RCAP_STATUS_BUSY) std::this_thread::yield();
    output.reset();
  }
  CHECK(awaited(rig, {0, 1, 25, 48, 49}, 50) == "1 2 26 49 50");
  CHECK(rig.stats().dropped == 0);
}

TEST_CASE("R33: in own-thread mode an unaccepted output is dropped and touches no slot") {
  Rig rig(own_thread());
  rig.store({1}, {10});
  Output later = rig.forward_later({2}, {10});
  later.reset();
  CHECK(awaited(rig, {10}, 2) == "1");
  CHECK(rig.stats().dropped == 1);
}

TEST_CASE("R21: in own-thread mode a LATER forward waits for its acceptance, and is stored soon after it") {
  Rig rig(own_thread());
  const Output later = rig.forward_later({1, 2, 3}, {10, 11, 12});
  CHECK(rcap_output_ready(later.get(), nullptr) == 0);
  CHECK(name(rcap_output_finalize(later.get(), nullptr, nullptr)) == "RCAP_STATUS_NOT_READY");
  CHECK(name(rcap_output_wait(later.get(), 5'000'000, nullptr)) == "RCAP_STATUS_TIMEOUT");
  const Output next = rig.forward({4}, {20});  // is not held up by it
  rig.settle(next);
  CHECK(rig.show({10, 20}) == "- 4");
  Rig::accept(later, {.rows = {0, 2}});
  CHECK(rig.settle(later).rows_stored == 2);
  CHECK(rig.show({10, 11, 12}) == "1 - 3");
}

TEST_CASE("R33: in own-thread mode an output accepted and destroyed at once is stored") {
  Rig rig(own_thread());
  Output later = rig.forward_later({1, 2}, {10, 11});
  Rig::accept(later, {.rows = {1}});
  later.reset();
  CHECK(awaited(rig, {10, 11}, 1) == "- 2");
  CHECK(rig.stats().dropped == 0);
}

TEST_CASE("R36: a read waits for the own thread, and for an acceptance that comes from another thread") {
  Rig rig(own_thread());
  const Output later = rig.forward_later({1}, {10});
  std::thread acceptor([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    Rig::accept(later, {.rows = {0}});
  });
  CHECK(awaited(rig, {10}, 1) == "1");
  acceptor.join();
}

TEST_CASE("completions come in the order in which outputs settled, each once, with its status") {
  Rig rig(own_thread());
  std::int64_t sequence = -1;
  std::int32_t status = -1;
  CHECK(name(rcap_capturer_next_completed(rig.get(), 0, &sequence, &status, nullptr)) == "RCAP_STATUS_TIMEOUT");
  const Output later = rig.forward_later({1}, {10});
  const Output second = rig.forward({2}, {11});
  REQUIRE(rcap_capturer_next_completed(rig.get(), kPatience, &sequence, &status, nullptr) == RCAP_STATUS_OK);
  CHECK(sequence == 2);
  CHECK(status == RCAP_STATUS_OK);
  Rig::accept(later, {.rows = {0}});
  REQUIRE(rcap_capturer_next_completed(rig.get(), kPatience, &sequence, &status, nullptr) == RCAP_STATUS_OK);
  CHECK(sequence == 1);
  CHECK(name(rcap_capturer_next_completed(rig.get(), 3'000'000, &sequence, &status, nullptr)) == "RCAP_STATUS_TIMEOUT");
  CHECK(rig.show({10, 11}) == "1 2");
}

TEST_CASE("completions are complete: every forward's number comes once, however many wait") {
  Rig rig(own_thread(3));
  std::int64_t sequence = 0;
  std::int32_t status = 0;
  CHECK(name(rcap_capturer_next_completed(rig.get(), 0, &sequence, &status, nullptr)) == "RCAP_STATUS_TIMEOUT");
  std::set<std::int64_t> numbers;
  for (std::int64_t i = 0; i < 300; ++i) {
    Output output;
    rig.capture_all({i});
    while (rig.try_end({.tokens = 1, .slots = {i % 128}}, output) == RCAP_STATUS_BUSY) std::this_thread::yield();
    numbers.insert(rig.sequence(output));
  }
  std::set<std::int64_t> completed;
  while (completed.size() < numbers.size()) {
    REQUIRE(rcap_capturer_next_completed(rig.get(), kPatience, &sequence, &status, nullptr) == RCAP_STATUS_OK);
    CHECK(status == RCAP_STATUS_OK);
    CHECK(completed.insert(sequence).second);
  }
  CHECK(completed == numbers);
}

TEST_CASE("completions without polling: an eventfd counts settled outputs") {
  Rig rig(own_thread());
  std::int32_t fd = -1;
  REQUIRE(rcap_capturer_completion_fd(rig.get(), &fd, nullptr) == RCAP_STATUS_OK);
  REQUIRE(fd >= 0);
  std::int32_t again = -1;
  CHECK(rcap_capturer_completion_fd(rig.get(), &again, nullptr) == RCAP_STATUS_OK);
  CHECK(again == fd);
  pollfd waiting = {fd, POLLIN, 0};
  CHECK(poll(&waiting, 1, 0) == 0);
  std::vector<Output> outputs;
  for (std::int64_t i = 0; i < 3; ++i) outputs.push_back(rig.forward({i + 1}, {10 + i}));
  std::uint64_t total = 0;
  while (total < 3) {
    REQUIRE(poll(&waiting, 1, 20'000) == 1);
    std::uint64_t count = 0;
    REQUIRE(read(fd, &count, sizeof count) == sizeof count);
    total += count;
  }
  CHECK(total == 3);
  CHECK(rig.show({10, 11, 12}) == "1 2 3");
  std::int64_t sequence = 0;
  std::int32_t status = 0;
  for (int i = 0; i < 3; ++i) CHECK(rcap_capturer_next_completed(rig.get(), kPatience, &sequence, &status, nullptr) == RCAP_STATUS_OK);
}

TEST_CASE("completions are an own-thread thing: where the caller finalizes, and before the seal, they are refused") {
  Rig rig;
  std::int32_t fd = -1;
  std::int64_t sequence = 0;
  std::int32_t status = 0;
  Error error;
  CHECK(name(rcap_capturer_completion_fd(rig.get(), &fd, error)) == "RCAP_STATUS_INVALID_STATE");
  CHECK_FALSE(error.text().empty());
  CHECK(fd == -1);
  CHECK(name(rcap_capturer_next_completed(rig.get(), 0, &sequence, &status, error)) == "RCAP_STATUS_INVALID_STATE");
  Setup open = own_thread();
  open.seal = false;
  Rig unsealed(open);
  CHECK(name(rcap_capturer_completion_fd(unsealed.get(), &fd, nullptr)) == "RCAP_STATUS_INVALID_STATE");
  CHECK(name(rcap_capturer_next_completed(unsealed.get(), 0, &sequence, &status, nullptr)) == "RCAP_STATUS_INVALID_STATE");
  Rig own(own_thread());
  CHECK(name(rcap_capturer_next_completed(own.get(), -1, &sequence, &status, error)) == "RCAP_STATUS_INVALID_ARGUMENT");
  CHECK(error.text().find("timeout_ns") != std::string::npos);
}

TEST_CASE("R32: with WAIT end_forward waits for a block that comes free") {
  Setup setup = own_thread(2);
  setup.config.busy_policy = RCAP_BUSY_WAIT;
  setup.config.busy_timeout_ns = kPatience;
  Rig rig(setup);
  for (std::int64_t i = 0; i < 200; ++i) rig.forward({i + 1}, {i % 128});
  CHECK(awaited(rig, {0, 71, 72, 127}, 200) == "129 200 73 128");
  CHECK(rig.stats().busy == 0);
}

TEST_CASE("R32: with WAIT end_forward says BUSY after its timeout, and the same call may be repeated") {
  Setup setup = own_thread(2);
  setup.config.busy_policy = RCAP_BUSY_WAIT;
  setup.config.busy_timeout_ns = 40'000'000;
  Rig rig(setup);
  const Output first = rig.forward_later({1}, {10});  // both wait for an acceptance
  const Output second = rig.forward_later({2}, {11});
  rig.capture_all({3});
  Output output;
  const auto begin = std::chrono::steady_clock::now();
  CHECK(name(rig.try_end({.tokens = 1, .slots = {12}}, output)) == "RCAP_STATUS_BUSY");
  CHECK(std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds(40));
  CHECK(rig.stats().busy == 1);
  CHECK(rig.last_sequence() == 2);
  Rig::accept(first, {.rows = {0}});
  rig.settle(first);
  CHECK(rig.settle(rig.end({.tokens = 1, .slots = {12}})).rows_stored == 1);
  Rig::accept(second, {});
  CHECK(awaited(rig, {10, 11, 12}, 3) == "1 - 3");
}

TEST_CASE("R10: in own-thread mode the highest number wins as well") {
  Rig rig(own_thread());
  const Output old = rig.forward_later({1}, {10});
  const Output young = rig.forward({2}, {10});
  rig.settle(young);
  Rig::accept(old, {.rows = {0}});
  CHECK(rig.settle(old).rows_outdated == 1);
  CHECK(rig.show({10}) == "2");
}

TEST_CASE("R12: in own-thread mode a copy's target is not ready until the forward before it is there") {
  Rig rig(own_thread());
  const Output later = rig.forward_later({1}, {10});
  rig.copy({10}, {20});
  CHECK(rig.show({20}) == "NOT_READY(1)");
  Rig::accept(later, {.rows = {0}});
  CHECK(rig.words(rig.read({.slots = {20}, .timeout_ns = kPatience})) == "1");
}

TEST_CASE("R32: a forward that is known to be over has given its block back: the next one is not refused") {
  Rig rig(own_thread(1));
  std::int32_t fd = -1;
  REQUIRE(rcap_capturer_completion_fd(rig.get(), &fd, nullptr) == RCAP_STATUS_OK);  // from now on completions are kept
  // Streams of a device dawdle.
  const std::int64_t rounds = test_device() == nullptr ? 20'000 : 200;
  for (std::int64_t round = 0; round < rounds; ++round) {
    CAPTURE(round);
    rig.capture_all({round});
    Output output;
    REQUIRE(name(rig.try_end({.tokens = 1, .slots = {round % 100}}, output)) == "RCAP_STATUS_OK");
    // Known by the output's own answer, or by what the thread reports.
    auto summary = make<rcap_summary>();
    if (round % 2 == 0) {
      while (rcap_output_finalize(output.get(), &summary, nullptr) == RCAP_STATUS_NOT_READY) {
      }
      CHECK(summary.rows_stored == 1);
    } else {
      std::int64_t sequence = 0;
      std::int32_t status = -1;
      do {
        REQUIRE(rcap_capturer_next_completed(rig.get(), kPatience, &sequence, &status, nullptr) == RCAP_STATUS_OK);
      } while (sequence < round + 1);
      CHECK(status == RCAP_STATUS_OK);
    }
  }
  CHECK(rig.stats().busy == 0);
}

TEST_CASE("R34: a capturer with work on its thread may be destroyed at any moment") {
  for (int round = 0; round < 100; ++round) {
    std::vector<Output> outputs;
    {
      Rig rig(own_thread());
      for (std::int64_t i = 0; i < round % 5; ++i) {
        Output output;
        rig.capture_all({i + 1});
        if (rig.try_end({.tokens = 1, .acceptance = i == 2 ? RCAP_ACCEPT_LATER : RCAP_ACCEPT_ALL, .slots = {i}}, output) != RCAP_STATUS_OK) continue;
        if (i % 2 == 0) outputs.push_back(std::move(output));
      }
    }
    for (const Output& output : outputs) CHECK(name(rcap_output_ready(output.get(), nullptr)) == "RCAP_STATUS_CLOSED");
  }
}

TEST_CASE("R30: in own-thread mode too, the device buffer is the next forward's at once") {
  Rig rig(own_thread());
  for (std::int64_t round = 0; round < 100; ++round) {
    Seeds seeds;
    Slots slots;
    for (std::int64_t i = 0; i < 40; ++i) {
      seeds.push_back(round * 40 + i);
      slots.push_back((round * 40 + i) % 120);
    }
    rig.capture_all(seeds);
    Output output;
    while (rig.try_end({.tokens = 40, .slots = slots}, output) == RCAP_STATUS_BUSY) std::this_thread::yield();
  }
  Slots slots;
  std::string expected;
  for (std::int64_t i = 3880; i < 4000; ++i) {
    slots.push_back(i % 120);
    expected += (expected.empty() ? "" : " ") + std::to_string(i);
  }
  CHECK(awaited(rig, slots, 100) == expected);
}
