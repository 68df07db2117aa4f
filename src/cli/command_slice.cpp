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
  std::string positions;
  std::int64_t tokens = -1;
  bool include_last = false;
  std::string layers;
};

ExitCode slice(const Options& options) {
  if (options.positions.empty() && options.tokens < 0 && options.layers.empty()) {
    refuse("slice: say what to keep, with --positions, --tokens or --keep-layers");
  }
  RecordHandle record = load_one(options.path, options.load).record;
  if (options.tokens >= 0) {
    const std::int32_t flags = options.include_last ? RCAP_READ_INCLUDE_LAST : 0;
    record =
        make_record([&](rcap_record** made, rcap_error* error) { return rcap_record_truncate(record.get(), options.tokens, flags, made, error); });
  }
  if (!options.positions.empty()) {
    const Range range = range_of(options.positions, "--positions", RecordView(record.get()).positions());
    record = make_record([&](rcap_record** made, rcap_error* error) { return rcap_record_slice(record.get(), range.begin, range.end, made, error); });
  }
  if (!options.layers.empty()) {
    const std::vector<std::int32_t> layers = layers_of(options.layers, "--keep-layers");
    record = make_record([&](rcap_record** made, rcap_error* error) {
      return rcap_record_to_compact(record.get(), layers.data(), static_cast<std::int64_t>(layers.size()), made, error);
    });
  }
  write_records({record.get()}, options.encode);
  return kDone;
}

}  // namespace

Action setup_slice(Parser& parser) {
  auto options = std::make_shared<Options>();
  add_input(parser, options->path);
  parser.add_value("--positions", &options->positions, "token positions [A, B) to keep; either may be left out", "A:B");
  parser.add_value("--tokens", &options->tokens, "keep the rows of a request cut to N tokens: those before position N - 1", "N",
                   whole_number(0, INT64_MAX));
  parser.add_flag("--include-last", &options->include_last, "with --tokens, keep the row of the last token too").needs = {"--tokens"};
  parser.add_value("--keep-layers", &options->layers, "layers to keep, ascending: 3,4,7-60", "LIST");
  add_encode_options(parser, options->encode);
  add_load_options(parser, options->load);
  parser.footer("First --tokens, then --positions, then --keep-layers.");
  return [options] { return slice(*options); };
}

}  // namespace routecap::cli
