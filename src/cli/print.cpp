// SPDX-License-Identifier: Apache-2.0
#include "print.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "options.h"
#include "output.h"

namespace routecap::cli {
namespace {

bool is_number(const std::string& cell) {
  return !cell.empty() && ((cell[0] >= '0' && cell[0] <= '9') || ((cell[0] == '-' || cell[0] == '+') && cell.size() > 1));
}

}  // namespace

void add_print_options(Parser& parser, PrintOptions& options) {
  parser.add_flag("--json", &options.json, "one JSON object instead of text");
  add_output_option(parser, options.output);
}

void add_output_option(Parser& parser, std::string& output) {
  parser.add_value("-o,--output", &output, "file to write, whole or not at all; standard output if not given, or -", "FILE");
}

void print_text(const PrintOptions& options, std::string_view text) {
  Output output(options.output);
  output.write(text);
  output.commit();
}

void print_json(const PrintOptions& options, const Json& json) {
  // Names of files need not be UTF-8.
  print_text(options, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::string Table::text() const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  // A heading stands where the numbers under it stand.
  std::vector<bool> right(widths.size(), false);
  for (std::size_t line = 1; line < rows_.size(); ++line) {
    for (std::size_t i = 0; i < rows_[line].size(); ++i) right[i] = right[i] || is_number(rows_[line][i]);
  }
  std::string out;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string gap(widths[i] - row[i].size(), ' ');
      if (i > 0) line += "  ";
      line += right[i] ? gap + row[i] : row[i] + gap;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out.append(line).append("\n");
  }
  return out;
}

std::string bytes_text(std::int64_t bytes) {
  constexpr std::array<const char*, 5> kUnits{"KiB", "MiB", "GiB", "TiB", "PiB"};
  std::string digits = std::to_string(bytes);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  std::string text = digits + (bytes == 1 ? " byte" : " bytes");
  if (bytes < 1024) return text;
  double scaled = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (scaled >= 1024 && unit + 1 < kUnits.size()) {
    scaled /= 1024;
    ++unit;
  }
  std::array<char, 32> short_form{};
  std::snprintf(short_form.data(), short_form.size(), " (%.1f %s)", scaled, kUnits[unit]);
  return text + short_form.data();
}

std::string count_text(std::int64_t count, const char* one, const char* many) { return std::to_string(count) + ' ' + (count == 1 ? one : many); }

}  // namespace routecap::cli
