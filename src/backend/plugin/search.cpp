// SPDX-License-Identifier: Apache-2.0
#include "backend/plugin/search.h"

#include <dlfcn.h>
#include <routecap/routecap.h>

#include <algorithm>
#include <cstdlib>

#include "support/error.h"

namespace routecap {
namespace {

constexpr std::size_t kLongestName = 31;

/// A name becomes a part of a file's name, and of texts: it is kept plain.
bool is_name(std::string_view name) {
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-'; };
  return !name.empty() && name.size() <= kLongestName && std::all_of(name.begin(), name.end(), plain);
}

std::string own_folder() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&search_places), &info) == 0 || info.dli_fname == nullptr) return {};
  const std::string_view file = info.dli_fname;
  const std::size_t slash = file.rfind('/');
  // Loaded by a relative path, or a program that was started by its name: no folder that could be trusted.
  return file.empty() || file.front() != '/' || slash == std::string_view::npos ? std::string() : std::string(file.substr(0, slash));
}

class Places {
 public:
  explicit Places(std::string_view name) : file_("/libroutecap_backend_" + std::string(name) + ".so") {}

  void add_folder(std::string_view folder) {
    while (folder.size() > 1 && folder.back() == '/') folder.remove_suffix(1);
    if (folder.empty()) return;
    const bool absolute = folder.front() == '/';
    SearchPlace place{absolute ? std::string(folder) + file_ : std::string(folder), absolute ? "" : "is not an absolute path"};
    const auto same = [&](const SearchPlace& other) { return other.path == place.path; };
    if (std::none_of(places_.begin(), places_.end(), same)) places_.push_back(std::move(place));
  }

  std::vector<SearchPlace> take() { return std::move(places_); }

 private:
  std::string file_;
  std::vector<SearchPlace> places_;
};

}  // namespace

std::vector<SearchPlace> search_places(std::string_view name_or_path) {
  if (name_or_path.find('/') != std::string_view::npos) {
    if (name_or_path.front() != '/') {
      fail(RCAP_STATUS_INVALID_ARGUMENT, "name is \"%.*s\", a path must be absolute",
           static_cast<int>(std::min<std::size_t>(name_or_path.size(), 100)), name_or_path.data());
    }
    return {{std::string(name_or_path), ""}};
  }
  if (!is_name(name_or_path)) {
    fail(RCAP_STATUS_INVALID_ARGUMENT, "name is \"%.*s\", a backend's has 1 .. %zu of a-z, 0-9, _ and -",
         static_cast<int>(std::min<std::size_t>(name_or_path.size(), 100)), name_or_path.data(), kLongestName);
  }
  Places places(name_or_path);
  if (const char* named = ::secure_getenv("ROUTECAP_BACKEND_PATH"); named != nullptr) {
    std::string_view rest = named;
    while (!rest.empty()) {
      const std::size_t colon = std::min(rest.find(':'), rest.size());
      places.add_folder(rest.substr(0, colon));
      rest.remove_prefix(std::min(colon + 1, rest.size()));
    }
  }
  const std::string below = "/routecap/backends-" + std::to_string(RCAP_ABI_VERSION);
  if (const std::string own = own_folder(); !own.empty()) places.add_folder(own + below);
  places.add_folder(ROUTECAP_LIBRARY_FOLDER + below);
  return places.take();
}

}  // namespace routecap
