// SPDX-License-Identifier: Apache-2.0
// What an encoder may be told, what it refuses, and how holes are written.
#include <doctest/doctest.h>

#include <cstring>

#include "case.h"

using namespace wire_test;

namespace {

template <class Change>
Encoded changed(const Record& record, std::int32_t format, Change change) {
  rcap_encode_options chosen = options();
  change(chosen);
  return encode(record, format, chosen);
}

RecordPtr with_holes(Holes holes) {
  Shape shape;
  shape.rows = 12;
  shape.layer_ids = {3, 8};
  shape.holes = holes;
  return make_record(shape, 4);
}

}  // namespace

TEST_CASE("an option that a form has no use for is refused") {
  const RecordPtr record = make_record({}, 1);
  for (std::int32_t format = RCAP_WIRE_FRAME; format <= RCAP_WIRE_CSV; ++format) {
    CAPTURE(format);
    const auto status = [&](auto change) { return changed(*record, format, change).status; };
    const bool is_frame = format == RCAP_WIRE_FRAME || format == RCAP_WIRE_FRAME_BASE64;
    const bool is_csv = format == RCAP_WIRE_CSV;
    CHECK(status([](auto& chosen) { chosen.zstd_level = 3; }) == (is_frame ? RCAP_STATUS_OK : RCAP_STATUS_UNSUPPORTED));
    CHECK(status([](auto& chosen) { chosen.turn = 1; }) == (is_csv ? RCAP_STATUS_OK : RCAP_STATUS_UNSUPPORTED));
    CHECK(status([](auto& chosen) { chosen.decode_start = 0; }) == (is_csv ? RCAP_STATUS_OK : RCAP_STATUS_UNSUPPORTED));
    CHECK(status([](auto& chosen) { chosen.missing = RCAP_MISSING_FILL; }) == (is_frame || is_csv ? RCAP_STATUS_UNSUPPORTED : RCAP_STATUS_OK));
    CHECK(status([](auto& chosen) { chosen.fill_id = 1; }) == RCAP_STATUS_UNSUPPORTED);
    const bool is_npy = format == RCAP_WIRE_NPY || format == RCAP_WIRE_VLLM;
    for (std::int32_t dtype = RCAP_DTYPE_UINT8; dtype <= RCAP_DTYPE_FLOAT32; ++dtype) {
      const bool flat = dtype == RCAP_DTYPE_UINT8 || dtype == RCAP_DTYPE_UINT16 || dtype == RCAP_DTYPE_INT32;
      const bool taken = is_npy ? dtype <= RCAP_DTYPE_INT64 : format == RCAP_WIRE_SGLANG && flat;
      CHECK(status([&](auto& chosen) { chosen.dtype = dtype; }) == (taken ? RCAP_STATUS_OK : RCAP_STATUS_UNSUPPORTED));
    }
    CHECK(status([](auto& chosen) { chosen.dtype = 99; }) == RCAP_STATUS_INVALID_ARGUMENT);
    CHECK(status([](auto& chosen) { chosen.missing = 3; }) == RCAP_STATUS_INVALID_ARGUMENT);
    CHECK(status([](auto& chosen) { chosen.zstd_level = 20; }) == RCAP_STATUS_OUT_OF_RANGE);
    CHECK(status([](auto& chosen) { chosen.zstd_level = -1; }) == RCAP_STATUS_OUT_OF_RANGE);
    CHECK(status([](auto& chosen) { chosen.turn = -1; }) == RCAP_STATUS_OUT_OF_RANGE);
  }
  CHECK(changed(*record, RCAP_WIRE_NPY, [](auto& chosen) {
          chosen.missing = RCAP_MISSING_FILL;
          chosen.fill_id = 8;
        }).text == "options fill_id is 8, num_experts is 8");
}

TEST_CASE("R7: holes are refused unless the caller chooses, and the first is named") {
  Shape shape;
  shape.rows = 4;
  shape.layer_ids = {3, 8};
  const RecordPtr full = make_record(shape, 1);
  auto row_hole = std::make_unique<Record>(full->geometry());
  row_hole->copy_rows(*full, 0, 2, 0);
  row_hole->copy_rows(*full, 3, 1, 3);
  row_hole->canonicalize();
  routecap::RecordGeometry geometry = full->geometry();
  geometry.has_cells = true;
  auto cell_hole = std::make_unique<Record>(geometry);
  cell_hole->copy_rows(*full, 0, 4, 0);
  routecap::bits::clear(cell_hole->cell_validity().data(), 3);
  cell_hole->canonicalize();
  for (const std::int32_t format : {RCAP_WIRE_SGLANG, RCAP_WIRE_VLLM, RCAP_WIRE_NPY, RCAP_WIRE_PRIME, RCAP_WIRE_LISTS}) {
    const std::string name = rcap_wire_format_name(format);
    CHECK(encode(*row_hole, format).status == RCAP_STATUS_OUT_OF_RANGE);
    CHECK(encode(*row_hole, format).text == name + " cannot say that row 2 is missing (options missing is REFUSE)");
    CHECK(encode(*cell_hole, format).text == name + " cannot say that row 1, layer 8 is missing (options missing is REFUSE)");
  }
  CHECK(encode(*cell_hole, RCAP_WIRE_NEMO).text == "nemo cannot say that row 1, layer 8 is missing (options missing is REFUSE)");
  CHECK(encode(*row_hole, RCAP_WIRE_NEMO).status == RCAP_STATUS_OK);
}

TEST_CASE("holes are filled with the pattern that the caller gives") {
  Shape shape;
  shape.rows = 2;
  shape.layer_ids = {0};
  shape.top_k = 3;
  const RecordPtr full = make_record(shape, 1);
  auto record = std::make_unique<Record>(full->geometry());
  record->copy_rows(*full, 0, 1, 0);
  record->canonicalize();
  const Encoded lists = changed(*record, RCAP_WIRE_LISTS, [](auto& chosen) {
    chosen.missing = RCAP_MISSING_FILL;
    chosen.fill_id = 6;
  });
  CHECK(string_of(lists.bytes).ends_with(",[[6,7,0]]]"));
  const Encoded minus_one = changed(*record, RCAP_WIRE_LISTS, [](auto& chosen) { chosen.missing = RCAP_MISSING_MINUS_ONE; });
  CHECK(string_of(minus_one.bytes).ends_with(",[[-1,-1,-1]]]"));
}

TEST_CASE("-1 needs a signed dtype") {
  const RecordPtr record = with_holes(Holes::kRows);
  const auto told = [&](std::int32_t format, std::int32_t dtype) {
    return changed(*record, format, [&](auto& chosen) {
      chosen.missing = RCAP_MISSING_MINUS_ONE;
      chosen.dtype = dtype;
    });
  };
  CHECK(told(RCAP_WIRE_SGLANG, RCAP_DTYPE_UINT8).status == RCAP_STATUS_UNSUPPORTED);
  CHECK(told(RCAP_WIRE_SGLANG, RCAP_DTYPE_UINT8).text == "sglang: options missing is MINUS_ONE, ids are written as uint8");
  CHECK(told(RCAP_WIRE_NPY, RCAP_DTYPE_UINT16).status == RCAP_STATUS_UNSUPPORTED);
  CHECK(told(RCAP_WIRE_NPY, RCAP_DTYPE_INT16).status == RCAP_STATUS_OK);
  CHECK(told(RCAP_WIRE_PRIME, RCAP_DTYPE_NONE).status == RCAP_STATUS_UNSUPPORTED);
}

TEST_CASE("an id that does not fit the dtype is named") {
  Shape shape;
  shape.num_experts = 300;
  shape.layer_ids = {5};
  const RecordPtr record = make_record(shape, 1);  // its first id is 299
  for (const std::int32_t format : {RCAP_WIRE_SGLANG, RCAP_WIRE_NPY, RCAP_WIRE_VLLM}) {
    const Encoded narrow = changed(*record, format, [](auto& chosen) { chosen.dtype = RCAP_DTYPE_UINT8; });
    CHECK(narrow.status == RCAP_STATUS_OUT_OF_RANGE);
    CHECK(narrow.text == std::string(rcap_wire_format_name(format)) + ": row 0, layer 5 has id 299, uint8 holds up to 255");
  }
  // Ids that do fit are written, whatever E is.
  routecap::RecordGeometry geometry = record->geometry();
  auto small = std::make_unique<Record>(geometry);
  std::memset(small->ids().data(), 0, static_cast<std::size_t>(small->ids().size()));
  routecap::bits::set_range(small->row_validity().data(), 0, geometry.rows);
  CHECK(changed(*small, RCAP_WIRE_SGLANG, [](auto& chosen) { chosen.dtype = RCAP_DTYPE_UINT8; }).status == RCAP_STATUS_OK);
  const RecordPtr holes = std::make_unique<Record>(geometry);
  const Encoded fill = changed(*holes, RCAP_WIRE_SGLANG, [](auto& chosen) {
    chosen.dtype = RCAP_DTYPE_UINT8;
    chosen.missing = RCAP_MISSING_FILL;
    chosen.fill_id = 255;
  });
  CHECK(fill.status == RCAP_STATUS_OUT_OF_RANGE);
  CHECK(fill.text == "sglang: options fill_id 255 gives id 256, uint8 holds up to 255");
}

TEST_CASE("arguments of an encode") {
  const RecordPtr record = make_record({}, 1);
  auto* self = reinterpret_cast<rcap_record*>(record.get());
  std::int64_t needed = -1;
  std::byte buffer[8];
  CHECK(rcap_record_encode(nullptr, RCAP_WIRE_FRAME, nullptr, nullptr, 0, &needed, nullptr) == RCAP_STATUS_INVALID_ARGUMENT);
  CHECK(rcap_record_encode(self, 0, nullptr, nullptr, 0, &needed, nullptr) == RCAP_STATUS_INVALID_ARGUMENT);
  CHECK(rcap_record_encode(self, RCAP_WIRE_FRAME, nullptr, nullptr, 0, nullptr, nullptr) == RCAP_STATUS_INVALID_ARGUMENT);
  CHECK(rcap_record_encode(self, RCAP_WIRE_FRAME, nullptr, nullptr, 8, &needed, nullptr) == RCAP_STATUS_INVALID_ARGUMENT);
  CHECK(rcap_record_encode(self, RCAP_WIRE_FRAME, nullptr, buffer, -1, &needed, nullptr) == RCAP_STATUS_INVALID_ARGUMENT);
  CHECK(needed == -1);
  CHECK(rcap_record_encode(self, RCAP_WIRE_FRAME, nullptr, buffer, 8, &needed, nullptr) == RCAP_STATUS_OUT_OF_RANGE);
  CHECK(needed > 8);
  CHECK(rcap_record_encode(self, RCAP_WIRE_FRAME, nullptr, nullptr, 0, &needed, nullptr) == RCAP_STATUS_OK);
}
