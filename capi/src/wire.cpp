// SPDX-License-Identifier: Apache-2.0
#include "wire/wire.h"

#include <routecap/routecap.h>

#include <string>

#include "arguments.h"
#include "guard.h"
#include "support/choice.h"
#include "wire_arguments.h"

using namespace routecap;
using namespace routecap::capi;

namespace {

std::span<const std::byte> checked_bytes(const void* bytes, std::int64_t count) {
  if (count < 0) fail(RCAP_STATUS_INVALID_ARGUMENT, "bytes_bytes is %" PRId64 ", it must not be negative", count);
  if (count > 0) require(bytes, "bytes");
  return {static_cast<const std::byte*>(bytes), static_cast<std::size_t>(count)};
}

template <class Number>
void in_range(const char* name, Number value, Number lowest) {
  if (value < lowest) {
    fail(RCAP_STATUS_OUT_OF_RANGE, "hint %s is %" PRId64 ", it must be at least %" PRId64, name, static_cast<std::int64_t>(value),
         static_cast<std::int64_t>(lowest));
  }
}

wire::DecodeHints checked_hints(const rcap_decode_hints* given, const std::int32_t* layer_ids, std::int64_t layer_ids_count) {
  wire::DecodeHints hints;
  if (given != nullptr) {
    const rcap_decode_hints known = sized_in(given, "hints");
    in_range<std::int64_t>("start", known.start, -1);
    in_range<std::int64_t>("rows", known.rows, -1);
    in_range("num_experts", known.num_experts, 0);
    in_range("top_k", known.top_k, 0);
    in_range("num_layers", known.num_layers, 0);
    in_range<std::int64_t>("turn", known.turn, -1);
    if (known.dtype != RCAP_DTYPE_NONE) require_dtype("hint dtype", known.dtype, kIdDtypes);
    hints = {known.start, known.rows, known.num_experts, known.top_k, known.num_layers, known.dtype, known.turn, {}};
  }
  if (layer_ids == nullptr) {
    if (layer_ids_count != 0) fail(RCAP_STATUS_INVALID_ARGUMENT, "layer_ids is null, layer_ids_count is %" PRId64, layer_ids_count);
    return hints;
  }
  if (layer_ids_count < 1 || layer_ids_count > INT32_MAX) {
    fail(RCAP_STATUS_INVALID_ARGUMENT, "layer_ids_count is %" PRId64 ", allowed are 1 .. %d", layer_ids_count, INT32_MAX);
  }
  if (hints.num_layers != 0 && hints.num_layers != layer_ids_count) {
    fail(RCAP_STATUS_INVALID_ARGUMENT, "hint num_layers is %d, layer_ids_count is %" PRId64, hints.num_layers, layer_ids_count);
  }
  for (std::int64_t column = 0; column < layer_ids_count; ++column) {
    const std::int32_t layer = layer_ids[column];
    if (layer < 0) fail(RCAP_STATUS_OUT_OF_RANGE, "layer_ids[%" PRId64 "] is %d, it must not be negative", column, layer);
    if (column > 0 && layer <= layer_ids[column - 1]) {
      fail(RCAP_STATUS_INVALID_ARGUMENT, "layer_ids[%" PRId64 "] is %d after %d, layers must ascend and stand once", column, layer,
           layer_ids[column - 1]);
    }
  }
  hints.layer_ids = {layer_ids, static_cast<std::size_t>(layer_ids_count)};
  return hints;
}

}  // namespace

extern "C" {

const char* rcap_wire_format_name(int32_t format) noexcept {
  const char* name = wire::format_name(format);
  return name == nullptr ? "unknown" : name;
}

rcap_status rcap_wire_format_of(const char* name, int32_t* format, rcap_error* err) noexcept {
  return guard(err, [&] {
    require(name, "name");
    require(format, "format");
    const std::int32_t found = wire::format_of(name);
    if (found == 0) {
      std::string names;
      for (std::int32_t known = RCAP_WIRE_FRAME; known <= RCAP_WIRE_CSV; ++known) {
        names.append(names.empty() ? "" : ", ").append(wire::format_name(known));
      }
      fail(RCAP_STATUS_NOT_FOUND, "no format is called '%.64s', there are %s", name, names.c_str());
    }
    *format = found;
  });
}

rcap_status rcap_wire_detect(const void* bytes, int64_t bytes_bytes, int32_t* format, rcap_error* err) noexcept {
  return guard(err, [&] {
    const auto content = checked_bytes(bytes, bytes_bytes);
    require(format, "format");
    const std::int32_t found = wire::detect(content);
    if (found == 0) fail(RCAP_STATUS_NOT_FOUND, "no format shows in these %" PRId64 " bytes", bytes_bytes);
    *format = found;
  });
}

rcap_status rcap_record_encode(const rcap_record* self, int32_t format, const rcap_encode_options* options, void* buffer, int64_t buffer_bytes,
                               int64_t* needed, rcap_error* err) noexcept {
  return guard(err, [&] {
    const Record& record = live_record(self);
    require_format(format);
    require_buffer(buffer, buffer_bytes, needed);
    const rcap_encode_options known = checked_options(options);
    wire::check_options(format, known, record.geometry());
    const std::int64_t bytes = wire::encode(record, format, known, static_cast<std::byte*>(buffer), buffer_bytes);
    *needed = bytes;
    if (bytes > buffer_bytes && buffer != nullptr) {
      fail(RCAP_STATUS_OUT_OF_RANGE, "buffer_bytes is %" PRId64 ", %" PRId64 " are needed", buffer_bytes, bytes);
    }
  });
}

rcap_status rcap_record_decode(int32_t format, const void* bytes, int64_t bytes_bytes, const rcap_decode_hints* hints, const int32_t* layer_ids,
                               int64_t layer_ids_count, rcap_record** record, int64_t* consumed, rcap_error* err) noexcept {
  return guard(err, [&] {
    require_format(format);
    const auto content = checked_bytes(bytes, bytes_bytes);
    require(record, "record");
    wire::Decoded decoded = wire::decode(format, content, checked_hints(hints, layer_ids, layer_ids_count));
    if (consumed != nullptr) *consumed = decoded.consumed;
    *record = reinterpret_cast<rcap_record*>(decoded.record.release());
  });
}

}  // extern "C"
