// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/handles.h"

/// What the checks and figures on a GPU share: a model's shape, its router's output in device memory, and a capturer on the CUDA backend.
namespace gpu {

/// Ends a check with one line.
[[noreturn]] void fail(const std::string& why);
void must(cudaError_t error, const char* call);
void must(std::int32_t status, const routecap_test::Error& error, const char* call);

constexpr std::int32_t kLayers = 58;
constexpr std::int32_t kTopK = 8;
constexpr std::int32_t kExperts = 256;

/// A router's choice: any that differs between layers, tokens, columns and steps.
constexpr std::int32_t id_of(std::int64_t step, std::int64_t layer, std::int64_t token, std::int64_t k) {
  return static_cast<std::int32_t>((step * 101 + layer * 31 + token * 7 + k * 37) % kExperts);
}

class Stream {
 public:
  Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream();
  [[nodiscard]] cudaStream_t get() const { return stream_; }
  void wait() const;

 private:
  cudaStream_t stream_ = nullptr;
};

/// A capturer of the shape above for forwards of up to `tokens` tokens, on the CUDA backend, and the engine's side of it.
class Engine {
 public:
  explicit Engine(std::int64_t tokens, std::int32_t depth = 4);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine();

  /// Puts a step's choices where the taps are told that they are, in stream order.
  void route(std::int64_t step, cudaStream_t stream);
  /// Captures every layer.
  void capture(cudaStream_t stream, std::int64_t tokens) const;
  /// Ends a forward whose token i goes to slot first_slot + i.
  [[nodiscard]] routecap_test::Output end(cudaStream_t stream, std::int64_t tokens, std::int64_t first_slot) const;
  static void copy(const routecap_test::Output& output, cudaStream_t stream);
  static void settle(const routecap_test::Output& output);
  /// Reads the slots and compares every id with the step's; fails with the first that is another.
  void expect(std::int64_t step, std::int64_t tokens, std::int64_t first_slot) const;
  [[nodiscard]] std::int64_t staged_bytes(std::int64_t tokens) const { return tokens * kLayers * kTopK; }
  [[nodiscard]] std::int64_t tokens() const { return tokens_; }

 private:
  std::int64_t tokens_;
  routecap_test::Backend backend_;
  routecap_test::Capturer capturer_;
  std::vector<rcap_tap*> taps_;
  std::int32_t* routed_ = nullptr;   ///< device, [layers][tokens][K]
  std::int32_t* written_ = nullptr;  ///< pinned, the same
};

/// Checks by name; each throws where it fails.
struct Check {
  const char* name;
  void (*run)();
};
const std::vector<Check>& checks();

/// Measures, prints a line for each figure, and gives them as JSON.
std::string measure();

}  // namespace gpu
