// SPDX-License-Identifier: Apache-2.0
#include "inject.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "support.h"

namespace llama_demo {
namespace {

using engine::at;
using engine::count;

/// The last two rows with one token, as far apart as may be; the first row has no context, so that it differs most.
std::pair<std::int64_t, std::int64_t> rows_of_one_token(const std::vector<llama_token>& tokens) {
  for (std::int64_t later = count(tokens) - 2; later > 0; --later) {
    for (std::int64_t earlier = 0; earlier < later; ++earlier) {
      if (at(tokens, earlier) == at(tokens, later)) return {earlier, later};
    }
  }
  throw EngineError("no token of the longest request comes twice");
}

/// The record with other ids.
engine::RecordHandle with_ids(const rcap_record* old, const std::vector<std::uint8_t>& ids) {
  rcap_error error = engine::make(rcap_error_init);
  rcap_record_info info = engine::make(rcap_record_info_init);
  engine::require(rcap_record_info_get(old, &info, &error), error);
  const std::int32_t* layers = nullptr;
  const std::int32_t* flags = nullptr;
  std::int64_t layer_count = 0;
  std::int64_t flag_count = 0;
  engine::require(rcap_record_layer_ids(old, &layers, &layer_count, &error), error);
  engine::require(rcap_record_layer_flags(old, &flags, &flag_count, &error), error);
  std::vector<std::uint8_t> validity;
  for (const auto get : {rcap_record_row_validity, rcap_record_cell_validity}) {
    const void* bits = nullptr;
    std::int64_t bytes = 0;
    engine::require(get(old, &bits, &bytes, &error), error);
    validity.insert(validity.end(), static_cast<const std::uint8_t*>(bits), static_cast<const std::uint8_t*>(bits) + bytes);
  }
  const void* weights = nullptr;
  std::int64_t weights_bytes = 0;
  engine::require(rcap_record_weights(old, &weights, &weights_bytes, &error), error);

  rcap_record_layout layout = engine::make(rcap_record_layout_init);
  layout.start = info.start;
  layout.rows = info.rows;
  layout.num_experts = info.num_experts;
  layout.top_k = info.top_k;
  layout.weights_dtype = info.weights_dtype;
  layout.weights_kind = info.weights_kind;
  rcap_record* record = nullptr;
  engine::require(rcap_record_create(&layout, layers, layer_count, flags, flag_count, ids.data(), count(ids), weights_bytes == 0 ? nullptr : weights,
                                     weights_bytes, validity.data(), count(validity), &record, &error),
                  error);
  return engine::RecordHandle(record);
}

}  // namespace

void inject(Inject fault, std::vector<Served>& served) {
  if (fault == Inject::kNothing) return;
  Served& longest = *std::ranges::max_element(served, {}, [](const Served& one) { return one.tokens.size(); });
  const RecordView view(longest.record.get());
  rcap_error error = engine::make(rcap_error_init);
  const void* data = nullptr;
  std::int64_t bytes = 0;
  engine::require(rcap_record_ids(longest.record.get(), &data, &bytes, &error), error);
  std::vector<std::uint8_t> ids(static_cast<const std::uint8_t*>(data), static_cast<const std::uint8_t*>(data) + bytes);

  const std::int64_t row_bytes = bytes / view.info().rows;
  const std::int64_t spoiled = row_bytes / view.info().num_layers * (view.info().num_layers - 1);
  if (fault == Inject::kNeighbourRows) {
    const std::int64_t row = view.info().rows / 2;
    std::swap_ranges(ids.begin() + row * row_bytes, ids.begin() + row * row_bytes + spoiled, ids.begin() + (row + 1) * row_bytes);
  } else {
    const auto [earlier, later] = rows_of_one_token(longest.tokens);
    std::copy_n(ids.begin() + earlier * row_bytes, spoiled, ids.begin() + later * row_bytes);
  }
  longest.record = with_ids(longest.record.get(), ids);
}

}  // namespace llama_demo
