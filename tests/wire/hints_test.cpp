// SPDX-License-Identifier: Apache-2.0
// A decoder never guesses: what neither bytes nor hints say is named, and so is what both say differently.
#include <doctest/doctest.h>

#include "case.h"

using namespace wire_test;

namespace {

struct Hint {
  const char* name;
  void (*take)(rcap_decode_hints&);
  void (*change)(rcap_decode_hints&);
};

const Hint kStart{"start", [](rcap_decode_hints& known) { known.start = -1; }, [](rcap_decode_hints& known) { ++known.start; }};
const Hint kRows{"rows", [](rcap_decode_hints& known) { known.rows = -1; }, [](rcap_decode_hints& known) { ++known.rows; }};
const Hint kExperts{"num_experts", [](rcap_decode_hints& known) { known.num_experts = 0; }, [](rcap_decode_hints& known) { ++known.num_experts; }};
const Hint kTopK{"top_k", [](rcap_decode_hints& known) { known.top_k = 0; }, [](rcap_decode_hints& known) { ++known.top_k; }};
const Hint kLayers{"num_layers", [](rcap_decode_hints& known) { known.num_layers = 0; }, [](rcap_decode_hints& known) { ++known.num_layers; }};

struct Form {
  std::int32_t format;
  std::vector<Hint> needed;
  std::vector<Hint> carried;
};

const std::vector<Form>& forms() {
  static const std::vector<Form> kForms = {
      {RCAP_WIRE_FRAME, {}, {kStart, kRows, kExperts, kTopK, kLayers}}, {RCAP_WIRE_FRAME_BASE64, {}, {kStart, kRows, kExperts, kTopK, kLayers}},
      {RCAP_WIRE_SGLANG, {kStart, kExperts, kTopK, kLayers}, {kRows}},  {RCAP_WIRE_VLLM, {kStart, kExperts}, {kRows, kTopK, kLayers}},
      {RCAP_WIRE_NPY, {kStart, kExperts}, {kRows, kTopK, kLayers}},     {RCAP_WIRE_PRIME, {kExperts}, {kStart, kRows, kTopK, kLayers}},
      {RCAP_WIRE_NEMO, {kStart, kExperts}, {kRows, kTopK, kLayers}},    {RCAP_WIRE_LISTS, {kStart, kExperts}, {kRows, kTopK, kLayers}},
      {RCAP_WIRE_CSV, {}, {kStart, kRows, kExperts, kTopK, kLayers}},
  };
  return kForms;
}

}  // namespace

TEST_CASE("a hint that is needed and missing is named; one that is carried may be left out, and must agree") {
  const RecordPtr record = make_record({}, 1);
  for (const Form& form : forms()) {
    CAPTURE(form.format);
    const Text bytes = encode(*record, form.format).bytes;
    for (const Hint& hint : form.needed) {
      rcap_decode_hints known = hints_of(*record);
      hint.take(known);
      const DecodedRecord decoded = decode(form.format, bytes, known);
      CHECK(decoded.status == RCAP_STATUS_INVALID_ARGUMENT);
      CHECK(decoded.text.find(std::string("hint ") + hint.name) != std::string::npos);
      CHECK(decoded.text.find("is needed") != std::string::npos);
    }
    rcap_decode_hints least = hints_of(*record);
    for (const Hint& hint : form.carried) {
      hint.take(least);
      rcap_decode_hints known = hints_of(*record);
      hint.change(known);
      const DecodedRecord decoded = decode(form.format, bytes, known);
      CAPTURE(hint.name);
      CHECK(decoded.status == RCAP_STATUS_INVALID_ARGUMENT);
      CHECK(decoded.text.find(std::string("hint ") + hint.name) != std::string::npos);
    }
    CHECK(decode(form.format, bytes, least).status == RCAP_STATUS_OK);
  }
}

TEST_CASE("an empty list carries rows alone") {
  Shape shape;
  shape.rows = 0;
  const RecordPtr record = make_record(shape, 1);
  const Text bytes = encode(*record, RCAP_WIRE_LISTS).bytes;
  CHECK(string_of(bytes) == "[]");
  for (const Hint& hint : {kExperts, kTopK, kLayers, kStart}) {
    rcap_decode_hints known = hints_of(*record);
    hint.take(known);
    CHECK(decode(RCAP_WIRE_LISTS, bytes, known).text.find(std::string("hint ") + hint.name) != std::string::npos);
  }
  CHECK(difference(*decode(RCAP_WIRE_LISTS, bytes, hints_of(*record)).record, *record) == "");
}

TEST_CASE("dtype: sglang takes it from the hint, the others must agree with it") {
  Shape shape;
  shape.num_experts = 8;
  const RecordPtr record = make_record(shape, 1);
  rcap_decode_hints known = hints_of(*record);
  known.dtype = RCAP_DTYPE_UINT8;
  CHECK(decode(RCAP_WIRE_SGLANG, encode(*record, RCAP_WIRE_SGLANG).bytes, known).status == RCAP_STATUS_INVALID_ARGUMENT);  // four times the rows
  known.rows = -1;
  CHECK(decode(RCAP_WIRE_SGLANG, encode(*record, RCAP_WIRE_SGLANG).bytes, known).record->geometry().rows == 12);
  known.rows = 3;
  for (const std::int32_t format : {RCAP_WIRE_FRAME, RCAP_WIRE_NPY, RCAP_WIRE_VLLM, RCAP_WIRE_PRIME}) {
    CHECK(decode(format, encode(*record, format).bytes, known).status == RCAP_STATUS_OK);
    rcap_decode_hints other = known;
    other.dtype = RCAP_DTYPE_INT32;
    CHECK(decode(format, encode(*record, format).bytes, other).status == RCAP_STATUS_INVALID_ARGUMENT);
  }
  for (const std::int32_t format : {RCAP_WIRE_NEMO, RCAP_WIRE_LISTS, RCAP_WIRE_CSV}) {
    const DecodedRecord decoded = decode(format, encode(*record, format).bytes, known);
    CHECK(decoded.status == RCAP_STATUS_INVALID_ARGUMENT);
    CHECK(decoded.text.find("hint dtype") != std::string::npos);
  }
  const DecodedRecord bare = decode(RCAP_WIRE_PRIME, text_of(R"({"data":"AAE=","shape":[1,1,2],"start":0})"), hints_of(*make_record({}, 1)));
  CHECK(bare.text.find("hint dtype is needed") != std::string::npos);
  known.rows = 1;
  known.num_layers = 1;
  known.dtype = RCAP_DTYPE_UINT8;
  CHECK(decode(RCAP_WIRE_PRIME, text_of(R"({"data":"AAE=","shape":[1,1,2],"start":0})"), known).status == RCAP_STATUS_OK);
}

TEST_CASE("the layer map is what the hint says where the bytes have none") {
  const RecordPtr record = make_record({}, 1);
  for (const std::int32_t format : {RCAP_WIRE_SGLANG, RCAP_WIRE_VLLM, RCAP_WIRE_NPY, RCAP_WIRE_PRIME, RCAP_WIRE_NEMO, RCAP_WIRE_LISTS}) {
    const Text bytes = encode(*record, format).bytes;
    rcap_decode_hints known = hints_of(*record);
    known.num_layers = 0;
    CHECK(decode(format, bytes, known, {4, 9}).record->geometry().layer_ids == std::vector<std::int32_t>{4, 9});
    known.num_layers = 2;
    CHECK(decode(format, bytes, known, {4, 9}).record->geometry().layer_ids == std::vector<std::int32_t>{4, 9});
    CHECK(decode(format, bytes, known).record->geometry().layer_ids == std::vector<std::int32_t>{0, 1});
    CHECK(decode(format, bytes, known, {4, 9, 11}).status == RCAP_STATUS_INVALID_ARGUMENT);
    known.num_layers = 0;
    known.rows = -1;
    CHECK(decode(format, bytes, known, {9, 4}).status == RCAP_STATUS_INVALID_ARGUMENT);
    CHECK(decode(format, bytes, known, {-1, 4}).status == RCAP_STATUS_OUT_OF_RANGE);
  }
  CHECK(decode(RCAP_WIRE_FRAME, encode(*record, RCAP_WIRE_FRAME).bytes, hints(), {0, 2}).status == RCAP_STATUS_INVALID_ARGUMENT);
  CHECK(decode(RCAP_WIRE_FRAME, encode(*record, RCAP_WIRE_FRAME).bytes, hints(), {0, 1, 2}).status == RCAP_STATUS_INVALID_ARGUMENT);
}

TEST_CASE("hints out of range are refused by name") {
  const RecordPtr record = make_record({}, 1);
  const Text bytes = encode(*record, RCAP_WIRE_FRAME).bytes;
  const auto told = [&](auto change) {
    rcap_decode_hints known = hints();
    change(known);
    const DecodedRecord decoded = decode(RCAP_WIRE_FRAME, bytes, known);
    CHECK(decoded.status == RCAP_STATUS_OUT_OF_RANGE);
    return decoded.text;
  };
  CHECK(told([](rcap_decode_hints& known) { known.start = -2; }) == "hint start is -2, it must be at least -1");
  CHECK(told([](rcap_decode_hints& known) { known.rows = -2; }) == "hint rows is -2, it must be at least -1");
  CHECK(told([](rcap_decode_hints& known) { known.num_experts = -1; }) == "hint num_experts is -1, it must be at least 0");
  CHECK(told([](rcap_decode_hints& known) { known.top_k = -1; }) == "hint top_k is -1, it must be at least 0");
  CHECK(told([](rcap_decode_hints& known) { known.num_layers = -1; }) == "hint num_layers is -1, it must be at least 0");
  CHECK(told([](rcap_decode_hints& known) { known.turn = -2; }) == "hint turn is -2, it must be at least -1");
  rcap_decode_hints wrong = hints();
  wrong.dtype = RCAP_DTYPE_FLOAT16;
  CHECK(decode(RCAP_WIRE_FRAME, bytes, wrong).status == RCAP_STATUS_INVALID_ARGUMENT);
  wrong = hints();
  wrong.turn = 0;
  for (const Form& form : forms()) {
    if (form.format == RCAP_WIRE_CSV) continue;
    rcap_decode_hints known = hints_of(*record);
    known.turn = 0;
    CHECK(decode(form.format, encode(*record, form.format).bytes, known).text.find("hint turn is 0") != std::string::npos);
  }
}

TEST_CASE("top_k and num_experts that cannot be are refused") {
  Shape shape;
  shape.top_k = 5;
  const RecordPtr record = make_record(shape, 1);
  rcap_decode_hints known = hints_of(*record);
  known.num_experts = 4;
  const DecodedRecord decoded = decode(RCAP_WIRE_NPY, encode(*record, RCAP_WIRE_NPY).bytes, known);
  CHECK(decoded.status == RCAP_STATUS_INVALID_ARGUMENT);
  CHECK(decoded.text == "npy: top_k is 5, num_experts is 4");
  known.num_experts = 8;
  known.start = INT64_MAX;
  CHECK(decode(RCAP_WIRE_NPY, encode(*record, RCAP_WIRE_NPY).bytes, known).status == RCAP_STATUS_OUT_OF_RANGE);
}

TEST_CASE("arguments of a decode") {
  rcap_record* record = nullptr;
  const std::byte byte{};
  CHECK(rcap_record_decode(0, &byte, 1, nullptr, nullptr, 0, &record, nullptr, nullptr) == RCAP_STATUS_INVALID_ARGUMENT);
  CHECK(rcap_record_decode(10, &byte, 1, nullptr, nullptr, 0, &record, nullptr, nullptr) == RCAP_STATUS_INVALID_ARGUMENT);
  CHECK(rcap_record_decode(RCAP_WIRE_FRAME, nullptr, 1, nullptr, nullptr, 0, &record, nullptr, nullptr) == RCAP_STATUS_INVALID_ARGUMENT);
  CHECK(rcap_record_decode(RCAP_WIRE_FRAME, &byte, -1, nullptr, nullptr, 0, &record, nullptr, nullptr) == RCAP_STATUS_INVALID_ARGUMENT);
  CHECK(rcap_record_decode(RCAP_WIRE_FRAME, &byte, 1, nullptr, nullptr, 0, nullptr, nullptr, nullptr) == RCAP_STATUS_INVALID_ARGUMENT);
  CHECK(rcap_record_decode(RCAP_WIRE_FRAME, &byte, 1, nullptr, nullptr, 3, &record, nullptr, nullptr) == RCAP_STATUS_INVALID_ARGUMENT);
  CHECK(rcap_record_decode(RCAP_WIRE_FRAME, nullptr, 0, nullptr, nullptr, 0, &record, nullptr, nullptr) == RCAP_STATUS_CORRUPT);
  CHECK(record == nullptr);
}
