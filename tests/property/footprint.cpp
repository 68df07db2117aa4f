// SPDX-License-Identifier: Apache-2.0
#include "property/footprint.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace routecap_test::property {
namespace {

constexpr double kWarm = 0.2;
constexpr double kHalf = 0.6;

std::int64_t entries(const char* folder) { return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator{}); }

std::int64_t resident() {
  std::ifstream file("/proc/self/statm");
  std::int64_t all = 0;
  std::int64_t pages = 0;
  if (!(file >> all >> pages)) throw std::runtime_error("/proc/self/statm cannot be read");
  return pages * sysconf(_SC_PAGESIZE);
}

std::int64_t mapped() {
  std::ifstream file("/proc/self/maps");
  return std::count(std::istreambuf_iterator<char>(file), {}, '\n');
}

Footprint most(const Footprint& a, const Footprint& b) {
  return {std::max(a.heap_bytes, b.heap_bytes), std::max(a.resident_bytes, b.resident_bytes), std::max(a.mappings, b.mappings),
          std::max(a.files, b.files), std::max(a.threads, b.threads)};
}

}  // namespace

Footprint Footprint::now() {
  const struct mallinfo2 heap = mallinfo2();
  Footprint now;
  now.heap_bytes = static_cast<std::int64_t>(heap.uordblks + heap.hblkhd);
  now.resident_bytes = resident();
  now.mappings = mapped();
  now.files = entries("/proc/self/fd");
  now.threads = entries("/proc/self/task");
  return now;
}

std::string Footprint::text() const {
  return "heap " + std::to_string(heap_bytes / 1024) + " KiB, resident " + std::to_string(resident_bytes / 1024) + " KiB, " +
         std::to_string(mappings) + " mappings, " + std::to_string(files) + " files, " + std::to_string(threads) + " threads";
}

void Growth::add(double elapsed, const Footprint& footprint) {
  if (elapsed < kWarm) return;
  const bool late = elapsed >= kHalf;
  Footprint& part = late ? second_ : first_;
  part = most(part, footprint);
  ++samples_[late ? 1 : 0];
}

std::optional<std::string> Growth::found() const {
  if (samples_[0] == 0 || samples_[1] == 0) return "too short a run to tell whether anything grew";
  std::string grown;
  const auto compare = [&](const char* what, std::int64_t before, std::int64_t after, std::int64_t slack) {
    if (after <= before + slack) return;
    grown += (grown.empty() ? "" : "; ") + std::string(what) + " grew from " + std::to_string(before) + " to " + std::to_string(after) +
             ", more than " + std::to_string(slack);
  };
  compare("the heap", first_.heap_bytes, second_.heap_bytes, slack_.heap_bytes);
  compare("resident memory", first_.resident_bytes, second_.resident_bytes, slack_.resident_bytes);
  compare("the number of mappings", first_.mappings, second_.mappings, slack_.mappings);
  compare("the number of open files", first_.files, second_.files, 0);
  compare("the number of threads", first_.threads, second_.threads, 0);
  if (grown.empty()) return std::nullopt;
  return grown;
}

}  // namespace routecap_test::property
