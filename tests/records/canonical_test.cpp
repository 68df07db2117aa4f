// SPDX-License-Identifier: Apache-2.0
// One content, one form: what a record was made of does not show in its bytes.
#include <doctest/doctest.h>

#include <cstring>
#include <optional>
#include <utility>

#include "record/record.h"
#include "records/sketch.h"

using namespace routecap_records;

namespace {

/// Ids as given, in two layers of K 1, with the validity bytes as given.
Handle create(const std::vector<std::int32_t>& flags, const Bytes& ids, const Bytes& validity) {
  rcap_record_layout layout;
  rcap_record_layout_init(&layout, sizeof layout);
  layout.rows = static_cast<std::int64_t>(ids.size() / 2);
  layout.num_experts = 100;
  layout.top_k = 1;
  layout.weight_version = 6;
  const std::vector<std::int32_t> layers = {0, 1};
  return made([&](rcap_record** record, rcap_error* err) {
    return rcap_record_create(&layout, layers.data(), 2, flags.data(), 2, ids.data(), static_cast<std::int64_t>(ids.size()), nullptr, 0,
                              validity.data(), static_cast<std::int64_t>(validity.size()), record, err);
  });
}

}  // namespace

TEST_CASE("R7: bits behind the last, cells of missing rows and bytes under clear bits do not stay") {
  const Handle given = create({0, RCAP_TAP_PARTIAL}, {1, 2, 3, 200, 201, 6}, {0xFB, 0xD7});  // cells 11 10 10 and more behind them; row 2 is missing
  CHECK(view(given.get()).row_bits == Bytes{0x03});
  CHECK(view(given.get()).cell_bits == Bytes{0x07});
  CHECK(view(given.get()).ids == Bytes{1, 2, 3, 255, 255, 255});
}

TEST_CASE("R7: a row without a valid cell is missing, unless every layer may have been idle") {
  CHECK(show(create({0, RCAP_TAP_PARTIAL}, {1, 2, 3, 4, 5, 6}, {0x07, 0x33})) == "0: 1 2 #6 | ~ | 5 6 #6");
  CHECK(show(create({RCAP_TAP_PARTIAL, RCAP_TAP_PARTIAL}, {1, 2, 3, 4, 5, 6}, {0x07, 0x33})) == "0: 1 2 #6 | - - #6 | 5 6 #6");
}

TEST_CASE("canonical: cell validity that no row needs is dropped, spans are the fewest") {
  routecap::RecordGeometry geometry;
  geometry.start = 3;
  geometry.rows = 4;
  geometry.num_experts = 10;
  geometry.top_k = 1;
  geometry.layer_ids = {4, 8};
  geometry = routecap::RecordGeometry::checked(std::move(geometry));
  CHECK(geometry.layer_flags == std::vector<std::int32_t>{0, 0});
  CHECK(geometry.ids_dtype == RCAP_DTYPE_UINT8);
  CHECK_FALSE(geometry.has_cells);
  geometry.has_cells = true;
  routecap::Record record(geometry);
  for (int i = 0; i < 8; ++i) record.ids().data()[i] = static_cast<std::byte>(i);
  record.row_validity().data()[0] = std::byte{0xF6};
  record.cell_validity().data()[0] = std::byte{0x3F};
  record.check_ids();
  record.canonicalize();
  CHECK_FALSE(record.geometry().has_cells);
  CHECK(record.cell_validity().size() == 0);
  CHECK(record.row_validity().data()[0] == std::byte{0x06});
  CHECK(record.ids().data()[1] == std::byte{0xFF});
  record.set_versions(std::vector<std::int64_t>{9, 7, 7, 8});
  CHECK(record.spans().starts == std::vector<std::int64_t>{3});
  CHECK(record.spans().versions == std::vector<std::int64_t>{7});
  CHECK(record.row_versions() == std::vector<std::int64_t>{7, 7, 7, 7});
}

TEST_CASE("R14: ids that are not below E are found in every dtype, under clear bits of cells they are not looked at") {
  for (const std::int32_t experts : {100, 1000, 100000}) {
    CAPTURE(experts);
    for (const bool valid : {true, false}) {
      Sketch sketch{.start = 8, .rows = {"1 2", "3 4"}, .layers = {4, 8}, .flags = {0, RCAP_TAP_PARTIAL}, .num_experts = experts, .top_k = 1};
      if (!valid) sketch.rows[1] = "3 -";
      const Handle made = record(sketch);
      auto& core = *reinterpret_cast<routecap::Record*>(made.get());
      CHECK_NOTHROW(core.check_ids());
      const std::int64_t id_bytes = core.geometry().cell_ids_bytes();
      for (std::int64_t byte = 0; byte < id_bytes; ++byte)
        core.ids().data()[3 * id_bytes + byte] = static_cast<std::byte>(experts >> (8 * byte) & 0xFF);
      if (!valid) {
        CHECK_NOTHROW(core.check_ids());
        continue;
      }
      const std::string expected = "ids: row 1, layer 8 has id " + std::to_string(experts) + ", num_experts is " + std::to_string(experts);
      CHECK_THROWS_WITH_AS(core.check_ids(), expected.c_str(), routecap::Error);
    }
  }
  // Wherever in a vector or behind the last whole one it stands.
  for (const std::int32_t experts : {255, 300, 70000}) {
    CAPTURE(experts);
    for (std::int64_t bad = 0; bad < 70; ++bad) {
      routecap::RecordGeometry geometry;
      geometry.rows = 2;
      geometry.num_experts = experts;
      geometry.top_k = 70;
      geometry.layer_ids = {6};
      routecap::Record core(routecap::RecordGeometry::checked(std::move(geometry)));
      std::memset(core.ids().data(), 0, static_cast<std::size_t>(core.ids().size()));
      core.row_validity().data()[0] = std::byte{2};
      const std::int64_t id_bytes = core.geometry().cell_ids_bytes() / 70;
      CHECK_FALSE(core.find_bad_id());
      for (const std::int64_t row : {0, 1})
        std::memcpy(core.ids().data() + (row * 70 + bad) * id_bytes, &experts, static_cast<std::size_t>(id_bytes));
      const std::optional<routecap::BadId> found = core.find_bad_id();
      REQUIRE(found);
      CHECK(found->row == 1);  // row 0 is missing
      CHECK(found->layer == 6);
      CHECK(found->id == experts);
    }
  }
  const Handle negative = record(Sketch{.rows = {"-1 2"}, .num_experts = 100000, .top_k = 1});
  CHECK_THROWS_WITH_AS(reinterpret_cast<routecap::Record*>(negative.get())->check_ids(), "ids: row 0, layer 2 has id -1, num_experts is 100000",
                       routecap::Error);
}
