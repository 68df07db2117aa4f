// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cinttypes>
#include <cstdint>
#include <string_view>
#include <vector>

#include "wire/wire.h"

namespace routecap::wire {

/// What a form's bytes say of a record's geometry. Negative, 0 or empty = they do not say it.
struct Facts {
  std::int64_t start = -1;
  std::int64_t rows = -1;
  std::int32_t num_experts = 0;
  std::int32_t top_k = 0;
  std::int32_t num_layers = 0;
  std::int32_t weights_dtype = RCAP_DTYPE_NONE;
  std::int32_t weights_kind = RCAP_WEIGHTS_AS_ROUTED;
  std::vector<std::int32_t> layer_ids;
  std::vector<std::int32_t> layer_flags;
};

/// Bytes and hints as one geometry. A fact that neither has, and one on which both disagree, is INVALID_ARGUMENT and names the hint.
///
/// @param form         name of the form, for the text
/// @param input_bytes  bytes given; what the record would take may not exceed its multiple (`wire.h`), unless `size_is_hinted`
RecordGeometry resolve(const char* form, Facts facts, const DecodeHints& hints, std::int64_t input_bytes);

/// Refuses an allocation that the bytes given do not account for.
void check_allocation(const char* form, const char* what, std::int64_t needed, std::int64_t input_bytes);
/// Bytes that a record of this geometry takes, as `resolve` counts them.
[[nodiscard]] std::int64_t record_bytes(const RecordGeometry& geometry);
/// Whether the hints name the size of the record themselves: rows, layers and top-k. Then what it takes is what the caller asked for.
[[nodiscard]] bool size_is_hinted(const DecodeHints& hints);

/// A hint that must be there because the bytes cannot say it.
[[noreturn]] void fail_missing_hint(const char* form, const char* hint);
/// A hint that says something else than the bytes.
void check_agrees(const char* form, const char* hint, std::int64_t hinted, std::int64_t found);
/// Refuses the hint `turn` for a form that has none.
void check_no_turn(const char* form, const DecodeHints& hints);

/// A shape's numbers as layers and top-k; a number that is no count, or too large for one, is CORRUPT.
void set_shape(Facts& facts, const char* form, std::int64_t rows, std::int64_t layers, std::int64_t top_k);

/// A form's text without the one line end that files put behind it.
std::string_view text_of(std::span<const std::byte> bytes);

}  // namespace routecap::wire
