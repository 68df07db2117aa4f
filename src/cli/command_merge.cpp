// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "commands.h"
#include "encode.h"
#include "load.h"
#include "options.h"

namespace routecap::cli {
namespace {

struct Options {
  std::string prefill;
  std::string decode;
  LoadOptions load;
  EncodeOptions encode;
  std::int64_t boundary = 0;
};

ExitCode merge(const Options& options) {
  const Loaded prefill = load_one(options.prefill, options.load);
  const Loaded decode = load_one(options.decode, options.load);
  const RecordHandle whole = make_record([&](rcap_record** made, rcap_error* error) {
    return rcap_record_merge(prefill.record.get(), decode.record.get(), options.boundary, made, error);
  });
  write_records({whole.get()}, options.encode);
  return kDone;
}

}  // namespace

Action setup_merge(Parser& parser) {
  auto options = std::make_shared<Options>();
  options->load.several_inputs = true;
  add_input(parser, options->prefill, "PREFILL");
  add_input(parser, options->decode, "DECODE");
  parser
      .add_value("--boundary", &options->boundary, "first position that is the decode side's, usually the number of prompt tokens", "P",
                 whole_number(0, INT64_MAX))
      .required = true;
  add_encode_options(parser, options->encode);
  add_load_options(parser, options->load);
  parser.footer("Rows before the boundary come from PREFILL, the others from DECODE, whose rows before it are not looked at.");
  return [options] { return merge(*options); };
}

}  // namespace routecap::cli
