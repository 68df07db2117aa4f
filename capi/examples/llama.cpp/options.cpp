// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace llama_demo {
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

/// Options without a value; true if it was one.
bool take_switch(std::string_view name, Options& options) {
  if (name == "--weights") return options.server.weights = true;
  if (name == "--all-outputs") return options.server.all_outputs = true;
  if (name == "--bench") return options.bench = true;
  if (name == "--wide") return options.wide = true;
  if (name == "--json") return options.json = true;
  if (name == "-h" || name == "--help") return options.help = true;
  return false;
}

bool wants_value(std::string_view name) {
  for (const char* known : {"--library", "--models", "--family", "--requests", "--seed", "--drafts", "--micro-batch", "--inject", "--batch",
                            "--rounds", "--steps", "--arm"}) {
    if (name == known) return true;
  }
  return false;
}

Family family(std::string_view text) {
  if (text == "qwen3moe") return Family::kQwen3Moe;
  if (text == "deepseek2") return Family::kDeepSeek2;
  throw UsageError("--family wants qwen3moe or deepseek2, not '" + std::string(text) + "'");
}

Inject inject(std::string_view text) {
  if (text == "neighbour-rows") return Inject::kNeighbourRows;
  if (text == "same-token") return Inject::kSameToken;
  throw UsageError("--inject wants neighbour-rows or same-token, not '" + std::string(text) + "'");
}

Arm arm(std::string_view text) {
  constexpr std::array<std::string_view, kArms.size()> kNames = {"off", "asked", "split", "capture"};
  for (const Arm one : kArms) {
    if (text == kNames[static_cast<std::size_t>(one)]) return one;
  }
  throw UsageError("--arm wants off, asked, split or capture, not '" + std::string(text) + "'");
}

void take_value(std::string_view name, std::string_view value, Options& options) {
  if (name == "--library") options.library = value;
  if (name == "--models") options.models = value;
  if (name == "--family") options.family = family(value);
  if (name == "--requests") options.requests = number(name, value, {1, 1000});
  if (name == "--seed") options.seed = number(name, value, {0, INT64_MAX});
  if (name == "--drafts") options.server.max_drafts = static_cast<std::int32_t>(number(name, value, {0, 8}));
  if (name == "--micro-batch") options.server.micro_batch_tokens = static_cast<std::int32_t>(number(name, value, {1, options.server.batch_tokens}));
  if (name == "--inject") options.inject = inject(value);
  if (name == "--batch") options.batch = static_cast<std::int32_t>(number(name, value, {1, 64}));
  if (name == "--arm") options.arm = arm(value);
  if (name == "--steps") options.steps = static_cast<std::int32_t>(number(name, value, {1, 1000}));
  if (name == "--rounds") options.rounds = static_cast<std::int32_t>(number(name, value, {4, 100000}));
}

}  // namespace

Options parse_options(std::span<const char* const> arguments) {
  Options options;
  if (const char* folder = std::getenv("ROUTECAP_LLAMA_CPP"); folder != nullptr) options.library = folder;
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
  if (!options.bench) {
    if (options.wide) throw UsageError("--wide wants --bench beside it");
    if (options.arm) throw UsageError("--arm wants --bench beside it");
    if (options.batch != 0) throw UsageError("--batch wants --bench beside it");
  }
  if (options.arm && options.batch == 0) throw UsageError("--arm wants a --batch beside it");
  if (options.library.empty() && !options.help) throw UsageError("--library, or ROUTECAP_LLAMA_CPP, names the folder of llama.cpp's libraries");
  return options;
}

const char* help_text() {
  return "usage: routecap_llama_cpp --library FOLDER [OPTIONS]\n"
         "\n"
         "Serves requests with llama.cpp and routecap, and compares every record with a plain run of the same tokens. Exit status: 0, 1 if any\n"
         "row was wrong, 2 for a bad option, 3 where llama.cpp or routecap refused something.\n"
         "\n"
         "  --library FOLDER   where libllama.*.so and the libggml libraries lie (ROUTECAP_LLAMA_CPP)\n"
         "  --models FOLDER    where the models are written, and found again (.)\n"
         "  --family NAME      qwen3moe: 8 layers, top 8 of 64; deepseek2: 61 layers of which 58 route, top 8 of 256 (qwen3moe)\n"
         "  --requests N       requests to serve (24)\n"
         "  --seed S           seed of requests and sampling (1)\n"
         "  --drafts N         tokens that the draft proposes at most, 0 to 8; 0 = no draft (4)\n"
         "  --micro-batch N    tokens of the engine's micro-batch, 1 to 64; below 64 batches are cut (64)\n"
         "  --all-outputs      ask for every token's logits, so that the engine prunes nothing from its last layer\n"
         "  --weights          capture routing weights too, and compare them\n"
         "  --inject FAULT     spoil a record before it is compared: neighbour-rows or same-token\n"
         "  --bench            measure what capturing costs, at batch 1 and 16\n"
         "  --batch N          of --bench: measure at this batch alone, 1 to 64\n"
         "  --wide             of --bench: a model with few layers of nearly real widths; a file of 430 MB\n"
         "  --rounds N         rounds of --bench, in each of which all arms take turns (40)\n"
         "  --steps N          decodes of a turn, of which the fastest counts (8)\n"
         "  --arm NAME         of --bench: decode in one way alone, for a profiler: off, asked, split or capture; needs --batch\n"
         "  --json             print one JSON object instead of the table\n"
         "  -h, --help         this text\n";
}

ModelShape target_shape(const Options& options) {
  ModelShape shape;
  shape.family = options.family;
  if (options.family == Family::kDeepSeek2) {
    // DeepSeek-V3's routing: 61 layers, the first 3 dense, 8 of 256 experts.
    shape.layers = 61;
    shape.dense_layers = 3;
    shape.num_experts = 256;
  }
  if (options.wide) {
    shape.family = Family::kQwen3Moe;
    shape.layers = 4;
    shape.dense_layers = 0;
    shape.num_experts = 128;
    shape.embedding = 1024;
    shape.expert_width = 256;
    shape.heads = 16;
    shape.head_size = 64;
    shape.vocabulary = 1024;
    shape.weights = GGML_TYPE_Q8_0;
  }
  return shape;
}

ModelShape draft_shape() {
  ModelShape shape;
  shape.layers = 5;
  shape.num_experts = 32;
  shape.seed = 2;
  return shape;
}

}  // namespace llama_demo
