// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "commit/batch.h"
#include "commit/staging.h"
#include "support/handle.h"
#include "support/mapping.h"
#include "support/monitor.h"

namespace routecap {

class Capturer;
class OutputPool;

/// One ended forward on its way to the store. The handle outlives its capturer (R34): it lives in the pool, which goes with the last of them.
class Output : public Handle<0x74756F6D6372> {
 public:
  explicit Output(OutputPool& pool) : pool_(pool) { retire(); }
  /// Makes the handle stand for a new forward.
  void begin(Block& block);

  [[nodiscard]] OutputPool& pool() const { return pool_; }
  [[nodiscard]] Sequence sequence() const { return sequence_; }
  [[nodiscard]] bool settled() const { return settled_.load(std::memory_order_acquire); }
  [[nodiscard]] Status settled_status() const { return status_; }
  [[nodiscard]] const rcap_summary& summary() const { return summary_; }
  /// Null once settled, and once dropped.
  [[nodiscard]] Block* block() const { return block_.load(std::memory_order_relaxed); }
  /// Keeps what finalize answers from now on and lets go of the block.
  void settle(Status status, const rcap_summary& summary);
  void end() { retire(); }

 private:
  friend class OutputPool;
  OutputPool& pool_;
  Sequence sequence_ = 0;
  std::atomic<Block*> block_{nullptr};
  std::atomic<bool> settled_{false};
  Status status_ = RCAP_STATUS_OK;
  rcap_summary summary_{};
  Output* next_free_ = nullptr;
};

/// Output handles of one capturer and what they need after it is gone. The engine's thread takes handles, any thread gives them back; none is
/// freed before the last, so that a steady engine allocates nothing.
class OutputPool {
 public:
  static OutputPool* create(Capturer& capturer) { return new OutputPool(capturer); }
  OutputPool(const OutputPool&) = delete;
  OutputPool& operator=(const OutputPool&) = delete;

  [[nodiscard]] bool same_process() const { return fork_guard_.same_process(); }
  [[nodiscard]] bool closed() const { return closed_.load(std::memory_order_acquire); }
  /// Only while not closed.
  [[nodiscard]] Capturer& capturer() const { return capturer_; }

  /// A handle for the next forward; throws where memory lacks. Only the engine's thread.
  Output& acquire();
  /// Gives a handle back; may end the pool.
  void release(Output& output);
  /// The capturer is gone: its outputs answer CLOSED. May end the pool.
  void close();

 private:
  explicit OutputPool(Capturer& capturer) : capturer_(capturer) {}
  ~OutputPool() = default;
  void drop_reference();

  ForkGuard fork_guard_;
  Capturer& capturer_;
  std::atomic<bool> closed_{false};
  std::atomic<std::int64_t> references_{1};  ///< the capturer and every handle given out
  std::vector<std::unique_ptr<Output>> outputs_;
  std::atomic<Output*> free_{nullptr};  ///< stack; one thread pops, so that no node can come back in the middle of a pop
};

}  // namespace routecap
