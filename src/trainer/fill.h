// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "record/record.h"

namespace routecap {

/// The ids of rows that nobody captured (R42): K distinct ones, the same for every layer, other ones for every number.
///
/// Column j begins at floor(j * E / K), and number n moves all of them on by n. The columns stand as evenly as E and K allow, so any window of
/// neighbouring experts holds as many of them as any other of its size, give or take one: for one row this spreads the load over expert-parallel
/// ranks, and over consecutive numbers it makes the load of any two experts differ by at most one.
class SpreadIds {
 public:
  SpreadIds(std::int32_t num_experts, std::int32_t top_k);

  /// Id of column `column` for a number in [0, E).
  [[nodiscard]] std::int32_t id(std::int32_t number, std::size_t column) const {
    const std::int32_t room = num_experts_ - number;
    const std::int32_t first = firsts_[column];
    return first < room ? first + number : first - room;
  }
  /// The number behind `number`, in [0, E).
  [[nodiscard]] std::int32_t following(std::int32_t number) const { return number + 1 == num_experts_ ? 0 : number + 1; }

 private:
  std::int32_t num_experts_;
  std::vector<std::int32_t> firsts_;  ///< by column
};

/// A record written densely for a trainer. Made from whoever is not trusted; nothing fails after it is made.
class DenseFill {
 public:
  /// No layers: all of the record's. No positions (null): start, start + 1, ...; else there are `layout.tokens` of them.
  DenseFill(const Record& record, const rcap_fill_layout& layout, std::span<const std::int32_t> layer_ids, const std::int64_t* positions);

  [[nodiscard]] std::int64_t cells() const { return cells_; }
  [[nodiscard]] std::int64_t ids_bytes() const { return ids_bytes_; }
  /// Writes ids and, where they are wanted, a byte for every row and for every cell. Gives the rows that were filled in some layer. Once.
  std::int64_t write(std::byte* ids, std::byte* row_mask, std::byte* cell_mask);

 private:
  template <class Source>
  std::int64_t write_from(std::byte* ids, std::byte* row_mask, std::byte* cell_mask);
  template <class Source, class Target>
  std::int64_t write_as(std::byte* ids, std::byte* row_mask, std::byte* cell_mask);
  /// Row of the record that holds this row's token, -1 without a valid one.
  [[nodiscard]] std::int64_t source_row(std::int64_t row) const;

  const Record& record_;
  rcap_fill_layout layout_;
  const std::int64_t* positions_;
  std::vector<std::int64_t> columns_;      ///< of the record, in the order asked for
  std::vector<std::int32_t> next_number_;  ///< by column: number of its next filled row, modulo E
  SpreadIds spread_;
  std::int64_t cells_ = 0;
  std::int64_t ids_bytes_ = 0;
};

}  // namespace routecap
