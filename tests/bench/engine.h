// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <routecap/routecap.h>

#include "support/handles.h"

namespace routecap_bench {

/// A benchmark of calls that fail would measure nothing: anything but OK ends the program with the library's text.
void must(rcap_status status, const char* call, const routecap_test::Error& error);

/// What a capturer is made with.
struct Shape {
  std::int32_t experts = 256;
  std::int32_t top_k = 8;
  std::int32_t layers = 58;  ///< captured ones
  std::int64_t device_rows = 8192;
  std::int64_t slots = 200'000;
  std::int32_t depth = 2;
};

/// An engine's side of one capturer, through the public C API: a capturer of a target model alone, its taps, and the layouts of its calls.
class Engine {
 public:
  explicit Engine(const Shape& shape, rcap_backend* backend = nullptr);

  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] const rcap_capturer_plan& plan() const { return plan_; }
  [[nodiscard]] rcap_capturer* capturer() const { return capturer_.get(); }
  /// Elements of ids of one layer.
  [[nodiscard]] std::int64_t layer_ids(std::int64_t tokens) const { return tokens * shape_.top_k; }

  /// Every layer: its ids [tokens, K] begin `layer_stride` elements behind those of the layer before.
  void capture(const std::int32_t* ids, std::int64_t layer_stride, std::int64_t tokens);
  void discard();
  [[nodiscard]] routecap_test::Output end_forward(const std::int64_t* slots, std::int64_t tokens);
  void copy_to_host(const routecap_test::Output& output);
  void finalize(const routecap_test::Output& output);
  /// What a decode step is: the captures, end_forward, the copy and finalize.
  void store(const std::int32_t* ids, std::int64_t layer_stride, const std::int64_t* slots, std::int64_t tokens);
  /// Rows of `tokens` slots into the caller's memory; `rows_valid` must be `tokens`.
  void read_into(const std::int64_t* slots, std::int64_t tokens, std::vector<std::byte>& ids, std::vector<std::byte>& validity);
  [[nodiscard]] routecap_test::Record read(const std::int64_t* slots, std::int64_t tokens);
  /// From the slots to a form. @return bytes written
  std::int64_t encode(const std::int64_t* slots, std::int64_t tokens, std::int32_t format, std::int32_t dtype, std::string& out);
  std::int64_t encode(const rcap_record* record, std::int32_t format, std::int32_t dtype, std::string& out);

 private:
  Shape shape_;
  routecap_test::Error error_;
  rcap_capturer_plan plan_ = routecap_test::make<rcap_capturer_plan>();
  rcap_capture_layout capture_ = routecap_test::make<rcap_capture_layout>();
  rcap_forward_layout forward_ = routecap_test::make<rcap_forward_layout>();
  rcap_read_layout read_ = routecap_test::make<rcap_read_layout>();
  rcap_read_info info_ = routecap_test::make<rcap_read_info>();
  rcap_encode_options encode_ = routecap_test::make<rcap_encode_options>();
  routecap_test::Capturer capturer_;
  std::vector<rcap_tap*> taps_;
};

}  // namespace routecap_bench
