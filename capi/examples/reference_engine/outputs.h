// SPDX-License-Identifier: Apache-2.0
//
// A rank's ended forwards on their way to the store: the copy to the host runs while the next forwards do, and an output is settled when the
// scheduler has time for it, in any order (R10).
#pragma once

#include <cstdint>
#include <deque>

#include "model.h"
#include "naive.h"
#include "presence.h"
#include "rcap.h"
#include "support.h"
#include "verify.h"

namespace engine {

/// What the engine expects of a forward once it is settled; a summary that says otherwise is a bug of one of both.
struct Expectation {
  std::int64_t entries = 0;      // commit entries, those for reserved slots too
  std::int64_t reserved = 0;     // of them, for reserved slots
  std::int64_t uncommitted = 0;  // rows that no entry names: rejected proposals and, in a graph batch, padding
  std::int64_t rejected = 0;     // of them, rejected proposals
};

class OutputPipeline {
 public:
  OutputPipeline(const EngineConfig& config, NaiveCapturer& naive, PresenceBook& presence, Stopwatch& library, Stopwatch& harness)
      : mode_(config.finalize), depth_(config.pipeline_depth), naive_(naive), presence_(presence), library_(library), harness_(harness) {}

  /// Takes an ended forward. @param accepted  false: `accept` follows
  /// @return its number
  std::int64_t push(OutputHandle output, std::int64_t naive_ticket, const Expectation& expectation, bool accepted);

  /// Tells routecap which rows of the newest unaccepted forward are committed (R21).
  /// @param with_slots  the entries' slots go along; else the rows' slots as given to end_forward count
  void accept(std::int64_t sequence, const CommitEntries& entries, bool with_slots, const Expectation& expectation);

  /// The acceptance will never come: the output is destroyed and its slots stay as they are (R33).
  void abandon(std::int64_t sequence);

  /// Settles some outputs, or none; where as many stay as there are staging blocks, the next forward will be told BUSY. The schedule decides how
  /// many, which, and whether one is lost.
  void settle_some(Random& random);
  /// Frees a staging block: what to do when end_forward says BUSY (R32). False where no output can be settled.
  bool settle_oldest();
  void settle_all();

  /// Whether no forward up to this number is unsettled.
  [[nodiscard]] bool is_settled_through(std::int64_t sequence) const { return outputs_.empty() || outputs_.front().sequence > sequence; }
  [[nodiscard]] std::int64_t last_sequence() const { return last_sequence_; }

  [[nodiscard]] std::int64_t out_of_order() const { return out_of_order_; }
  [[nodiscard]] std::int64_t rejected_rows() const { return rejected_rows_; }
  [[nodiscard]] std::int64_t lost() const { return lost_; }

 private:
  struct Entry {
    OutputHandle output;
    std::int64_t sequence = 0;
    std::int64_t naive_ticket = 0;
    Expectation expectation;
    bool accepted = true;
    bool copying = false;
  };
  using Position = std::deque<Entry>::iterator;

  void start_copy(Entry& entry);
  void settle(const Position& position);
  void lose(const Position& position);
  void count_order(const Position& position);
  [[nodiscard]] Position find(std::int64_t sequence);

  FinalizeMode mode_;
  std::int64_t depth_;
  NaiveCapturer& naive_;
  PresenceBook& presence_;
  Stopwatch& library_;
  Stopwatch& harness_;
  std::deque<Entry> outputs_;  // by number
  std::int64_t last_sequence_ = 0;
  std::int64_t out_of_order_ = 0;
  std::int64_t rejected_rows_ = 0;
  std::int64_t lost_ = 0;
};

}  // namespace engine
