// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/rig.h"

/// What every refused call must get: its status, one line of text with what was refused, the value and the limit, and nothing written.
namespace routecap_test {

/// What the text must name. Each entry is a list of alternatives in one string, separated by `|`.
using Words = std::vector<const char*>;

inline void check_text(const std::string& text, const Words& words) {
  CAPTURE(text);
  CHECK_FALSE(text.empty());
  CHECK(text.size() < sizeof rcap_error::text);
  CHECK(text.find('\n') == std::string::npos);
  for (const std::string entry : words) {
    bool found = false;
    for (std::size_t begin = 0; begin <= entry.size();) {
      const std::size_t end = std::min(entry.find('|', begin), entry.size());
      found = found || text.find(entry.substr(begin, end - begin)) != std::string::npos;
      begin = end + 1;
    }
    CAPTURE(entry);
    CHECK(found);
  }
}

struct Refusal {
  const char* what;
  std::int32_t status;
  Words words;
  std::function<std::int32_t(Rig&, rcap_error*)> call;
};

/// Makes each call on a capturer that holds rows 7 8 9 in slots 10 - 12 and has captured rows 1 2 3 of a forward that is not ended.
inline void check_refusals(const Setup& setup, const std::vector<Refusal>& refusals) {
  for (const Refusal& refusal : refusals) {
    CAPTURE(std::string(refusal.what));
    Rig rig(setup);
    rig.store({7, 8, 9}, {10, 11, 12});
    rig.capture_all({1, 2, 3});
    const rcap_capturer_stats before = rig.stats();
    Error error;
    const std::int32_t status = refusal.call(rig, error);
    CHECK(name(status) == name(refusal.status));
    CHECK(error.code() == status);
    CHECK(error.detail() == 0);
    check_text(error.text(), refusal.words);
    const rcap_capturer_stats after = rig.stats();
    CHECK(std::memcmp(&before, &after, sizeof before) == 0);
    CHECK(rig.show({10, 11, 12, 20}) == "7 8 9 -");
    // The captures are still there, once: the forward ends as if nothing had been asked.
    Forward forward{.tokens = 3, .slots = {11, 20, 21}};
    if (setup.config.tags != 0) forward.tags = {1, 2, 3};
    CHECK(rig.settle(rig.end(forward)).rows_stored == 3);
    CHECK(rig.show({10, 11, 12, 20, 21}) == "7 1 9 2 3");
    CHECK(rig.last_sequence() == 2);
    // The same call without an error to fill answers the same.
    CHECK(refusal.call(rig, nullptr) == refusal.status);
  }
}

}  // namespace routecap_test
