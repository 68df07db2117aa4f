// SPDX-License-Identifier: Apache-2.0
//
// How a command shows what it found: text for people, or one JSON object alone with --json.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace routecap::cli {

class Parser;

using Json = nlohmann::ordered_json;

struct PrintOptions {
  bool json = false;
  std::string output = "-";
};

/// Declares --json and -o.
void add_print_options(Parser& parser, PrintOptions& options);

/// Declares -o alone, for what is no report.
void add_output_option(Parser& parser, std::string& output);

void print_text(const PrintOptions& options, std::string_view text);
void print_json(const PrintOptions& options, const Json& json);

/// Columns of text, each as wide as its widest cell; numbers (cells that begin with a digit or a sign) stand right.
class Table {
 public:
  explicit Table(std::vector<std::string> heading) : rows_{std::move(heading)} {}
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  [[nodiscard]] std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// `12,345,678 bytes (11.8 MiB)`.
std::string bytes_text(std::int64_t bytes);

/// `1 row`, `2 rows`.
std::string count_text(std::int64_t count, const char* one, const char* many);

}  // namespace routecap::cli
