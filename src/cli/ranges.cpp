// SPDX-License-Identifier: Apache-2.0
#include "ranges.h"

#include <routecap/routecap.h>

#include <array>
#include <charconv>
#include <utility>

#include "error.h"

namespace routecap::cli {
namespace {

constexpr std::array<std::pair<const char*, std::int32_t>, 9> kDtypes{{{"none", RCAP_DTYPE_NONE},
                                                                       {"uint8", RCAP_DTYPE_UINT8},
                                                                       {"uint16", RCAP_DTYPE_UINT16},
                                                                       {"int16", RCAP_DTYPE_INT16},
                                                                       {"int32", RCAP_DTYPE_INT32},
                                                                       {"int64", RCAP_DTYPE_INT64},
                                                                       {"float16", RCAP_DTYPE_FLOAT16},
                                                                       {"bfloat16", RCAP_DTYPE_BFLOAT16},
                                                                       {"float32", RCAP_DTYPE_FLOAT32}}};

}  // namespace

std::int64_t number_of(std::string_view text, const char* option) {
  std::int64_t value = 0;
  const auto [behind, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || behind != text.data() + text.size() || value < 0) {
    refuse(option, ": '", text, "' is no whole number from 0 to ", INT64_MAX);
  }
  return value;
}

Range range_of(std::string_view text, const char* option, Range whole) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) refuse(option, ": '", text, "' is no range A:B");
  Range range = whole;
  if (colon > 0) range.begin = number_of(text.substr(0, colon), option);
  if (colon + 1 < text.size()) range.end = number_of(text.substr(colon + 1), option);
  if (range.begin < whole.begin || range.end > whole.end || range.begin > range.end) {
    refuse(option, ": ", text, " does not lie in the record's positions ", whole.begin, ":", whole.end);
  }
  return range;
}

std::vector<std::int64_t> numbers_of(std::string_view text, const char* option, std::size_t limit) {
  std::vector<std::int64_t> numbers;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    const std::size_t dash = item.find('-');
    const std::int64_t first = number_of(item.substr(0, dash), option);
    const std::int64_t last = dash == std::string_view::npos ? first : number_of(item.substr(dash + 1), option);
    if (last < first) refuse(option, ": '", item, "' goes down");
    if (static_cast<std::uint64_t>(last - first) >= limit - numbers.size()) refuse(option, ": more than ", limit, " numbers");
    for (std::int64_t number = first; number <= last; ++number) numbers.push_back(number);
    if (comma == std::string_view::npos) return numbers;
    rest.remove_prefix(comma + 1);
  }
}

std::vector<std::int32_t> layers_of(std::string_view text, const char* option) {
  // No model has nearly as many layers.
  std::vector<std::int32_t> layers;
  for (const std::int64_t number : numbers_of(text, option, 1 << 16)) {
    if (number > INT32_MAX) refuse(option, ": layer ", number, " is above ", INT32_MAX);
    layers.push_back(static_cast<std::int32_t>(number));
  }
  return layers;
}

std::int32_t dtype_of(std::string_view text, const char* option) {
  for (std::size_t i = 1; i <= 5; ++i) {
    if (text == kDtypes[i].first) return kDtypes[i].second;
  }
  refuse(option, ": '", text, "' is none of uint8, uint16, int16, int32, int64");
}

const char* dtype_name(std::int32_t dtype) {
  for (const auto& [name, number] : kDtypes) {
    if (number == dtype) return name;
  }
  return "unknown";
}

const char* weights_kind_name(std::int32_t kind) {
  switch (kind) {
    case RCAP_WEIGHTS_AS_ROUTED: return "as routed";
    case RCAP_WEIGHTS_RENORMALIZED: return "renormalized";
    case RCAP_WEIGHTS_SCALED: return "scaled";
    default: return "unknown";
  }
}

std::string runs_text(const std::vector<std::int32_t>& numbers) {
  std::string out;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!out.empty()) out += ',';
    out += std::to_string(numbers[i]);
    if (last > i) out += '-' + std::to_string(numbers[last]);
    i = last + 1;
  }
  return out;
}

std::string positions_text(std::int64_t begin, std::int64_t end) {
  return end - begin == 1 ? text_of("position ", begin) : text_of("positions ", begin, '-', end - 1);
}

}  // namespace routecap::cli
