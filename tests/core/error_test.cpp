// SPDX-License-Identifier: Apache-2.0
#include "support/error.h"

#include <doctest/doctest.h>

#include <string>

namespace {

std::string told(const std::string& text) { return routecap::Error(RCAP_STATUS_INTERNAL, text.c_str()).what(); }

TEST_CASE("an error's text is one line of UTF-8, whatever the caller's bytes") {
  CHECK(told("layer 3 is 7") == "layer 3 is 7");
  CHECK(told("a\nb\tc\x1B[0m\x7F") == "a?b?c?[0m?");
  CHECK(told("caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80") == "caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80");
  CHECK(told("\xFF\xC3 \xE2\x82") == "?? ??");
  // The cut at the end of the buffer leaves no half of a character.
  const std::string long_name = std::string(routecap::Error::kTextBytes - 2, 'x') + "\xC3\xA9";
  CHECK(told(long_name) == std::string(routecap::Error::kTextBytes - 2, 'x') + "?");
}

}  // namespace
