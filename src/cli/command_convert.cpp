// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <memory>

#include "commands.h"
#include "encode.h"
#include "load.h"
#include "options.h"
#include "print.h"
#include "record_view.h"

namespace routecap::cli {
namespace {

/// Of a full axis. No model has nearly as many.
constexpr std::int32_t kMostLayers = 65536;

struct Options {
  std::string path;
  LoadOptions load;
  EncodeOptions encode;
  std::int32_t full_axis = 0;
  std::int32_t full_axis_id = -1;
};

/// Refuses what this machine's memory cannot hold before any of it is asked for.
void check_size(const rcap_record* record, std::int32_t layers) {
  const RecordView view(record);
  const std::int64_t pages = sysconf(_SC_PHYS_PAGES);
  const std::int64_t memory = pages < 0 ? -1 : pages * sysconf(_SC_PAGESIZE);
  const std::int64_t id_bytes = view.num_experts() <= 256 ? 1 : view.num_experts() <= 65536 ? 2 : 4;
  // Layers are at most kMostLayers, K is an int32: no overflow.
  const std::int64_t row = layers * view.top_k() * id_bytes;
  if (memory < 0 || view.rows() <= memory / row) return;
  refuse("--full-axis: ", layers, " layers of ", view.rows(), " rows and ", view.top_k(), " experts of ", bytes_text(id_bytes),
         " are more than the memory of this machine, ", bytes_text(memory));
}

RecordHandle full_axis(const rcap_record* record, const Options& options) {
  check_size(record, options.full_axis);
  const std::int32_t fill = options.full_axis_id < 0 ? RCAP_FILL_MISSING : RCAP_FILL_VALUE;
  const std::int32_t id = options.full_axis_id < 0 ? 0 : options.full_axis_id;
  return make_record(
      [&](rcap_record** made, rcap_error* error) { return rcap_record_to_full_axis(record, options.full_axis, fill, id, made, error); });
}

ExitCode convert(const Options& options) {
  Contents contents = load_all(options.path, options.load);
  if (!contents.broken.empty()) refuse(contents.broken, contents.way_out);
  std::vector<const rcap_record*> records;
  for (Loaded& loaded : contents.records) {
    if (options.full_axis > 0) loaded.record = full_axis(loaded.record.get(), options);
    records.push_back(loaded.record.get());
  }
  write_records(records, options.encode);
  return kDone;
}

}  // namespace

Action setup_convert(Parser& parser) {
  auto options = std::make_shared<Options>();
  add_input(parser, options->path);
  parser.add_value("--full-axis", &options->full_axis, "add a column for every layer 0 .. N - 1 that was not captured; N up to 65536", "N",
                   whole_number(1, kMostLayers));
  parser
      .add_value("--full-axis-id", &options->full_axis_id, "id in the added columns, K times; missing if not given", "ID", whole_number(0, INT64_MAX))
      .needs = {"--full-axis"};
  add_encode_options(parser, options->encode);
  add_load_options(parser, options->load);
  parser.footer(
      "A missing row is refused where the form cannot say it, unless --missing chooses how to write it. What else a form cannot hold (weights, "
      "layer\n"
      "numbers, versions) is lost. Several records of an input are written as frames, one behind the other.");
  return [options] { return convert(*options); };
}

}  // namespace routecap::cli
