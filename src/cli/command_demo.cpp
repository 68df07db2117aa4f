// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>

#include "commands.h"
#include "engine.h"
#include "error.h"
#include "options.h"
#include "output.h"
#include "progress.h"
#include "report.h"
#include "trace.h"

namespace routecap::cli {
namespace {

constexpr const char* kMeaning =
    "A small deterministic serving loop on the public API: data parallelism, chunked prefill, graph\n"
    "padding, speculative decoding, prefix cache, retraction and overlap, with routes from a hash\n"
    "function or from recordings. Every row that a finished request reads is compared with an oracle; a\n"
    "naive capturer, as engines first had it, runs beside it on the same schedule. Exit code: 1 if any\n"
    "row was wrong. The same program stands alone in capi/examples/reference_engine.";

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
  if (chosen.record == "-" && (chosen.json || !chosen.quiet)) {
    refuse("--record: the record and the ", chosen.json ? "JSON object" : "table", " would both go to standard output; send the record to a file",
           chosen.json ? "" : ", or leave the table out with -q");
  }
  // One that cannot be written is told before everything is served.
  std::optional<Output> record;
  if (!chosen.record.empty()) record.emplace(chosen.record);
  const std::optional<engine::Trace> trace = trace_of(chosen);
  engine::Engine loop(chosen, trace ? &*trace : nullptr);
  engine::Outcome outcome;
  {
    Progress progress("serving", chosen.quiet ? 0 : chosen.requests);
    std::int64_t shown = 0;
    outcome = loop.run([&](std::int64_t done) {
      progress.advance(done - shown);
      shown = done;
    });
  }
  if (chosen.json) {
    write_output("-", engine::json(outcome), false);
  } else if (!chosen.quiet) {
    write_output("-", engine::table(outcome, loop, chosen), false);
  }
  if (record) {
    if (outcome.record.request < 0) refuse("--record: no request's record was read; serve more --requests");
    write_output(*record, {outcome.record.frame.data(), outcome.record.frame.size()}, true);
  }
  if (outcome.rows.rows_wrong == 0) return kDone;
  if (chosen.json || chosen.quiet) tell(outcome.rows.first_wrong);
  return kFindings;
}

}  // namespace

Action setup_demo(Parser& parser) {
  auto options = std::make_shared<Options>();
  engine::Options& chosen = options->engine;
  // The same names and ranges as the program that stands alone; a test compares them.
  parser.add_value("--requests", &chosen.requests, "requests to serve; 160 if not given", "N", whole_number(1, 100000));
  parser.add_value("--seed", &chosen.seed, "seed of the schedule; 1 if not given", "S", whole_number(0, INT64_MAX));
  parser.add_value("--dp", &chosen.dp, "data-parallel ranks, 1 to 16; 4 if not given", "N", whole_number(1, 16));
  parser.add_value("--depth", &chosen.depth, "forwards of a rank that may be unsettled at once, 1 to 64; 3 if not given", "N", whole_number(1, 64));
  parser.add_choice("--finalize", &options->finalize, "who finalizes: the loop, if not given, or the capturer's own thread", "MODE",
                    {"caller", "thread"});
  parser.add_value("--trace", &chosen.trace, "routes of generated tokens come from recorded requests: ids_u8.npy and index.json", "FOLDER");
  parser.add_value("--record", &chosen.record, "write the record of the request with the most captured rows, as a frame; - with -q", "FILE");
  parser.add_flag("--weights", &chosen.weights, "keep routing weights (bfloat16) beside the ids and check them too");
  parser.add_flag("--json", &chosen.json, "one JSON object instead of the table");
  parser.add_flag("-q,--quiet", &chosen.quiet, "no table and no progress bar");
  parser.add_choice("--inject", &options->inject, "spoil the first record, which the check must notice", "FAULT", {"wrong-row"}).group.clear();
  // As in the program that stands alone, of an option given twice the later one counts.
  parser.let_later_count();
  parser.footer(kMeaning);
  return [options] { return demo(*options); };
}

}  // namespace routecap::cli
