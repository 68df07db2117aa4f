// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thrust/fill.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/transform_reduce.h>

#include "backend/rows/element.h"

namespace routecap::rows::algorithm {

/// What one read of a slot found.
enum class SlotState { kValid, kMissing, kPending };

/// Reads the row of one slot under its stamp and gives it to the outputs of row `index`. Unused bits of the bitmaps were cleared before.
///
/// `Slots` is a callable: row -> slot.
template <class Words, class Slots>
struct GatherRow {
  GatherJob job;
  Slots slots;

  RCAP_HD GatherResult operator()(std::int64_t index) const {
    std::int64_t version = 0;
    const std::int64_t slot = slots(index);
    const SlotState state = slot < 0 || slot < job.reserved_slots ? SlotState::kMissing : read(slot, index, version);
    GatherResult result;
    if (state == SlotState::kPending) result.pending_row = index;
    if (state == SlotState::kValid) {
      result.valid = 1;
      result.version_min = version;
      result.version_max = version;
      if (job.row_validity != nullptr) Words::set_bits(job.row_validity[index / 8], static_cast<std::uint8_t>(1U << (index % 8)));
    } else {
      std::memset(job.ids + index * job.shape.ids_bytes, 0xFF, static_cast<std::size_t>(job.shape.ids_bytes));
      if (job.weights != nullptr) {
        std::memset(job.weights + index * job.shape.weights_bytes, 0xFF, static_cast<std::size_t>(job.shape.weights_bytes));
      }
      if (job.cell_validity != nullptr) put_cells(index, nullptr);  // an attempt before may have set some
    }
    if (job.versions != nullptr) job.versions[index] = version;
    return result;
  }

 private:
  RCAP_HD SlotState read(std::int64_t slot, std::int64_t index, std::int64_t& version) const {
    std::uint64_t* words = slot_words(job.store, slot);
    for (int turn = 0;; ++turn) {
      const Stamp stamp(Words::load_stamp(words[0]));
      if (stamp.writing()) {
        Words::wait(turn);
        continue;
      }
      if (stamp.sequence() <= job.floor) return SlotState::kMissing;
      if (stamp.pending()) return SlotState::kPending;
      if (!stamp.valid()) return SlotState::kMissing;
      const bool other_tag = job.store.tags && job.tags != nullptr && Words::load(words[1]) != static_cast<std::uint64_t>(job.tags[index]);
      version = 0;
      if (!other_tag) {
        const std::uint64_t* payload = words + payload_word(job.store);
        copy_out(job.ids + index * job.shape.ids_bytes, payload, job.shape.ids_bytes);
        if (job.weights != nullptr) {
          copy_out(job.weights + index * job.shape.weights_bytes, payload + job.shape.weights_offset / 8, job.shape.weights_bytes);
        }
        if (stamp.extended()) {
          version = static_cast<std::int64_t>(Words::load(reinterpret_cast<const std::uint64_t&>(job.store.extensions[slot].weight_version)));
        }
      }
      if (!other_tag && job.cell_validity != nullptr) put_cells(index, words + payload_word(job.store) + job.shape.cells_offset / 8);
      if (Stamp(Words::reload_stamp(words[0])) != stamp) continue;
      return other_tag ? SlotState::kMissing : SlotState::kValid;
    }
  }

  RCAP_HD static void copy_out(std::byte* out, const std::uint64_t* words, std::int64_t bytes) {
    const std::int64_t whole = bytes / 8;
    for (std::int64_t word = 0; word < whole; ++word) store_as(out + word * 8, Words::load(words[word]));
    if (bytes % 8 == 0) return;
    const std::uint64_t last = Words::load(words[whole]);
    std::memcpy(out + whole * 8, &last, static_cast<std::size_t>(bytes % 8));
  }

  /// Sets or clears the row's bits; null clears all. Rows share bytes, so it goes bit by bit.
  RCAP_HD void put_cells(std::int64_t index, const std::uint64_t* cells) const {
    for (std::int64_t layer = 0; layer < job.shape.layers; ++layer) {
      const std::int64_t bit = index * job.shape.layers + layer;
      std::uint8_t& byte = job.cell_validity[bit / 8];
      const auto mask = static_cast<std::uint8_t>(1U << (bit % 8));
      const bool captured = cells != nullptr && (job.shape.cell_words == 0 || ((Words::load(cells[layer / 64]) >> (layer % 64)) & 1U) != 0);
      if (captured) {
        Words::set_bits(byte, mask);
      } else {
        Words::clear_bits(byte, mask);
      }
    }
  }
};

struct JoinGathered {
  RCAP_HD GatherResult operator()(const GatherResult& a, const GatherResult& b) const {
    GatherResult both = a;
    if (a.valid == 0) {
      both.version_min = b.version_min;
      both.version_max = b.version_max;
    } else if (b.valid != 0) {
      both.version_min = a.version_min < b.version_min ? a.version_min : b.version_min;
      both.version_max = a.version_max > b.version_max ? a.version_max : b.version_max;
    }
    both.valid = a.valid + b.valid;
    if (a.pending_row < 0 || (b.pending_row >= 0 && b.pending_row < a.pending_row)) both.pending_row = b.pending_row;
    return both;
  }
};

/// As GatherJob says, but a pending row does not keep the rows behind it from being read: rows are independent under a parallel policy.
template <class Words, class Policy, class Slots>
GatherResult gather(const Policy& policy, const GatherJob& job, const Slots& slots) {
  if (job.row_validity != nullptr) thrust::fill(policy, job.row_validity, job.row_validity + (job.rows + 7) / 8, std::uint8_t{0});
  if (job.cell_validity != nullptr) {
    thrust::fill(policy, job.cell_validity, job.cell_validity + (job.rows * job.shape.layers + 7) / 8, std::uint8_t{0});
  }
  const thrust::counting_iterator<std::int64_t> first(0);
  return thrust::transform_reduce(policy, first, first + job.rows, GatherRow<Words, Slots>{job, slots}, GatherResult{}, JoinGathered{});
}

}  // namespace routecap::rows::algorithm
