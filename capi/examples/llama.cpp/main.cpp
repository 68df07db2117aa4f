// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <exception>
#include <span>
#include <vector>

#include "bench.h"
#include "inject.h"
#include "options.h"
#include "reference.h"
#include "report.h"
#include "server.h"

namespace {

using namespace llama_demo;

constexpr int kWrongRows = 1;
constexpr int kBadOption = 2;
constexpr int kRefused = 3;

int complain(const char* why, int status) {
  std::fprintf(stderr, "routecap_llama_cpp: %s\n", why);
  return status;
}

int measure(const Options& options, const Library& library) {
  const ModelShape shape = target_shape(options);
  const ModelHandle model = library.load_model(write_model(library, shape, options.models));
  if (options.arm) {
    run_arm(library, shape, model.get(), {.batch = options.batch, .rounds = options.rounds, .steps = options.steps}, *options.arm);
    return 0;
  }
  const std::vector<std::int32_t> batches = options.batch > 0 ? std::vector{options.batch} : std::vector{1, 16};
  std::vector<BenchResult> results;
  results.reserve(batches.size());
  for (const std::int32_t batch : batches) {
    results.push_back(run_bench(library, shape, model.get(), {.batch = batch, .rounds = options.rounds, .steps = options.steps}));
  }
  const std::string engine = library.llama_version();
  std::fputs((options.json ? json(engine, shape, results) : table(engine, shape, results)).c_str(), stdout);
  return 0;
}

int serve(const Options& options, const Library& library) {
  const ModelShape target = target_shape(options);
  const ModelShape draft = draft_shape();
  const ModelHandle target_model = library.load_model(write_model(library, target, options.models));
  ModelHandle draft_model(nullptr, library.llama_model_free);
  Models models{.target_shape = &target, .target = target_model.get(), .draft_shape = nullptr, .draft = nullptr};
  if (options.server.max_drafts > 0) {
    draft_model = library.load_model(write_model(library, draft, options.models));
    models.draft_shape = &draft;
    models.draft = draft_model.get();
  }
  const std::vector<Request> requests =
      make_workload(options.requests, target.vocabulary, options.server.max_drafts, static_cast<std::uint64_t>(options.seed));

  Server server(library, models, options.server, requests);
  std::vector<Served> served = server.run();
  inject(options.inject, served);
  Reference reference(library, target, target_model.get(), longest(requests));
  for (const Served& one : served) reference.check(one);

  const rcap_capturer_stats stats = server.capture().stats();
  Outcome outcome;
  outcome.engine = library.llama_version();
  outcome.shape = target;
  outcome.has_draft = models.draft != nullptr;
  outcome.draft_can_be_allowed = server.capture().draft_can_be_allowed();
  outcome.draft_captures_suppressed = stats.suppressed;
  outcome.rows_stored = stats.rows_stored;
  outcome.server = server.totals();
  outcome.reference = reference.totals();
  std::fputs((options.json ? json(outcome) : table(outcome)).c_str(), stdout);
  if (outcome.is_right()) return 0;
  const std::string& why = outcome.reference.first_wrong;
  return complain(why.empty() ? "the totals are not what they must be" : why.c_str(), kWrongRows);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  try {
    options = parse_options(std::span(argv, static_cast<std::size_t>(argc)).subspan(argc > 0 ? 1 : 0));
  } catch (const std::exception& error) {
    return complain(error.what(), kBadOption);
  }
  if (options.help) {
    std::fputs(help_text(), stdout);
    return 0;
  }
  try {
    const Library library(options.library);
    return options.bench ? measure(options, library) : serve(options, library);
  } catch (const std::exception& error) {
    return complain(error.what(), kRefused);
  }
}
