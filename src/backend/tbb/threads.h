// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "backend/rows/parallel.h"
#include "backend/tbb/station.h"

namespace routecap::tbb_backend {

/// The threads of one device: the caller's, and those that oneTBB's arena of this device lends. None is there before the first job that is worth one.
///
/// A job through the arena itself (task_arena::execute, parallel_for) costs 2.3 us where both threads are awake, and the capture of a layer of 8192
/// tokens takes 12.7 us: two threads then were 1.47 times as fast as one, and through the station 1.66 times (Xeon, Sapphire Rapids, 2 cores). So the
/// arena brings the threads, and jobs find them at the station.
class Threads {
 public:
  /// @param count  threads of a job at most, the caller's included
  explicit Threads(std::int32_t count);
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  /// Nobody has a job here. The threads go back to oneTBB, which ends them where nothing else in the process uses it.
  ~Threads();

  /// Calls body(context, i) for every i in [0, pieces); see rows::Crew. From any thread; of two jobs at once the second has its caller's thread
  /// alone.
  void run(std::int64_t pieces, Station::Body body, void* context) noexcept;

  [[nodiscard]] std::int32_t count() const { return count_; }
  /// @param least_bytes  see rows::Crew
  [[nodiscard]] rows::Crew crew(std::int64_t least_bytes);

  /// Most threads that this process may ask for.
  static std::int32_t limit();

 private:
  [[nodiscard]] bool worth_waking(std::int64_t pieces) const;
  /// Calls threads to the station until all that may attend are expected.
  void call() noexcept;

  const std::int32_t count_;
  /// Shared with the threads on their way: one may come when the device is closed.
  std::shared_ptr<Station> station_;
  tbb::task_arena arena_;
  std::optional<tbb::task_scheduler_handle> scheduler_;  ///< from the first call on
};

}  // namespace routecap::tbb_backend
