// SPDX-License-Identifier: Apache-2.0
//
// llama.cpp's evaluation callback, turned into "this layer routed these rows". The engine asks about every node of its graph whether it is wanted;
// for one that is, it stops behind that node and calls again. Nothing tells the callback which batch, which rows or even which micro-batch it is in:
// that is derived here, from the batch that is being decoded and from the order of the layers.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "library.h"

namespace llama_demo {

/// One layer's routing in one micro-batch.
struct RoutedRows {
  std::int32_t layer = 0;
  std::size_t column = 0;  // index of the layer among those that route
  std::int64_t rows = 0;
  std::int64_t first_row = 0;  // of the batch
  /// Empty: the rows are first_row, first_row + 1, ... Otherwise row i of the tensors is row first_row + row_ids[i] of the batch: behind the last
  /// layer's attention the engine drops every token whose logits nobody asked for, and its routers see the others only.
  const std::vector<std::int32_t>* row_ids = nullptr;
  const ggml_tensor* topk = nullptr;     // [K, rows] int32, a view of the argsort: rows are 4 * E bytes apart
  const ggml_tensor* weights = nullptr;  // [1, K, rows] or [K, rows] float32; null where they were not asked for
};

class RouterTap {
 public:
  struct Config {
    std::vector<std::int32_t> layers;  // that route, ascending
    /// Name of the weights' tensor without `-<layer>`; empty: only the ids are wanted.
    std::string weights_tensor;
    bool prunes_last_layer = false;  // logits are not asked for every token
    /// Called when the engine asks about a layer, before it has run. False: the engine does not stop there.
    std::function<bool(std::size_t column)> wants;
    std::function<void(const RoutedRows& rows)> take;
  };

  RouterTap(const Library& library, Config config);

  /// For llama_context_params: `cb_eval` and, as user data, the tap. The tap stays where it is as long as the context lives.
  static bool on_eval(ggml_tensor* tensor, bool ask, void* self);

  /// Opens the tap for one decode of this batch. A tap that is closed wants nothing, so that warm-ups and the engine's own test runs pass by.
  void begin(const Batch& batch);
  /// Closes it. @throws what went wrong inside the callback, or EngineError where a layer did not see every row it had to
  void end();

  [[nodiscard]] std::int64_t asked_while_closed() const { return asked_while_closed_; }
  [[nodiscard]] std::int64_t micro_batches() const { return micro_batches_; }
  [[nodiscard]] std::int64_t rows_pruned() const { return rows_pruned_; }

 private:
  /// Column of the layer in a name such as `ffn_moe_topk-17` behind the given prefix, or -1.
  [[nodiscard]] std::int64_t column_of(const char* name, const std::string& prefix) const;
  [[nodiscard]] bool ask(const ggml_tensor* tensor);
  void take(const ggml_tensor* tensor);
  /// Moves on to the next micro-batch where the first layer comes again, and checks the number of rows.
  void place(RoutedRows& routed);

  const Library& library_;
  Config config_;
  std::string topk_prefix_;
  std::string weights_prefix_;  // empty: not wanted
  std::vector<std::int64_t> column_by_layer_;

  const Batch* batch_ = nullptr;       // null: closed
  const ggml_tensor* topk_ = nullptr;  // of the layer whose weights are waited for
  std::int64_t first_row_ = 0;         // of the present micro-batch
  std::int64_t rows_ = 0;              // of the present micro-batch
  std::size_t next_column_ = 0;        // that must come next
  std::vector<std::int32_t> row_ids_;  // scratch
  std::exception_ptr failure_;         // must not pass through the engine

  std::int64_t asked_while_closed_ = 0;
  std::int64_t micro_batches_ = 0;
  std::int64_t rows_pruned_ = 0;
};

}  // namespace llama_demo
