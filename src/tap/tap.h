// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "commit/batch.h"
#include "config/geometry.h"
#include "support/handle.h"

namespace routecap {

class Capturer;
class Model;

/// Where the physical-to-logical map of a tap lives (R22): kept by address, read at every capture.
struct IdMap {
  const void* data = nullptr;
  std::int32_t dtype = RCAP_DTYPE_NONE;
  std::int64_t entries = 0;
  std::int32_t memory = RCAP_MEMORY_HOST;
};

/// What one capture was given, as it came through the C API.
struct CaptureArguments {
  RawArray ids;
  RawArray weights;
  const std::int32_t* row_ids = nullptr;
  std::int64_t row_ids_count = 0;
};

/// The place of one MoE layer of one model. Carries its model's gate, so that no path around the model's configuration can lose it (R19).
class Tap : public Handle<0x70617470616372> {
 public:
  Tap(Model& model, std::int32_t id, std::int32_t layer_number, std::int32_t column, std::int32_t flags, IdMap id_map)
      : model_(model), id_(id), layer_number_(layer_number), column_(column), flags_(flags), id_map_(id_map) {}

  [[nodiscard]] Model& model() const { return model_; }
  [[nodiscard]] std::int32_t id() const { return id_; }
  [[nodiscard]] std::int32_t layer_number() const { return layer_number_; }
  [[nodiscard]] std::int32_t column() const { return column_; }
  [[nodiscard]] std::int32_t flags() const { return flags_; }
  [[nodiscard]] bool partial() const { return (flags_ & RCAP_TAP_PARTIAL) != 0; }

  /// Fixes what a capture needs, at the seal. A denied tap gets no cache: it has no way to write (R18).
  void open(const Geometry& geometry, const rows::RowShape& shape, const rows::CacheView& cache, Backend& backend);
  [[nodiscard]] bool is_open() const { return backend_ != nullptr; }
  /// Checks the shape and hands the rows to the backend. Only on an open tap.
  void capture(const rcap_capture_layout& layout, const CaptureArguments& arguments, void* stream);

 private:
  void check_row_ids(const rcap_capture_layout& layout, const CaptureArguments& arguments);

  Model& model_;
  std::int32_t id_;
  std::int32_t layer_number_;
  std::int32_t column_;
  std::int32_t flags_;
  IdMap id_map_;
  // Fixed by open().
  Backend* backend_ = nullptr;
  std::int32_t fused_columns_ = 0;
  rows::CaptureJob job_;
  std::vector<std::uint32_t> row_seen_;  ///< PARTIAL: epoch in which each device row was named, to find one named twice
  std::uint32_t row_epoch_ = 0;
};

/// The target or a draft of a capturer.
class Model : public Handle<0x6C65646F6D6372> {
 public:
  Model(Capturer& capturer, std::int32_t role, std::string name)
      : capturer_(capturer), role_(role), name_(std::move(name)), allowed_(role == RCAP_ROLE_TARGET) {}

  [[nodiscard]] Capturer& capturer() const { return capturer_; }
  [[nodiscard]] bool is_target() const { return role_ == RCAP_ROLE_TARGET; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool allowed() const { return allowed_; }
  void set_allowed(bool allowed) { allowed_ = allowed; }
  [[nodiscard]] std::vector<std::int32_t>& layers() { return layers_; }

  void count_suppressed() { suppressed_.fetch_add(1, std::memory_order_relaxed); }
  [[nodiscard]] std::int64_t suppressed() const { return suppressed_.load(std::memory_order_relaxed); }

 private:
  Capturer& capturer_;
  std::int32_t role_;
  std::string name_;
  bool allowed_;
  std::vector<std::int32_t> layers_;  ///< numbers of the layers that have a tap
  std::atomic<std::int64_t> suppressed_{0};
};

}  // namespace routecap
