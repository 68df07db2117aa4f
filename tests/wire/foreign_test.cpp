// SPDX-License-Identifier: Apache-2.0
// Foreign forms as other programs write them, and what is wrong with them told at its place.
#include <doctest/doctest.h>

#include <utility>

#include "case.h"

using namespace wire_test;

namespace {

rcap_decode_hints known(std::int32_t num_experts = 8) {
  rcap_decode_hints made = hints();
  made.start = 0;
  made.num_experts = num_experts;
  return made;
}

Outcome outcome(std::int32_t format, std::string_view text, const rcap_decode_hints& told = known()) {
  const DecodedRecord decoded = decode(format, text_of(text), told);
  return {decoded.status, decoded.text};
}

/// Ids as the record has them, -1 for missing cells.
std::vector<std::int32_t> ids_of(const Record& record) {
  const std::string text = [&] {
    rcap_encode_options chosen = options();
    chosen.missing = RCAP_MISSING_MINUS_ONE;
    return string_of(encode(record, RCAP_WIRE_LISTS, chosen).bytes);
  }();
  std::vector<std::int32_t> ids;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t length = 1;
    if (text[at] == '-' || (text[at] >= '0' && text[at] <= '9')) ids.push_back(std::stoi(text.substr(at), &length));
    at += length;
  }
  return ids;
}

}  // namespace

TEST_CASE("R7: cells of -1 are missing cells, rows of them missing rows, and -1 in a part of a cell is corrupt") {
  const DecodedRecord decoded = decode(RCAP_WIRE_LISTS, text_of("[[[1,2],[3,4]],[[-1,-1],[-1,-1]],[[5,6],[-1,-1]]]"), known());
  REQUIRE_MESSAGE(decoded.status == RCAP_STATUS_OK, decoded.text);
  CHECK(ids_of(*decoded.record) == std::vector<std::int32_t>{1, 2, 3, 4, -1, -1, -1, -1, 5, 6, -1, -1});
  CHECK(decoded.record->row_valid(0));
  CHECK_FALSE(decoded.record->row_valid(1));
  CHECK(decoded.record->row_valid(2));
  CHECK(decoded.record->geometry().has_cells);
  CHECK(decoded.record->geometry().layer_flags == std::vector<std::int32_t>{0, 0});
  const DecodedRecord rows = decode(RCAP_WIRE_LISTS, text_of("[[[1,2],[3,4]],[[-1,-1],[-1,-1]]]"), known());
  CHECK_FALSE(rows.record->geometry().has_cells);
  const Outcome partial = outcome(RCAP_WIRE_LISTS, "[[[1,2],[3,4]],[[1,2],[-1,4]]]");
  CHECK(partial.status == RCAP_STATUS_CORRUPT);
  CHECK(partial.text == "lists: row 1, layer 1 is -1 in 1 of its 2 columns");
}

TEST_CASE("nemo: a row of -1 is missing, and a row that is -1 in a part is corrupt") {
  const auto nemo = [](std::string_view base64) { return "nrlre1:int8:2x2x1:" + std::string(base64); };
  const DecodedRecord decoded = decode(RCAP_WIRE_NEMO, text_of(nemo("AQL//w==")), known());
  REQUIRE_MESSAGE(decoded.status == RCAP_STATUS_OK, decoded.text);
  CHECK(ids_of(*decoded.record) == std::vector<std::int32_t>{1, 2, -1, -1});
  const Outcome partial = outcome(RCAP_WIRE_NEMO, nemo("AQL/Ag=="));
  CHECK(partial.status == RCAP_STATUS_CORRUPT);
  CHECK(partial.text == "nemo: row 1 is -1 in 1 of its 2 layers");
}

TEST_CASE("ids outside [0, E) are named by row and layer") {
  CHECK(outcome(RCAP_WIRE_LISTS, "[[[1,2],[3,4]],[[5,6],[7,8]]]").status == RCAP_STATUS_OUT_OF_RANGE);
  CHECK(outcome(RCAP_WIRE_LISTS, "[[[1,2],[3,4]],[[5,6],[7,8]]]").text == "lists: row 1, layer 1 has id 8, num_experts is 8");
  CHECK(outcome(RCAP_WIRE_LISTS, "[[[1,-2],[3,4]]]").text == "lists: row 0, layer 0 has id -2, num_experts is 8");
  CHECK(outcome(RCAP_WIRE_NEMO, "nrlre1:int8:1x1x1:gA==").text == "nemo: row 0, layer 0 has id -128, num_experts is 8");
  CHECK(outcome(RCAP_WIRE_PRIME, R"({"data":"CA==","shape":[1,1,1],"start":0,"dtype":"uint8"})").text ==
        "prime: row 0, layer 0 has id 8, num_experts is 8");
  CHECK(outcome(RCAP_WIRE_PRIME, R"({"data":"/////////38=","shape":[1,1,1],"start":0,"dtype":"int64"})").status == RCAP_STATUS_OUT_OF_RANGE);
  CHECK(outcome(RCAP_WIRE_PRIME, R"({"data":"//////////8=","shape":[1,1,1],"start":0,"dtype":"uint64"})").status == RCAP_STATUS_OUT_OF_RANGE);
  CHECK(outcome(RCAP_WIRE_PRIME, R"({"data":"//////////8=","shape":[1,1,1],"start":0,"dtype":"int64"})").status == RCAP_STATUS_OK);
}

TEST_CASE("lists: what is wrong is told at its byte") {
  const std::pair<const char*, const char*> texts[] = {
      {"", "lists: '[' is missing at byte 0"},
      {"{}", "lists: '[' is missing at byte 0"},
      {"[[[1]]", "lists: ']' is missing at byte 6"},
      {"[[[1]]]]", "lists: something follows at byte 7"},
      {"[[[1]]]\n[[[1]]]", "lists: something follows at byte 8"},
      {"[[]]", "lists: '[' is missing at byte 2"},
      {"[[[]]]", "lists: a whole number is missing at byte 3"},
      {"[[[1,]]]", "lists: a whole number is missing at byte 5"},
      {"[[[01]]]", "lists: a number begins with 0 at byte 3"},
      {"[[[1.5]]]", "lists: a number is not whole at byte 4"},
      {"[[[1e2]]]", "lists: a number is not whole at byte 4"},
      {"[[[99999999999999999999]]]", "lists: a number is too large at byte 3"},
      {"[[[4294967296]]]", "lists: an id does not fit 32 bits, before at byte 13"},
      {"[[[1,2],[3]]]", "lists: a list has another number of ids than the first, before at byte 11"},
      {"[[[1],[2]],[[3]]]", "lists: a row has another number of layers than the first, before at byte 16"},
      {"[[[\"1\"]]]", "lists: a whole number is missing at byte 3"},
      {"[[[null]]]", "lists: a whole number is missing at byte 3"},
  };
  for (const auto& [text, told] : texts) {
    const Outcome got = outcome(RCAP_WIRE_LISTS, text);
    CHECK(got.status == RCAP_STATUS_CORRUPT);
    CHECK(got.text == told);
  }
}

TEST_CASE("prime: members in any order, unknown ones passed over, escapes understood") {
  const char* const good[] = {
      R"({"data":"AAE=","shape":[1,1,2],"start":0,"dtype":"uint8"})",
      R"( { "dtype" : "uint8" , "start" : 0 , "shape" : [ 1 , 1 , 2 ] , "data" : "AAE=" } )",
      R"({"a":{"b":[1,"]}",{"c":{}}],"d":null},"e":-1.5e3,"f":true,"g":[],"data":"AAE=","shape":[1,1,2],"start":0,"dtype":"uint8"})",
      R"({"\u0064ata":"AAE=","shape":[1,1,2],"start":0,"dtype":"uint8"})",
  };
  for (const char* text : good) {
    const DecodedRecord decoded = decode(RCAP_WIRE_PRIME, text_of(text), known());
    REQUIRE_MESSAGE(decoded.status == RCAP_STATUS_OK, decoded.text);
    CHECK(ids_of(*decoded.record) == std::vector<std::int32_t>{0, 1});
  }
  const DecodedRecord escaped = decode(RCAP_WIRE_PRIME, text_of(R"({"data":"\/w==","shape":[1,1,1],"start":3,"dtype":"uint8"})"), [] {
    rcap_decode_hints told = hints();
    told.num_experts = 256;
    return told;
  }());
  REQUIRE_MESSAGE(escaped.status == RCAP_STATUS_OK, escaped.text);
  CHECK(ids_of(*escaped.record) == std::vector<std::int32_t>{255});
  CHECK(escaped.record->geometry().start == 3);
}

TEST_CASE("prime: what is wrong is told") {
  const std::pair<const char*, std::int32_t> texts[] = {
      {"", RCAP_STATUS_CORRUPT},
      {"{}", RCAP_STATUS_CORRUPT},
      {R"({"data":"AAE="})", RCAP_STATUS_CORRUPT},
      {R"({"shape":[1,1,2]})", RCAP_STATUS_CORRUPT},
      {R"({"data":"AAE=","shape":[1,1,2],"start":0,"dtype":"uint8"})"
       "x",
       RCAP_STATUS_CORRUPT},
      {R"({"data":"AAE=","data":"AAE=","shape":[1,1,2],"start":0,"dtype":"uint8"})", RCAP_STATUS_CORRUPT},
      {R"({"data":"AAE=","shape":[1,1,2],"shape":[1,1,2],"start":0,"dtype":"uint8"})", RCAP_STATUS_CORRUPT},
      {R"({"data":"AAE=","shape":[1,1],"start":0,"dtype":"uint8"})", RCAP_STATUS_CORRUPT},
      {R"({"data":"AAE=","shape":[1,1,2,1],"start":0,"dtype":"uint8"})", RCAP_STATUS_CORRUPT},
      {R"({"data":"AAE=","shape":[1,-1,2],"start":0,"dtype":"uint8"})", RCAP_STATUS_CORRUPT},
      {R"({"data":"AAE=","shape":[1,0,2],"start":0,"dtype":"uint8"})", RCAP_STATUS_CORRUPT},
      {R"({"data":"AAE=","shape":[1,1,3],"start":0,"dtype":"uint8"})", RCAP_STATUS_CORRUPT},
      {R"({"data":"AAE=","shape":[1,1,2],"start":-1,"dtype":"uint8"})", RCAP_STATUS_CORRUPT},
      {R"({"data":"AAE=","shape":[1,1,2],"start":0,"dtype":"float16"})", RCAP_STATUS_UNSUPPORTED},
      {R"({"data":"AAE","shape":[1,1,2],"start":0,"dtype":"uint8"})", RCAP_STATUS_CORRUPT},
      {R"({"data":"AAE=","shape":[1,1,2],"start":0,"dtype":"uint8")", RCAP_STATUS_CORRUPT},
      {R"({"data":"AAE=)", RCAP_STATUS_CORRUPT},
      {R"({"data":"AAE=\)", RCAP_STATUS_CORRUPT},
      {R"({"data":"\u00e9","shape":[1,1,2],"start":0,"dtype":"uint8"})", RCAP_STATUS_CORRUPT},
      {R"({"a":[1,{],"data":"AAE=","shape":[1,1,2],"start":0,"dtype":"uint8"})", RCAP_STATUS_CORRUPT},
      {R"({"a":,"data":"AAE=","shape":[1,1,2],"start":0,"dtype":"uint8"})", RCAP_STATUS_CORRUPT},
  };
  for (const auto& given : texts) {
    const auto& text = given.first;
    CAPTURE(text);
    CHECK(outcome(RCAP_WIRE_PRIME, text).status == given.second);
  }
  CHECK(outcome(RCAP_WIRE_PRIME, R"({"data":"A*E=","shape":[1,1,2],"start":0,"dtype":"uint8"})").text.find("at byte 10") != std::string::npos);
  CHECK(outcome(RCAP_WIRE_PRIME, "{\"a\":" + std::string(100000, '[')).status == RCAP_STATUS_CORRUPT);
}

TEST_CASE("nemo: what is wrong is told") {
  const std::pair<const char*, const char*> texts[] = {
      {"", "nemo: it does not begin with nrlre1:"},
      {"nrlre2:int8:1x1x1:AA==", "nemo: it does not begin with nrlre1:"},
      {"nrlre1:", "nemo: a ':' is missing behind byte 7"},
      {"nrlre1:uint8:1x1x1:AA==", "nemo: dtype is 'uint8', known are int8, int16, int32 and int64"},
      {"nrlre1:int8:1x1:AA==", "nemo: a 'x' is missing behind byte 14"},
      {"nrlre1:int8:-1x1x1:", "nemo: no number at byte 12"},
      {"nrlre1:int8:x1x1:", "nemo: no number at byte 12"},
      {"nrlre1:int8:1x1x1 :AA==", "nemo: no number at byte 16"},
      {"nrlre1:int8:1x0x1:", "nemo: shape (1, 0, 1) is not rows >= 0, layers >= 1, top_k >= 1"},
      {"nrlre1:int8:2x1x1:AA==", "nemo: the array has 1 bytes, shape and dtype make it 2"},
      {"nrlre1:int8:99999999999999999999x1x1:", "nemo: no number at byte 12"},
  };
  for (const auto& [text, told] : texts) {
    const Outcome got = outcome(RCAP_WIRE_NEMO, text);
    CHECK(got.status == RCAP_STATUS_CORRUPT);
    CHECK(got.text == told);
  }
  CHECK(outcome(RCAP_WIRE_NEMO, "nrlre1:int8:1x1x1:A?==").text.find("at byte 19") != std::string::npos);
  CHECK(outcome(RCAP_WIRE_NEMO, "nrlre1:int8:1x1x1:AA==\n").status == RCAP_STATUS_OK);
  CHECK(outcome(RCAP_WIRE_NEMO, "nrlre1:int8:1x1x1:AA==\n\n").status == RCAP_STATUS_CORRUPT);
}

TEST_CASE("sglang: bytes that are no whole rows are told") {
  rcap_decode_hints told = known();
  told.num_layers = 2;
  told.top_k = 2;
  const Outcome odd = outcome(RCAP_WIRE_SGLANG, "AAAAAAEAAAA=", told);
  CHECK(odd.status == RCAP_STATUS_CORRUPT);
  CHECK(odd.text == "sglang: 8 bytes are no whole rows of 2 layers, 2 ids, 4 bytes each");
  CHECK(outcome(RCAP_WIRE_SGLANG, "", told).status == RCAP_STATUS_OK);
  CHECK(outcome(RCAP_WIRE_SGLANG, "AAAA AEAAAA=", told).text.find("at byte 4") != std::string::npos);
}

TEST_CASE("npy: what is wrong is told") {
  Shape shape;
  shape.top_k = 1;
  const RecordPtr record = make_record(shape, 1);
  const std::string good = string_of(encode(*record, RCAP_WIRE_NPY).bytes);
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
    // The header's length stays: spaces in front of its end go or come.
    const std::size_t end = text.find('\n');
    REQUIRE(end != std::string::npos);
    if (to.size() > from.size()) text.erase(end - (to.size() - from.size()), to.size() - from.size());
    if (to.size() < from.size()) text.insert(end, from.size() - to.size(), ' ');
    return outcome(RCAP_WIRE_NPY, text);
  };
  REQUIRE(outcome(RCAP_WIRE_NPY, good).status == RCAP_STATUS_OK);
  CHECK(with("'descr'", "\"descr\"").status == RCAP_STATUS_OK);
  CHECK(with("(3, 2, 1)", "(3, 2, 1, )").status == RCAP_STATUS_OK);
  CHECK(with("|u1", "<u1").status == RCAP_STATUS_OK);
  CHECK(with("|u1", ">u1").status == RCAP_STATUS_OK);
  CHECK(with("|u1", "|u2").status == RCAP_STATUS_UNSUPPORTED);
  CHECK(with("|u1", "<u4").status == RCAP_STATUS_CORRUPT);  // known, but then bytes lack
  CHECK(with("|u1", "|b1").status == RCAP_STATUS_UNSUPPORTED);
  CHECK(with("|u1", "|O").status == RCAP_STATUS_UNSUPPORTED);
  CHECK(with("'|u1'", "[('a', '|u1')]").status == RCAP_STATUS_CORRUPT);
  CHECK(with("False", "True").status == RCAP_STATUS_UNSUPPORTED);
  CHECK(with("False", "false").status == RCAP_STATUS_CORRUPT);
  CHECK(with("(3, 2, 1)", "(3, 2)").status == RCAP_STATUS_UNSUPPORTED);
  CHECK(with("(3, 2, 1)", "(3, 2, 1, 1)").status == RCAP_STATUS_UNSUPPORTED);
  CHECK(with("(3, 2, 1)", "(-3, 2, 1)").status == RCAP_STATUS_CORRUPT);
  CHECK(with("(3, 2, 1)", "(3, 0, 1)").status == RCAP_STATUS_CORRUPT);
  CHECK(with("(3, 2, 1)", "(4, 2, 1)").text == "npy: 6 bytes stand behind the header, shape and descr make it 8");
  CHECK(with("(3, 2, 1)", "[3, 2, 1]").status == RCAP_STATUS_CORRUPT);
  CHECK(with("'descr'", "'other'").status == RCAP_STATUS_CORRUPT);
  CHECK(with("'fortran_order'", "'descr'").status == RCAP_STATUS_CORRUPT);
  CHECK(with("}", "} x").status == RCAP_STATUS_CORRUPT);
  CHECK(outcome(RCAP_WIRE_NPY, good + "x").status == RCAP_STATUS_CORRUPT);
  std::string version = good;
  version[6] = 4;
  CHECK(outcome(RCAP_WIRE_NPY, version).status == RCAP_STATUS_UNSUPPORTED);
  version[6] = 1;
  version[7] = 1;
  CHECK(outcome(RCAP_WIRE_NPY, version).status == RCAP_STATUS_UNSUPPORTED);
}
