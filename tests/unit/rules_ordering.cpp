// SPDX-License-Identifier: Apache-2.0
// R9, R10: one sequence of numbers decides, whatever order things are finalized in.
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/rig.h"

using namespace routecap_test;

TEST_CASE("R9: forwards, releases and copies take their number from one sequence, at the call") {
  Rig rig;
  CHECK(rig.last_sequence() == 0);
  const Output first = rig.forward({1}, {10});
  CHECK(rig.sequence(first) == 1);
  rig.release({10});
  CHECK(rig.last_sequence() == 2);
  rig.copy({11}, {12});
  CHECK(rig.last_sequence() == 3);
  rig.release_all();
  CHECK(rig.last_sequence() == 4);
  const Output second = rig.forward({2}, {10});
  CHECK(rig.sequence(second) == 5);
  rig.settle(second);
  rig.settle(first);
  CHECK(rig.last_sequence() == 5);
  CHECK(rig.sequence(first) == 1);
  CHECK(rig.info(10).sequence == 5);
}

TEST_CASE("R9: an empty release or copy takes a number; a refused call, a discard and a read take none") {
  Rig rig;
  rig.release({});
  CHECK(rig.last_sequence() == 1);
  rig.copy({}, {});
  CHECK(rig.last_sequence() == 2);
  CHECK(rig.try_release({-1}) == RCAP_STATUS_OUT_OF_RANGE);
  CHECK(rig.try_copy({1, 2}, {3, 3}) == RCAP_STATUS_INVALID_ARGUMENT);
  Output output;
  CHECK(rig.try_end({.tokens = 1, .slots = {1000}}, output) == RCAP_STATUS_OUT_OF_RANGE);
  rig.discard();
  CHECK(rig.show({1}) == "-");
  CHECK(rig.last_sequence() == 2);
  CHECK(rig.sequence(rig.forward({1}, {10})) == 3);
}

TEST_CASE("R9: a forward numbered before a slot's release never leaves a row there, however late it is finalized") {
  for (const bool all : {false, true}) {
    CAPTURE(all);
    Rig rig;
    const Output output = rig.forward({1, 2}, {10, 11});
    if (all) {
      rig.release_all();
    } else {
      rig.release({10});
    }
    const rcap_summary summary = rig.settle(output);
    CHECK(rig.show({10, 11}) == (all ? "- -" : "- 2"));
    CHECK(summary.entries == 2);
    CHECK(summary.rows_outdated == (all ? 2 : 1));
    CHECK(summary.rows_stored == (all ? 0 : 1));
    CHECK(summary.rows_bad == 0);
    CHECK(summary.first_bad_fault == RCAP_FAULT_NONE);
    CHECK(rig.stats().rows_outdated == summary.rows_outdated);
    CHECK(rig.info(10).sequence == 2);
  }
}

TEST_CASE("R9: an old tenant's forward finalized after the new tenant's changes nothing in the shared slot and stores its other rows") {
  Rig rig;
  const Output old_tenant = rig.forward({1, 2, 3}, {10, 11, 12});
  const Output new_tenant = rig.forward({4, 5}, {11, 13});
  CHECK(rig.settle(new_tenant).rows_stored == 2);
  const rcap_summary summary = rig.settle(old_tenant);
  CHECK(summary.rows_stored == 2);
  CHECK(summary.rows_outdated == 1);
  CHECK(rig.show({10, 11, 12, 13}) == "1 4 3 5");
  CHECK(rig.info(11).row_sequence == 2);
  CHECK(rig.info(10).row_sequence == 1);
}

TEST_CASE("R10: step is only a label: older and newer go by sequence number") {
  Rig rig;
  rig.capture_all({1});
  const Output older = rig.end({.tokens = 1, .slots = {10}, .step = 900});
  rig.capture_all({2});
  const Output newer = rig.end({.tokens = 1, .slots = {10}, .step = 3});
  const rcap_summary second = rig.settle(newer);
  const rcap_summary first = rig.settle(older);
  CHECK(rig.show({10}) == "2");
  CHECK(first.step == 900);
  CHECK(first.sequence == 1);
  CHECK(second.step == 3);
  CHECK(second.sequence == 2);
}

namespace {

/// One operation of a schedule. Forward f writes seed 10 * number + position.
struct Operation {
  enum Kind { kForward, kRelease, kReleaseAll } kind;
  Slots slots;
};

/// What every slot must show in the end: the highest number that touched it.
std::string expected_of(const std::vector<Operation>& operations, const Slots& watched) {
  std::string result;
  for (const std::int64_t slot : watched) {
    std::string word = "-";
    for (std::size_t number = 1; number <= operations.size(); ++number) {
      const Operation& operation = operations[number - 1];
      if (operation.kind == Operation::kReleaseAll) word = "-";
      const auto place = std::find(operation.slots.begin(), operation.slots.end(), slot);
      if (place == operation.slots.end()) continue;
      word = operation.kind == Operation::kRelease ? "-" : std::to_string(10 * static_cast<std::int64_t>(number) + (place - operation.slots.begin()));
    }
    result += (result.empty() ? "" : " ") + word;
  }
  return result;
}

const std::vector<std::vector<Operation>> kSchedules = {
    {{Operation::kForward, {0, 1, 2}}, {Operation::kRelease, {1}}, {Operation::kForward, {1, 3}}, {Operation::kForward, {2, 4}}},
    {{Operation::kForward, {0, 1}}, {Operation::kForward, {1, 2}}, {Operation::kForward, {2, 0}}, {Operation::kRelease, {0}}},
    {{Operation::kForward, {0, 1, 2}}, {Operation::kForward, {0}}, {Operation::kReleaseAll, {}}, {Operation::kForward, {1}}},
    {{Operation::kForward, {0}}, {Operation::kRelease, {0}}, {Operation::kRelease, {0}}, {Operation::kForward, {0}}, {Operation::kForward, {0, 1}}},
    {{Operation::kForward, {0, 1, 2, 3}},
     {Operation::kReleaseAll, {}},
     {Operation::kForward, {2}},
     {Operation::kRelease, {2}},
     {Operation::kForward, {3}}},
    {{Operation::kForward, {3, 2, 1, 0}},
     {Operation::kForward, {0, 1, 2, 3}},
     {Operation::kForward, {1, 0, 3, 2}},
     {Operation::kForward, {2, 3, 0, 1}}},
};
const Slots kWatched = {0, 1, 2, 3, 4};

Seeds seeds_of(std::int64_t number, std::size_t count) {
  Seeds seeds;
  for (std::size_t i = 0; i < count; ++i) seeds.push_back(10 * number + static_cast<std::int64_t>(i));
  return seeds;
}

}  // namespace

TEST_CASE("R10: outputs finalize in any order, and the highest number wins in every slot") {
  for (std::size_t schedule = 0; schedule < kSchedules.size(); ++schedule) {
    const auto& operations = kSchedules[schedule];
    const auto forwards = static_cast<std::size_t>(
        std::count_if(operations.begin(), operations.end(), [](const Operation& o) { return o.kind == Operation::kForward; }));
    std::vector<std::size_t> order(forwards);
    std::iota(order.begin(), order.end(), 0U);
    do {
      Rig rig;
      std::vector<Output> outputs;
      for (std::size_t number = 1; number <= operations.size(); ++number) {
        const Operation& operation = operations[number - 1];
        if (operation.kind == Operation::kForward) {
          outputs.push_back(rig.forward(seeds_of(static_cast<std::int64_t>(number), operation.slots.size()), operation.slots));
        } else if (operation.kind == Operation::kRelease) {
          rig.release(operation.slots);
        } else {
          rig.release_all();
        }
      }
      for (const std::size_t index : order) rig.settle(outputs[index]);
      CAPTURE(schedule);
      CHECK(rig.show(kWatched) == expected_of(operations, kWatched));
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST_CASE("R10: it makes no difference when between the later calls an output is finalized") {
  for (std::size_t schedule = 0; schedule < kSchedules.size(); ++schedule) {
    const auto& operations = kSchedules[schedule];
    // Forward i is finalized right after operation due[i]; every combination.
    std::vector<std::size_t> due(operations.size(), 0);
    const auto forward_at = [&](std::size_t i) { return operations[i].kind == Operation::kForward; };
    for (std::size_t i = 0; i < due.size(); ++i) due[i] = i;
    for (;;) {
      Rig rig;
      std::vector<Output> outputs(operations.size());
      for (std::size_t i = 0; i < operations.size(); ++i) {
        const Operation& operation = operations[i];
        if (operation.kind == Operation::kForward) {
          outputs[i] = rig.forward(seeds_of(static_cast<std::int64_t>(i + 1), operation.slots.size()), operation.slots);
        } else if (operation.kind == Operation::kRelease) {
          rig.release(operation.slots);
        } else {
          rig.release_all();
        }
        for (std::size_t j = 0; j <= i; ++j) {
          if (forward_at(j) && due[j] == i) rig.settle(outputs[j]);
        }
      }
      CAPTURE(schedule);
      CHECK(rig.show(kWatched) == expected_of(operations, kWatched));
      std::size_t i = 0;
      while (i < due.size() && (!forward_at(i) || due[i] + 1 == due.size())) {
        due[i] = i;
        ++i;
      }
      if (i == due.size()) break;
      ++due[i];
    }
  }
}

TEST_CASE("R9: what a late old forward would bring is not shown between its release and the new tenant's row either") {
  Rig rig;
  rig.store({1}, {10});
  const Output late = rig.forward({2}, {10});
  rig.release({10});
  const Output tenant = rig.forward({3}, {10});
  rig.settle(late);
  CHECK(rig.show({10}) == "-");
  rig.settle(tenant);
  CHECK(rig.show({10}) == "3");
}
