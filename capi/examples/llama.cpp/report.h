// SPDX-License-Identifier: Apache-2.0
//
// What a run says, in words or as JSON.
#pragma once

#include <string>
#include <vector>

#include "bench.h"
#include "reference.h"
#include "server.h"

namespace llama_demo {

struct Outcome {
  std::string engine;  // llama.cpp's version
  ModelShape shape;
  bool has_draft = false;
  bool draft_can_be_allowed = false;
  std::int64_t draft_captures_suppressed = 0;
  std::int64_t rows_stored = 0;
  ServerTotals server;
  ReferenceTotals reference;

  /// Every record says what the plain run says, nothing was captured in the warm-up, and nothing is left of sequences that are gone.
  [[nodiscard]] bool is_right() const;
};

[[nodiscard]] std::string table(const Outcome& outcome);
[[nodiscard]] std::string json(const Outcome& outcome);
[[nodiscard]] std::string table(const std::string& engine, const ModelShape& shape, const std::vector<BenchResult>& results);
[[nodiscard]] std::string json(const std::string& engine, const ModelShape& shape, const std::vector<BenchResult>& results);

}  // namespace llama_demo
