// SPDX-License-Identifier: Apache-2.0
// Null for every pointer argument of every exported function.
#include <doctest/doctest.h>

#include <set>
#include <string>
#include <tuple>

#include "calls.h"
#include "routecap/routecap_table.h"

using routecap::abi::calls;
using routecap::abi::Expect;
using routecap::abi::Scene;
using routecap::abi::Structs;

TEST_CASE("null: every exported function but the init functions is called, and each of its pointers is null once") {
  std::set<std::string> functions;
  for (const auto& call : calls()) {
    functions.insert(call.function);
  }
  CHECK_EQ(functions.size() + std::tuple_size_v<Structs> - 1, std::size_t{RCAP_API_FUNCTIONS});
}

TEST_CASE("null: the calls are valid when nothing is null") {
  for (const auto& call : calls()) {
    if (call.expectation == Expect::VALID) {
      CAPTURE(call.function);
      Scene scene(call.function);
      const auto result = call.make(scene);
      CAPTURE(std::string(scene.err.text));
      CHECK_GE(result, 0);
    }
  }
}

TEST_CASE("null: a pointer that must not be null is refused with INVALID_ARGUMENT and one line of text") {
  for (const auto& call : calls()) {
    if (call.expectation == Expect::REFUSED) {
      CAPTURE(call.function);
      CAPTURE(call.null_parameter);
      Scene scene(call.function);
      CHECK_EQ(call.make(scene), RCAP_STATUS_INVALID_ARGUMENT);
      const std::string text = scene.err.text;
      CAPTURE(text);
      CHECK_EQ(scene.err.code, RCAP_STATUS_INVALID_ARGUMENT);
      CHECK_FALSE(text.empty());
      CHECK_EQ(text.find('\n'), std::string::npos);
    }
  }
}

TEST_CASE("null: a pointer that may be null gives an answer that the function documents") {
  for (const auto& call : calls()) {
    if (call.expectation == Expect::ALLOWED) {
      CAPTURE(call.function);
      CAPTURE(call.null_parameter);
      Scene scene(call.function);
      const auto result = call.make(scene);
      CAPTURE(std::string(scene.err.text));
      const bool refused_for_the_scene = result == RCAP_STATUS_INVALID_ARGUMENT || result == RCAP_STATUS_OUT_OF_RANGE;
      CHECK((result >= 0 || refused_for_the_scene));
      if (call.null_parameter == "err" || call.null_parameter == "stream") {
        CHECK_GE(result, 0);
      }
    }
  }
}

TEST_CASE("null: destroying nothing does nothing") {
  int destroyed = 0;
  for (const auto& call : calls()) {
    if (call.expectation == Expect::NOTHING) {
      CAPTURE(call.function);
      Scene scene(call.function);
      CHECK_EQ(call.make(scene), 0);
      ++destroyed;
    }
  }
  CHECK_EQ(destroyed, 4);
}
