// SPDX-License-Identifier: Apache-2.0
// Records: made from the caller's arrays, looked at, cut.
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "support/rig.h"

using namespace routecap_test;

namespace {

using Bytes = std::vector<unsigned char>;

/// Everything that a record says of itself.
struct View {
  rcap_record_info info = make<rcap_record_info>();
  Bytes ids, weights, rows, cells;
  std::vector<std::int32_t> layer_ids, layer_flags;
  std::vector<std::pair<std::int64_t, std::int64_t>> spans;

  explicit View(const rcap_record* record) {
    REQUIRE(rcap_record_info_get(record, &info, nullptr) == RCAP_STATUS_OK);
    const auto take = [&](auto function, Bytes& into) {
      const void* data = nullptr;
      std::int64_t bytes = -1;
      REQUIRE(function(record, &data, &bytes, nullptr) == RCAP_STATUS_OK);
      REQUIRE(data != nullptr);
      into.assign(static_cast<const unsigned char*>(data), static_cast<const unsigned char*>(data) + bytes);
    };
    take(rcap_record_ids, ids);
    take(rcap_record_weights, weights);
    take(rcap_record_row_validity, rows);
    take(rcap_record_cell_validity, cells);
    const std::int32_t* numbers = nullptr;
    std::int64_t count = 0;
    REQUIRE(rcap_record_layer_ids(record, &numbers, &count, nullptr) == RCAP_STATUS_OK);
    layer_ids.assign(numbers, numbers + count);
    REQUIRE(rcap_record_layer_flags(record, &numbers, &count, nullptr) == RCAP_STATUS_OK);
    layer_flags.assign(numbers, numbers + count);
    const std::int64_t* starts = nullptr;
    const std::int64_t* versions = nullptr;
    REQUIRE(rcap_record_version_spans(record, &starts, &versions, &count, nullptr) == RCAP_STATUS_OK);
    for (std::int64_t i = 0; i < count; ++i) spans.emplace_back(starts[i], versions[i]);
  }
  friend bool operator==(const View& a, const View& b) {
    return a.info.start == b.info.start && a.info.rows == b.info.rows && a.info.rows_valid == b.info.rows_valid &&
           a.info.num_layers == b.info.num_layers && a.info.top_k == b.info.top_k && a.info.num_experts == b.info.num_experts &&
           a.info.ids_dtype == b.info.ids_dtype && a.info.weights_dtype == b.info.weights_dtype && a.info.weights_kind == b.info.weights_kind &&
           a.info.has_cell_validity == b.info.has_cell_validity && a.ids == b.ids && a.weights == b.weights && a.rows == b.rows &&
           a.cells == b.cells && a.layer_ids == b.layer_ids && a.layer_flags == b.layer_flags && a.spans == b.spans;
  }
};

/// Arguments of `rcap_record_create`.
struct Given {
  rcap_record_layout layout = make<rcap_record_layout>();
  std::vector<std::int32_t> layer_ids{2, 6};
  std::vector<std::int32_t> layer_flags{};
  Bytes ids{};
  Bytes weights{};
  Bytes validity{};
  bool with_validity = false;

  Given() {
    layout.start = 10;
    layout.rows = 3;
    layout.num_experts = 256;
    layout.top_k = 2;
    layout.weight_version = 42;
    for (unsigned char i = 0; i < 12; ++i) ids.push_back(static_cast<unsigned char>(i * 20));
  }
  std::int32_t create(Record& record, rcap_error* error = nullptr) const {
    rcap_record* handle = nullptr;
    const std::int32_t status =
        rcap_record_create(&layout, layer_ids.data(), static_cast<std::int64_t>(layer_ids.size()), layer_flags.empty() ? nullptr : layer_flags.data(),
                           static_cast<std::int64_t>(layer_flags.size()), ids.data(), static_cast<std::int64_t>(ids.size()),
                           weights.empty() ? nullptr : weights.data(), static_cast<std::int64_t>(weights.size()),
                           with_validity ? validity.data() : nullptr, static_cast<std::int64_t>(with_validity ? validity.size() : 0), &handle, error);
    record.reset(handle);
    return status;
  }
};

}  // namespace

TEST_CASE("record: made from arrays, it says what it was given") {
  Given given;
  Record record;
  REQUIRE(given.create(record) == RCAP_STATUS_OK);
  given.ids.assign(12, 0);  // they were copied
  const View view(record.get());
  CHECK(view.info.start == 10);
  CHECK(view.info.rows == 3);
  CHECK(view.info.rows_valid == 3);
  CHECK(view.info.num_layers == 2);
  CHECK(view.info.top_k == 2);
  CHECK(view.info.num_experts == 256);
  CHECK(view.info.ids_dtype == RCAP_DTYPE_UINT8);
  CHECK(view.info.weights_dtype == RCAP_DTYPE_NONE);
  CHECK(view.info.has_cell_validity == 0);
  CHECK(view.ids == Given().ids);
  CHECK(view.weights.empty());
  CHECK(view.rows == Bytes{0x07});
  CHECK(view.cells.empty());
  CHECK(view.layer_ids == std::vector<std::int32_t>{2, 6});
  CHECK(view.layer_flags == std::vector<std::int32_t>{0, 0});
  CHECK(view.spans == std::vector<std::pair<std::int64_t, std::int64_t>>{{10, 42}});
}

TEST_CASE("record: with weights, flags, row and cell validity; what is not valid is 0xFF") {
  Given given;
  given.layout.weights_dtype = RCAP_DTYPE_FLOAT16;
  given.layout.weights_kind = RCAP_WEIGHTS_SCALED;
  given.layer_flags = {RCAP_TAP_HASH_ROUTED, RCAP_TAP_PARTIAL};
  for (unsigned char i = 0; i < 24; ++i) given.weights.push_back(i);
  given.with_validity = true;
  given.validity = {0x05, 0x13};  // rows 0 and 2; cells: row 0 both, row 2 the first
  Record record;
  Error error;
  REQUIRE_MESSAGE(given.create(record, error) == RCAP_STATUS_OK, error.text());
  const View view(record.get());
  CHECK(view.info.rows_valid == 2);
  CHECK(view.info.has_cell_validity == 1);
  CHECK(view.info.weights_kind == RCAP_WEIGHTS_SCALED);
  CHECK(view.rows == Bytes{0x05});
  CHECK(view.cells == Bytes{0x13});
  CHECK(view.ids == Bytes{0, 20, 40, 60, 255, 255, 255, 255, 160, 180, 255, 255});
  Bytes weights;
  for (unsigned char i = 0; i < 24; ++i) weights.push_back(i < 8 || (i >= 16 && i < 20) ? i : 255);
  CHECK(view.weights == weights);
  CHECK(view.layer_flags == given.layer_flags);
}

TEST_CASE("record: an id out of range is named by row and layer; under a clear bit any bytes pass") {
  Given given;
  given.layout.num_experts = 100;
  given.with_validity = true;
  given.validity = {0x03};  // the last row, with ids up to 220, is missing
  for (std::size_t i = 0; i < 8; ++i) given.ids[i] = static_cast<unsigned char>(i * 10);
  given.ids[7] = 100;  // row 1, layer 6
  Record record;
  Error error;
  CHECK(name(given.create(record, error)) == "RCAP_STATUS_OUT_OF_RANGE");
  CHECK(record == nullptr);
  CHECK(error.text().find("100") != std::string::npos);
  CHECK(error.text().find("6") != std::string::npos);
  CHECK(error.text().find("1") != std::string::npos);
  given.ids[7] = 99;
  CHECK(given.create(record, error) == RCAP_STATUS_OK);
}

TEST_CASE("record: 0 rows, one layer, every id dtype") {
  for (const auto& dtype : std::vector<std::pair<std::int32_t, std::size_t>>{{1, 1}, {256, 1}, {257, 2}, {65536, 2}, {65537, 4}}) {
    const std::int32_t experts = dtype.first;
    const std::size_t size = dtype.second;
    CAPTURE(experts);
    Given given;
    given.layout.num_experts = experts;
    given.layout.top_k = 1;
    given.layout.rows = 0;
    given.layer_ids = {0};
    given.ids.clear();
    Record record;
    REQUIRE(given.create(record) == RCAP_STATUS_OK);
    const View empty(record.get());
    CHECK(empty.info.rows == 0);
    CHECK(empty.ids.empty());
    CHECK(empty.rows.empty());
    CHECK(empty.spans.empty());
    given.layout.rows = 2;
    given.ids.assign(2 * size, 0);
    REQUIRE(given.create(record) == RCAP_STATUS_OK);
    CHECK(View(record.get()).ids.size() == 2 * size);
  }
}

TEST_CASE("record: what contradicts itself is refused") {
  struct Case {
    const char* what;
    void (*spoil)(Given&);
  };
  const std::vector<Case> cases = {
      {"negative rows", [](Given& g) { g.layout.rows = -1; }},
      {"negative start", [](Given& g) { g.layout.start = -1; }},
      {"start overflows", [](Given& g) { g.layout.start = INT64_MAX - 1; }},
      {"no experts", [](Given& g) { g.layout.num_experts = 0; }},
      {"top_k 0", [](Given& g) { g.layout.top_k = 0; }},
      {"top_k past E", [](Given& g) { g.layout.top_k = 257; }},
      {"no layers", [](Given& g) { g.layer_ids.clear(); }},
      {"layers not ascending",
       [](Given& g) {
         g.layer_ids = {6, 2};
       }},
      {"layer twice",
       [](Given& g) {
         g.layer_ids = {6, 6};
       }},
      {"negative layer",
       [](Given& g) {
         g.layer_ids = {-1, 6};
       }},
      {"fewer flags than layers", [](Given& g) { g.layer_flags = {0}; }},
      {"unknown flag",
       [](Given& g) {
         g.layer_flags = {0, 8};
       }},
      {"ids too short", [](Given& g) { g.ids.pop_back(); }},
      {"ids too long", [](Given& g) { g.ids.push_back(0); }},
      {"weights too short", [](Given& g) { g.layout.weights_dtype = RCAP_DTYPE_FLOAT16, g.weights.assign(23, 0); }},
      {"weights dtype is no float", [](Given& g) { g.layout.weights_dtype = RCAP_DTYPE_INT32, g.weights.assign(48, 0); }},
      {"unknown kind", [](Given& g) { g.layout.weights_kind = 3; }},
      {"validity too short",
       [](Given& g) {
         g.layer_flags = {0, RCAP_TAP_PARTIAL}, g.with_validity = true, g.validity = {7};
       }},
      {"validity too long",
       [](Given& g) {
         g.with_validity = true, g.validity = {7, 7};
       }},
      {"overflowing product", [](Given& g) { g.layout.rows = INT64_MAX / 2; }},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.what));
    Given given;
    c.spoil(given);
    Record record;
    Error error;
    const std::int32_t status = given.create(record, error);
    CHECK((status == RCAP_STATUS_INVALID_ARGUMENT || status == RCAP_STATUS_OUT_OF_RANGE || status == RCAP_STATUS_UNSUPPORTED));
    CHECK(record == nullptr);
    CHECK_FALSE(error.text().empty());
    CHECK(error.text().find('\n') == std::string::npos);
  }
}

TEST_CASE("record: a slice is byte for byte what a read from there gives (R3, R4)") {
  Setup setup;
  setup.config.weights_dtype = RCAP_DTYPE_FLOAT32;
  setup.tap_flags = {0, RCAP_TAP_PARTIAL, RCAP_TAP_UNORDERED};
  Rig rig(setup);
  Slots slots;
  for (std::int64_t i = 0; i < 19; ++i) slots.push_back(i % 5 == 3 ? -1 : 100 - i);
  for (std::int64_t part = 0; part < 3; ++part) {
    Seeds seeds;
    Slots here;
    for (std::int64_t i = part * 6; i < (part == 2 ? 19 : part * 6 + 6); ++i) {
      seeds.push_back(i + 1);
      here.push_back(slots[static_cast<std::size_t>(i)]);
    }
    CHECK(rig.capture(0, seeds) == RCAP_STATUS_OK);
    CHECK(rig.capture_rows(1, {seeds[1]}, {1}) == RCAP_STATUS_OK);
    CHECK(rig.capture(2, seeds) == RCAP_STATUS_OK);
    rig.settle(rig.end({.tokens = static_cast<std::int64_t>(seeds.size()), .slots = here, .weight_version = 5 + part}));
  }
  const auto read = [&](std::int64_t tokens, std::int64_t start) {
    auto layout = make<rcap_read_layout>();
    layout.tokens = tokens;
    layout.start = start;
    rcap_record* handle = nullptr;
    REQUIRE(rcap_capturer_read(rig.get(), &layout, slots.data(), static_cast<std::int64_t>(slots.size() * 8), nullptr, 0, &handle, nullptr) ==
            RCAP_STATUS_OK);
    return Record(handle);
  };
  const Record whole = read(20, 0);
  CHECK(View(whole.get()).spans.size() == 3);
  for (std::int64_t start = 0; start <= 19; ++start) {
    for (std::int64_t end = start; end <= 19; ++end) {
      CAPTURE(start);
      CAPTURE(end);
      rcap_record* handle = nullptr;
      REQUIRE(rcap_record_slice(whole.get(), start, end, &handle, nullptr) == RCAP_STATUS_OK);
      const Record slice(handle);
      REQUIRE(View(slice.get()) == View(read(end + 1, start).get()));
      if (start + 2 < end) {
        rcap_record* inner = nullptr;
        REQUIRE(rcap_record_slice(slice.get(), start + 1, end - 1, &inner, nullptr) == RCAP_STATUS_OK);
        const Record owner(inner);
        REQUIRE(View(inner) == View(read(end, start + 1).get()));
      }
    }
  }
}

TEST_CASE("record: a slice outside its record is refused") {
  Given given;  // positions 10 .. 12
  Record record;
  REQUIRE(given.create(record) == RCAP_STATUS_OK);
  for (const auto& range :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{9, 12}, {10, 14}, {12, 11}, {-1, 3}, {INT64_MIN, INT64_MAX}, {14, 14}}) {
    const std::int64_t start = range.first;
    const std::int64_t end = range.second;
    CAPTURE(start);
    CAPTURE(end);
    rcap_record* handle = nullptr;
    Error error;
    CHECK(name(rcap_record_slice(record.get(), start, end, &handle, error)) == "RCAP_STATUS_OUT_OF_RANGE");
    CHECK(handle == nullptr);
    CHECK_FALSE(error.text().empty());
  }
  for (const auto& [start, end] : std::vector<std::pair<std::int64_t, std::int64_t>>{{10, 10}, {13, 13}, {10, 13}, {11, 12}}) {
    rcap_record* handle = nullptr;
    CHECK(rcap_record_slice(record.get(), start, end, &handle, nullptr) == RCAP_STATUS_OK);
    const Record owner(handle);
    CHECK(View(handle).info.rows == end - start);
    CHECK(View(handle).info.start == start);
  }
}
