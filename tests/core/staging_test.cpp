// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <random>
#include <set>

#include "backend/backend.h"
#include "commit/slot_set.h"

namespace {

using routecap::SlotSet;

TEST_CASE("a set of slots knows what it holds, whatever it held before") {
  SlotSet set(100);
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    const auto count = static_cast<std::int64_t>(random() % 101);
    // Strides that fall on few places of a table must not matter.
    const std::int64_t stride = std::int64_t{1} << (random() % 33);
    set.clear(count);
    std::set<std::int64_t> model;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t number = static_cast<std::int64_t>(random() % 128) * stride;
      CHECK(set.insert(number) == model.insert(number).second);
    }
    for (std::int64_t i = 0; i < 128; ++i) CHECK(set.contains(i * stride) == (model.count(i * stride) == 1));
  }
}

TEST_CASE("a set of slots is empty after a clear, also when its epochs have come round") {
  SlotSet set(4);
  for (std::int64_t round = 0; round < (1 << 20) + 10; ++round) {
    set.clear(1);
    const std::int64_t number = round % 3;
    if (set.contains(number)) FAIL("round ", round, ": the number of an earlier set is still there");
    set.insert(number);
    if (!set.contains(number)) FAIL("round ", round, ": the number just put in is not there");
  }
}

TEST_CASE("the host backend has one memory: a staging block's host side is its device side, and a copy is over at once") {
  const auto host = routecap::open_host_backend();
  const routecap::Memory device = host->allocate(routecap::MemoryHome::kDevice, 4096, "staging block on the device");
  const routecap::Memory pinned = host->host_side(device, 4096, "staging block on the host");
  CHECK(pinned.get() == device.get());
  device.get()[17] = std::byte{42};
  routecap::Transfer transfer;
  host->copy_to_host({pinned.get(), device.get(), 4096}, nullptr, transfer);
  CHECK(host->complete(transfer));
  CHECK(pinned.get()[17] == std::byte{42});
}

}  // namespace
