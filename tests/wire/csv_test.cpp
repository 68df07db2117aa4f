// SPDX-License-Identifier: Apache-2.0
// Traces as BigMoeOnEdge and llama.cpp's moe-trace write them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "case.h"
#include "wire/shape.h"

using namespace wire_test;

namespace {

DecodedRecord read(std::string_view text, const rcap_decode_hints& known = hints(), const std::vector<std::int32_t>& layer_ids = {}) {
  return decode(RCAP_WIRE_CSV, text_of(text), known, layer_ids);
}

constexpr std::string_view kHead = "# route_trace v1\n# model=/a path/m.gguf arch=x n_layer=9 n_expert=8 n_expert_used=2\n# layer=0 expert_bytes=1\n";
constexpr std::string_view kColumns = "turn,phase,step,layer,slot,expert,weight,residency,expert_bytes\n";

std::string trace(std::string_view lines) { return std::string(kHead) + std::string(kColumns) + std::string(lines); }

std::uint8_t id_at(const Record& record, std::int64_t row, std::int64_t column, std::int64_t rank) {
  return static_cast<std::uint8_t>(record.ids().data()[(row * record.geometry().layers() + column) * record.geometry().top_k + rank]);
}

float weight_at(const Record& record, std::int64_t element) {
  float weight = 0;
  std::memcpy(&weight, record.weights().data() + element * 4, sizeof weight);
  return weight;
}

}  // namespace

TEST_CASE("a trace of BigMoeOnEdge: layers and rows that occur, holes where lines lack") {
  const DecodedRecord decoded =
      read(trace("0,0,5,1,0,7,0.5,0,123\n0,0,5,1,1,3,0.25,1,0\n"  // layer 4 of step 5 lacks
                 "0,1,8,1,0,1,nan,0,0\n0,1,8,1,1,2,1e-3,0,0\n0,1,8,4,1,5,0.125,0,0\n0,1,8,4,0,6,1,0,0\n"));
  REQUIRE_MESSAGE(decoded.status == RCAP_STATUS_OK, decoded.text);
  const routecap::RecordGeometry& geometry = decoded.record->geometry();
  CHECK(geometry.start == 5);
  CHECK(geometry.rows == 4);
  CHECK(geometry.num_experts == 8);
  CHECK(geometry.top_k == 2);
  CHECK(geometry.layer_ids == std::vector<std::int32_t>{1, 4});
  CHECK(geometry.layer_flags == std::vector<std::int32_t>{0, 0});
  CHECK(geometry.weights_dtype == RCAP_DTYPE_FLOAT32);
  CHECK(decoded.record->rows_valid() == 2);
  CHECK(decoded.record->cell_valid(0, 0));
  CHECK_FALSE(decoded.record->cell_valid(0, 1));
  CHECK(decoded.record->cell_valid(3, 1));
  CHECK(id_at(*decoded.record, 0, 0, 0) == 7);
  CHECK(id_at(*decoded.record, 3, 1, 0) == 6);
  CHECK(id_at(*decoded.record, 3, 1, 1) == 5);
  CHECK(id_at(*decoded.record, 1, 0, 0) == 0xFF);
  CHECK(weight_at(*decoded.record, 0) == 0.5F);
  CHECK(std::isnan(weight_at(*decoded.record, 12)));
  CHECK(weight_at(*decoded.record, 13) == 1e-3F);
}

TEST_CASE("a trace of llama.cpp: other names and order, no weights, E from the hint") {
  rcap_decode_hints known = hints();
  known.num_experts = 500;
  const DecodedRecord decoded =
      read("phase,token,layer,rank,expert\r\nprefill,0,3,0,499\r\nprefill,0,3,1,2\r\ndecode,1,3,1,4\r\ndecode,1,3,0,5\r\n", known);
  REQUIRE_MESSAGE(decoded.status == RCAP_STATUS_OK, decoded.text);
  CHECK(decoded.record->geometry().top_k == 2);
  CHECK(decoded.record->geometry().weights_dtype == RCAP_DTYPE_NONE);
  CHECK(decoded.record->geometry().ids_dtype == RCAP_DTYPE_UINT16);
  CHECK(decoded.record->rows_valid() == 2);
  const DecodedRecord lacking = read("phase,token,layer,rank,expert\nprefill,0,3,0,499\n");
  CHECK(lacking.status == RCAP_STATUS_INVALID_ARGUMENT);
  CHECK(lacking.text.find("hint num_experts is needed") != std::string::npos);
}

TEST_CASE("a trace that cannot tell rows apart is refused") {
  const DecodedRecord decoded = read("layer,expert\n0,1\n");
  CHECK(decoded.status == RCAP_STATUS_CORRUPT);
  CHECK(decoded.text == "csv: the columns step (or token), layer, slot (or rank) and expert are not all there, line 1, at byte 0");
}

TEST_CASE("turns: the only one is read, of several the hint's") {
  const std::string two = trace("0,0,0,1,0,7,1,0,0\n0,0,0,1,1,3,1,0,0\n1,0,0,1,0,4,1,0,0\n1,0,0,1,1,5,1,0,0\n1,1,1,1,0,4,1,0,0\n1,1,1,1,1,5,1,0,0\n");
  const DecodedRecord unsaid = read(two);
  CHECK(unsaid.status == RCAP_STATUS_INVALID_ARGUMENT);
  CHECK(unsaid.text == "csv: the trace has the turns 0 and 1, the hint turn is needed");
  rcap_decode_hints known = hints();
  known.turn = 1;
  const DecodedRecord one = read(two, known);
  REQUIRE_MESSAGE(one.status == RCAP_STATUS_OK, one.text);
  CHECK(one.record->geometry().rows == 2);
  CHECK(id_at(*one.record, 0, 0, 0) == 4);
  known.turn = 2;
  CHECK(read(two, known).text == "csv: hint turn is 2, no line has it");
  CHECK(read("step,layer,slot,expert\n0,0,0,0\n", known).text == "csv: hint turn is 2, the trace has no column turn");
}

TEST_CASE("hints add rows and layers without lines, and must not leave out any that have one") {
  const std::string text = trace("0,0,5,4,0,7,1,0,0\n0,0,5,4,1,3,1,0,0\n");
  rcap_decode_hints known = hints();
  known.start = 2;
  known.rows = 10;
  const DecodedRecord wide = read(text, known, {1, 4, 6});
  REQUIRE_MESSAGE(wide.status == RCAP_STATUS_OK, wide.text);
  CHECK(wide.record->geometry().rows == 10);
  CHECK(wide.record->rows_valid() == 1);
  CHECK(wide.record->cell_valid(3, 1));
  CHECK_FALSE(wide.record->cell_valid(3, 0));
  known.num_layers = 5;
  CHECK(read(text, known).record->geometry().layer_ids == std::vector<std::int32_t>{0, 1, 2, 3, 4});
  known.num_layers = 4;
  CHECK(read(text, known).text == "csv: step 5 has layer 4, the layers (hint or comment) do not");
  known = hints();
  known.start = 6;
  CHECK(read(text, known).text == "csv: hint start is 6, the bytes have 5");
  known = hints();
  known.rows = 0;
  CHECK(read(text, known).text == "csv: hint rows is 0, the bytes have 1");
  known = hints();
  known.top_k = 3;
  CHECK(read(text, known).text == "csv: hint top_k is 3, the bytes have 2");
}

TEST_CASE("a trace without a line is a record without rows where hints say the rest") {
  rcap_decode_hints known = hints();
  known.start = 3;
  known.num_layers = 2;
  const DecodedRecord decoded = read(trace(""), known);
  REQUIRE_MESSAGE(decoded.status == RCAP_STATUS_OK, decoded.text);
  CHECK(decoded.record->geometry().rows == 0);
  CHECK(read(trace("")).text.find("is needed") != std::string::npos);
}

TEST_CASE("what is wrong is told with line and byte") {
  const auto line_at = [](std::string_view lines) {
    const DecodedRecord decoded = read(trace(lines));
    CHECK(decoded.status == RCAP_STATUS_CORRUPT);
    return decoded.text;
  };
  const std::size_t before = kHead.size() + kColumns.size();
  CHECK(line_at("0,0,0,1,0,x,1,0,0\n") == "csv: a number is missing, line 5, at byte " + std::to_string(before + 10));
  CHECK(line_at("0,0,0,1,0,1,1,0,0\n0,0\n") ==
        "csv: a line has too few columns or something that is no number, line 6, at byte " + std::to_string(before + 21));
  CHECK(line_at("0,0,0,1,0,1,1,0,0,0\n") ==
        "csv: a line has too many columns or something that is no number, line 5, at byte " + std::to_string(before + 17));
  CHECK(line_at("0,0,-1,1,0,1,1,0,0\n").find("a number is missing") != std::string::npos);
  CHECK(line_at("0,0,99999999999999999999,1,0,1,1,0,0\n").find("a number is too large") != std::string::npos);
  CHECK(line_at("0,0,0,2147483648,0,1,1,0,0\n").find("a number is too large") != std::string::npos);
  CHECK(line_at("0,0,0,1,0,1,,0,0\n").find("a weight is missing") != std::string::npos);
  CHECK(line_at("0,0,0,1,0,1,1e99,0,0\n").find("a weight is too large") != std::string::npos);
  CHECK(line_at("0,0,0,1,0,1,1,0,0\n") == "csv: step 0, layer 1 has 1 of 2 ranks");
  CHECK(line_at("0,0,0,1,0,1,1,0,0\n0,0,0,1,0,2,1,0,0\n") == "csv: step 0, layer 1, rank 0 stands twice");
  CHECK(line_at("0,0,0,1,2,1,1,0,0\n") == "csv: step 0, layer 1 has rank 2, top_k is 2");
  CHECK(read(trace("0,0,0,1,0,8,1,0,0\n0,0,0,1,1,1,1,0,0\n")).text == "csv: step 0, layer 1 has id 8, num_experts is 8");
  CHECK(read("").text == "csv: there is no line of column names");
  CHECK(read("# only\n# comments").text == "csv: there is no line of column names");
  CHECK(read("step,layer,slot,expert,layer\n").text == "csv: a column stands twice, line 1, at byte 0");
  CHECK(read("# n_expert=many\nstep,layer,slot,expert\n").text == "csv: a comment has no number where one belongs, line 1, at byte 0");
  CHECK(read("# routecap layers=4,2 start=0 rows=0\n# n_expert=4 n_expert_used=1\nstep,layer,slot,expert\n").text ==
        "csv: layer 2 stands after 4 in a comment, layers must ascend");
  CHECK(read("# routecap layers=2,4 flags=1\n# n_expert=4 n_expert_used=1\nstep,layer,slot,expert\n").text ==
        "csv: 1 flags for 2 layers in a comment");
  CHECK(read("# routecap layers=2 flags=8\n# n_expert=4 n_expert_used=1\nstep,layer,slot,expert\n").text ==
        "csv: a comment has layer flags 8, known bits are 7");
}

TEST_CASE("a last line without an end is read") {
  const DecodedRecord decoded = read("# n_expert=8\nstep,layer,slot,expert\n0,0,0,7");
  REQUIRE_MESSAGE(decoded.status == RCAP_STATUS_OK, decoded.text);
  CHECK(id_at(*decoded.record, 0, 0, 0) == 7);
}

TEST_CASE("a trace of ours that was cut within a line is refused, and cut anywhere it never gives an id that was not captured") {
  Shape shape;
  shape.rows = 5;
  shape.layer_ids = {2, 7};
  shape.top_k = 2;
  shape.num_experts = 256;
  const RecordPtr whole = make_record(shape, 4);
  const Text text = encode(*whole, RCAP_WIRE_CSV).bytes;
  REQUIRE(text.back() == static_cast<std::byte>('\n'));
  const std::string all = string_of(text);
  const std::size_t facts = all.find("# routecap ");
  REQUIRE(facts != std::string::npos);
  for (std::size_t size = facts + 11; size < text.size(); ++size) {
    CAPTURE(size);
    const DecodedRecord cut = decode(RCAP_WIRE_CSV, Text(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(size)), hints());
    if (all[size - 1] != '\n') {
      CHECK(cut.status != RCAP_STATUS_OK);
      continue;
    }
    if (cut.status != RCAP_STATUS_OK) continue;
    REQUIRE(cut.record->geometry().rows == 5);
    for (std::int64_t row = 0; row < 5; ++row) {
      for (std::int64_t column = 0; column < 2; ++column) {
        if (!cut.record->cell_valid(row, column)) continue;
        for (std::int64_t rank = 0; rank < 2; ++rank) CHECK(id_at(*cut.record, row, column, rank) == id_at(*whole, row, column, rank));
      }
    }
  }
  const std::string last = all.substr(0, all.size() - 1);
  CHECK(read(last).text == "csv: the last line of a trace that routecap wrote has no end, the text was cut, line " +
                               std::to_string(std::count(all.begin(), all.end(), '\n')) + ", at byte " + std::to_string(last.size()));
}

TEST_CASE("turn and phase are written as asked") {
  Shape shape;
  shape.rows = 3;
  shape.start = 10;
  shape.layer_ids = {4};
  shape.top_k = 1;
  rcap_encode_options chosen = options();
  chosen.turn = 5;
  chosen.decode_start = 11;
  const std::string text = string_of(encode(*make_record(shape, 1), RCAP_WIRE_CSV, chosen).bytes);
  CHECK(text.find("\n5,0,10,4,0,7\n5,1,11,4,0,") != std::string::npos);
  chosen.decode_start = -1;
  CHECK(string_of(encode(*make_record(shape, 1), RCAP_WIRE_CSV, chosen).bytes).find("\n5,0,12,4,0,") != std::string::npos);
}

TEST_CASE("R38: a record that is nearly all holes comes back from the trace that we write of it, without any hint") {
  for (const std::int32_t weights : {RCAP_DTYPE_NONE, RCAP_DTYPE_FLOAT32}) {
    for (const std::int64_t rows : {200, 5000, 60000}) {
      CAPTURE(rows);
      Shape shape;
      shape.rows = rows;
      shape.weights_dtype = weights;
      const RecordPtr full = make_record(shape, 3);
      auto record = std::make_unique<Record>(full->geometry());
      record->copy_rows(*full, rows / 2, 1, rows / 2);
      record->canonicalize();
      record->spans() = {{record->geometry().start}, {0}};
      const Text text = encode(*record, RCAP_WIRE_CSV).bytes;
      CHECK(static_cast<std::int64_t>(text.size()) < routecap::wire::record_bytes(record->geometry()) / 60 + 20000);
      const DecodedRecord again = decode(RCAP_WIRE_CSV, text, hints());
      REQUIRE_MESSAGE(again.status == RCAP_STATUS_OK, again.text);
      CHECK(difference(*again.record, *record) == "");
    }
  }
}

TEST_CASE("a trace of next to nothing but holes is read where the hints name its size, and refused with numbers where they do not") {
  const Text text = text_of("# n_expert=9\nstep,layer,slot,expert\n3,4,0,7\n199999,4,0,8\n");
  rcap_decode_hints known = hints();
  known.start = 0;
  known.rows = 200000;
  known.num_layers = 0;
  const DecodedRecord refused = decode(RCAP_WIRE_CSV, text, known, {4, 9, 14, 19});
  CHECK(refused.status == RCAP_STATUS_OUT_OF_RANGE);
  CHECK(refused.text == "csv: the record would take 1200000 bytes, too many for " + std::to_string(text.size()) +
                            " bytes of input (64 times and 1 MiB) without the hints rows, layers and top_k");
  known.top_k = 1;
  const DecodedRecord read = decode(RCAP_WIRE_CSV, text, known, {4, 9, 14, 19});
  REQUIRE_MESSAGE(read.status == RCAP_STATUS_OK, read.text);
  CHECK(read.record->geometry().rows == 200000);
  CHECK(read.record->rows_valid() == 2);
  CHECK(read.record->row_valid(3));
  CHECK(read.record->row_valid(199999));
  // Sizes that cannot be had, whoever names them.
  known.rows = INT64_MAX;
  known.start = 0;
  CHECK(decode(RCAP_WIRE_CSV, text, known, {4, 9, 14, 19}).status == RCAP_STATUS_OUT_OF_RANGE);
}
