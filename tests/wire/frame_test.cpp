// SPDX-License-Identifier: Apache-2.0
// What only a frame holds, and many of them in a row.
#include <doctest/doctest.h>

#include "files.h"
#include "sealed_frame.h"

using namespace wire_test;

namespace {

Shape large_shape() {
  Shape shape;
  shape.num_experts = 300;
  shape.top_k = 5;
  shape.rows = 203;
  shape.layer_ids = {2, 3, 7, 60};
  shape.layer_flags = {0, RCAP_TAP_HASH_ROUTED, RCAP_TAP_UNORDERED | RCAP_TAP_PARTIAL, 0};
  shape.holes = Holes::kCells;
  shape.weights_dtype = RCAP_DTYPE_BFLOAT16;
  shape.weights_kind = RCAP_WEIGHTS_SCALED;
  shape.start = 1000;
  shape.versions = 9;
  return shape;
}

void append(Text& file, const Text& more) { file.insert(file.end(), more.begin(), more.end()); }

}  // namespace

TEST_CASE("R37: a frame carries layer map, flags, version spans, weights and their kind, cell validity and start") {
  const RecordPtr record = make_record(large_shape(), 1);
  REQUIRE(record->spans().starts.size() > 50);
  REQUIRE(record->geometry().has_cells);
  for (const std::int32_t level : {0, 3, 19}) {
    CAPTURE(level);
    rcap_encode_options chosen = options();
    chosen.zstd_level = level;
    const Encoded frame = encode(*record, RCAP_WIRE_FRAME, chosen);
    const DecodedRecord decoded = decode(RCAP_WIRE_FRAME, frame.bytes, hints_of(*record), {2, 3, 7, 60});
    REQUIRE_MESSAGE(decoded.status == RCAP_STATUS_OK, decoded.text);
    CHECK(difference(*decoded.record, *record) == "");
    keep_frame("large-" + std::to_string(level), *record, frame.bytes);
  }
}

TEST_CASE("R37: rows that are valid without a cell stay so where every layer is partial") {
  Shape shape = large_shape();
  shape.layer_flags.assign(4, RCAP_TAP_PARTIAL);
  shape.layer_ids = {0, 1, 2, 3};
  shape.rows = 4000;  // one row in 256 has no cell
  const RecordPtr record = make_record(shape, 2);
  bool bare = false;
  for (std::int64_t row = 0; row < shape.rows; ++row) {
    bare = bare || (record->row_valid(row) && routecap::bits::count_set(record->cell_validity().data(), row * 4, 4) == 0);
  }
  REQUIRE(bare);
  const Encoded frame = encode(*record, RCAP_WIRE_FRAME);
  const DecodedRecord decoded = decode(RCAP_WIRE_FRAME, frame.bytes, hints());
  REQUIRE_MESSAGE(decoded.status == RCAP_STATUS_OK, decoded.text);
  CHECK(difference(*decoded.record, *record) == "");
  keep_frame("bare-rows", *record, frame.bytes);
}

TEST_CASE("R37: nothing valid at all") {
  Shape shape;
  shape.rows = 70;
  const RecordPtr full = make_record(shape, 3);
  auto record = std::make_unique<Record>(full->geometry());
  record->canonicalize();
  const Encoded frame = encode(*record, RCAP_WIRE_FRAME);
  const DecodedRecord decoded = decode(RCAP_WIRE_FRAME, frame.bytes, hints());
  REQUIRE_MESSAGE(decoded.status == RCAP_STATUS_OK, decoded.text);
  CHECK(difference(*decoded.record, *record) == "");
  CHECK(decoded.record->spans().starts.empty());
  keep_frame("all-missing", *record, frame.bytes);
}

TEST_CASE("frames stand one behind the other in a file, and consumed tells where the next begins") {
  std::vector<RecordPtr> records;
  Text file;
  for (std::uint64_t i = 0; i < 5; ++i) {
    Shape shape = large_shape();
    shape.rows = static_cast<std::int64_t>(i * 3);
    records.push_back(make_record(shape, i));
    append(file, encode(*records.back(), RCAP_WIRE_FRAME).bytes);
  }
  std::size_t at = 0;
  for (const RecordPtr& record : records) {
    const DecodedRecord decoded = decode(RCAP_WIRE_FRAME, Text(file.begin() + static_cast<std::ptrdiff_t>(at), file.end()), hints());
    REQUIRE_MESSAGE(decoded.status == RCAP_STATUS_OK, decoded.text);
    CHECK(difference(*decoded.record, *record) == "");
    CHECK(decoded.consumed % 8 == 0);
    at += static_cast<std::size_t>(decoded.consumed);
  }
  CHECK(at == file.size());
}

TEST_CASE("a truncated last frame is told, and the ones before it are read") {
  const RecordPtr record = make_record(large_shape(), 4);
  const Text frame = encode(*record, RCAP_WIRE_FRAME).bytes;
  Text file = frame;
  append(file, frame);
  file.resize(file.size() - 1);
  const DecodedRecord first = decode(RCAP_WIRE_FRAME, file, hints());
  REQUIRE(first.status == RCAP_STATUS_OK);
  CHECK(difference(*first.record, *record) == "");
  const DecodedRecord second = decode(RCAP_WIRE_FRAME, Text(file.begin() + first.consumed, file.end()), hints());
  CHECK(second.status == RCAP_STATUS_CORRUPT);
  CHECK(second.text == "frame: truncated: " + std::to_string(frame.size() - 1) + " bytes are there, " + std::to_string(frame.size()) + " are needed");
}

TEST_CASE("a frame as text is one frame, with at most a line end behind it") {
  const RecordPtr record = make_record({}, 5);
  const Text text = encode(*record, RCAP_WIRE_FRAME_BASE64).bytes;
  for (const std::string_view behind : {"\n", "\r\n"}) {
    Text line = text;
    append(line, text_of(behind));
    const DecodedRecord decoded = decode(RCAP_WIRE_FRAME_BASE64, line, hints());
    REQUIRE_MESSAGE(decoded.status == RCAP_STATUS_OK, decoded.text);
    CHECK(decoded.consumed == static_cast<std::int64_t>(line.size()));
  }
  Text two = text;
  append(two, text);
  CHECK(decode(RCAP_WIRE_FRAME_BASE64, two, hints()).status == RCAP_STATUS_CORRUPT);
  Text odd = text;
  odd[10] = std::byte{'!'};
  const DecodedRecord bad = decode(RCAP_WIRE_FRAME_BASE64, odd, hints());
  CHECK(bad.status == RCAP_STATUS_CORRUPT);
  CHECK(bad.text.find("at byte 10") != std::string::npos);
}

TEST_CASE("compressed parts are smaller, and no smaller than what a reader takes") {
  Shape shape;
  shape.rows = 100000;
  shape.num_experts = 256;
  const RecordPtr full = make_record(shape, 6);
  auto record = std::make_unique<Record>(full->geometry());
  record->canonicalize();  // 400000 bytes of 0xFF
  rcap_encode_options compressed = options();
  compressed.zstd_level = 3;
  const Encoded frame = encode(*record, RCAP_WIRE_FRAME, compressed);
  for (const FramePart& part : parts_of(frame.bytes)) {
    CHECK(number_at<std::int64_t>(frame.bytes, part.table_at + 16) <= 256 * static_cast<std::int64_t>(part.bytes));
  }
  CHECK(frame.bytes.size() < 3000);
  const DecodedRecord decoded = decode(RCAP_WIRE_FRAME, frame.bytes, hints());
  REQUIRE_MESSAGE(decoded.status == RCAP_STATUS_OK, decoded.text);
  CHECK(difference(*decoded.record, *record) == "");
  keep_frame("skippable", *record, frame.bytes);
}

TEST_CASE("a reader sets what stands in missing cells, whatever a writer put there") {
  Shape shape;
  shape.rows = 40;
  shape.holes = Holes::kCells;
  shape.weights_dtype = RCAP_DTYPE_FLOAT32;
  const RecordPtr record = make_record(shape, 7);
  Text frame = encode(*record, RCAP_WIRE_FRAME).bytes;
  const std::vector<FramePart> parts = parts_of(frame);
  REQUIRE(parts.size() == 5);
  for (std::int64_t cell = 0; cell < 80; ++cell) {
    if (record->cell_valid(cell / 2, cell % 2)) continue;
    frame[parts[3].at + static_cast<std::size_t>(cell) * 2] = std::byte{0x55};
    frame[parts[4].at + static_cast<std::size_t>(cell) * 8] = std::byte{0x55};
  }
  seal(frame);
  const DecodedRecord decoded = decode(RCAP_WIRE_FRAME, frame, hints());
  REQUIRE_MESSAGE(decoded.status == RCAP_STATUS_OK, decoded.text);
  CHECK(difference(*decoded.record, *record) == "");
}
