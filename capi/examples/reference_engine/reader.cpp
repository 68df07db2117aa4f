// SPDX-License-Identifier: Apache-2.0
#include "reader.h"

#include <cstring>
#include <stdexcept>
#include <vector>

#include "support.h"

namespace engine {
namespace {

rcap_read_layout read_layout(const ReadRange& range, std::int32_t slots_dtype) {
  rcap_read_layout layout = make(rcap_read_layout_init);
  layout.slots_dtype = slots_dtype;
  layout.flags = range.include_last ? RCAP_READ_INCLUDE_LAST : 0;
  layout.tokens = range.tokens;
  layout.after_sequence = range.after_sequence;
  layout.timeout_ns = range.timeout_ns;
  return layout;
}

/// The bytes behind one of a record's borrowed pointers; they live as long as the record, so they are copied here.
template <typename Element>
std::vector<Element> borrowed(rcap_status (*get)(const rcap_record*, const void**, std::int64_t*, rcap_error*), const rcap_record* record) {
  const void* data = nullptr;
  std::int64_t bytes = 0;
  rcap_error error = make(rcap_error_init);
  require(get(record, &data, &bytes, &error), error);
  std::vector<Element> elements(static_cast<std::size_t>(bytes) / sizeof(Element));
  if (!elements.empty()) std::memcpy(elements.data(), data, elements.size() * sizeof(Element));
  return elements;
}

/// A record says itself what its columns are (R26): a consumer checks that before it believes the ids.
void check_columns(const rcap_record* record, const ModelShape& shape) {
  rcap_error error = make(rcap_error_init);
  const std::int32_t* layers = nullptr;
  const std::int32_t* flags = nullptr;
  std::int64_t layers_count = 0;
  std::int64_t flags_count = 0;
  require(rcap_record_layer_ids(record, &layers, &layers_count, &error), error);
  require(rcap_record_layer_flags(record, &flags, &flags_count, &error), error);
  const std::vector<std::int32_t> columns(layers, layers + layers_count);
  if (columns != shape.moe_layers || flags_count != layers_count || flags[flags_count - 1] != RCAP_TAP_PARTIAL) {
    throw std::runtime_error("a record's columns are not the model's MoE layers");
  }
}

}  // namespace

std::optional<RecordBytes> RecordReader::read(const ReadRange& range, std::span<const std::int64_t> slots) const {
  const rcap_read_layout layout = read_layout(range, RCAP_DTYPE_INT64);
  rcap_error error = make(rcap_error_init);
  rcap_record* handle = nullptr;
  const rcap_status status = rcap_capturer_read(capturer_, &layout, slots.data(), bytes_of(slots), nullptr, 0, &handle, &error);
  if (status == RCAP_STATUS_NOT_READY) return std::nullopt;
  require(status, error);
  const RecordHandle record(handle);

  rcap_record_info info = make(rcap_record_info_init);
  require(rcap_record_info_get(handle, &info, &error), error);
  if (info.start != 0 || info.ids_dtype != RCAP_DTYPE_UINT8 || info.num_experts != shape_.num_experts || info.top_k != shape_.top_k) {
    throw std::runtime_error("a record's geometry is not the model's");
  }
  check_columns(handle, shape_);
  RecordBytes bytes;
  bytes.rows = info.rows;
  bytes.ids = borrowed<std::uint8_t>(rcap_record_ids, handle);
  bytes.weights = borrowed<std::uint16_t>(rcap_record_weights, handle);
  bytes.row_validity = borrowed<std::uint8_t>(rcap_record_row_validity, handle);
  bytes.cell_validity = borrowed<std::uint8_t>(rcap_record_cell_validity, handle);
  return bytes;
}

std::optional<RecordBytes> RecordReader::read_into(const ReadRange& range, std::span<const std::int64_t> slots) const {
  const rcap_read_layout layout = read_layout(range, RCAP_DTYPE_INT32);
  const std::vector<std::int32_t> narrow(slots.begin(), slots.end());
  rcap_error error = make(rcap_error_init);

  // Without buffers it only says what it needs, for the last token's row too if that is asked for.
  rcap_read_info info = make(rcap_read_info_init);
  require(rcap_capturer_read_into(capturer_, &layout, narrow.data(), bytes_of(narrow), nullptr, 0, nullptr, 0, nullptr, 0, nullptr, 0, &info, &error),
          error);
  RecordBytes bytes;
  std::vector<std::uint8_t> validity(static_cast<std::size_t>(info.row_validity_bytes + info.cell_validity_bytes));
  bytes.ids.resize(static_cast<std::size_t>(info.ids_bytes));
  bytes.weights.resize(static_cast<std::size_t>(info.weights_bytes) / sizeof(std::uint16_t));
  const rcap_status status =
      rcap_capturer_read_into(capturer_, &layout, narrow.data(), bytes_of(narrow), nullptr, 0, bytes.ids.data(), bytes_of(bytes.ids),
                              bytes.weights.data(), bytes_of(bytes.weights), validity.data(), bytes_of(validity), &info, &error);
  if (status == RCAP_STATUS_NOT_READY) return std::nullopt;
  require(status, error);

  // What was read may be a row less than what was asked for (R2); the cell bits begin behind the bits of the rows that were read.
  bytes.rows = info.rows;
  bytes.ids.resize(static_cast<std::size_t>(info.ids_bytes));
  bytes.weights.resize(static_cast<std::size_t>(info.weights_bytes) / sizeof(std::uint16_t));
  const auto cells = validity.begin() + info.row_validity_bytes;
  bytes.row_validity.assign(validity.begin(), cells);
  bytes.cell_validity.assign(cells, cells + info.cell_validity_bytes);
  return bytes;
}

std::vector<char> RecordReader::encode(const ReadRange& range, std::span<const std::int64_t> slots) const {
  const rcap_read_layout layout = read_layout(range, RCAP_DTYPE_INT64);
  rcap_error error = make(rcap_error_init);
  std::vector<char> frame;
  std::int64_t needed = 0;
  const auto encode_into = [&](std::int64_t capacity) {
    frame.resize(static_cast<std::size_t>(capacity));
    return rcap_capturer_encode(capturer_, &layout, slots.data(), bytes_of(slots), nullptr, 0, RCAP_WIRE_FRAME, nullptr,
                                frame.empty() ? nullptr : frame.data(), capacity, &needed, &error);
  };
  // Without a buffer it only says what it needs at most.
  require(encode_into(0), error);
  require(encode_into(needed), error);
  frame.resize(static_cast<std::size_t>(needed));
  return frame;
}

}  // namespace engine
