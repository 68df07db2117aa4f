// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "commands.h"
#include "encode.h"
#include "load.h"
#include "options.h"
#include "progress.h"
#include "record_view.h"

namespace routecap::cli {
namespace {

struct Options {
  std::vector<std::string> paths;
  LoadOptions load;
  EncodeOptions encode;
  std::string overlap = "refuse";
};

std::int32_t overlap_of(const std::string& name) {
  if (name == "keep-old") return RCAP_OVERLAP_KEEP_OLD;
  return name == "keep-new" ? RCAP_OVERLAP_KEEP_NEW : RCAP_OVERLAP_REFUSE;
}

ExitCode concat(const Options& options) {
  RecordHandle whole;
  Progress progress("joining", static_cast<std::int64_t>(options.paths.size()));
  for (const std::string& path : options.paths) {
    LoadOptions load = options.load;
    if (whole != nullptr) {
      // A form that does not say where its rows start holds those that follow.
      load.start_if_absent = RecordView(whole.get()).positions().end;
      load.start = -1;
    }
    Contents contents = load_all(path, load);
    if (!contents.broken.empty()) refuse(contents.broken);
    for (Loaded& loaded : contents.records) {
      if (whole == nullptr) {
        whole = std::move(loaded.record);
        continue;
      }
      try {
        whole = make_record([&](rcap_record** made, rcap_error* error) {
          return rcap_record_append(whole.get(), loaded.record.get(), overlap_of(options.overlap), made, error);
        });
      } catch (const LibraryFailure& failure) {
        throw LibraryFailure(failure.status(),
                             text_of(contents.name, loaded.piece.where.empty() ? "" : ", ", loaded.piece.where, ": ", failure.what()));
      }
    }
    progress.advance(1);
  }
  write_records({whole.get()}, options.encode);
  return kDone;
}

}  // namespace

Action setup_concat(Parser& parser) {
  auto options = std::make_shared<Options>();
  options->load.several_inputs = true;
  parser.add_value("FILE", &options->paths, "records whose rows follow each other, in order; all frames of a file are taken", "").required = true;
  parser.add_choice("--overlap", &options->overlap, "what stays where two hold the same position; refuse if not given", "WHICH",
                    {"refuse", "keep-old", "keep-new"});
  add_encode_options(parser, options->encode);
  add_load_options(parser, options->load);
  parser.footer(
      "Each record starts inside the rows before it or right behind them; a gap is refused. --start is that of the first FILE; where a later\n"
      "one does not say its own, its rows follow.");
  return [options] { return concat(*options); };
}

}  // namespace routecap::cli
