// SPDX-License-Identifier: Apache-2.0
//
// KV slots of one rank, on the accelerator and in the host pool, and the three things routecap must be told about them: release, copy, move.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model.h"
#include "presence.h"
#include "rcap.h"
#include "support.h"

namespace engine {

/// One numbering for both pools, as the capturer sees them: [0, reserved) pads, [reserved, device_slots) accelerator, the rest host.
class KvSlots {
 public:
  /// @param capturer  sealed; outlives this
  /// @param library   counts the time spent in the library
  KvSlots(const EngineConfig& config, rcap_capturer* capturer, PresenceBook& presence, Stopwatch& library);

  [[nodiscard]] std::int64_t free_device() const { return count(free_device_); }
  [[nodiscard]] std::int64_t free_host() const { return count(free_host_); }
  [[nodiscard]] bool is_host(std::int64_t slot) const { return slot >= first_host_slot_; }

  /// Slots whose KV the next forward computes, the last freed first. Nothing has to be told: until that forward settles a slot shows its
  /// previous tenant's row, and a read that names the forward waits for it (R7, R36).
  [[nodiscard]] std::optional<std::vector<std::int64_t>> take_device(std::int64_t wanted);
  [[nodiscard]] std::optional<std::vector<std::int64_t>> take_host(std::int64_t wanted);
  void give_back(std::span<const std::int64_t> slots);

  /// Needed wherever a slot will be read without a new write: KV that arrives from elsewhere, rows that turned out never to come (R8).
  void release(std::span<const std::int64_t> slots);

  /// KV was copied: its rows go along, those of forwards that are not finalized yet too (R12).
  void copy(std::span<const std::int64_t> from, std::span<const std::int64_t> to);

  /// KV was moved: a copy, a release, and the sources are free.
  void move(std::span<const std::int64_t> from, std::span<const std::int64_t> to);

  [[nodiscard]] std::int64_t rows_copied() const { return rows_copied_; }

 private:
  /// Number of the last operation; only the engine's thread takes numbers, so it is that of the call just made.
  [[nodiscard]] std::int64_t last_sequence() const;

  std::int64_t first_host_slot_;
  rcap_capturer* capturer_;
  PresenceBook& presence_;
  Stopwatch& library_;
  std::vector<std::int64_t> free_device_;
  std::vector<std::int64_t> free_host_;
  std::int64_t rows_copied_ = 0;
};

}  // namespace engine
