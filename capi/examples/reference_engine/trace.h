// SPDX-License-Identifier: Apache-2.0
//
// Recorded routes of a real model: a folder with ids_u8.npy (uint8 [rows, layers, K], in the router's order), optionally
// weights_bf16bits_u16.npy (the same shape), and index.json, which tells each request's rows and the length of its prompt.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace engine {

struct TraceRequest {
  std::int64_t row_begin = 0;  // rows of its generated tokens: [row_begin, row_end)
  std::int64_t row_end = 0;
  std::int64_t first_position = 0;  // token position of the first of them
  std::int64_t prompt_tokens = 0;
};

class JsonValue;

class Trace {
 public:
  /// Reads a folder. @param weights  whether the weights are wanted; they must be there then
  /// @throws std::runtime_error in one line naming file and fault
  [[nodiscard]] static Trace load(const std::string& folder, bool weights);

  [[nodiscard]] const std::string& model() const { return model_; }
  [[nodiscard]] std::int32_t layers() const { return layers_; }
  [[nodiscard]] std::int32_t experts() const { return experts_; }
  [[nodiscard]] std::int32_t top_k() const { return top_k_; }
  [[nodiscard]] const std::vector<TraceRequest>& requests() const { return requests_; }
  [[nodiscard]] bool has_weights() const { return !weights_.empty(); }

  [[nodiscard]] std::span<const std::uint8_t> ids_of(std::int64_t row, std::int32_t layer) const {
    return std::span(ids_).subspan(offset(row, layer), static_cast<std::size_t>(top_k_));
  }
  [[nodiscard]] std::span<const std::uint16_t> weights_of(std::int64_t row, std::int32_t layer) const {
    return std::span(weights_).subspan(offset(row, layer), static_cast<std::size_t>(top_k_));
  }

 private:
  [[nodiscard]] std::size_t offset(std::int64_t row, std::int32_t layer) const { return static_cast<std::size_t>((row * layers_ + layer) * top_k_); }
  void read_index(const JsonValue& index);
  void check_shape(std::span<const std::int64_t> shape, const std::string& path) const;

  std::string model_;
  std::int32_t layers_ = 0;
  std::int32_t experts_ = 0;
  std::int32_t top_k_ = 0;
  std::vector<TraceRequest> requests_;
  std::vector<std::uint8_t> ids_;
  std::vector<std::uint16_t> weights_;
};

}  // namespace engine
