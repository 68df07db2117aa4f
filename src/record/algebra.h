// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "record/record.h"

/// New records from one or two. Each keeps version spans, validity of rows and cells, layer flags, weights and their kind, and is canonical.
namespace routecap {

/// `first` and then `next`, which starts inside it or right behind it; `overlap` is a rcap_overlap (R5, R39).
[[nodiscard]] std::unique_ptr<Record> append(const Record& first, const Record& next, std::int32_t overlap);

/// Positions below `boundary` from `prefill`, the others from `decode` (R40).
[[nodiscard]] std::unique_ptr<Record> merge(const Record& prefill, const Record& decode, std::int64_t boundary);

/// What a request cut to `tokens` tokens keeps; `read_flags` are rcap_read_flag (R1, R2, R4).
[[nodiscard]] std::unique_ptr<Record> truncate(const Record& record, std::int64_t tokens, std::int32_t read_flags);

/// The layers of both, for the same positions (R44).
[[nodiscard]] std::unique_ptr<Record> stack(const Record& first, const Record& second);

/// Rows of one rank and the token position of each; no positions: from the record's start on.
struct DealtRows {
  const Record& record;
  std::span<const std::int64_t> positions;

  [[nodiscard]] std::int64_t position(std::int64_t row) const {
    return positions.empty() ? record.geometry().start + row : positions[static_cast<std::size_t>(row)];
  }
};

/// Rows of both at their positions; what nobody named is missing (R45).
[[nodiscard]] std::unique_ptr<Record> interleave(const DealtRows& first, const DealtRows& second);

/// Columns for the layers that were not captured.
struct AxisFill {
  std::int32_t kind = RCAP_FILL_MISSING;  ///< a rcap_fill
  std::int32_t id = 0;                    ///< for VALUE
};

/// A column for every layer 0 .. num_layers - 1 (R26).
[[nodiscard]] std::unique_ptr<Record> to_full_axis(const Record& record, std::int32_t num_layers, AxisFill fill);

/// The columns of these layers alone.
[[nodiscard]] std::unique_ptr<Record> to_compact(const Record& record, std::span<const std::int32_t> layer_ids);

}  // namespace routecap
