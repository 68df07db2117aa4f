// SPDX-License-Identifier: Apache-2.0
//
// What the commands that draw have in common.
#pragma once

#include <string>

#include "heat_picture.h"

namespace routecap::cli {

class Parser;

enum class PictureForm { kSvg, kHtml };

struct PictureOptions {
  std::string output;
  std::string form;  ///< svg, html; empty: by the output's name
  std::string scheme = "auto";
  std::string title;   ///< empty: the command's own
  double largest = 0;  ///< end of the scale; 0: by the values
};

/// Declares how a picture is drawn: --as, --scheme, --title, --max.
void add_picture_options(Parser& parser, PictureOptions& options);

/// By --as or the output's name; refuses an output of which neither tells.
[[nodiscard]] PictureForm picture_form(const PictureOptions& options);

[[nodiscard]] HeatOptions heat_options(const PictureOptions& options);

/// The last part of a path, for a title; `standard input` for `-`.
[[nodiscard]] std::string name_of_input(const std::string& path);

void write_picture(const HeatMap& map, PictureForm form, const PictureOptions& options);

}  // namespace routecap::cli
