// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

#include "commit/staging.h"
#include "support/monitor.h"

namespace routecap {

class Capturer;
class Output;

/// A settled output, as `rcap_capturer_next_completed` tells it.
struct Completion {
  Sequence sequence = 0;
  Status status = RCAP_STATUS_OK;
};

/// What became of a block that was worked at.
struct Settled {
  bool settled = false;
  Status status = RCAP_STATUS_OK;
  rcap_summary summary{};
};

/// The capturer's own thread in OWN_THREAD mode: copies and finalizes what the engine stages, in the order in which it may. Starts with the first
/// forward; all its signals are blocked.
class OwnThread {
 public:
  explicit OwnThread(Capturer& capturer) : capturer_(capturer) {}
  OwnThread(const OwnThread&) = delete;
  OwnThread& operator=(const OwnThread&) = delete;
  ~OwnThread();

  /// Starts the thread unless it runs. Throws OUT_OF_MEMORY where the system gives none.
  void start();
  /// A block has something to do: it was staged, or (from then on `accepted`) may settle.
  void enqueue(Block& block, bool accepted);
  enum class Detached {
    kSettled,  ///< it has settled meanwhile
    kLeft,     ///< accepted: the thread will settle it without the output (R33)
    kTaken,    ///< never accepted: the caller drops the block, the thread will not touch it again
  };
  /// Parts an output that is about to be destroyed from its block.
  Detached detach(Output& output);

  /// An eventfd that counts completions from now on.
  std::int32_t completion_fd();
  /// The next completion, or nothing by the deadline.
  std::optional<Completion> next_completed(Deadline deadline);
  [[nodiscard]] std::int64_t completions_lost() const { return completions_lost_.load(std::memory_order_relaxed); }

 private:
  struct Work {
    Block* block = nullptr;
    bool accepted = false;
  };
  void run();
  /// Waits for work; no block when the thread is to end.
  Work next_work();
  void done(Block& block, const Settled& settled);
  void complete(Completion completion);
  /// Takes a block out of the queue; under the mutex.
  void unqueue(Block& block);

  Capturer& capturer_;
  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable idle_;  ///< a block is no longer worked at
  std::condition_variable completed_;
  Block* first_ = nullptr;
  Block* last_ = nullptr;
  bool stop_ = false;
  bool keep_completions_ = false;
  std::int32_t event_fd_ = -1;
  std::deque<Completion> completions_;
  std::atomic<std::int64_t> completions_lost_{0};
  std::atomic<bool> started_{false};
  std::thread thread_;
};

}  // namespace routecap
