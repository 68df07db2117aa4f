// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "commands.h"
#include "heat_options.h"
#include "load.h"
#include "markup.h"
#include "options.h"
#include "progress.h"
#include "record_view.h"

namespace routecap::cli {
namespace {

constexpr const char* kMeaning =
    "Layers stand from top to bottom with their numbers in the model, experts from left to right. The\n"
    "colour is the share of the layer's captured tokens that chose the expert; the scale runs from 0 to\n"
    "the largest share, or to --max. A layer that was not captured is hatched, an expert that no token\n"
    "chose is grey. More than 512 experts are drawn in groups.\n"
    "\n"
    "The HTML page is one file that loads nothing: it shows a cell's numbers under the pointer, or with\n"
    "the arrow keys, and has a table of layers. Both forms follow the reader's choice of light or dark.";

struct Options {
  std::string path;
  LoadOptions load;
  PictureOptions picture;
};

ExitCode heatmap(const Options& options) {
  const PictureForm form = picture_form(options.picture);
  const Loaded loaded = load_one(options.path, options.load);
  const RecordView record(loaded.record.get());
  Progress progress("counting", record.columns());
  const std::vector<LayerStatistics> layers = load_statistics(record, {}, [&](std::int64_t done) { progress.advance(done); });
  HeatOptions heat = heat_options(options.picture);
  if (heat.title.empty()) heat.title = "Expert load: " + printable(name_of_input(options.path));
  write_picture(load_map(record, layers, heat), form, options.picture);
  return kDone;
}

}  // namespace

Action setup_heatmap(Parser& parser) {
  auto options = std::make_shared<Options>();
  add_input(parser, options->path);
  parser.add_value("-o,--output", &options->picture.output, "picture to write, whole or not at all: .svg or .html; - is standard output", "FILE")
      .required = true;
  add_picture_options(parser, options->picture);
  add_load_options(parser, options->load);
  parser.footer(kMeaning);
  return [options] { return heatmap(*options); };
}

}  // namespace routecap::cli
