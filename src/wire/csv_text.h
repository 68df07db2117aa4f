// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "wire/shape.h"

/// The moe-trace CSV: comments, a line of column names, and a line for every row, layer and rank. BigMoeOnEdge's `--route-trace` and llama.cpp's
/// moe-trace differ in names and order of the columns, so columns go by name and unknown ones are passed over.
namespace routecap::wire {

inline constexpr const char* kCsvForm = "csv";
/// First line that BigMoeOnEdge writes, and we do.
inline constexpr std::string_view kCsvMark = "# route_trace v1";
/// Begins the comment of ours that holds what the columns cannot: bounds that lie in missing rows, layer map, flags, type of the weights.
inline constexpr std::string_view kCsvFactsMark = "# routecap ";

/// One line: an expert of a cell.
struct CsvEntry {
  std::int64_t step;
  std::int32_t layer;
  std::int32_t slot;
  std::int32_t expert;
  float weight;
};

/// All that a trace says of one turn.
struct CsvTrace {
  std::vector<CsvEntry> entries;
  Facts facts;  ///< of the comments; top_k also of the ranks
  bool has_weights = false;
};

/// Bytes that a reader needs beside the record to tell which cells there are.
std::int64_t csv_cells_bytes(const RecordGeometry& geometry);

/// Reads the text. `turn` is -1 where the trace may have only one.
CsvTrace read_csv(std::string_view text, std::int64_t turn);

}  // namespace routecap::wire
