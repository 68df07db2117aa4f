// SPDX-License-Identifier: Apache-2.0
#include "load_statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace routecap::cli {
namespace {

/// Up to so many experts every pair has a counter of its own (4 MB); above, only pairs that occur have one.
constexpr std::int64_t kDenseExperts = 1024;

/// Loads of all layers together: a small file may claim any number of experts, and this is far above any model's.
constexpr std::int64_t kMostLoads = std::int64_t{1} << 25;

/// Counts pairs of ids, the smaller one first.
class PairCounts {
 public:
  explicit PairCounts(std::int64_t experts) : experts_(experts) {
    if (experts <= kDenseExperts) dense_.resize(static_cast<std::size_t>(experts * (experts - 1) / 2));
  }

  void count(std::int64_t first, std::int64_t second) {
    if (experts_ <= kDenseExperts) {
      ++dense_[static_cast<std::size_t>(triangle(second) + first)];
    } else {
      ++sparse_[triangle(second) + first];
    }
  }

  /// Calls `visit(first, second, count)` for every pair that occurs.
  template <class Visit>
  void each(Visit&& visit) const {
    if (experts_ <= kDenseExperts) {
      std::size_t index = 0;
      for (std::int64_t second = 1; second < experts_; ++second) {
        for (std::int64_t first = 0; first < second; ++first, ++index) {
          if (dense_[index] > 0) visit(first, second, dense_[index]);
        }
      }
      return;
    }
    for (const auto& [key, count] : sparse_) {
      auto second = static_cast<std::int64_t>((1 + std::sqrt(1 + 8 * static_cast<double>(key))) / 2);
      while (triangle(second) > key) --second;
      while (triangle(second + 1) <= key) ++second;
      visit(key - triangle(second), second, count);
    }
  }

 private:
  /// Pairs whose larger id is below `id`.
  static std::int64_t triangle(std::int64_t id) { return id * (id - 1) / 2; }

  std::int64_t experts_;
  std::vector<std::int64_t> dense_;
  std::unordered_map<std::int64_t, std::int64_t> sparse_;
};

/// Most frequent first; equal ones by id, so that one record has one answer.
bool is_before(const ExpertPair& one, const ExpertPair& other) {
  if (one.cells != other.cells) return one.cells > other.cells;
  return std::pair(one.first, one.second) < std::pair(other.first, other.second);
}

std::vector<ExpertPair> top_pairs(const PairCounts& counts, const LayerStatistics& layer, std::int64_t most) {
  // The best so far, the worst of them at the front.
  std::vector<ExpertPair> best;
  counts.each([&](std::int64_t first, std::int64_t second, std::int64_t cells) {
    const double expected = static_cast<double>(layer.chosen_by[static_cast<std::size_t>(first)]) *
                            static_cast<double>(layer.chosen_by[static_cast<std::size_t>(second)]) / static_cast<double>(layer.cells);
    const ExpertPair pair{static_cast<std::int32_t>(first), static_cast<std::int32_t>(second), cells, static_cast<double>(cells) / expected};
    if (static_cast<std::int64_t>(best.size()) == most) {
      if (!is_before(pair, best.front())) return;
      std::pop_heap(best.begin(), best.end(), is_before);
      best.pop_back();
    }
    best.push_back(pair);
    std::push_heap(best.begin(), best.end(), is_before);
  });
  std::sort_heap(best.begin(), best.end(), is_before);
  return best;
}

/// A row's experts, ascending, each once.
void make_set(std::vector<std::int64_t>& ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

std::int64_t shared(const std::vector<std::int64_t>& one, const std::vector<std::int64_t>& other) {
  std::int64_t count = 0;
  for (auto left = one.begin(), right = other.begin(); left != one.end() && right != other.end();) {
    if (*left == *right) ++count;
    const bool left_is_behind = *left <= *right;
    const bool right_is_behind = *right <= *left;
    if (left_is_behind) ++left;
    if (right_is_behind) ++right;
  }
  return count;
}

void summarize(LayerStatistics& layer) {
  layer.total = std::accumulate(layer.load.begin(), layer.load.end(), 0.0);
  layer.largest = *std::max_element(layer.load.begin(), layer.load.end());
  layer.used = std::count_if(layer.load.begin(), layer.load.end(), [](double load) { return load > 0; });
  if (layer.reuse_possible > 0) layer.reuse = static_cast<double>(layer.reuse_shared) / static_cast<double>(layer.reuse_possible);
  if (layer.total <= 0) return;
  const double mean = layer.total / static_cast<double>(layer.load.size());
  double entropy = 0;
  double squares = 0;
  for (const double load : layer.load) {
    const double share = load / layer.total;
    if (share > 0) entropy -= share * std::log2(share);
    squares += (load - mean) * (load - mean);
  }
  layer.imbalance = layer.largest / mean;
  layer.entropy = std::max(entropy, 0.0);  // one expert alone: not -0
  layer.variation = std::sqrt(squares / static_cast<double>(layer.load.size())) / mean;
}

LayerStatistics layer_statistics(const RecordView& record, std::int64_t column, const StatisticsOptions& options) {
  const auto experts = static_cast<std::size_t>(record.num_experts());
  LayerStatistics layer;
  layer.layer = record.layer(column);
  layer.flags = record.layer_flags()[static_cast<std::size_t>(column)];
  layer.load.resize(experts);
  layer.chosen_by.resize(experts);
  PairCounts counts(options.pairs > 0 ? record.num_experts() : 1);
  std::vector<std::int64_t> set;
  std::vector<std::int64_t> previous;
  bool has_previous = false;
  for (std::int64_t row = 0; row < record.rows(); ++row) {
    if (!record.cell_valid(row, column)) {
      has_previous = false;
      continue;
    }
    ++layer.cells;
    set.clear();
    for (std::int64_t rank = 0; rank < record.top_k(); ++rank) {
      set.push_back(record.id(row, column, rank));
      const double weight = options.weighted ? record.weight(row, column, rank) : 1;
      if (!(weight >= 0) || std::isinf(weight)) {
        refuse("position ", record.start() + row, ", layer ", layer.layer, ": a weight of ", weight, ", and load is a sum of weights from 0 up");
      }
      layer.load[static_cast<std::size_t>(set.back())] += weight;
    }
    make_set(set);
    for (std::size_t second = 0; second < set.size(); ++second) {
      ++layer.chosen_by[static_cast<std::size_t>(set[second])];
      if (options.pairs == 0) continue;
      for (std::size_t first = 0; first < second; ++first) counts.count(set[first], set[second]);
    }
    if (has_previous) {
      layer.reuse_shared += shared(set, previous);
      layer.reuse_possible += static_cast<std::int64_t>(set.size());
    }
    std::swap(set, previous);
    has_previous = true;
  }
  summarize(layer);
  if (options.pairs > 0) layer.pairs = top_pairs(counts, layer, options.pairs);
  return layer;
}

}  // namespace

std::vector<std::int32_t> busiest(const LayerStatistics& layer, std::size_t most) {
  std::vector<std::int32_t> experts(layer.load.size());
  std::iota(experts.begin(), experts.end(), 0);
  std::erase_if(experts, [&](std::int32_t expert) { return layer.load[static_cast<std::size_t>(expert)] <= 0; });
  const auto wanted = experts.begin() + static_cast<std::ptrdiff_t>(std::min(most, experts.size()));
  std::partial_sort(experts.begin(), wanted, experts.end(), [&](std::int32_t one, std::int32_t other) {
    const double left = layer.load[static_cast<std::size_t>(one)];
    const double right = layer.load[static_cast<std::size_t>(other)];
    return left != right ? left > right : one < other;
  });
  experts.erase(wanted, experts.end());
  return experts;
}

std::vector<LayerStatistics> load_statistics(const RecordView& record, const StatisticsOptions& options,
                                             const std::function<void(std::int64_t)>& progress) {
  if (options.weighted && !record.has_weights()) refuse("the record has no weights, and load by weight is their sum");
  if (record.columns() * record.num_experts() > kMostLoads) {
    refuse("the record has ", record.columns(), " layers of ", record.num_experts(), " experts, and loads are counted for at most ", kMostLoads,
           " experts in all layers together");
  }
  std::vector<LayerStatistics> layers;
  for (std::int64_t column = 0; column < record.columns(); ++column) {
    layers.push_back(layer_statistics(record, column, options));
    progress(1);
  }
  return layers;
}

}  // namespace routecap::cli
