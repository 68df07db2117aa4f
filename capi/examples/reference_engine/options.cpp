// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <charconv>
#include <cstring>
#include <string_view>

namespace engine {
namespace {

struct Range {
  std::int64_t first;
  std::int64_t last;
};

std::int64_t number(std::string_view option, std::string_view text, Range range) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || stop != end || value < range.first || value > range.last) {
    throw UsageError(std::string(option) + " wants a whole number from " + std::to_string(range.first) + " to " + std::to_string(range.last) +
                     ", not '" + std::string(text) + "'");
  }
  return value;
}

FinalizeMode finalize_mode(std::string_view text) {
  if (text == "caller") return FinalizeMode::kCaller;
  if (text == "thread") return FinalizeMode::kThread;
  throw UsageError("--finalize wants caller or thread, not '" + std::string(text) + "'");
}

/// Options without a value; true if it was one.
bool take_switch(std::string_view name, Options& options) {
  if (name == "--weights") return options.weights = true;
  if (name == "--json") return options.json = true;
  if (name == "-q" || name == "--quiet") return options.quiet = true;
  if (name == "-h" || name == "--help") return options.help = true;
  return false;
}

bool wants_value(std::string_view name) {
  for (const char* known : {"--requests", "--seed", "--dp", "--depth", "--finalize", "--trace", "--record", "--inject"}) {
    if (name == known) return true;
  }
  return false;
}

void take_value(std::string_view name, std::string_view value, Options& options) {
  if (name == "--requests") options.requests = number(name, value, {1, 100000});
  if (name == "--seed") options.seed = number(name, value, {0, INT64_MAX});
  if (name == "--dp") options.dp = number(name, value, {1, 16});
  if (name == "--depth") options.depth = number(name, value, {1, 64});
  if (name == "--finalize") options.finalize = finalize_mode(value);
  if (name == "--trace") {
    if (value.empty()) throw UsageError("--trace wants a folder");
    options.trace = value;
  }
  if (name == "--record") {
    if (value.empty()) throw UsageError("--record wants a file");
    options.record = value;
  }
  if (name == "--inject") {
    if (value != "wrong-row") throw UsageError("--inject wants wrong-row, not '" + std::string(value) + "'");
    options.inject_wrong_row = true;
  }
}

}  // namespace

Options parse_options(std::span<const char* const> arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (take_switch(argument, options)) continue;
    const std::size_t equals = argument.find('=');
    const std::string_view name = argument.substr(0, equals);
    if (!wants_value(name)) throw UsageError("unknown option '" + std::string(argument) + "'; --help lists them");
    if (equals != std::string_view::npos) {
      take_value(name, argument.substr(equals + 1), options);
    } else if (i + 1 < arguments.size()) {
      take_value(name, arguments[++i], options);
    } else {
      throw UsageError(std::string(name) + " wants a value");
    }
  }
  return options;
}

const char* help_text() {
  return "usage: reference_engine [OPTIONS]\n"
         "\n"
         "A small deterministic serving loop on routecap's public API. Every row that a finished request reads is compared with an oracle;\n"
         "a naive capturer runs beside it on the same schedule. Exit status: 0, 1 if any row was wrong, 2 for a bad option.\n"
         "\n"
         "  --requests N       requests to serve (160)\n"
         "  --seed S           seed of the schedule (1)\n"
         "  --dp N             data-parallel ranks, 1 to 16 (4)\n"
         "  --depth N          forwards of a rank that may be unsettled at once, 1 to 64 (3)\n"
         "  --finalize MODE    caller: the loop finalizes; thread: the capturer's own thread does (caller)\n"
         "  --trace FOLDER     routes of generated tokens come from recorded requests: ids_u8.npy and index.json\n"
         "  --record FILE      write the record of the request with the most captured rows, as a frame of routecap's own form\n"
         "  --weights          keep routing weights (bfloat16) beside the ids and check them too\n"
         "  --json             print one JSON object instead of the table\n"
         "  -q, --quiet        no table and no progress bar\n"
         "  -h, --help         this text\n";
}

}  // namespace engine
