// SPDX-License-Identifier: Apache-2.0
//
// How a record's tokens are spread over the experts of each layer. Missing rows and cells count nowhere (R7).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "record_view.h"

namespace routecap::cli {

/// Two experts that stand in the same cells.
struct ExpertPair {
  std::int32_t first;  ///< the smaller id
  std::int32_t second;
  std::int64_t cells;  ///< cells that hold both
  /// cells * all / (cells with the first * cells with the second): 1 = as often as if the two had nothing to do with each other.
  double lift;
};

/// One layer. What has no value because there is nothing to divide by is empty.
struct LayerStatistics {
  std::int32_t layer = 0;  ///< number in the model
  std::int32_t flags = 0;  ///< `rcap_tap_flag`s
  std::int64_t cells = 0;  ///< rows in which the layer was captured
  /// By expert: how often it was chosen, or the sum of the weights it was chosen with.
  std::vector<double> load;
  /// By expert: cells that hold it. Other than `load` without weights only where a cell names an expert twice.
  std::vector<std::int64_t> chosen_by;
  double total = 0;                 ///< sum of `load`
  double largest = 0;               ///< largest of `load`
  std::int64_t used = 0;            ///< experts whose load is not 0
  std::optional<double> imbalance;  ///< largest load / mean load over all E experts: 1 = even
  std::optional<double> entropy;    ///< of load / total, in bits: log2(E) = even, 0 = one expert alone
  std::optional<double> variation;  ///< standard deviation of the load (of the E experts, not of a sample) / its mean
  std::int64_t reuse_shared = 0;    ///< over rows whose previous row is captured too: experts of the row that the previous one had
  std::int64_t reuse_possible = 0;  ///< and all experts of those rows, each counted once a row
  std::optional<double> reuse;      ///< reuse_shared / reuse_possible
  std::vector<ExpertPair> pairs;    ///< the most frequent, most frequent first, then by id
};

/// Experts with the largest load, largest first, then by id; those with a load of 0 are left out.
[[nodiscard]] std::vector<std::int32_t> busiest(const LayerStatistics& layer, std::size_t most);

struct StatisticsOptions {
  bool weighted = false;   ///< load is the sum of weights
  std::int64_t pairs = 0;  ///< how many pairs a layer gets; 0 = none are counted
};

/// @param progress  called with 1 after each layer
/// @throws Failure where weights are wanted and there are none, or where one of them is negative or no number
[[nodiscard]] std::vector<LayerStatistics> load_statistics(const RecordView& record, const StatisticsOptions& options,
                                                           const std::function<void(std::int64_t)>& progress);

}  // namespace routecap::cli
