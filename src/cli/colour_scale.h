// SPDX-License-Identifier: Apache-2.0
//
// The colours of heat maps.
#pragma once

#include <string>
#include <vector>

namespace routecap::cli {

/// Which end of the scale lies next to the background.
enum class Ground { kLight, kDark };

/// Colours of a sequential scale as `#rrggbb`, from the lowest value, which stands out least from its ground, to the highest.
///
/// The scale is one curve through the OKLab space, from a deep blue by teal to a pale yellow, cut into steps of equal length: equal differences of
/// values look equally large. Lightness changes in one direction and blue-yellow carries the hue, so that it reads with any colour vision and in
/// grey.
[[nodiscard]] std::vector<std::string> colour_scale(Ground ground, int steps);

}  // namespace routecap::cli
