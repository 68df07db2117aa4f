// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <exception>
#include <optional>
#include <span>

#include "engine.h"
#include "options.h"
#include "report.h"
#include "trace.h"

namespace {

constexpr int kWrongRows = 1;
constexpr int kBadOption = 2;

int complain(const char* why, int status) {
  std::fprintf(stderr, "reference_engine: %s\n", why);
  return status;
}

int serve(const engine::Options& options, const engine::Trace* trace) {
  engine::Engine loop(options, trace);
  engine::Outcome outcome;
  {
    engine::ProgressBar bar(options.requests, !options.quiet);
    outcome = loop.run([&](std::int64_t done) { bar.show(done); });
  }
  if (options.json) {
    std::fputs(engine::json(outcome).c_str(), stdout);
  } else if (!options.quiet) {
    std::fputs(engine::table(outcome, loop, options).c_str(), stdout);
  }
  if (!options.record.empty()) {
    if (outcome.record.request < 0) return complain("--record: no request's record was read; serve more --requests", kBadOption);
    engine::write_record(options.record, outcome.record);
  }
  if (outcome.rows.rows_wrong == 0) return 0;
  // The table has said it already.
  return options.json || options.quiet ? complain(outcome.rows.first_wrong.c_str(), kWrongRows) : kWrongRows;
}

}  // namespace

int main(int argc, char** argv) {
  engine::Options options;
  std::optional<engine::Trace> trace;
  try {
    options = engine::parse_options(std::span(argv, static_cast<std::size_t>(argc)).subspan(argc > 0 ? 1 : 0));
    if (options.help) {
      std::fputs(engine::help_text(), stdout);
      return 0;
    }
    if (!options.trace.empty()) trace = engine::Trace::load(options.trace, options.weights);
  } catch (const std::exception& error) {
    return complain(error.what(), kBadOption);
  }
  try {
    return serve(options, trace ? &*trace : nullptr);
  } catch (const std::exception& error) {
    return complain(error.what(), kWrongRows);
  }
}
