// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backend/rows/parallel.h"
#include "commit/batch.h"
#include "commit/slot_set.h"
#include "commit/staging.h"
#include "config/geometry.h"
#include "store/copy_ledger.h"
#include "store/slot_store.h"

namespace routecap {

/// Properties of the captured layers that settling needs: fixed at the seal.
struct LayerFacts {
  std::vector<std::int32_t> layer_ids;  ///< model layer number of each column
  std::vector<std::uint8_t> partial;    ///< 1 = PARTIAL tap
};

/// Turns a staged forward whose block has reached the host into rows of the store. One at a time: the capturer's settle mutex is held.
class Settler {
 public:
  Settler(const rows::RowShape& shape, const CommitLimits& limits, bool check_repeated_ids, LayerFacts layers, SlotStore& store, CopyLedger& copies,
          const rows::Crew& crew);

  /// Whether the snapshot noted of its rows what can be: a plugin that breaks its word names layers that are not there.
  [[nodiscard]] bool is_sound(const Block& block) const;
  /// Stores the committed rows of a sound block; bad ones settle as missing and the summary names the first (R14, R15, R22, R25, R27).
  rcap_summary store_rows(Block& block);
  /// Settles every committed slot as missing at the forward's number (R33). A LATER forward that was never accepted touches none.
  void drop_rows(Block& block);

 private:
  /// Commit entries of a block, wherever they came from.
  struct Entries {
    std::int64_t count = 0;
    const std::int64_t* slots = nullptr;
    const std::int64_t* rows = nullptr;       ///< null: entry i is row i
    const std::int64_t* row_slots = nullptr;  ///< slot of every forward row, where the entries name rows alone
    const SlotSet* allowed = nullptr;         ///< the only slots the forward may write, where the device named them against that
    std::int64_t tokens = 0;
    bool trusted = false;  ///< checked when they were given
    [[nodiscard]] std::int64_t row(std::int64_t i) const { return rows != nullptr ? rows[i] : i; }
    [[nodiscard]] bool row_in_range(std::int64_t row) const { return row >= 0 && row < tokens; }
    /// -1 where the entry's row has no slot.
    [[nodiscard]] std::int64_t slot(std::int64_t i) const {
      if (row_slots == nullptr) return slots[i];
      return row_in_range(rows[i]) ? row_slots[rows[i]] : kNoSlot;
    }
    static constexpr std::int64_t kNoSlot = INT64_MIN;
  };
  struct LayerFault {
    std::int32_t fault = RCAP_FAULT_NONE;
    std::int32_t column = -1;
  };
  struct EntryFault {
    std::int32_t fault = RCAP_FAULT_NONE;
    std::int32_t column = -1;
  };

  [[nodiscard]] Entries entries_of(const Block& block) const;
  [[nodiscard]] bool reserved(std::int64_t slot) const { return slot >= 0 && slot < limits_.reserved_slots; }
  [[nodiscard]] bool slot_in_range(std::int64_t slot) const { return slot >= 0 && slot < limits_.num_slots; }
  [[nodiscard]] bool is_hole(const Entries& entries, std::int64_t i) const { return entries.row(i) == -1 || entries.slot(i) == -1; }
  /// Collects the slots and rows that stand more than once, where nobody has looked yet.
  void find_repeated(const Entries& entries);
  [[nodiscard]] std::int64_t count_rows_named(const Entries& entries);
  LayerFault check_layers(const Block& block, rcap_summary& summary) const;
  [[nodiscard]] static bool no_bad_rows(const Block& block);
  void count_strays(const Block& block, rcap_summary& summary) const;
  [[nodiscard]] EntryFault check_entry(const Block& block, const Entries& entries, std::int64_t i, std::int64_t staged_row, LayerFault layers) const;
  [[nodiscard]] const std::int64_t* tags_of(Block& block, const Entries& entries) const;
  void note_copies(const Block& block, std::int64_t scattered, const std::int64_t* tags);

  rows::RowShape shape_;
  CommitLimits limits_;
  bool check_repeated_ids_;
  LayerFacts layers_;
  SlotStore& store_;
  CopyLedger& copies_;
  rows::Crew crew_;
  SlotSet slots_once_, slots_twice_, rows_once_, rows_twice_;
};

}  // namespace routecap
