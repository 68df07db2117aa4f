// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/stage_options.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <functional>
#include <map>
#include <stdexcept>

namespace routecap_bench {
namespace {

template <class T>
T number(const std::string& option, const std::string& text, T least, T most) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most) {
    throw std::invalid_argument(option + " is '" + text + "', a number of " + std::to_string(least) + " to " + std::to_string(most) + " is wanted");
  }
  return value;
}

std::vector<std::int64_t> numbers(const std::string& option, const std::string& text) {
  std::vector<std::int64_t> list;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    list.push_back(number<std::int64_t>(option, text.substr(begin, end - begin), 1, 1 << 20));
    begin = end + 1;
  }
  return list;
}

}  // namespace

StageOptions StageOptions::parse(int argc, char** argv) {
  constexpr std::int32_t kMost = 1 << 16;
  StageOptions options;
  const std::map<std::string, std::function<void(const std::string&, const std::string&)>> known = {
      {"--layers", [&](auto& o, auto& v) { options.shape.layers = number<std::int32_t>(o, v, 1, kMost); }},
      {"--top-k", [&](auto& o, auto& v) { options.shape.top_k = number<std::int32_t>(o, v, 1, kMost); }},
      // The comparison is of ids of one byte.
      {"--experts", [&](auto& o, auto& v) { options.shape.experts = number<std::int32_t>(o, v, 1, 256); }},
      {"--slots", [&](auto& o, auto& v) { options.shape.slots = number<std::int64_t>(o, v, 1, std::int64_t{1} << 40); }},
      {"--n", [&](auto& o, auto& v) { options.tokens = numbers(o, v); }},
      {"--rows", [&](auto& o, auto& v) { options.rows = number<std::int64_t>(o, v, 1, 1 << 20); }},
      {"--ids", [&](auto&, auto& v) { options.ids = v; }},
      {"--order", [&](auto&, auto& v) { options.order = v; }},
      {"--check", [&](auto&, auto& v) { options.check = v; }},
      {"--backend", [&](auto&, auto& v) { options.backend = v; }},
      {"--threads", [&](auto& o, auto& v) { options.threads = number<std::int32_t>(o, v, 1, 1024); }},
      {"--rounds", [&](auto& o, auto& v) { options.rounds = number<std::int32_t>(o, v, 0, 1000); }},
      {"--scale", [&](auto& o, auto& v) { options.scale = number<double>(o, v, 0, 1000); }},
  };
  for (int i = 1; i < argc; i += 2) {
    const std::string option = argv[i];
    const auto found = known.find(option);
    if (found == known.end()) throw std::invalid_argument("unknown option '" + option + "'");
    if (i + 1 == argc) throw std::invalid_argument(option + " has no value");
    found->second(option, argv[i + 1]);
  }
  if (options.ids.empty() || options.order.empty()) throw std::invalid_argument("--ids and --order name the files of the data and must be given");
  const std::int64_t most = *std::max_element(options.tokens.begin(), options.tokens.end());
  if (most > options.rows || most > options.shape.slots) {
    throw std::invalid_argument("--n " + std::to_string(most) + " is more than the " + std::to_string(options.rows) + " rows of the data or the " +
                                std::to_string(options.shape.slots) + " slots");
  }
  if (options.backend.empty() && options.threads != 1) throw std::invalid_argument("--threads needs a --backend that has some");
  options.shape.device_rows = most;
  return options;
}

std::int64_t StageOptions::repetitions(std::int64_t batch) const {
  const double calls = batch <= 8 ? 400 : batch <= 64 ? 200 : batch <= 512 ? 120 : 5;
  return std::max<std::int64_t>(3, static_cast<std::int64_t>(calls * scale));
}

}  // namespace routecap_bench
