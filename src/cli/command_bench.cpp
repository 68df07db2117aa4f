// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>

#include "bench_rig.h"
#include "commands.h"
#include "markup.h"
#include "options.h"
#include "print.h"
#include "progress.h"

namespace routecap::cli {
namespace {

constexpr const char* kMeaning =
    "Each stage is measured beside a memcpy, on one thread, of the int32 ids that the routers of one\n"
    "forward give, in turn and in the same run: times depend on the machine and its load, the ratio less\n"
    "so. Times are medians. All stages use the same slots again and again.\n"
    "  capture       every layer's tap narrows its ids into the device cache\n"
    "  end_forward   the forward's rows are staged in one block\n"
    "  finalize      staged rows go to their slots, which are in random order\n"
    "  read_into     a request's rows by its slots, into memory of the caller\n"
    "  slots_base64  the same, as base64 of the narrow ids in one pass (form sglang)\n"
    "  frame_encode  a record to the library's own frame, with checksums\n"
    "  frame_decode  and back, with every check\n"
    "The shape is DeepSeek-V3's where nothing else is asked for.";

constexpr int kCallsInTurn = 5;  ///< of one kind, so that each finds the caches as the one before it left them
constexpr int kFewestRounds = 2;

using Clock = std::chrono::steady_clock;

struct Options {
  BenchShape shape;
  double seconds = 4;
  PrintOptions print;
};

struct Stage {
  const char* name;
  void (*prepare)(BenchRig&);
  void (*run)(BenchRig&);
};

void nothing(BenchRig& /*rig*/) {}

constexpr std::array kStages{
    Stage{"capture", [](BenchRig& rig) { rig.discard(); }, [](BenchRig& rig) { rig.capture(); }},
    Stage{"end_forward",
          [](BenchRig& rig) {
            rig.drop_output();
            rig.discard();
            rig.capture();
          },
          [](BenchRig& rig) { rig.end_forward(); }},
    Stage{"finalize",
          [](BenchRig& rig) {
            rig.drop_output();
            rig.discard();
            rig.capture();
            rig.end_forward();
            rig.copy_to_host();
          },
          [](BenchRig& rig) { rig.finalize(); }},
    Stage{"read_into", nothing, [](BenchRig& rig) { rig.read_into(); }},
    Stage{"slots_base64", nothing, [](BenchRig& rig) { rig.encode_slots_base64(); }},
    Stage{"frame_encode", nothing, [](BenchRig& rig) { rig.encode_frame(); }},
    Stage{"frame_decode", nothing, [](BenchRig& rig) { rig.decode_frame(); }},
};

struct Result {
  const char* stage;
  std::int64_t calls;
  double stage_us;
  double memcpy_us;
  [[nodiscard]] double ratio() const { return stage_us / memcpy_us; }
};

double microseconds_since(Clock::time_point start) { return std::chrono::duration<double, std::micro>(Clock::now() - start).count(); }

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The memory that is copied beside each stage.
class Copies {
 public:
  explicit Copies(std::int64_t bytes) : from_(static_cast<std::size_t>(bytes), 1), to_(from_.size(), 2) {}

  double microseconds() {
    const auto start = Clock::now();
    std::memcpy(to_.data(), from_.data(), from_.size());
    const double time = microseconds_since(start);
    // A copy that nobody looks at need not be made.
    seen_ = to_[static_cast<std::size_t>(++calls_) % to_.size()];
    return time;
  }

 private:
  std::vector<char> from_;
  std::vector<char> to_;
  std::int64_t calls_ = 0;
  volatile char seen_ = 0;
};

Result measure(const Stage& stage, BenchRig& rig, Copies& copies, double seconds) {
  std::vector<double> stages;
  std::vector<double> memcpys;
  stage.prepare(rig);
  stage.run(rig);
  const auto began = Clock::now();
  for (int round = 0; round < kFewestRounds || microseconds_since(began) < seconds * 1e6; ++round) {
    for (int call = 0; call < kCallsInTurn; ++call) memcpys.push_back(copies.microseconds());
    for (int call = 0; call < kCallsInTurn; ++call) {
      stage.prepare(rig);
      const auto start = Clock::now();
      stage.run(rig);
      stages.push_back(microseconds_since(start));
    }
  }
  return {stage.name, static_cast<std::int64_t>(stages.size()), median(std::move(stages)), median(std::move(memcpys))};
}

std::string threads_text(std::int32_t threads) { return threads == 1 ? "one thread" : text_of(threads, " threads"); }

std::string text_of_results(const std::vector<Result>& results, const Options& options, const BenchRig& rig) {
  const BenchShape& shape = options.shape;
  auto info = make(rcap_build_info_init);
  require([&](rcap_error* error) { return rcap_build_info_get(&info, error); });
  std::string out = text_of("routecap ", rcap_version_string(), ", ", info.simd, " row loops, ", threads_text(rig.backend().threads), ", backend ",
                            rig.backend().name, " (", rig.backend().description, ")\n", shape.layers, " layers, top ", shape.top_k, " of ",
                            shape.experts, " experts, ", shape.tokens, " tokens a forward, ", shape.slots,
                            " slots; int32 ids of a forward: ", bytes_text(rig.input_bytes()), "\n\n");
  Table table({"stage", "us", "us of memcpy", "ratio", "ns a token", "calls"});
  for (const Result& result : results) {
    table.add({result.stage, fixed_text(result.stage_us, 1), fixed_text(result.memcpy_us, 1), fixed_text(result.ratio(), 3),
               fixed_text(1000 * result.stage_us / static_cast<double>(shape.tokens), 1), std::to_string(result.calls)});
  }
  return out + table.text();
}

Json json_of_results(const std::vector<Result>& results, const Options& options, const BenchRig& rig) {
  const BenchShape& shape = options.shape;
  auto info = make(rcap_build_info_init);
  require([&](rcap_error* error) { return rcap_build_info_get(&info, error); });
  Json json{{"version", rcap_version_string()},
            {"simd", info.simd},
            {"layers", shape.layers},
            {"experts", shape.experts},
            {"top_k", shape.top_k},
            {"tokens", shape.tokens},
            {"slots", shape.slots},
            {"input_bytes", rig.input_bytes()},
            {"backend", rig.backend().name},
            {"threads", rig.backend().threads}};
  json["stages"] = Json::array();
  for (const Result& result : results) {
    json["stages"].push_back({{"stage", result.stage},
                              {"calls", result.calls},
                              {"stage_us", result.stage_us},
                              {"memcpy_us", result.memcpy_us},
                              {"ratio", result.ratio()}});
  }
  return json;
}

ExitCode measure_stages(const Options& options) {
  BenchRig rig(options.shape);
  Copies copies(rig.input_bytes());
  std::vector<Result> results;
  {
    Progress progress("measuring", static_cast<std::int64_t>(kStages.size()));
    for (const Stage& stage : kStages) {
      results.push_back(measure(stage, rig, copies, options.seconds / static_cast<double>(kStages.size())));
      progress.advance(1);
    }
  }
  // Numbers of stages that do something else would be worth nothing.
  if (!rig.is_right()) throw Failure(kInternalError, "the rows that came out of the last stage are not those that went into the first");
  if (options.print.json) {
    print_json(options.print, json_of_results(results, options, rig));
  } else {
    print_text(options.print, text_of_results(results, options, rig));
  }
  return kDone;
}

ExitCode bench(const Options& options) {
  try {
    return measure_stages(options);
  } catch (const std::bad_alloc&) {
    const BenchShape& shape = options.shape;
    throw Failure(kInputOutput, text_of("out of memory: --tokens ", shape.tokens, " of --layers ", shape.layers, " and --top-k ", shape.top_k,
                                        " need ", bytes_text(std::int64_t{shape.layers} * shape.top_k * 4 * shape.tokens),
                                        " for the int32 ids alone, and as much again for the copy beside them"));
  }
}

}  // namespace

Action setup_bench(Parser& parser) {
  auto options = std::make_shared<Options>();
  BenchShape& shape = options->shape;
  parser.add_value("--layers", &shape.layers, "captured layers; 58 if not given", "N", whole_number(1, 4096));
  parser.add_value("--experts", &shape.experts, "experts E of a layer; 256 if not given", "E", whole_number(1, 1 << 20));
  parser.add_value("--top-k", &shape.top_k, "experts chosen per token and layer; 8 if not given", "K", whole_number(1, 4096));
  parser.add_value("--tokens", &shape.tokens, "tokens of a forward, and of the request that is read; 8192 if not given", "N",
                   whole_number(1, std::int64_t{1} << 30));
  parser.add_value("--slots", &shape.slots, "KV slots of the store; 65536 if not given", "N", whole_number(1, std::int64_t{1} << 32));
  parser.add_value("--backend", &shape.backend, "backend whose memory is the host's, by name or path; host if not given", "NAME");
  parser.add_value("--threads", &shape.threads, "threads that the backend may use; its default if not given", "N", whole_number(1, 1 << 16));
  parser.add_value("--seconds", &options->seconds, "how long to measure, about, all stages together; 4 if not given", "S", decimal_number(0, 3600));
  add_print_options(parser, options->print);
  parser.footer(kMeaning);
  return [options] { return bench(*options); };
}

}  // namespace routecap::cli
