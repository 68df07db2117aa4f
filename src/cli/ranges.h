// SPDX-License-Identifier: Apache-2.0
//
// Numbers and ranges as users write them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace routecap::cli {

/// Token positions [begin, end).
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// `A:B`, `A:`, `:B` or `:`, what is left out taken from `whole`. Refused, naming `option`, where it is no range or leaves `whole`.
Range range_of(std::string_view text, const char* option, Range whole);

/// `3,4,10-20` as numbers, in the order written. Refused, naming `option`, where it is no such list or has more than `limit` numbers.
std::vector<std::int64_t> numbers_of(std::string_view text, const char* option, std::size_t limit);

/// The same for layer numbers.
std::vector<std::int32_t> layers_of(std::string_view text, const char* option);

/// A whole number >= 0, all of the text.
std::int64_t number_of(std::string_view text, const char* option);

/// An `rcap_dtype` of ids by its name: uint8, uint16, int16, int32, int64.
std::int32_t dtype_of(std::string_view text, const char* option);

/// Name of any `rcap_dtype`, for example `uint8`; `none` for NONE.
const char* dtype_name(std::int32_t dtype);

/// Name of a `rcap_weights_kind`.
const char* weights_kind_name(std::int32_t kind);

/// Ascending runs of numbers as text: `0-3,7`.
std::string runs_text(const std::vector<std::int32_t>& numbers);

/// `positions 3-7`, or `position 3`, of tokens; end is behind the last.
std::string positions_text(std::int64_t begin, std::int64_t end);

}  // namespace routecap::cli
