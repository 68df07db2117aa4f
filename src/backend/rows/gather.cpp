// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "backend/rows/element.h"
#include "backend/rows/prefetch.h"
#include "backend/rows/tuned.h"
#include "backend/rows/words.h"

namespace routecap::rows::tuned {
namespace {

/// As in scatter.cpp.
constexpr std::int64_t kAhead = 8;

/// Slots of a list whose element type and kind are known: no choice per row.
template <class Number, bool kPages>
struct Listed {
  SlotList list;
  std::int64_t operator()(std::int64_t row) const {
    const std::int64_t token = list.first + row;
    const std::int64_t index = kPages ? token / list.page_size : token;
    if (index >= list.count) return -1;
    const auto number = static_cast<std::int64_t>(load_as<Number>(static_cast<const Number*>(list.data) + index));
    if (number < 0) return -1;
    return kPages ? number * list.page_size + token % list.page_size : number;
  }
};

enum class Found { kValid, kMissing, kPending };

class Reader {
 public:
  Reader(const GatherJob& job, const Kernels& kernels) : job_(job), load_words_(kernels.load_words) {}

  /// @param version  receives the row's weight version
  Found read(std::int64_t slot, std::int64_t row, std::int64_t& version) const {
    const RowShape& shape = job_.shape;
    const std::uint64_t* words = slot_words(job_.store, slot);
    for (int turn = 0;; ++turn) {
      const Stamp stamp(HostWords::load_stamp(words[0]));
      if (stamp.writing()) {
        HostWords::wait(turn);
        continue;
      }
      if (stamp.sequence() <= job_.floor) return Found::kMissing;
      if (stamp.pending()) return Found::kPending;
      if (!stamp.valid()) return Found::kMissing;
      const bool other_tag = job_.store.tags && job_.tags != nullptr && HostWords::load(words[1]) != static_cast<std::uint64_t>(job_.tags[row]);
      const std::uint64_t* payload = words + payload_word(job_.store);
      if (!other_tag) {
        copy_out(job_.ids + row * shape.ids_bytes, payload, shape.ids_bytes);
        if (job_.weights != nullptr) copy_out(job_.weights + row * shape.weights_bytes, payload + shape.weights_offset / 8, shape.weights_bytes);
        if (job_.cell_validity != nullptr) put_cells(row, payload + shape.cells_offset / 8);
        version = 0;
        if (stamp.extended()) {
          const SlotExtension& extension = job_.store.extensions[slot];
          version = static_cast<std::int64_t>(HostWords::load(reinterpret_cast<const std::uint64_t&>(extension.weight_version)));
        }
      }
      if (Stamp(HostWords::reload_stamp(words[0])) != stamp) continue;
      return other_tag ? Found::kMissing : Found::kValid;
    }
  }

  void fill_missing(std::int64_t row) const {
    const RowShape& shape = job_.shape;
    std::memset(job_.ids + row * shape.ids_bytes, 0xFF, static_cast<std::size_t>(shape.ids_bytes));
    if (job_.weights != nullptr) std::memset(job_.weights + row * shape.weights_bytes, 0xFF, static_cast<std::size_t>(shape.weights_bytes));
    if (job_.cell_validity != nullptr) put_cells(row, nullptr);
  }

 private:
  void copy_out(std::byte* out, const std::uint64_t* words, std::int64_t bytes) const {
    const std::int64_t whole = bytes / 8;
    load_words_(out, words, whole);
    if (bytes % 8 == 0) return;
    const std::uint64_t last = HostWords::load(words[whole]);
    std::memcpy(out + whole * 8, &last, static_cast<std::size_t>(bytes % 8));
  }

  /// Puts the row's L bits in the bitmap; null clears them. Rows come in order: the bits behind them in the last byte are the next row's to set.
  void put_cells(std::int64_t row, const std::uint64_t* cells) const {
    const std::int64_t layers = job_.shape.layers;
    std::int64_t bit = row * layers;
    for (std::int64_t first = 0; first < layers; first += 64) {
      std::uint64_t bits = 0;
      if (cells != nullptr) bits = job_.shape.cell_words == 0 ? ~std::uint64_t{0} : HostWords::load(cells[first / 64]);
      for (std::int64_t left = std::min<std::int64_t>(64, layers - first); left > 0;) {
        const std::int64_t shift = bit % 8;
        const std::int64_t taken = std::min<std::int64_t>(8 - shift, left);
        const std::uint32_t below = job_.cell_validity[bit / 8] & ((1U << shift) - 1U);
        const std::uint32_t fresh = static_cast<std::uint32_t>(bits) & ((1U << taken) - 1U);
        job_.cell_validity[bit / 8] = static_cast<std::uint8_t>(below | (fresh << shift));
        bits >>= taken;
        bit += taken;
        left -= taken;
      }
    }
  }

  const GatherJob& job_;
  const LoadWordsKernel load_words_;
};

template <class Slots>
GatherResult gather_rows(const GatherJob& given, Slots slots, const Kernels& kernels) {
  // A copy of its own: behind every row read the compiler must take what others may point to for changed.
  const GatherJob job = given;
  GatherResult result;
  const Reader reader(job, kernels);
  const std::int64_t slot_bytes = job.store.payload_offset() + job.shape.payload_bytes;
  const std::int64_t lowest = std::max<std::int64_t>(job.reserved_slots, 0);
  const auto fetch = [&](std::int64_t row) __attribute__((always_inline)) {
    const std::int64_t slot = slots(row);
    if (slot < lowest) return;
    fetch_to_read(job.store.base + slot * job.store.slot_stride, slot_bytes);
  };
  for (std::int64_t row = 0; row < job.rows && row < kAhead; ++row) fetch(row);
  std::uint32_t validity = 0;
  for (std::int64_t row = 0; row < job.rows; ++row) {
    if (row + kAhead < job.rows) fetch(row + kAhead);
    const std::int64_t slot = slots(row);
    std::int64_t version = 0;
    const Found found = slot < lowest ? Found::kMissing : reader.read(slot, row, version);
    if (found == Found::kPending) {
      result.pending_row = row;
      return result;
    }
    if (found == Found::kValid) {
      result.version_min = result.valid == 0 ? version : std::min(result.version_min, version);
      result.version_max = result.valid == 0 ? version : std::max(result.version_max, version);
      ++result.valid;
      validity |= 1U << (row % 8);
    } else {
      version = 0;
      reader.fill_missing(row);
    }
    if (job.versions != nullptr) job.versions[row] = version;
    if (row % 8 == 7 || row + 1 == job.rows) {
      if (job.row_validity != nullptr) job.row_validity[row / 8] = static_cast<std::uint8_t>(validity);
      validity = 0;
    }
  }
  return result;
}

}  // namespace

GatherResult gather(const GatherJob& job, const SlotList& slots, const Kernels& kernels) {
  const bool pages = slots.page_size != 1;
  if (slots.element_bytes == 4) {
    return pages ? gather_rows(job, Listed<std::int32_t, true>{slots}, kernels) : gather_rows(job, Listed<std::int32_t, false>{slots}, kernels);
  }
  return pages ? gather_rows(job, Listed<std::int64_t, true>{slots}, kernels) : gather_rows(job, Listed<std::int64_t, false>{slots}, kernels);
}

}  // namespace routecap::rows::tuned
