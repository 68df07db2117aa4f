// SPDX-License-Identifier: Apache-2.0
#include "wire/arrays.h"
#include "wire/codecs.h"
#include "wire/flat_form.h"
#include "wire/text.h"

namespace routecap::wire {
namespace {
constexpr const char* kForm = "sglang";
}  // namespace

FlatForm sglang_form(const RecordGeometry& /*geometry*/, const rcap_encode_options& options) {
  FlatForm form;
  form.name = kForm;
  form.scalar = options.dtype == RCAP_DTYPE_NONE ? Scalar::kInt32 : scalar_of_dtype(options.dtype)->scalar;
  form.options = options;
  return form;
}

void encode_sglang(const Record& record, const rcap_encode_options& options, Output& out) {
  encode_flat(record, sglang_form(record.geometry(), options), out);
}

Decoded decode_sglang(std::span<const std::byte> bytes, const DecodeHints& hints) {
  check_no_turn(kForm, hints);
  const ScalarFacts* scalar = scalar_of_dtype(hints.dtype == RCAP_DTYPE_NONE ? RCAP_DTYPE_INT32 : hints.dtype);
  // Nothing of the shape is in the bytes: all of it but the rows must be known before they can be counted.
  const auto layers = static_cast<std::int64_t>(hints.layer_ids.empty() ? static_cast<std::size_t>(hints.num_layers) : hints.layer_ids.size());
  if (layers == 0) fail_missing_hint(kForm, "num_layers (or layer_ids)");
  if (hints.top_k == 0) fail_missing_hint(kForm, "top_k");
  const std::string_view text = text_of(bytes);
  const std::vector<std::byte> array = decoded_base64(kForm, text, 0);
  const std::int64_t row_bytes = layers * hints.top_k * scalar->bytes;  // below 2^31 * 2^31 * 8 only where the array is that large, checked next
  const auto array_bytes = static_cast<std::int64_t>(array.size());
  if (layers * hints.top_k > INT64_MAX / 8 || array_bytes % row_bytes != 0) {
    fail(RCAP_STATUS_CORRUPT, "%s: %" PRId64 " bytes are no whole rows of %" PRId64 " layers, %d ids, %d bytes each", kForm, array_bytes, layers,
         hints.top_k, scalar->bytes);
  }
  Facts facts;
  facts.rows = array_bytes / row_bytes;
  const auto input = static_cast<std::int64_t>(bytes.size());
  return {record_of_array(kForm, resolve(kForm, facts, hints, input), {array.data(), scalar->scalar, false}, Holes::kByCell), input};
}

}  // namespace routecap::wire
