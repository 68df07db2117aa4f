// SPDX-License-Identifier: Apache-2.0
#include "kv_slots.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace engine {
namespace {

/// The free slots first .. last - 1, lowest on top.
std::vector<std::int64_t> all_free(std::int64_t first, std::int64_t last) {
  std::vector<std::int64_t> slots(static_cast<std::size_t>(last - first));
  std::iota(slots.rbegin(), slots.rend(), first);
  return slots;
}

std::optional<std::vector<std::int64_t>> take(std::vector<std::int64_t>& free, std::int64_t wanted) {
  if (wanted > count(free)) return std::nullopt;
  std::vector<std::int64_t> taken(free.end() - wanted, free.end());
  free.resize(free.size() - taken.size());
  std::ranges::reverse(taken);
  return taken;
}

}  // namespace

KvSlots::KvSlots(const EngineConfig& config, rcap_capturer* capturer, PresenceBook& presence, Stopwatch& library)
    : first_host_slot_(config.device_slots),
      capturer_(capturer),
      presence_(presence),
      library_(library),
      free_device_(all_free(config.reserved_slots, config.device_slots)),
      free_host_(all_free(config.device_slots, config.num_slots())) {}

std::optional<std::vector<std::int64_t>> KvSlots::take_device(std::int64_t wanted) { return take(free_device_, wanted); }
std::optional<std::vector<std::int64_t>> KvSlots::take_host(std::int64_t wanted) { return take(free_host_, wanted); }

void KvSlots::give_back(std::span<const std::int64_t> slots) {
  for (const std::int64_t slot : slots) (is_host(slot) ? free_host_ : free_device_).push_back(slot);
}

void KvSlots::release(std::span<const std::int64_t> slots) {
  if (slots.empty()) return;
  {
    const auto lap = library_.lap();
    rcap_error error = make(rcap_error_init);
    const rcap_slots_layout layout = make(rcap_slots_layout_init);
    require(rcap_capturer_release_slots(capturer_, &layout, slots.data(), bytes_of(slots), nullptr, &error), error);
  }
  presence_.released(slots, last_sequence());
}

void KvSlots::copy(std::span<const std::int64_t> from, std::span<const std::int64_t> to) {
  if (from.size() != to.size()) throw std::logic_error("a copy of KV slots with lists of two lengths");
  if (from.empty()) return;
  {
    const auto lap = library_.lap();
    rcap_error error = make(rcap_error_init);
    const rcap_slots_layout layout = make(rcap_slots_layout_init);
    require(rcap_capturer_copy_slots(capturer_, &layout, from.data(), bytes_of(from), to.data(), bytes_of(to), nullptr, &error), error);
  }
  presence_.copied(from, to, last_sequence());
  rows_copied_ += count(from);
}

void KvSlots::move(std::span<const std::int64_t> from, std::span<const std::int64_t> to) {
  copy(from, to);
  release(from);
  give_back(from);
}

std::int64_t KvSlots::last_sequence() const {
  rcap_error error = make(rcap_error_init);
  rcap_capturer_stats stats = make(rcap_capturer_stats_init);
  require(rcap_capturer_stats_get(capturer_, &stats, &error), error);
  return stats.last_sequence;
}

}  // namespace engine
