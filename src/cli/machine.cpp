// SPDX-License-Identifier: Apache-2.0
#include "machine.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string_view>
#include <vector>

namespace routecap::cli {
namespace {

namespace fs = std::filesystem;

/// A file's first line; empty where there is no such file.
std::string line_of(const fs::path& path) {
  std::string line;
  std::ifstream file(path);
  std::getline(file, line);
  return line;
}

/// -1 where the text does not begin with a number.
std::int64_t number_in(std::string_view text) {
  std::int64_t value = -1;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// `Name:   123 kB` of a file such as /proc/meminfo, as it stands there.
std::int64_t field_of(const fs::path& path, std::string_view name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != ':') continue;
    const std::size_t digits = line.find_first_of("0123456789");
    return digits == std::string::npos ? -1 : number_in(std::string_view(line).substr(digits));
  }
  return -1;
}

std::int64_t kilobytes(std::int64_t count) { return count < 0 ? -1 : count * 1024; }

/// Folders of this process's control groups, from its own up to the top one: each may set a limit. Version 2's one hierarchy, or one controller's of
/// version 1. A container usually sees its own group as the top one.
std::vector<fs::path> group_folders(const fs::path& root, std::string_view controller) {
  std::vector<fs::path> folders;
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    // `number:controllers:path`
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool is_unified = controllers == ",,";
    if (!is_unified && controllers.find("," + std::string(controller) + ",") == std::string::npos) continue;
    const fs::path mount = is_unified ? root / "sys/fs/cgroup" : root / "sys/fs/cgroup" / controller;
    for (fs::path path = fs::path(line.substr(second + 1)).relative_path();; path = path.parent_path()) {
      folders.push_back(path.empty() ? mount : mount / path);
      if (path.empty()) break;
    }
  }
  return folders;
}

std::optional<std::int64_t> memory_limit(const fs::path& root) {
  std::optional<std::int64_t> least;
  for (const fs::path& folder : group_folders(root, "memory")) {
    for (const char* name : {"memory.max", "memory.limit_in_bytes"}) {
      const std::int64_t limit = number_in(line_of(folder / name));
      // Version 1 says "no limit" with the largest multiple of a page.
      if (limit < 0 || limit > std::numeric_limits<std::int64_t>::max() / 2) continue;
      least = std::min(least.value_or(limit), limit);
    }
  }
  return least;
}

std::optional<double> processor_quota(const fs::path& root) {
  std::optional<double> least;
  const auto take = [&](std::int64_t quota, std::int64_t period) {
    if (quota <= 0 || period <= 0) return;
    const double share = static_cast<double>(quota) / static_cast<double>(period);
    least = std::min(least.value_or(share), share);
  };
  for (const fs::path& folder : group_folders(root, "cpu")) {
    std::istringstream line(line_of(folder / "cpu.max"));  // `max 100000` or `150000 100000`
    std::string quota;
    std::string period;
    if (line >> quota >> period) take(number_in(quota), number_in(period));
    take(number_in(line_of(folder / "cpu.cfs_quota_us")), number_in(line_of(folder / "cpu.cfs_period_us")));
  }
  return least;
}

std::int64_t processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  // More processors than the set has room for.
  return std::max<std::int64_t>(sysconf(_SC_NPROCESSORS_ONLN), 1);
}

/// `always [madvise] never`: what stands in brackets.
std::string chosen_word(const std::string& line) {
  const std::size_t open = line.find('[');
  const std::size_t close = line.find(']', open == std::string::npos ? 0 : open);
  return open == std::string::npos || close == std::string::npos ? "" : line.substr(open + 1, close - open - 1);
}

}  // namespace

Machine look_at_machine(const std::string& root) {
  const fs::path top = root.empty() ? "/" : root;
  const fs::path memory_facts = top / "proc/meminfo";
  Machine machine;
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) machine.locked_limit = static_cast<std::int64_t>(limit.rlim_cur);
  machine.processors = processors();
  machine.processor_quota = processor_quota(top);
  machine.memory = kilobytes(field_of(memory_facts, "MemTotal"));
  machine.memory_available = kilobytes(field_of(memory_facts, "MemAvailable"));
  machine.memory_limit = memory_limit(top);
  machine.transparent_huge_pages = chosen_word(line_of(top / "sys/kernel/mm/transparent_hugepage/enabled"));
  machine.huge_pages = field_of(memory_facts, "HugePages_Total");
  machine.huge_pages_free = field_of(memory_facts, "HugePages_Free");
  machine.huge_page_bytes = kilobytes(field_of(memory_facts, "Hugepagesize"));
  machine.overcommit = number_in(line_of(top / "proc/sys/vm/overcommit_memory"));
  return machine;
}

}  // namespace routecap::cli
