// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <set>

#include "backend/rows/rows.h"
#include "rows/fixture.h"

namespace routecap::rows::testing {
namespace {

void put_id(const RowShape& shape, std::byte* payload, std::int64_t index, std::int64_t id) {
  if (shape.id_bytes == 1) store_as(payload + index, static_cast<std::uint8_t>(id));
  if (shape.id_bytes == 2) store_as(payload + index * 2, static_cast<std::uint16_t>(id));
  if (shape.id_bytes == 4) store_as(payload + index * 4, static_cast<std::int32_t>(id));
}

/// Fills a layer with K different ids.
std::vector<std::int64_t> fill_distinct(const RowShape& shape, std::byte* payload, std::int64_t layer, std::int64_t experts, Random& random) {
  std::set<std::int64_t> seen;
  std::vector<std::int64_t> ids;
  while (static_cast<std::int64_t>(ids.size()) < shape.top_k) {
    const std::int64_t id = random.between(0, experts - 1);
    if (!seen.insert(id).second) continue;
    put_id(shape, payload, layer * shape.top_k + static_cast<std::int64_t>(ids.size()), id);
    ids.push_back(id);
  }
  return ids;
}

}  // namespace

TEST_CASE("R25: an id twice in one layer is found, with the first such layer; the same id in two layers is fine") {
  Random random(21);
  for (const std::int32_t experts : {2, 22, 128, 256, 257, 384, 65536, 65537, 1 << 24}) {
    for (const std::int32_t top_k : {2, 3, 7, 8, 16, 22, 24, 25, 64, 200}) {
      if (top_k > experts) continue;
      CAPTURE(experts);
      CAPTURE(top_k);
      const RowShape shape = make_shape(4, top_k, id_bytes_for(experts), 0, false);
      std::vector<std::byte> payload(static_cast<std::size_t>(shape.payload_bytes), std::byte{0});
      std::vector<std::vector<std::int64_t>> ids;
      for (std::int64_t layer = 0; layer < 4; ++layer) ids.push_back(fill_distinct(shape, payload.data(), layer, experts, random));
      std::int32_t layer = -5;
      REQUIRE_FALSE(has_repeated_id(shape, payload.data(), &layer));
      REQUIRE(layer == -5);
      for (const std::int64_t at : {3, 1}) {
        const std::int64_t to = random.between(1, top_k - 1);
        put_id(shape, payload.data(), at * top_k + to, ids[static_cast<std::size_t>(at)][static_cast<std::size_t>(random.between(0, to - 1))]);
        REQUIRE(has_repeated_id(shape, payload.data(), &layer));
        REQUIRE(std::int64_t{layer} == at);
      }
    }
  }
}

TEST_CASE("R25: every pair of places is compared") {
  for (const std::int32_t id_bytes : {1, 2, 4}) {
    for (const std::int32_t top_k : {2, 8, 22, 30}) {
      const RowShape shape = make_shape(1, top_k, id_bytes, 0, false);
      for (std::int32_t a = 0; a < top_k; ++a) {
        for (std::int32_t b = a + 1; b < top_k; ++b) {
          std::vector<std::byte> payload(static_cast<std::size_t>(shape.payload_bytes), std::byte{0});
          for (std::int32_t k = 0; k < top_k; ++k) put_id(shape, payload.data(), k, k == b ? a : k);
          std::int32_t layer = -1;
          REQUIRE(has_repeated_id(shape, payload.data(), &layer));
          REQUIRE(layer == 0);
        }
      }
    }
  }
}

TEST_CASE("R25: ids that differ only above 16 bits are different") {
  const RowShape shape = make_shape(1, 40, 4, 0, false);
  std::vector<std::byte> payload(static_cast<std::size_t>(shape.payload_bytes), std::byte{0});
  for (std::int64_t k = 0; k < 40; ++k) put_id(shape, payload.data(), k, (k % 5) * 65536 + k / 5);
  std::int32_t layer = -1;
  CHECK_FALSE(has_repeated_id(shape, payload.data(), &layer));
  put_id(shape, payload.data(), 39, 4 * 65536 + 2);
  CHECK(has_repeated_id(shape, payload.data(), &layer));
}

TEST_CASE("R25: a PARTIAL layer that did not capture the row has no ids to compare") {
  const RowShape shape = make_shape(70, 8, 1, 0, true);
  std::vector<std::byte> payload(static_cast<std::size_t>(shape.payload_bytes), std::byte{0xFF});
  for (std::int64_t word = 0; word < shape.cell_words; ++word) store_as(payload.data() + shape.cells_offset + word * 8, std::uint64_t{0});
  std::int32_t layer = -1;
  CHECK_FALSE(has_repeated_id(shape, payload.data(), &layer));
  store_as(payload.data() + shape.cells_offset + 8, std::uint64_t{1} << 3);
  REQUIRE(has_repeated_id(shape, payload.data(), &layer));
  CHECK(layer == 67);
}

}  // namespace routecap::rows::testing
