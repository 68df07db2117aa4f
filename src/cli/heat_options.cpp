// SPDX-License-Identifier: Apache-2.0
#include "heat_options.h"

#include <filesystem>

#include "markup.h"
#include "options.h"
#include "output.h"

namespace routecap::cli {

void add_picture_options(Parser& parser, PictureOptions& options) {
  parser.add_choice("--as", &options.form, "form of the picture, where its name ends neither in .svg nor in .html", "FORM", {"svg", "html"});
  parser.add_choice("--scheme", &options.scheme, "colours; auto, as the reader's system is set, if not given", "SCHEME", {"auto", "light", "dark"});
  parser.add_value("--title", &options.title, "title of the picture", "TEXT");
  parser.add_value("--max", &options.largest, "value at the end of the colour scale, so that pictures can be compared; larger ones look the same",
                   "PERCENT", decimal_number(0, 100));
}

PictureForm picture_form(const PictureOptions& options) {
  std::string form = options.form;
  if (form.empty()) form = std::filesystem::path(options.output).extension().string();
  if (form == "svg" || form == ".svg") return PictureForm::kSvg;
  if (form == "html" || form == ".html") return PictureForm::kHtml;
  refuse("the name of the picture, ", options.output, ", ends neither in .svg nor in .html; choose with --as");
}

HeatOptions heat_options(const PictureOptions& options) {
  HeatOptions heat;
  heat.title = printable(options.title);
  if (options.largest > 0) heat.top = options.largest;
  return heat;
}

std::string name_of_input(const std::string& path) {
  if (path == "-") return "standard input";
  return std::filesystem::path(path).filename().string();
}

void write_picture(const HeatMap& map, PictureForm form, const PictureOptions& options) {
  const Scheme scheme = options.scheme == "light" ? Scheme::kLight : options.scheme == "dark" ? Scheme::kDark : Scheme::kAuto;
  write_output(options.output, form == PictureForm::kSvg ? svg_document(map, scheme) : html_document(map, scheme), false);
}

}  // namespace routecap::cli
