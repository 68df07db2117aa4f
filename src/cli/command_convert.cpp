// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "commands.h"
#include "encode.h"
#include "load.h"
#include "options.h"
#include "record_view.h"

namespace routecap::cli {
namespace {

struct Options {
  std::string path;
  LoadOptions load;
  EncodeOptions encode;
  std::int32_t full_axis = 0;
  std::int32_t full_axis_id = -1;
};

RecordHandle full_axis(const rcap_record* record, const Options& options) {
  const std::int32_t fill = options.full_axis_id < 0 ? RCAP_FILL_MISSING : RCAP_FILL_VALUE;
  const std::int32_t id = options.full_axis_id < 0 ? 0 : options.full_axis_id;
  return make_record(
      [&](rcap_record** made, rcap_error* error) { return rcap_record_to_full_axis(record, options.full_axis, fill, id, made, error); });
}

ExitCode convert(const Options& options) {
  Contents contents = load_all(options.path, options.load);
  if (!contents.broken.empty()) refuse(contents.broken, "; --frame chooses one of the frames before it");
  std::vector<const rcap_record*> records;
  for (Loaded& loaded : contents.records) {
    if (options.full_axis > 0) loaded.record = full_axis(loaded.record.get(), options);
    records.push_back(loaded.record.get());
  }
  write_records(records, options.encode);
  return kDone;
}

}  // namespace

Action setup_convert(CLI::App& parser) {
  auto options = std::make_shared<Options>();
  add_input(parser, options->path);
  CLI::Option* axis = add_value(parser, "--full-axis", options->full_axis, "add a column for every layer 0 .. N - 1 that was not captured", "N",
                                whole_number(1, INT32_MAX));
  add_value(parser, "--full-axis-id", options->full_axis_id, "id in the added columns, K times; missing if not given", "ID",
            whole_number(0, INT64_MAX))
      ->needs(axis);
  add_encode_options(parser, options->encode);
  add_load_options(parser, options->load);
  parser.footer(
      "A missing row is refused where the form cannot say it, unless --missing chooses how to write it. What else a form cannot hold (weights, "
      "layer\n"
      "numbers, versions) is lost. Several records of an input are written as frames, one behind the other.");
  return [options] { return convert(*options); };
}

}  // namespace routecap::cli
