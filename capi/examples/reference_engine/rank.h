// SPDX-License-Identifier: Apache-2.0
//
// One data-parallel rank: its capturer, KV, scheduler and unsettled forwards, and what happens with a forward's results.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "checker.h"
#include "forward.h"
#include "geometry.h"
#include "keeper.h"
#include "kv_slots.h"
#include "naive.h"
#include "outputs.h"
#include "prefix_cache.h"
#include "reader.h"
#include "scheduler.h"
#include "taps.h"

namespace engine {

/// Where time goes that is not the model's.
struct Clocks {
  Stopwatch library;  // inside routecap, on the engine's thread
  Stopwatch harness;  // checker and naive capturer: no engine has them

  void restart() {
    library.restart();
    harness.restart();
  }
};

class Rank {
 public:
  Rank(const ModelShape& shape, const EngineConfig& config, std::uint64_t seed, Checker& checker, Clocks& clocks, RecordKeeper& keeper);

  [[nodiscard]] const Taps& taps() const { return taps_; }
  [[nodiscard]] NaiveCapturer& naive() { return naive_; }
  [[nodiscard]] Scheduler& scheduler() { return scheduler_; }
  [[nodiscard]] const Scheduler& scheduler() const { return scheduler_; }
  [[nodiscard]] const OutputPipeline& outputs() const { return outputs_; }
  [[nodiscard]] const KvSlots& slots() const { return slots_; }

  /// The acceptance of the last verify forward has reached the host; to be called before the next forward ends.
  void handle_late_acceptance();

  /// The forward's kernels are queued: stages its rows and handles what is known of its results.
  void end_forward(Forward forward, const RankRows& rows, bool graph);

  /// Between two steps: settles outputs, reads and frees what is over. @return requests that are done now
  std::int64_t finish_step();
  /// No forward will come any more.
  std::int64_t drain();

  /// Spoils the next record that is read, before the checker sees it.
  void spoil_next_record() { spoil_next_record_ = true; }

  /// What must hold when nothing is under way; throws where it does not. @param draft_captures  calls on the draft's tap
  void audit(std::int64_t draft_captures) const;

 private:
  struct LateForward {
    Forward forward;
    std::int64_t sequence = 0;
    Expectation expectation;
    bool slots_given = false;
  };
  /// A request that is over and whose KV is held until its record has been read.
  struct Finishing {
    Request* request = nullptr;
    std::int64_t tokens = 0;     // n
    std::int64_t due_after = 0;  // settled through this number, everything of it is
    bool include_last = false;
    bool checked = false;
  };

  [[nodiscard]] OutputHandle end(const rcap_forward_layout& layout, std::span<const std::int64_t> slots, std::span<const std::int32_t> rows);
  void end_idle();
  void end_sampled(const Forward& forward, const RankRows& rows, bool graph);
  void end_verify(Forward forward, const RankRows& rows, bool graph);

  void commit_pieces(const Forward& forward, std::int64_t sequence);
  void grow(VerifyGroup& group) const;
  void commit_groups(const Forward& forward, std::int64_t sequence);
  void lose_groups(const Forward& forward);

  void finish_if_over(Request& request);
  void finish(Request& request, std::int64_t tokens);
  bool read_and_check(const Finishing& finishing, std::int64_t timeout_ns);
  [[nodiscard]] std::vector<ExpectedRow> expected_rows(const Finishing& finishing) const;
  std::int64_t read_finished();

  const EngineConfig& config_;
  Checker& checker_;
  Clocks& clocks_;
  RecordKeeper& keeper_;
  Random random_;
  Taps taps_;
  NaiveCapturer naive_;
  PresenceBook presence_;
  KvSlots slots_;
  PrefixCache cache_;
  Scheduler scheduler_;
  OutputPipeline outputs_;
  RecordReader reader_;
  std::optional<LateForward> late_;
  std::vector<Finishing> finishing_;
  bool spoil_next_record_ = false;
};

}  // namespace engine
