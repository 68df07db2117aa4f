// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace routecap {

/// A file that may be the plugin, or a folder that is passed over.
struct SearchPlace {
  std::string path;
  std::string refused;  ///< why it is not looked at; empty = it is
};

/// Where a plugin is looked for, in order, each place once. Throws INVALID_ARGUMENT for what is neither a name nor an absolute path.
std::vector<SearchPlace> search_places(std::string_view name_or_path);

}  // namespace routecap
