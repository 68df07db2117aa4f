// SPDX-License-Identifier: Apache-2.0
// R38: decode(encode(x)) == x, for every form that can hold x, and for the others what they can hold of it.
#include <doctest/doctest.h>

#include <algorithm>

#include "files.h"

using namespace wire_test;

namespace {

constexpr std::int32_t kExperts[] = {1, 2, 127, 128, 129, 255, 256, 257, 384, 512, 896, 32768, 65535, 65536, 65537};
constexpr std::int32_t kWeights[] = {RCAP_DTYPE_NONE, RCAP_DTYPE_FLOAT16, RCAP_DTYPE_BFLOAT16, RCAP_DTYPE_FLOAT32};

/// Calls with every record of the table; `number` counts them.
template <class Call>
void for_every_record(Call&& call) {
  int number = 0;
  for (const std::int32_t experts : kExperts) {
    for (std::int32_t top_k = 1; top_k <= std::min(22, experts); ++top_k) {
      for (const std::int64_t rows : {0, 1, 9}) {
        for (const bool one_layer : {true, false}) {
          for (const Holes holes : {Holes::kNone, Holes::kRows, Holes::kCells}) {
            Shape shape;
            shape.num_experts = experts;
            shape.top_k = top_k;
            shape.rows = rows;
            shape.layer_ids = one_layer ? std::vector<std::int32_t>{3} : std::vector<std::int32_t>{1, 4, 5};
            shape.holes = holes;
            shape.weights_dtype = kWeights[number % 4];
            shape.weights_kind = number % 3;
            shape.start = number % 5;
            ++number;
            const RecordPtr record = make_record(shape, static_cast<std::uint64_t>(number));
            CAPTURE(experts);
            CAPTURE(top_k);
            CAPTURE(rows);
            CAPTURE(one_layer);
            CAPTURE(static_cast<int>(holes));
            CAPTURE(number);
            call(*record, number);
          }
        }
      }
    }
  }
  CHECK(number == 15 * 22 * 18 - (21 + 20) * 18);  // all but the K that are above E
}

void check_decodes(const Encoded& encoded, std::int32_t format, const Record& expected, const rcap_decode_hints& hints) {
  REQUIRE_MESSAGE(encoded.status == RCAP_STATUS_OK, encoded.text);
  const DecodedRecord decoded = decode(format, encoded.bytes, hints, expected.geometry().layer_ids);
  REQUIRE_MESSAGE(decoded.status == RCAP_STATUS_OK, decoded.text);
  CHECK(decoded.consumed == static_cast<std::int64_t>(encoded.bytes.size()));
  CHECK(difference(*decoded.record, expected) == "");
}

bool has_holes(const Record& record) { return difference(*foreign_view(record), *filled_view(record, 0)) != ""; }

rcap_encode_options with(std::int32_t dtype, std::int32_t missing, std::int32_t fill_id = 0) {
  rcap_encode_options made = options();
  made.dtype = dtype;
  made.missing = missing;
  made.fill_id = fill_id;
  return made;
}

/// A flat form in one dtype: -1 and a fill pattern where there are holes.
void check_flat(const Record& record, std::int32_t format, std::int32_t dtype, bool is_signed) {
  rcap_decode_hints known = hints_of(record);
  if (format == RCAP_WIRE_SGLANG) known.dtype = dtype;
  const bool holes = has_holes(record);
  if (holes) {
    CHECK(encode(record, format, with(dtype, RCAP_MISSING_REFUSE)).status == RCAP_STATUS_OUT_OF_RANGE);
    const std::int32_t fill_id = record.geometry().num_experts - 1;
    check_decodes(encode(record, format, with(dtype, RCAP_MISSING_FILL, fill_id)), format, *filled_view(record, fill_id), known);
  } else {
    check_decodes(encode(record, format, with(dtype, RCAP_MISSING_REFUSE)), format, *foreign_view(record), known);
  }
  const Encoded minus_one = encode(record, format, with(dtype, RCAP_MISSING_MINUS_ONE));
  if (is_signed) {
    check_decodes(minus_one, format, *foreign_view(record), known);
  } else {
    CHECK(minus_one.status == RCAP_STATUS_UNSUPPORTED);
  }
}

}  // namespace

TEST_CASE("R38: a frame gives back the record, as bytes, as text and compressed") {
  for_every_record([](const Record& record, int number) {
    const Encoded frame = encode(record, RCAP_WIRE_FRAME);
    check_decodes(frame, RCAP_WIRE_FRAME, record, hints());
    check_decodes(encode(record, RCAP_WIRE_FRAME_BASE64), RCAP_WIRE_FRAME_BASE64, record, hints());
    if (number % 7 == 0) {
      rcap_encode_options compressed = options();
      compressed.zstd_level = 1 + number % 19;
      const Encoded small = encode(record, RCAP_WIRE_FRAME, compressed);
      check_decodes(small, RCAP_WIRE_FRAME, record, hints_of(record));
      check_decodes(encode(record, RCAP_WIRE_FRAME_BASE64, compressed), RCAP_WIRE_FRAME_BASE64, record, hints());
      if (number % 63 == 0) keep_frame("compressed-" + std::to_string(number), record, small.bytes);
    }
    if (number % 61 == 0) keep_frame("table-" + std::to_string(number), record, frame.bytes);
  });
}

TEST_CASE("R38: sglang gives back ids and holes in every dtype that holds them") {
  for_every_record([](const Record& record, int) {
    const std::int32_t experts = record.geometry().num_experts;
    check_flat(record, RCAP_WIRE_SGLANG, RCAP_DTYPE_INT32, true);
    if (experts <= 65536) check_flat(record, RCAP_WIRE_SGLANG, RCAP_DTYPE_UINT16, false);
    if (experts <= 256) check_flat(record, RCAP_WIRE_SGLANG, RCAP_DTYPE_UINT8, false);
  });
}

TEST_CASE("R38: npy gives back ids and holes in every dtype that holds them") {
  for_every_record([](const Record& record, int) {
    const std::int32_t experts = record.geometry().num_experts;
    check_flat(record, RCAP_WIRE_NPY, RCAP_DTYPE_INT64, true);
    check_flat(record, RCAP_WIRE_NPY, RCAP_DTYPE_INT32, true);
    if (experts <= 65536) check_flat(record, RCAP_WIRE_NPY, RCAP_DTYPE_UINT16, false);
    if (experts <= 32768) check_flat(record, RCAP_WIRE_NPY, RCAP_DTYPE_INT16, true);
    if (experts <= 256) check_flat(record, RCAP_WIRE_NPY, RCAP_DTYPE_UINT8, false);
    check_flat(record, RCAP_WIRE_NPY, RCAP_DTYPE_NONE, true);
  });
}

TEST_CASE("R38: vllm gives back ids and holes") {
  for_every_record([](const Record& record, int) {
    check_flat(record, RCAP_WIRE_VLLM, RCAP_DTYPE_NONE, true);
    check_flat(record, RCAP_WIRE_VLLM, RCAP_DTYPE_INT32, true);
  });
}

TEST_CASE("R38: prime gives back ids; its dtypes are unsigned and know no holes") {
  for_every_record([](const Record& record, int) { check_flat(record, RCAP_WIRE_PRIME, RCAP_DTYPE_NONE, record.geometry().num_experts > 65536); });
}

TEST_CASE("R38: lists give back ids and holes") {
  for_every_record([](const Record& record, int) { check_flat(record, RCAP_WIRE_LISTS, RCAP_DTYPE_NONE, true); });
}

TEST_CASE("R38: nemo gives back ids and missing rows; single layers that are missing are the caller's choice") {
  for_every_record([](const Record& record, int) {
    const RecordPtr expected = foreign_view(record);
    const Encoded natural = encode(record, RCAP_WIRE_NEMO);
    if (expected->geometry().has_cells) {
      CHECK(natural.status == RCAP_STATUS_OUT_OF_RANGE);
      CHECK(encode(record, RCAP_WIRE_NEMO, with(RCAP_DTYPE_NONE, RCAP_MISSING_MINUS_ONE)).status == RCAP_STATUS_UNSUPPORTED);
      check_decodes(encode(record, RCAP_WIRE_NEMO, with(RCAP_DTYPE_NONE, RCAP_MISSING_FILL)), RCAP_WIRE_NEMO, *filled_view(record, 0),
                    hints_of(record));
    } else {
      check_decodes(natural, RCAP_WIRE_NEMO, *expected, hints_of(record));
    }
  });
}

TEST_CASE("R38: a CSV gives back all but weight versions") {
  for_every_record([](const Record& record, int) {
    auto expected = std::make_unique<Record>(record.geometry());
    expected->copy_rows(record, 0, record.geometry().rows, 0);
    expected->canonicalize();
    expected->set_versions(std::vector<std::int64_t>(static_cast<std::size_t>(record.geometry().rows), 0));
    const Encoded csv = encode(record, RCAP_WIRE_CSV);
    check_decodes(csv, RCAP_WIRE_CSV, *expected, hints());
    check_decodes(csv, RCAP_WIRE_CSV, *expected, hints_of(record));
  });
}
