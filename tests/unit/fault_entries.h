// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/rig.h"

namespace routecap_test {

/// Everything that an entry point may be called on, in the middle of its life, and what a call gives. Calls allocate nothing of their own.
struct World {
  explicit World(bool sealed);

  std::unique_ptr<Rig> rig;
  std::unique_ptr<Rig> own;  // finalizes on a thread of its own
  Output pending, later;
  Record given, other_layer;
  rcap_record_info info{};                                 // of the given record
  std::array<std::vector<char>, RCAP_WIRE_CSV + 1> forms;  // the given record in each format
  std::array<char, 8192> buffer{};
  // What calls give.
  Capturer capturer;
  Backend backend;
  Output output;
  Record record;
  Error error;
  std::int64_t slots[2] = {10, 11};
  std::int64_t other_slots[2] = {20, 21};
  std::int64_t tags[2] = {5, 6};
  std::int64_t rows[2] = {0, 1};
};

struct Entry {
  std::string function;
  std::function<std::int32_t(World&)> call;
  bool sealed = true;
};

/// Every exported function with a call of it that succeeds.
std::vector<Entry> entries();

/// Those of `entries()` that work on records alone, and the one from slots to text.
void add_record_entries(std::vector<Entry>& all);

/// The trainer's.
void add_trainer_entries(std::vector<Entry>& all);

/// Calls that are refused: they format a text.
std::vector<Entry> refused_entries();

}  // namespace routecap_test
