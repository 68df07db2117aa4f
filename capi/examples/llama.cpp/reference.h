// SPDX-License-Identifier: Apache-2.0
//
// The second capture, which knows nothing of the first: the tokens of one request, alone, in one batch of one sequence, with every logit asked for
// and no routecap, no draft, no prefix and no chunks; ids are read out of the argsort itself. A record must say what this run says.
//
// Sums in another order round differently, and a router whose eighth and ninth expert are all but level may then choose the other one. Such a cell is
// never waved through. The plain run's own scores decide: each of the record's experts must score what the expert of that rank scores, within
// `kLevel`. It is then counted as level, and the plain run goes on with the record's choice, so that the next layer is compared from the same ground;
// any other difference is a wrong cell, and the plain run goes on with its own choice.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include "level.h"
#include "model_file.h"
#include "record_view.h"
#include "server.h"

namespace llama_demo {

struct ReferenceTotals {
  std::int64_t requests = 0;
  std::int64_t rows = 0;
  std::int64_t cells = 0;        // compared
  std::int64_t cells_level = 0;  // other ids, of the same score
  std::int64_t cells_wrong = 0;
  std::int64_t cells_missing = 0;        // rightly: the engine had pruned them
  std::int64_t cells_missing_wrong = 0;  // there and must not be, or missing and must be there
  std::int64_t weights_wrong = 0;
  double largest_level = 0;   // relative difference of scores
  double largest_weight = 0;  // relative difference of weights
  std::string first_wrong;    // in words; empty = none
};

class Reference {
 public:
  Reference(const Library& library, const ModelShape& shape, llama_model* model, std::int32_t positions);

  /// Compares one record. @throws EngineError, engine::LibraryError
  void check(const Served& served);
  [[nodiscard]] const ReferenceTotals& totals() const { return totals_; }

 private:
  static bool on_eval(ggml_tensor* tensor, bool ask, void* self);
  void compare(ggml_tensor* topk);
  void compare_weights(const ggml_tensor* weights);
  void check_presence();
  void wrong(std::int64_t row, std::int64_t column, const std::string& what);

  const Library& library_;
  ModelShape shape_;
  std::vector<std::int32_t> layers_;
  ContextHandle context_;
  Batch batch_;
  const Served* served_ = nullptr;
  const RecordView* view_ = nullptr;
  std::size_t column_ = 0;            // of the layer that comes next
  std::vector<std::int32_t> ids_;     // [rows, E], every expert, best first
  std::vector<float> scores_;         // [rows, E]
  std::vector<std::int32_t> chosen_;  // K, of the record
  std::vector<float> weights_;
  std::exception_ptr failure_;
  ReferenceTotals totals_;
};

}  // namespace llama_demo
