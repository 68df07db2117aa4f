// SPDX-License-Identifier: Apache-2.0
#include "trace.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "files.h"
#include "support.h"

namespace engine {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& why) { throw std::runtime_error(path + ": " + why); }

std::int32_t positive(const JsonValue& index, const std::string& key, std::int64_t limit) {
  const std::int64_t value = index.number(key);
  if (value < 1 || value > limit) throw std::runtime_error("has '" + key + "' " + std::to_string(value) + ", not 1 to " + std::to_string(limit));
  return static_cast<std::int32_t>(value);
}

std::string shape_text(std::span<const std::int64_t> shape) {
  std::string text = "[";
  for (const std::int64_t extent : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  return text + "]";
}

}  // namespace

Trace Trace::load(const std::string& folder, bool weights) {
  Trace trace;
  const std::string index = folder + "/index.json";
  try {
    trace.read_index(JsonValue::read(index));
  } catch (const std::runtime_error& error) {
    const std::string why = error.what();
    throw std::runtime_error(why.starts_with(index) ? why : index + ": " + why);
  }

  const std::string ids = folder + "/ids_u8.npy";
  const NpyArray stored = read_npy(ids, "|u1");
  trace.check_shape(stored.shape, ids);
  trace.ids_.assign(stored.bytes.begin(), stored.bytes.end());
  const auto largest = std::ranges::max_element(trace.ids_);
  if (*largest >= trace.experts_) {
    fail(ids, "holds expert " + std::to_string(*largest) + " of a model with " + std::to_string(trace.experts_));
  }
  if (weights) {
    const std::string path = folder + "/weights_bf16bits_u16.npy";
    const NpyArray bits = read_npy(path, "<u2");
    trace.check_shape(bits.shape, path);
    trace.weights_.resize(bits.bytes.size() / sizeof(std::uint16_t));
    std::memcpy(trace.weights_.data(), bits.bytes.data(), bits.bytes.size());
  }
  return trace;
}

void Trace::read_index(const JsonValue& index) {
  model_ = index.text("model");
  layers_ = positive(index, "layers", 1024);
  experts_ = positive(index, "experts", 256);
  top_k_ = positive(index, "top_k", experts_);
  for (const JsonValue& entry : index.list("requests")) {
    const TraceRequest request{entry.number("row_begin"), entry.number("row_end"), entry.number("first_pos"), entry.number("prompt_len")};
    if (request.row_begin < 0 || request.row_end <= request.row_begin || request.row_end > std::numeric_limits<std::int32_t>::max() ||
        request.prompt_tokens < 1 || request.first_position != request.prompt_tokens) {
      throw std::runtime_error("has request " + std::to_string(requests_.size()) + " with rows or positions that cannot be");
    }
    requests_.push_back(request);
  }
  if (requests_.empty()) throw std::runtime_error("has no request");
}

void Trace::check_shape(std::span<const std::int64_t> shape, const std::string& path) const {
  std::int64_t rows = 0;
  for (const TraceRequest& request : requests_) rows = std::max(rows, request.row_end);
  if (shape.size() != 3 || shape[0] < rows || shape[1] != layers_ || shape[2] != top_k_) {
    const std::array<std::int64_t, 3> wanted = {rows, layers_, top_k_};
    fail(path, "has shape " + shape_text(shape) + ", index.json speaks of " + shape_text(wanted));
  }
}

}  // namespace engine
