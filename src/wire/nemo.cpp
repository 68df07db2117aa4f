// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cstdio>

#include "wire/arrays.h"
#include "wire/codecs.h"
#include "wire/flat_form.h"
#include "wire/holes.h"
#include "wire/text.h"

namespace routecap::wire {
namespace {

constexpr const char* kForm = "nemo";
constexpr std::string_view kMark = "nrlre1:";

/// The text up to the next `separator`, which is taken too.
std::string_view part(std::string_view text, std::size_t& at, char separator) {
  const std::size_t stop = text.find(separator, at);
  if (stop == std::string_view::npos) fail(RCAP_STATUS_CORRUPT, "%s: a '%c' is missing behind byte %zu", kForm, separator, at);
  const std::string_view found = text.substr(at, stop - at);
  at = stop + 1;
  return found;
}

std::int64_t number(std::string_view text, std::size_t& at, char separator) {
  const std::size_t begin = at;
  const std::string_view digits = part(text, at, separator);
  std::int64_t value = 0;
  const auto [behind, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (status != std::errc{} || behind != digits.data() + digits.size() || digits.front() == '-') {
    fail(RCAP_STATUS_CORRUPT, "%s: no number at byte %zu", kForm, begin);
  }
  return value;
}

}  // namespace

FlatForm nemo_form(const RecordGeometry& geometry, const rcap_encode_options& options, bool cell_holes) {
  FlatForm form;
  form.name = kForm;
  form.scalar = narrowest_signed(geometry.num_experts);
  form.options = options;
  if (cell_holes) {
    // A row of -1 is how this form says "missing"; single cells of -1 would be corrupt in it.
    if (options.missing == RCAP_MISSING_MINUS_ONE) {
      fail(RCAP_STATUS_UNSUPPORTED,
           "%s: options missing is MINUS_ONE, the record has rows with some layers missing and this form only says it of whole rows", kForm);
    }
  } else if (options.missing == RCAP_MISSING_REFUSE) {
    form.options.missing = RCAP_MISSING_MINUS_ONE;
  }
  char head[128];
  std::snprintf(head, sizeof head, "nrlre1:%s:%" PRId64 "x%" PRId64 "x%d:", facts_of(form.scalar).name.data(), geometry.rows, geometry.layers(),
                geometry.top_k);
  form.before = head;
  return form;
}

void encode_nemo(const Record& record, const rcap_encode_options& options, Output& out) {
  encode_flat(record, nemo_form(record.geometry(), options, has_cell_holes(record)), out);
}

Decoded decode_nemo(std::span<const std::byte> bytes, const DecodeHints& hints) {
  check_no_turn(kForm, hints);
  const std::string_view text = text_of(bytes);
  if (!text.starts_with(kMark)) fail(RCAP_STATUS_CORRUPT, "%s: it does not begin with nrlre1:", kForm);
  std::size_t at = kMark.size();
  const std::string_view name = part(text, at, ':');
  const ScalarFacts* scalar = scalar_named(name);
  if (scalar == nullptr || !scalar->is_signed) {
    fail(RCAP_STATUS_CORRUPT, "%s: dtype is '%.*s', known are int8, int16, int32 and int64", kForm,
         static_cast<int>(std::min<std::size_t>(name.size(), 32)), name.data());
  }
  if (hints.dtype != RCAP_DTYPE_NONE) check_agrees(kForm, "dtype", hints.dtype, scalar->dtype);
  const std::int64_t rows = number(text, at, 'x');
  const std::int64_t layers = number(text, at, 'x');
  const std::int64_t top_k = number(text, at, ':');
  Facts facts;
  set_shape(facts, kForm, rows, layers, top_k);
  const auto input = static_cast<std::int64_t>(bytes.size());
  RecordGeometry geometry = resolve(kForm, facts, hints, input);
  const std::vector<std::byte> array = decoded_base64(kForm, text.substr(at), static_cast<std::int64_t>(at));
  if (array_bytes(geometry, scalar->scalar) != static_cast<std::int64_t>(array.size())) {
    fail(RCAP_STATUS_CORRUPT, "%s: the array has %zu bytes, shape and dtype make it %" PRId64, kForm, array.size(),
         array_bytes(geometry, scalar->scalar));
  }
  return {record_of_array(kForm, std::move(geometry), {array.data(), scalar->scalar, false}, Holes::kByRow), input};
}

bool looks_like_nemo(std::span<const std::byte> bytes) { return text_of(bytes).starts_with(kMark); }

}  // namespace routecap::wire
