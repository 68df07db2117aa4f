// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <routecap/backend.h>

#include <string>
#include <string_view>

namespace routecap {

/// A plugin that has been loaded; it stays in the process.
struct Plugin {
  std::string path;
  rcap_plugin_table table{};  ///< the functions that both sides know; null where the plugin lacks one
};

/// Finds a plugin by name or by absolute path and loads it.
///
/// A name is looked for as `libroutecap_backend_<name>.so` in the folders of ROUTECAP_BACKEND_PATH (not in a privileged process), in
/// routecap/backends-<abi>/ beside the library, and in that of the configured library folder; never in the current folder. The first that loads is
/// taken. Throws with every path tried and why: NOT_FOUND (no file), CORRUPT (no shared object), UNSUPPORTED (of another architecture),
/// INVALID_STATE (something that it needs is lacking), INVALID_ARGUMENT (no plugin: it has no entry), VERSION_MISMATCH (of another interface), or
/// what the plugin says; of several, that of the first file that is there.
Plugin find_plugin(std::string_view name_or_path);

/// What `find_plugin` would try, one path a line with what is there: "loads" or why not. Without the bound of an error's text.
std::string search_report(std::string_view name_or_path);

}  // namespace routecap
