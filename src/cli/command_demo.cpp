// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>

#include "commands.h"
#include "engine.h"
#include "error.h"
#include "output.h"
#include "report.h"
#include "trace.h"

namespace routecap::cli {
namespace {

constexpr const char* kMeaning =
    "A small deterministic serving loop on the public API: data parallelism, chunked prefill, graph padding, speculative decoding,\n"
    "prefix cache, retraction and overlap, with routes from a hash function or from recordings. Every row that a finished request\n"
    "reads is compared with an oracle; a naive capturer, as engines first had it, runs beside it on the same schedule. Exit code 1\n"
    "if any row was wrong. The same program stands alone in capi/examples/reference_engine.";

struct Options {
  engine::Options engine;
  std::string finalize = "caller";
  std::string inject;
};

std::optional<engine::Trace> trace_of(const engine::Options& options) {
  if (options.trace.empty()) return std::nullopt;
  try {
    return engine::Trace::load(options.trace, options.weights);
  } catch (const std::runtime_error& error) {
    refuse(error.what());
  }
}

ExitCode demo(Options options) {
  engine::Options& chosen = options.engine;
  chosen.finalize = options.finalize == "thread" ? engine::FinalizeMode::kThread : engine::FinalizeMode::kCaller;
  chosen.inject_wrong_row = options.inject == "wrong-row";
  const std::optional<engine::Trace> trace = trace_of(chosen);
  engine::Engine loop(chosen, trace ? &*trace : nullptr);
  engine::Outcome outcome;
  {
    engine::ProgressBar bar(chosen.requests, !chosen.quiet);
    outcome = loop.run([&](std::int64_t done) { bar.show(done); });
  }
  if (chosen.json) {
    write_output("-", engine::json(outcome), false);
  } else if (!chosen.quiet) {
    write_output("-", engine::table(outcome, loop, chosen), false);
  }
  if (!chosen.record.empty()) {
    if (outcome.record.request < 0) refuse("--record: no request's record was read; serve more --requests");
    write_output(chosen.record, {outcome.record.frame.data(), outcome.record.frame.size()}, true);
  }
  if (outcome.rows.rows_wrong == 0) return kDone;
  if (chosen.json || chosen.quiet) tell(outcome.rows.first_wrong);
  return kFindings;
}

}  // namespace

Action setup_demo(CLI::App& parser) {
  auto options = std::make_shared<Options>();
  engine::Options& chosen = options->engine;
  // The same names and ranges as the program that stands alone; a test compares them.
  parser.add_option("--requests", chosen.requests, "requests to serve (default 160)")->type_name("N")->check(CLI::Range(1, 100000));
  parser.add_option("--seed", chosen.seed, "seed of the schedule (default 1)")->type_name("S")->check(CLI::NonNegativeNumber);
  parser.add_option("--dp", chosen.dp, "data-parallel ranks, 1 to 16 (default 4)")->type_name("N")->check(CLI::Range(1, 16));
  parser.add_option("--depth", chosen.depth, "forwards of a rank that may be unsettled at once, 1 to 64 (default 3)")
      ->type_name("N")
      ->check(CLI::Range(1, 64));
  parser.add_option("--finalize", options->finalize, "caller: the loop finalizes (default); thread: the capturer's own thread does")
      ->type_name("MODE")
      ->check(CLI::IsMember({"caller", "thread"}));
  parser.add_option("--trace", chosen.trace, "routes of generated tokens come from recorded requests: ids_u8.npy and index.json")->type_name("FOLDER");
  parser.add_option("--record", chosen.record, "write the record of the request with the most captured rows, as a frame")->type_name("FILE");
  parser.add_flag("--weights", chosen.weights, "keep routing weights (bfloat16) beside the ids and check them too");
  parser.add_flag("--json", chosen.json, "one JSON object instead of the table");
  parser.add_flag("-q,--quiet", chosen.quiet, "no table and no progress bar");
  parser.add_option("--inject", options->inject, "wrong-row: spoil the first record, which the check must notice")
      ->check(CLI::IsMember({"wrong-row"}))
      ->group("");
  // As in the program that stands alone, of an option given twice the later one counts.
  for (CLI::Option* option : parser.get_options()) {
    if (option->get_items_expected_max() > 0) option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
  parser.footer(kMeaning);
  return [options] { return demo(*options); };
}

}  // namespace routecap::cli
