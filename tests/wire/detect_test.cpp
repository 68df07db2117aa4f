// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "files.h"

using namespace wire_test;

namespace {

/// The name of what is detected.
std::string detected(const Text& bytes) {
  std::int32_t format = 0;
  const std::int32_t status = rcap_wire_detect(bytes.data(), static_cast<std::int64_t>(bytes.size()), &format, nullptr);
  if (status == RCAP_STATUS_NOT_FOUND) return "nothing";
  CHECK(status == RCAP_STATUS_OK);
  return rcap_wire_format_name(format);
}

std::string detected(std::string_view text) { return detected(text_of(text)); }

}  // namespace

TEST_CASE("every form but sglang is told by its content") {
  for (const Holes holes : {Holes::kNone, Holes::kRows}) {
    for (const std::int64_t rows : {0, 5}) {
      Shape shape;
      shape.rows = rows;
      shape.holes = holes;
      const RecordPtr record = make_record(shape, 9);
      for (std::int32_t format = RCAP_WIRE_FRAME; format <= RCAP_WIRE_CSV; ++format) {
        const bool can_be_minus_one = format == RCAP_WIRE_SGLANG || format == RCAP_WIRE_VLLM || format == RCAP_WIRE_NPY || format == RCAP_WIRE_LISTS;
        if (holes != Holes::kNone && format == RCAP_WIRE_PRIME) continue;
        rcap_encode_options chosen = options();
        if (can_be_minus_one) chosen.missing = RCAP_MISSING_MINUS_ONE;
        const Encoded encoded = encode(*record, format, chosen);
        REQUIRE_MESSAGE(encoded.status == RCAP_STATUS_OK, encoded.text);
        CHECK(detected(encoded.bytes) == (format == RCAP_WIRE_SGLANG ? "nothing" : rcap_wire_format_name(format)));
      }
    }
  }
}

TEST_CASE("what is no form is no form") {
  CHECK(detected("") == "nothing");
  CHECK(detected("\n") == "nothing");
  CHECK(detected("{}") == "nothing");
  CHECK(detected("[{\"meta_info\": {}}]") == "nothing");
  CHECK(detected("[1, 2]") == "nothing");
  CHECK(detected("[[1, 2]]") == "nothing");
  CHECK(detected("{\"data\": \"AAAA\"}") == "nothing");
  CHECK(detected("{\"id\": \"cmpl-1\", \"choices\": [{\"routed_experts\": \"k05VTVBZ\"}]}") == "nothing");
  CHECK(detected("hello, layer, expert") == "nothing");
  CHECK(detected("\x89PNG\r\n\x1a\n") == "nothing");
  CHECK(detected("nrlre2:int8:0x1x1:") == "nothing");
}

TEST_CASE("small changes of a form are still that form") {
  CHECK(detected(" [ [ [ 0 ] ] ]\n") == "lists");
  CHECK(detected("[]") == "lists");
  CHECK(detected("layer,expert\n") == "csv");
  CHECK(detected("# anything\n# at all\nphase,token,layer,rank,expert\r\nprefill,0,0,0,1\r\n") == "csv");
  CHECK(detected("\t{\"shape\": [0,1,1], \"data\": \"\"}") == "prime");
}

TEST_CASE("names of forms") {
  const char* names[] = {"frame", "frame-base64", "sglang", "vllm", "npy", "prime", "nemo", "lists", "csv"};
  for (std::int32_t format = RCAP_WIRE_FRAME; format <= RCAP_WIRE_CSV; ++format) {
    CHECK(std::string(rcap_wire_format_name(format)) == names[format - 1]);
    std::int32_t found = 0;
    CHECK(rcap_wire_format_of(names[format - 1], &found, nullptr) == RCAP_STATUS_OK);
    CHECK(found == format);
  }
  CHECK(std::string(rcap_wire_format_name(0)) == "unknown");
  CHECK(std::string(rcap_wire_format_name(10)) == "unknown");
  CHECK(std::string(rcap_wire_format_name(INT32_MIN)) == "unknown");
  rcap_error error{};
  error.struct_size = sizeof error;
  std::int32_t found = 77;
  CHECK(rcap_wire_format_of("Frame", &found, &error) == RCAP_STATUS_NOT_FOUND);
  CHECK(found == 77);
  CHECK(std::string(error.text) == "no format is called 'Frame', there are frame, frame-base64, sglang, vllm, npy, prime, nemo, lists, csv");
  CHECK(rcap_wire_format_of(nullptr, &found, nullptr) == RCAP_STATUS_INVALID_ARGUMENT);
}
