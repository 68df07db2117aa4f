// SPDX-License-Identifier: Apache-2.0
#include "support/mapping.h"

#include <doctest/doctest.h>
#include <routecap/routecap.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

namespace {

using routecap::Mapping;

/// Kilobytes of this process's address space for which huge pages were asked (`hg` in /proc/self/smaps); those of one address alone where it is
/// given.
std::int64_t asked_kilobytes(const void* address = nullptr) {
  std::ifstream file("/proc/self/smaps");
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  bool counts = true;
  std::int64_t size = 0;
  std::int64_t asked = 0;
  for (std::string line; std::getline(file, line);) {
    unsigned long long from = 0;
    unsigned long long to = 0;
    if (std::sscanf(line.c_str(), "%llx-%llx ", &from, &to) == 2) {
      counts = address == nullptr || (wanted >= from && wanted < to);
      size = static_cast<std::int64_t>((to - from) / 1024);
    } else if (counts && line.rfind("VmFlags:", 0) == 0) {
      std::istringstream flags(line);
      for (std::string flag; flags >> flag;) asked += flag == "hg" ? size : 0;
    }
  }
  return asked;
}

bool kernel_has_them() {
  const Mapping mapping = Mapping::of(4 << 20, "test");
  mapping.prefer_huge_pages();
  return asked_kilobytes(mapping.data()) > 0;
}

TEST_CASE("a mapping that prefers huge pages is zero and can be written like any other") {
  const Mapping mapping = Mapping::of(5 << 20, "test");
  mapping.prefer_huge_pages();
  CHECK(std::all_of(mapping.data(), mapping.data() + mapping.bytes(), [](std::byte byte) { return byte == std::byte{0}; }));
  mapping.data()[mapping.bytes() - 1] = std::byte{7};
  CHECK(mapping.data()[mapping.bytes() - 1] == std::byte{7});
  Mapping().prefer_huge_pages();  // of nothing
}

TEST_CASE("a large store asks for huge pages, a small one does not") {
  if (!kernel_has_them()) {
    MESSAGE("this kernel has no transparent huge pages");
    return;
  }
  const auto asked_by_store = [](std::int64_t slots) {
    rcap_capturer_config config;
    rcap_capturer_config_init(&config, sizeof config);
    config.num_experts = 256;
    config.top_k = 8;
    config.chunked_prefill_size = 8;
    config.num_slots = slots;
    const std::int32_t layer = 0;
    rcap_capturer* capturer = nullptr;
    const std::int64_t before = asked_kilobytes();
    REQUIRE(rcap_capturer_create(&config, &layer, 1, nullptr, &capturer, nullptr) == RCAP_STATUS_OK);
    rcap_model* model = nullptr;
    rcap_tap* tap = nullptr;
    REQUIRE(rcap_capturer_add_model(capturer, RCAP_ROLE_TARGET, "target", &model, nullptr) == RCAP_STATUS_OK);
    REQUIRE(rcap_model_add_tap(model, layer, nullptr, nullptr, 0, &tap, nullptr) == RCAP_STATUS_OK);
    REQUIRE(rcap_capturer_seal(capturer, nullptr) == RCAP_STATUS_OK);
    const std::int64_t asked = asked_kilobytes() - before;
    rcap_capturer_destroy(capturer);
    return asked;
  };
  CHECK(asked_by_store(1024) == 0);
  // 16 bytes a slot: 8 of ids and a stamp.
  CHECK(asked_by_store(1 << 20) == 16 << 10);
}

}  // namespace
