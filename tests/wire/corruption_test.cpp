// SPDX-License-Identifier: Apache-2.0
// R37: unknown version, truncation and corruption are errors, never a guess and no crash.
#include <doctest/doctest.h>

#include <utility>

#include "sealed_frame.h"

using namespace wire_test;

namespace {

Shape small_shape() {
  Shape shape;
  shape.num_experts = 300;
  shape.rows = 11;
  shape.layer_ids = {2, 7};
  shape.layer_flags = {0, RCAP_TAP_PARTIAL};
  shape.holes = Holes::kCells;
  shape.weights_dtype = RCAP_DTYPE_FLOAT16;
  shape.start = 5;
  shape.versions = 2;
  return shape;
}

Text frame_of(const Shape& shape, std::int32_t zstd_level = 0) {
  rcap_encode_options chosen = options();
  chosen.zstd_level = zstd_level;
  return encode(*make_record(shape, 1), RCAP_WIRE_FRAME, chosen).bytes;
}

Outcome outcome(const Text& frame) {
  const DecodedRecord decoded = decode(RCAP_WIRE_FRAME, frame, hints());
  return {decoded.status, decoded.text};
}

void check_every_flip(const Text& frame) {
  for (std::size_t at = 0; at < frame.size(); ++at) {
    for (const unsigned flip : {1U, 2U, 4U, 8U, 16U, 32U, 64U, 128U, 255U}) {
      Text bad = frame;
      bad[at] ^= static_cast<std::byte>(flip);
      const Outcome told = outcome(bad);
      CAPTURE(at);
      CAPTURE(flip);
      CAPTURE(told.text);
      CHECK(told.status == (at >= kVersionAt && at < kByteOrderAt ? RCAP_STATUS_VERSION_MISMATCH : RCAP_STATUS_CORRUPT));
      CHECK(told.text.starts_with("frame: "));
    }
  }
}

void check_every_cut(const Text& frame) {
  for (std::size_t length = 0; length < frame.size(); ++length) {
    const Outcome told = outcome(Text(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(length)));
    CAPTURE(length);
    CHECK(told.status == RCAP_STATUS_CORRUPT);
    CHECK((told.text.find("truncated") != std::string::npos) == (length > 0));
  }
}

/// Every valid cell of `part` has the ids that it has in `whole`.
void check_subset(const Record& part, const Record& whole) {
  const std::int64_t cell_bytes = whole.geometry().cell_ids_bytes();
  REQUIRE(part.geometry().rows == whole.geometry().rows);
  REQUIRE(part.geometry().layer_ids == whole.geometry().layer_ids);
  for (std::int64_t cell = 0; cell < whole.geometry().rows * whole.geometry().layers(); ++cell) {
    if (!part.cell_valid(cell / whole.geometry().layers(), cell % whole.geometry().layers())) continue;
    CHECK(std::memcmp(part.ids().data() + cell * cell_bytes, whole.ids().data() + cell * cell_bytes, static_cast<std::size_t>(cell_bytes)) == 0);
  }
}

}  // namespace

TEST_CASE("R37: every byte of a frame counts") {
  REQUIRE(outcome(frame_of(small_shape())).status == RCAP_STATUS_OK);
  check_every_flip(frame_of(small_shape()));
}

TEST_CASE("R37: every byte of a compressed frame counts") {
  Shape shape = small_shape();
  shape.rows = 60;  // enough to become smaller
  const Text frame = frame_of(shape, 19);
  REQUIRE(frame.size() < frame_of(shape).size());
  check_every_flip(frame);
}

TEST_CASE("R37: a frame cut anywhere is told as truncated") {
  check_every_cut(frame_of(small_shape()));
  Shape shape = small_shape();
  shape.rows = 60;
  check_every_cut(frame_of(shape, 19));
}

TEST_CASE("R37: every byte and every length of a frame as text counts") {
  const Text text = encode(*make_record(small_shape(), 1), RCAP_WIRE_FRAME_BASE64).bytes;
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (const unsigned flip : {1U, 2U, 4U, 8U, 16U, 32U, 64U, 128U}) {
      Text bad = text;
      bad[at] ^= static_cast<std::byte>(flip);
      const std::int32_t status = decode(RCAP_WIRE_FRAME_BASE64, bad, hints()).status;
      CAPTURE(at);
      CHECK((status == RCAP_STATUS_CORRUPT || status == RCAP_STATUS_VERSION_MISMATCH));
    }
    CHECK(decode(RCAP_WIRE_FRAME_BASE64, Text(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at)), hints()).status == RCAP_STATUS_CORRUPT);
  }
}

TEST_CASE("a header that is sealed and wrong is told by field") {
  struct Lie {
    std::size_t at;
    std::int64_t value;
    std::size_t bytes;
    const char* told;
  };
  const Lie lies[] = {
      {kFrameBytesAt, 8, 8, "do not go together"},
      {kHeaderBytesAt, 128, 8, "do not go together"},
      {kStartAt, -1, 8, "start is -1"},
      {kStartAt, INT64_MAX, 8, "rows is 11"},
      {kRowsAt, -1, 8, "rows is -1"},
      {kRowsAt, 12, 8, "12 rows have"},
      {kRowsAt, std::int64_t{1} << 60, 8, "exceeds"},
      {kRowsAt, std::int64_t{1} << 40, 8, "rows have"},
      {kExpertsAt, 0, 4, "num_experts is 0"},
      {kExpertsAt, -5, 4, "num_experts is -5"},
      {kExpertsAt, 257, 4, "num_experts is 257"},  // the last id is 299
      {kExpertsAt, 200, 4, "ids_dtype is 2"},
      {kTopKAt, 0, 4, "top_k is 0"},
      {kTopKAt, 301, 4, "top_k is 301"},
      {kTopKAt, 3, 4, "rows have"},
      {kLayersAt, 0, 4, "do not go together"},
      {kLayersAt, -1, 4, "do not go together"},
      {kLayersAt, INT32_MAX, 4, "do not go together"},
      {kPartsAt, 4, 4, "do not go together"},
      {kPartsAt, 6, 4, "do not go together"},
      {kIdsDtypeAt, RCAP_DTYPE_INT32, 4, "ids_dtype is 4"},
      {kWeightsDtypeAt, RCAP_DTYPE_INT32, 4, "weights_dtype is 4"},
      {kWeightsDtypeAt, RCAP_DTYPE_NONE, 4, "parts"},
      {kWeightsDtypeAt, RCAP_DTYPE_FLOAT32, 4, "rows have"},
      {kWeightsKindAt, 3, 4, "weights_kind is 3"},
      {kReservedAt, 1, 4, "reserved"},
      {kLayerTableAt, -1, 4, "ascend"},
      {kLayerTableAt, 7, 4, "ascend"},
      {kLayerTableAt + 12, 64, 4, "flags"},
  };
  for (const Lie& lie : lies) {
    CAPTURE(lie.at);
    CAPTURE(lie.value);
    Text frame = frame_of(small_shape());
    std::memcpy(frame.data() + lie.at, &lie.value, lie.bytes);
    if (lie.at != kFrameBytesAt && lie.at != kHeaderBytesAt && lie.at != kLayersAt && lie.at != kPartsAt) seal(frame);
    const Outcome told = outcome(frame);
    CAPTURE(told.text);
    CHECK((told.status == RCAP_STATUS_CORRUPT || (told.status == RCAP_STATUS_OUT_OF_RANGE && lie.value == std::int64_t{1} << 60)));
    CHECK(told.text.find(lie.told) != std::string::npos);
  }
}

TEST_CASE("a table of parts that is sealed and wrong is told") {
  const Text good = frame_of(small_shape());
  const std::vector<FramePart> parts = parts_of(good);
  REQUIRE(parts.size() == 5);
  for (const FramePart& part : parts) {
    const std::pair<std::size_t, std::int64_t> lies[] = {
        {0, 9}, {8, -1}, {8, INT64_MAX}, {8, static_cast<std::int64_t>(part.bytes) + 8}, {16, -1}, {16, static_cast<std::int64_t>(part.bytes) + 8}};
    for (const auto& lie : lies) {
      const std::size_t field = lie.first;
      const std::int64_t value = lie.second;
      CAPTURE(field);
      CAPTURE(value);
      Text frame = good;
      if (field == 0) {
        set_number(frame, part.table_at, static_cast<std::uint32_t>(value));
      } else {
        set_number(frame, part.table_at + field, value);
      }
      const auto header = static_cast<std::size_t>(number_at<std::int64_t>(frame, kHeaderBytesAt));
      REQUIRE(header < frame.size());
      seal(frame);
      CHECK(outcome(frame).status == RCAP_STATUS_CORRUPT);
    }
    Text coded = good;
    set_number(coded, part.table_at + 4, std::uint32_t{1});  // says Zstandard over bytes that are none
    seal(coded);
    CHECK(outcome(coded).status == RCAP_STATUS_CORRUPT);
    set_number(coded, part.table_at + 4, std::uint32_t{2});
    seal(coded);
    CHECK(outcome(coded).status == RCAP_STATUS_CORRUPT);
  }
}

TEST_CASE("content that is sealed and wrong is told") {
  const Text good = frame_of(small_shape());
  const std::vector<FramePart> parts = parts_of(good);
  const RecordPtr record = make_record(small_shape(), 1);
  const auto changed = [&](std::size_t part, std::size_t offset, auto value) {
    Text frame = good;
    set_number(frame, parts[part].at + offset, value);
    seal(frame);
    const Outcome told = outcome(frame);
    CHECK(told.status == RCAP_STATUS_CORRUPT);
    return told.text;
  };
  CHECK(changed(0, 0, std::int64_t{-1}).find("run 0 of rows") != std::string::npos);
  CHECK(changed(0, 0, std::int64_t{12}).find("run 0 of rows") != std::string::npos);
  CHECK(changed(0, 8, std::int64_t{0}).find("run 1 of rows") != std::string::npos);
  CHECK(changed(0, parts[0].bytes - 8, std::int64_t{100}).find("of rows has 100") != std::string::npos);
  CHECK(changed(1, parts[1].bytes - 1, std::uint8_t{0xFF}) == "frame: bits behind the last cell are set");
  CHECK(changed(1, 0, std::uint8_t{0xFF}).find("valid cells") != std::string::npos);
  CHECK(changed(2, 0, std::int64_t{4}).find("version span 0 starts at 4") != std::string::npos);
  CHECK(changed(2, 16, std::int64_t{16}).find("version span 1 starts at 16") != std::string::npos);
  CHECK(changed(2, 24, std::int64_t{7}).find("version span 1") != std::string::npos);  // the version of the span before
  std::int64_t cell = 0;
  while (!record->cell_valid(cell / 2, cell % 2)) ++cell;
  CHECK(changed(3, static_cast<std::size_t>(cell) * 4, std::uint16_t{300}) ==
        "frame: row " + std::to_string(cell / 2) + ", layer " + std::to_string(record->geometry().layer_ids[static_cast<std::size_t>(cell % 2)]) +
            " has id 300, num_experts is 300");
}

TEST_CASE("a newer version and another byte order are told apart from corruption") {
  Text frame = frame_of(small_shape());
  set_number(frame, kVersionAt, std::uint32_t{2});
  CHECK(outcome(frame).status == RCAP_STATUS_VERSION_MISMATCH);
  CHECK(outcome(frame).text == "frame: version is 2, this library reads 1");
  frame.resize(16);
  CHECK(outcome(frame).status == RCAP_STATUS_VERSION_MISMATCH);
  Text big = frame_of(small_shape());
  set_number(big, kByteOrderAt, std::uint32_t{0x04030201});
  CHECK(outcome(big).status == RCAP_STATUS_CORRUPT);
  CHECK(outcome(big).text.find("byte order") != std::string::npos);
}

TEST_CASE("every length of every other form is an error or another record, and no crash") {
  Shape shape = small_shape();
  shape.layer_flags = {};
  shape.holes = Holes::kNone;
  const RecordPtr record = make_record(shape, 1);
  for (std::int32_t format = RCAP_WIRE_SGLANG; format <= RCAP_WIRE_CSV; ++format) {
    const Text whole = encode(*record, format).bytes;
    const DecodedRecord good = decode(format, whole, hints_of(*record), {2, 7});
    REQUIRE_MESSAGE(good.status == RCAP_STATUS_OK, good.text);
    for (std::size_t length = 0; length < whole.size(); ++length) {
      const DecodedRecord cut = decode(format, Text(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)), hints_of(*record), {2, 7});
      CAPTURE(format);
      CAPTURE(length);
      if (format == RCAP_WIRE_CSV && cut.status == RCAP_STATUS_OK) {
        check_subset(*cut.record, *record);  // lines that lack are missing cells: nothing in a trace says how many there were
      } else {
        CHECK(cut.status != RCAP_STATUS_OK);
      }
    }
    for (std::size_t at = 0; at < whole.size(); ++at) {
      for (const unsigned flip : {1U, 8U, 128U, 255U}) {
        Text bad = whole;
        bad[at] ^= static_cast<std::byte>(flip);
        decode(format, bad, hints_of(*record), {2, 7});
      }
    }
  }
}
