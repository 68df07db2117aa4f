// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "backend/rows/element.h"
#include "backend/rows/kernels.h"
#include "rows/random.h"

/// Memory for the jobs of a test, filled with noise and fenced, so that a byte written past an end or a byte taken for granted shows.
namespace routecap::rows::testing {

class Fenced {
 public:
  Fenced() = default;
  Fenced(std::int64_t bytes, Random& random) : bytes_(bytes), all_(static_cast<std::size_t>(bytes) + 2 * kFence, kFenceByte) {
    for (std::int64_t i = 0; i < bytes; ++i) data()[i] = static_cast<std::byte>(random.bits());
  }
  std::byte* data() { return all_.data() + kFence; }
  [[nodiscard]] const std::byte* data() const { return all_.data() + kFence; }
  [[nodiscard]] std::int64_t size() const { return bytes_; }
  [[nodiscard]] bool intact() const {
    const auto is_fence = [](std::byte byte) { return byte == kFenceByte; };
    return all_.empty() || (std::all_of(all_.begin(), all_.begin() + kFence, is_fence) && std::all_of(all_.end() - kFence, all_.end(), is_fence));
  }
  friend bool operator==(const Fenced&, const Fenced&) = default;

 private:
  static constexpr std::ptrdiff_t kFence = 64;
  static constexpr std::byte kFenceByte{0xA5};
  std::int64_t bytes_ = 0;
  std::vector<std::byte> all_;
};

constexpr std::int64_t padded(std::int64_t bytes) { return (bytes + 7) / 8 * 8; }

inline RowShape make_shape(std::int32_t layers, std::int32_t top_k, std::int32_t id_bytes, std::int32_t weight_bytes, bool partial) {
  RowShape shape;
  shape.layers = layers;
  shape.top_k = top_k;
  shape.id_bytes = id_bytes;
  shape.weight_bytes = weight_bytes;
  shape.cell_words = partial ? (layers + 63) / 64 : 0;
  shape.ids_bytes = static_cast<std::int64_t>(layers) * top_k * id_bytes;
  shape.weights_bytes = static_cast<std::int64_t>(layers) * top_k * weight_bytes;
  shape.weights_offset = padded(shape.ids_bytes);
  shape.cells_offset = shape.weights_offset + padded(shape.weights_bytes);
  shape.payload_bytes = shape.cells_offset + shape.cell_words * 8;
  return shape;
}

constexpr std::int32_t id_bytes_for(std::int32_t num_experts) { return num_experts <= 256 ? 1 : (num_experts <= 65536 ? 2 : 4); }

/// A device cache of its own. Copies are independent: a test gives the same start to every form.
struct Cache {
  Cache(const RowShape& of, std::int64_t device_rows, Random& random)
      : shape(of),
        rows(device_rows),
        ids(of.ids_bytes * device_rows, random),
        weights(of.weights_bytes * device_rows, random),
        marks(of.layers * device_rows, random),
        extents(static_cast<std::size_t>(of.layers)) {
    std::memset(marks.data(), 0, static_cast<std::size_t>(marks.size()));
  }

  CacheView view() {
    CacheView view;
    view.ids = ids.data();
    view.weights = shape.weight_bytes != 0 ? weights.data() : nullptr;
    view.marks = reinterpret_cast<std::uint8_t*>(marks.data());
    view.extents = extents.data();
    view.device_rows = rows;
    return view;
  }

  std::uint8_t& mark(std::int64_t layer, std::int64_t row) { return reinterpret_cast<std::uint8_t*>(marks.data())[layer * rows + row]; }
  [[nodiscard]] std::vector<std::int64_t> strays() const {
    std::vector<std::int64_t> by_layer;
    for (const LayerExtent& extent : extents) by_layer.push_back(extent.strays);
    return by_layer;
  }
  [[nodiscard]] bool intact() const { return ids.intact() && weights.intact() && marks.intact(); }
  [[nodiscard]] bool same_bytes(const Cache& other) const { return ids == other.ids && weights == other.weights && marks == other.marks; }

  RowShape shape;
  std::int64_t rows;
  Fenced ids;
  Fenced weights;
  Fenced marks;
  std::vector<LayerExtent> extents;
};

/// Every set of kernels that this machine runs.
inline std::vector<const Kernels*> runnable_kernels() {
  std::vector<const Kernels*> all;
  for (const SimdLevel level : {SimdLevel::kScalar, SimdLevel::kAvx2, SimdLevel::kAvx512, SimdLevel::kNeon}) {
    if (const Kernels* kernels = kernels_of(level); kernels != nullptr) all.push_back(kernels);
  }
  return all;
}

}  // namespace routecap::rows::testing
