// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "commands.h"
#include "encode.h"
#include "load.h"
#include "options.h"

namespace routecap::cli {
namespace {

struct Options {
  std::vector<std::string> paths;
  LoadOptions load;
  EncodeOptions encode;
};

ExitCode stack(const Options& options) {
  RecordHandle whole = load_one(options.paths.front(), options.load).record;
  for (std::size_t i = 1; i < options.paths.size(); ++i) {
    const Loaded next = load_one(options.paths[i], options.load);
    try {
      whole = make_record([&](rcap_record** made, rcap_error* error) { return rcap_record_stack(whole.get(), next.record.get(), made, error); });
    } catch (const LibraryFailure& failure) {
      throw LibraryFailure(failure.status(), text_of(options.paths[i], ": ", failure.what()));
    }
  }
  write_records({whole.get()}, options.encode);
  return kDone;
}

}  // namespace

Action setup_stack(Parser& parser) {
  auto options = std::make_shared<Options>();
  options->load.several_inputs = true;
  Option& files = parser.add_value("FILE", &options->paths, "records of the same tokens, each with the layers of one pipeline stage", "");
  files.required = true;
  files.least_values = 2;
  add_encode_options(parser, options->encode);
  add_load_options(parser, options->load);
  parser.footer("A layer that two have is refused, and so are other positions.");
  return [options] { return stack(*options); };
}

}  // namespace routecap::cli
