// SPDX-License-Identifier: Apache-2.0
//
// write_script FILE: serves a small workload with the reference engine, whose own oracle checks every row, writes down the calls that it made of the
// library, and adds the hashes of the frames in every variant.
#include <routecap/routecap.h>

#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>

#include "engine.h"
#include "recorder.h"
#include "replayer.h"
#include "script.h"

namespace {

constexpr std::int64_t kExperts = 60;

/// Five MoE layers among dense ones, so that every dtype of ids has one; the last is PARTIAL, and the draft's layer number is a target's too.
engine::ModelShape small_model() {
  engine::ModelShape shape;
  shape.name = "small";
  shape.total_layers = 9;
  shape.moe_layers = {1, 2, 3, 5, 8};
  shape.num_experts = kExperts;
  shape.top_k = 3;
  shape.fused_shared_experts = 1;
  shape.draft_layer = 2;
  return shape;
}

/// So few slots, blocks and rows that a short run has swaps, evictions, BUSY and chunked prompts.
engine::EngineConfig small_engine(bool weights) {
  engine::EngineConfig config;
  config.dp_size = 2;
  config.attn_tp_size = 2;
  config.chunked_prefill_size = 12;
  config.max_running_requests = 3;
  config.num_verify_tokens = 3;
  config.graph_batch_sizes = {1, 2, 3};
  config.device_slots = 96;
  config.host_slots = 40;
  config.pipeline_depth = 2;
  config.weights = weights;
  return config;
}

replay::Run record(std::int64_t seed, bool weights, const replay::Variant& variant) {
  engine::Options options;
  options.requests = 10;
  options.seed = seed;
  options.dp = 2;
  options.depth = 2;
  options.weights = weights;
  options.record = "kept";  // one record is encoded as well
  engine::WorkloadLimits limits;
  limits.shortest_system_prompt = 3;
  limits.longest_system_prompt = 10;
  limits.shortest_prompt = 3;
  limits.longest_prompt = 18;
  limits.longest_answer = 12;
  limits.longest_conversation = 60;
  replay::begin_recording(variant.ids_dtypes);
  {
    engine::Engine loop(options, small_model(), small_engine(weights), limits);
    const engine::Outcome outcome = loop.run([](std::int64_t) {});
    if (outcome.rows.rows_wrong != 0) throw std::runtime_error(outcome.rows.first_wrong);
  }
  return replay::end_recording();
}

void write(const std::string& path) {
  replay::Script script;
  script.variants = {
      {kExperts, 1, {RCAP_DTYPE_INT32, RCAP_DTYPE_INT64, RCAP_DTYPE_INT16, RCAP_DTYPE_UINT16, RCAP_DTYPE_UINT8}},
      {kExperts * 500, 500, {RCAP_DTYPE_UINT16, RCAP_DTYPE_INT32, RCAP_DTYPE_INT64, RCAP_DTYPE_INT16, RCAP_DTYPE_INT32}},
      {kExperts * 1500, 1500, {RCAP_DTYPE_INT64, RCAP_DTYPE_INT32, RCAP_DTYPE_INT32, RCAP_DTYPE_INT64, RCAP_DTYPE_INT32}},
  };
  std::string text =
      "# SPDX-License-Identifier: Apache-2.0\n"
      "# The reference engine's calls and their answers. Written by write_script (target replay-update); README.md beside it tells how to read it.\n"
      "script version=1\n";
  for (const replay::Variant& variant : script.variants) {
    std::string names;
    for (const std::int32_t dtype : variant.ids_dtypes) names += (names.empty() ? "" : ",") + replay::dtype_name(dtype);
    text += replay::Line("variant").give("experts", variant.experts).give("factor", variant.factor).give("ids", names).written() + "\n";
  }
  for (const bool weights : {false, true}) {
    script.runs.assign(1, record(weights ? 2 : 1, weights, script.variants.front()));
    replay::Run& run = script.runs.front();
    const std::vector<replay::Line> written = run.lines;
    std::erase_if(run.lines, [](const replay::Line& line) { return line.verb() == "data"; });
    std::vector<std::vector<std::string>> crcs;
    for (std::size_t variant = 0; variant < script.variants.size(); ++variant) {
      replay::Replay replayed = replay::replay(script, run, variant);
      if (!replayed.faults.empty()) throw std::runtime_error("variant " + std::to_string(variant) + ": " + replayed.faults.front());
      crcs.push_back(std::move(replayed.crcs));
    }
    text += replay::Line("run").give("weights", weights ? "bfloat16" : "none").written() + "\n";
    std::size_t frame = 0;
    for (replay::Line line : written) {
      if ((line.verb() == "read" || line.verb() == "encode") && line.wanted("status") == "OK") {
        std::string all;
        for (const auto& of_variant : crcs) all += (all.empty() ? "" : ",") + of_variant.at(frame);
        line.want("frames", all);
        ++frame;
      }
      text += line.written() + "\n";
    }
  }
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw std::runtime_error(path + ": could not be written");
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: write_script FILE\n");
    return 2;
  }
  try {
    write(arguments[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "write_script: %s\n", error.what());
    return 1;
  }
  return 0;
}
