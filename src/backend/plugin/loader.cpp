// SPDX-License-Identifier: Apache-2.0
#include "backend/plugin/loader.h"

#include <dlfcn.h>

#include <algorithm>
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <vector>

#include "backend/plugin/elf_file.h"
#include "backend/plugin/host.h"
#include "backend/plugin/search.h"
#include "support/error.h"

namespace routecap {
namespace {

/// The dynamic linker's text without the path in front of it, which the caller says.
std::string linker_text(const std::string& path) {
  const char* text = ::dlerror();
  if (text == nullptr) return "unknown reason";
  const bool begins = std::strncmp(text, path.c_str(), path.size()) == 0 && std::strncmp(text + path.size(), ": ", 2) == 0;
  return begins ? text + path.size() + 2 : text;
}

/// Says which interface a file speaks that does not speak ours.
[[noreturn]] void refuse_without_entry(void* library) {
  constexpr int kHighest = 99;
  for (int number = 1; number <= kHighest; ++number) {
    char name[sizeof RCAP_PLUGIN_ENTRY_NAME + 2];
    std::snprintf(name, sizeof name, "routecap_backend_entry_%d", number);
    if (::dlsym(library, name) == nullptr) continue;
    fail(RCAP_STATUS_VERSION_MISMATCH, "is a plugin of interface %d, this library (%s) speaks %d", number, RCAP_VERSION_STRING,
         RCAP_PLUGIN_INTERFACE);
  }
  fail(RCAP_STATUS_INVALID_ARGUMENT, "is no plugin: it has no %s", RCAP_PLUGIN_ENTRY_NAME);
}

/// What of the plugin's table both sides know. A function that the plugin must have and lacks is told by name.
rcap_plugin_table known_table(const rcap_plugin_table& given) {
  if (given.struct_size < static_cast<std::int64_t>(offsetof(rcap_plugin_table, lost))) {
    fail(RCAP_STATUS_VERSION_MISMATCH, "its table has %" PRId64 " bytes, at least %zu are needed", given.struct_size,
         offsetof(rcap_plugin_table, lost));
  }
  rcap_plugin_table table{};
  std::memcpy(&table, &given, std::min(sizeof table, static_cast<std::size_t>(given.struct_size)));
  const struct {
    const char* name;
    bool there;
  } needed[] = {{"name", table.name != nullptr},
                {"probe", table.probe != nullptr},
                {"open", table.open != nullptr},
                {"close", table.close != nullptr},
                {"describe", table.describe != nullptr},
                {"allocate", table.allocate != nullptr},
                {"release", table.release != nullptr},
                {"upload", table.upload != nullptr},
                {"event_create", table.event_create != nullptr},
                {"event_destroy", table.event_destroy != nullptr},
                {"event_record", table.event_record != nullptr},
                {"event_query", table.event_query != nullptr},
                {"event_wait", table.event_wait != nullptr},
                {"capture", table.capture != nullptr},
                {"snapshot", table.snapshot != nullptr},
                {"clear", table.clear != nullptr},
                {"widen", table.widen != nullptr},
                {"copy_to_host", table.copy_to_host != nullptr}};
  for (const auto& entry : needed) {
    if (!entry.there) fail(RCAP_STATUS_VERSION_MISMATCH, "its table lacks %s", entry.name);
  }
  // Fields of a job that the plugin was not compiled with would not be obeyed: every field of this version is needed.
  if (table.cache_size < static_cast<std::int64_t>(sizeof(rcap_plugin_cache)) ||
      table.capture_size < static_cast<std::int64_t>(sizeof(rcap_plugin_capture)) ||
      table.snapshot_size < static_cast<std::int64_t>(sizeof(rcap_plugin_snapshot))) {
    fail(RCAP_STATUS_VERSION_MISMATCH, "its jobs have %" PRId64 ", %" PRId64 " and %" PRId64 " bytes, at least %zu, %zu and %zu are needed",
         table.cache_size, table.capture_size, table.snapshot_size, sizeof(rcap_plugin_cache), sizeof(rcap_plugin_capture),
         sizeof(rcap_plugin_snapshot));
  }
  return table;
}

/// Throws with the reason alone.
Plugin load(const std::string& path) {
  check_elf_file(path);
  // Never closed: threads, and thread-local destructors of a plugin's runtime may outlive any handle of ours.
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) fail(RCAP_STATUS_INVALID_STATE, "%s", linker_text(path).c_str());
  void* symbol = ::dlsym(library, RCAP_PLUGIN_ENTRY_NAME);
  if (symbol == nullptr) refuse_without_entry(library);
  const auto entry = reinterpret_cast<rcap_plugin_entry>(symbol);
  rcap_plugin_error error;
  const rcap_plugin_table* table = entry(&plugin_host(), &error);
  if (table == nullptr) fail(RCAP_STATUS_VERSION_MISMATCH, "refuses this library (%s): %s", RCAP_VERSION_STRING, error.text);
  return {path, known_table(*table)};
}

struct Attempt {
  std::string path;
  Status status = RCAP_STATUS_OK;
  std::string why;
};

/// Loads the first place that will do; what came of those before is added to `attempts`.
std::optional<Plugin> first_of(const std::vector<SearchPlace>& places, std::vector<Attempt>& attempts) {
  for (const SearchPlace& place : places) {
    if (!place.refused.empty()) {
      attempts.push_back({place.path, RCAP_STATUS_NOT_FOUND, place.refused});
      continue;
    }
    try {
      return load(place.path);
    } catch (const Error& error) {
      attempts.push_back({place.path, error.status(), error.what()});
    }
  }
  return std::nullopt;
}

/// Every path and why not; of a longer path than that only the end.
std::string text_of(const std::vector<Attempt>& attempts, std::size_t path_bytes) {
  std::string text;
  for (const Attempt& attempt : attempts) {
    const bool cut = attempt.path.size() > path_bytes;
    text += text.empty() ? "" : "; ";
    text += cut ? "..." + attempt.path.substr(attempt.path.size() - path_bytes) : attempt.path;
    text += ": " + attempt.why;
  }
  return text;
}

}  // namespace

Plugin find_plugin(std::string_view name_or_path) {
  const std::vector<SearchPlace> places = search_places(name_or_path);
  std::vector<Attempt> attempts;
  if (auto plugin = first_of(places, attempts)) return *std::move(plugin);
  // A file that is there and will not do says more than those that are not.
  const auto is_there = [](const Attempt& attempt) { return attempt.status != RCAP_STATUS_NOT_FOUND; };
  std::stable_partition(attempts.begin(), attempts.end(), is_there);
  const std::string begin = name_or_path.front() == '/' ? "" : "backend \"" + std::string(name_or_path) + "\": ";
  std::string text;
  for (const std::size_t path_bytes : {SIZE_MAX, std::size_t{120}, std::size_t{60}, std::size_t{40}}) {
    text = begin + text_of(attempts, path_bytes);
    if (text.size() < Error::kTextBytes) break;
  }
  throw Error(attempts.front().status, text.c_str());
}

std::string search_report(std::string_view name_or_path) {
  std::string report;
  for (const SearchPlace& place : search_places(name_or_path)) {
    std::vector<Attempt> attempts;
    const bool loads = first_of({place}, attempts).has_value();
    report += place.path + ": " + (loads ? "loads" : attempts.front().why) + "\n";
  }
  return report;
}

}  // namespace routecap
