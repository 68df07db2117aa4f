// SPDX-License-Identifier: Apache-2.0
//
// The requests of a run, all drawn from its seed: shared system prompts, follow-up turns, clients that go away, requests whose first KV was
// computed elsewhere, and some that did not ask for their routes.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "options.h"
#include "request.h"
#include "support.h"
#include "trace.h"

namespace engine {

/// Lengths in tokens that synthetic requests are drawn within.
struct WorkloadLimits {
  std::int64_t shortest_system_prompt = 40;
  std::int64_t longest_system_prompt = 220;
  std::int64_t shortest_prompt = 30;
  std::int64_t longest_prompt = 420;
  std::int64_t longest_answer = 160;
  /// A follow-up repeats its parent's text; a conversation ends before it can outgrow the KV cache.
  std::int64_t longest_conversation = 1400;
};

class Workload {
 public:
  /// @param trace  recorded requests to replay, again from the first when there are more requests than records; or null
  Workload(const Options& options, const Trace* trace, const WorkloadLimits& limits = {});

  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(requests_.size()); }

  /// Requests that have arrived by `step`, whose parent is done, and that were not handed out before; in order.
  [[nodiscard]] std::vector<Request*> arrivals(std::int64_t step);

 private:
  void draw_synthetic(Request& request);
  void draw_traced(Request& request, const TraceRequest& recorded);
  void draw_incidents(Request& request);
  void write_prompt(Request& request) const;

  std::int64_t dp_size_;
  WorkloadLimits limits_;
  Random random_;
  std::vector<std::vector<std::int32_t>> system_prompts_;
  std::vector<std::unique_ptr<Request>> requests_;
  std::vector<Request*> pending_;
};

}  // namespace engine
