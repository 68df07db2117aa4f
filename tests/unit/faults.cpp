// SPDX-License-Identifier: Apache-2.0
// Allocations that fail, and exceptions of any kind, at every entry point: told by a status, nothing leaked, everything usable afterwards.
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/rig.h"
#include "unit/allocations.h"
#include "unit/fault_entries.h"

using namespace routecap_test;

namespace {

/// That the world goes on as if nothing had been asked.
void check_usable(World& world, bool sealed) {
  Rig& rig = *world.rig;
  world.output.reset();
  if (!sealed) {
    const std::int32_t status = rcap_capturer_seal(rig.get(), nullptr);  // unless that was the call
    CHECK((status == RCAP_STATUS_OK || status == RCAP_STATUS_INVALID_STATE));
  } else {
    rig.discard();
    rig.settle(world.pending);
    Error error;
    const std::int32_t status = Rig::try_accept(world.later, {.rows = {1}, .slots = {12}}, error);
    CHECK((status == RCAP_STATUS_OK || status == RCAP_STATUS_INVALID_STATE));
    rig.settle(world.later);
  }
  CHECK(rig.store({8, 9}, {30, 31}).rows_stored == 2);
  CHECK(rig.show({30, 31}) == "8 9");
}

}  // namespace

TEST_CASE("faults: the list of calls below names every exported function") {
  std::set<std::string> covered = {"rcap_version_string",   "rcap_abi_version",     "rcap_status_name",
                                   "rcap_get_api",          "rcap_backend_destroy", "rcap_wire_format_name",
                                   "rcap_capturer_destroy", "rcap_output_destroy",  "rcap_record_destroy"};  // return no status
  for (const Entry& entry : entries()) covered.insert(entry.function);
  std::ifstream symbols(ROUTECAP_SYMBOLS);
  REQUIRE(symbols.good());
  std::string symbol;
  int count = 0;
  while (symbols >> symbol) {
    symbol = symbol.substr(0, symbol.find('@'));  // without its version node
    if (symbol.rfind("rcap_", 0) != 0 || symbol.ends_with("_init")) continue;
    CAPTURE(symbol);
    CHECK(covered.count(symbol) == 1);
    ++count;
  }
  CHECK(count >= 45);
}

TEST_CASE("faults: the n-th allocation fails, for every n and through every entry point: OUT_OF_MEMORY, nothing leaked, usable afterwards") {
  for (const Entry& entry : entries()) {
    long n = 0;
    for (bool fired = true; fired; ++n) {
      REQUIRE(n < 1000);
      CAPTURE(entry.function);
      CAPTURE(n);
      const long before = live_allocations();
      {
        World world(entry.sealed);
        const rcap_capturer_stats stats = world.rig->stats();
        std::int32_t status = 0;
        {
          const FailOnly failing(n, Thrown::kBadAlloc);
          status = entry.call(world);
          fired = failing.fired();
        }
        CHECK_MESSAGE(name(status) == (fired ? "RCAP_STATUS_OUT_OF_MEMORY" : "RCAP_STATUS_OK"), world.error.text());
        if (fired) {
          CHECK(world.error.code() == RCAP_STATUS_OUT_OF_MEMORY);
          // What lacked memory, or at least which call.
          const std::string text = world.error.text();
          CHECK_MESSAGE((text.find("rcap_") == 0 || text.find(" bytes cannot be had") != std::string::npos), "text: " << text);
          CHECK(world.rig->stats().last_sequence == stats.last_sequence);
          CHECK(world.rig->stats().in_flight == stats.in_flight);
          CHECK(world.output == nullptr);
          CHECK(world.record == nullptr);
          CHECK(world.capturer == nullptr);
          world.backend.reset();
          CHECK_MESSAGE(name(entry.call(world)) == "RCAP_STATUS_OK", world.error.text());  // and now it works
        }
        check_usable(world, entry.sealed);
      }
      CHECK(live_allocations() == before);
    }
    // The hook does reach the library: what is made new is allocated.
    const std::set<std::string> makers = {"rcap_backend_open", "rcap_capturer_create", "rcap_capturer_seal", "rcap_capturer_read",
                                          "rcap_record_create"};
    if (makers.count(entry.function) == 1) CHECK(n > 1);
  }
}

TEST_CASE("faults: with no memory at all, every entry point answers, and destroying works") {
  for (const Entry& entry : entries()) {
    CAPTURE(entry.function);
    const long before = live_allocations();
    {
      World world(entry.sealed);
      {
        const FailFrom failing(0, Thrown::kBadAlloc);
        const std::int32_t status = entry.call(world);
        CHECK((status == RCAP_STATUS_OK) != failing.fired());
        world.output.reset();
        world.record.reset();
        world.capturer.reset();
        world.backend.reset();
        world.given.reset();
        world.other_layer.reset();
        if (world.pending) {
          world.later.reset();
          world.pending.reset();  // a drop: its row settles as missing
        }
      }
      if (entry.sealed && entry.function.find("release") == std::string::npos && entry.function != "rcap_output_finalize") {
        CHECK(world.rig->show({10, 11}) == "- 2");
      }
    }
    CHECK(live_allocations() == before);
  }
}

TEST_CASE("faults: exceptions of any other kind stop at every entry point: INTERNAL") {
  for (const Thrown thrown : {Thrown::kRuntimeError, Thrown::kInt}) {
    for (const Entry& entry : entries()) {
      long n = 0;
      for (bool fired = true; fired; ++n) {
        REQUIRE(n < 1000);
        CAPTURE(entry.function);
        CAPTURE(n);
        const long before = live_allocations();
        {
          World world(entry.sealed);
          std::int32_t status = 0;
          {
            const FailOnly failing(n, thrown);
            status = entry.call(world);
            fired = failing.fired();
          }
          CHECK(name(status) == (fired ? "RCAP_STATUS_INTERNAL" : "RCAP_STATUS_OK"));
          CHECK(world.error.text().empty() == !fired);
          CHECK(world.error.text().find('\n') == std::string::npos);
          check_usable(world, entry.sealed);
        }
        CHECK(live_allocations() == before);
      }
    }
  }
}

TEST_CASE("faults: a refusal needs no memory to say what it refuses, or says OUT_OF_MEMORY") {
  for (const Entry& entry : refused_entries()) {
    CAPTURE(entry.function);
    World world(true);
    std::int32_t status = 0;
    bool fired = false;
    {
      const FailFrom failing(0, Thrown::kBadAlloc);
      status = entry.call(world);
      fired = failing.fired();
    }
    CHECK(name(status) == (fired ? "RCAP_STATUS_OUT_OF_MEMORY" : "RCAP_STATUS_OUT_OF_RANGE"));
    CHECK_FALSE(world.error.text().empty());
    CHECK(name(entry.call(world)) == "RCAP_STATUS_OUT_OF_RANGE");
    check_usable(world, true);
  }
}

TEST_CASE("faults: address space that cannot be had is OUT_OF_MEMORY at the seal; plan has told how much it would be") {
  Setup setup;
  setup.config.num_slots = std::int64_t{1} << 40;  // a petabyte
  setup.config.top_k = 64;
  setup.config.weights_dtype = RCAP_DTYPE_FLOAT32;
  auto plan = make<rcap_capturer_plan>();
  REQUIRE(rcap_capturer_plan_get(&setup.config, setup.layer_ids.data(), 3, &plan, nullptr) == RCAP_STATUS_OK);
  CHECK(plan.store_bytes >= (std::int64_t{1} << 40) * 3 * 64 * 5);
  const long before = live_allocations();
  {
    // The store is mapped when the taps are known: at the seal.
    setup.seal = false;
    Rig rig(setup);
    Error error;
    CHECK(name(rcap_capturer_seal(rig.get(), error)) == "RCAP_STATUS_OUT_OF_MEMORY");
    CHECK_FALSE(error.text().empty());
    CHECK(name(rig.capture(0, {1})) == "RCAP_STATUS_INVALID_STATE");
    CHECK(name(rcap_capturer_seal(rig.get(), nullptr)) == "RCAP_STATUS_OUT_OF_MEMORY");
  }
  CHECK(live_allocations() == before);
}
