// SPDX-License-Identifier: Apache-2.0
//
// The serving loop: all data-parallel ranks, step by step.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "checker.h"
#include "geometry.h"
#include "keeper.h"
#include "model.h"
#include "options.h"
#include "rank.h"
#include "router.h"
#include "workload.h"

namespace engine {

/// What a run amounts to.
struct Outcome {
  std::int64_t requests = 0;
  CheckTotals rows;
  std::int64_t draft_captures_suppressed = 0;
  std::int64_t rejected_rows_dropped = 0;
  std::int64_t prefix_rows_reused = 0;
  std::int64_t outputs_out_of_order = 0;
  std::int64_t outputs_lost = 0;
  std::int64_t retractions = 0;
  std::int64_t swaps = 0;
  std::int64_t rows_copied = 0;
  std::int64_t forwards = 0;
  std::int64_t bytes_per_slot = 0;
  std::int64_t naive_bytes_per_slot = 0;
  double capture_share = 0;         // of the loop's time without checker and naive capturer
  double capture_milliseconds = 0;  // per step and rank: captures, staging, settling, slots, reads
  KeptRecord record;                // where one is wanted
};

class Engine {
 public:
  /// @param trace  recorded routes, or null; outlives the engine
  Engine(const Options& options, const Trace* trace);

  /// An engine of other limits, and of a model whose router is synthetic.
  Engine(const Options& options, const ModelShape& shape, const EngineConfig& config, const WorkloadLimits& limits);

  [[nodiscard]] const ModelShape& shape() const { return shape_; }
  [[nodiscard]] const EngineConfig& config() const { return config_; }

  /// Serves every request. @param progress  called after each step with the requests done so far
  [[nodiscard]] Outcome run(const std::function<void(std::int64_t)>& progress);

 private:
  /// One step's tokens as the MoE layers see them: a source for every row of the gathered buffer, none where nobody's token is.
  struct Batch {
    Geometry geometry;
    std::vector<RowSource> sources;
    std::vector<bool> is_padding;
    std::vector<std::int32_t> last_layer_rows;  // rows that the last layer runs on
    bool is_pruned = false;                     // it does not run on all of them
    bool is_halved = false;                     // two-batch overlap
  };

  Engine(const Options& options, const Trace* trace, const ModelShape& shape, const EngineConfig& config, const WorkloadLimits& limits);

  void warm_up();
  std::int64_t step();
  [[nodiscard]] Batch gather(std::span<const Forward> forwards);
  void run_target(const Batch& batch, std::int64_t layers);
  void run_draft(const Batch& batch, std::int64_t rows);
  /// What a router's kernel leaves behind for the given rows of the batch.
  TopK route(const Batch& batch, std::int64_t column, std::span<const std::int32_t> rows, PrefixHash model);
  void discard_forward();
  [[nodiscard]] Outcome outcome(double seconds) const;

  EngineConfig config_;
  ModelShape shape_;
  Router router_;
  Checker checker_;
  RecordKeeper keeper_;
  Clocks clocks_;
  Workload workload_;
  Random random_;
  std::vector<std::unique_ptr<Rank>> ranks_;
  std::vector<std::int32_t> ids_;  // scratch of `route`
  std::vector<std::uint16_t> weights_;
  std::vector<std::int32_t> all_rows_;  // 0, 1, 2 ...
  std::int64_t step_ = 0;
  std::int64_t forwards_ = 0;
  std::int64_t draft_captures_ = 0;  // on each rank's tap
};

}  // namespace engine
