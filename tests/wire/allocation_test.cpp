// SPDX-License-Identifier: Apache-2.0
// No form makes a decoder take more memory than its own bytes account for, whatever it promises.
#include "allocations.h"

#include <doctest/doctest.h>

#include "sealed_frame.h"

using namespace wire_test;

namespace {

constexpr std::int64_t kFactor = routecap::wire::kAllocationFactor;
constexpr std::int64_t kSlack = routecap::wire::kAllocationSlack;

/// Decodes and gives what was allocated at most.
std::int64_t peak_of(std::int32_t format, const Text& bytes, const rcap_decode_hints& known, std::int32_t* status = nullptr) {
  restart_peak();
  rcap_record* record = nullptr;
  const std::int32_t got =
      rcap_record_decode(format, bytes.data(), static_cast<std::int64_t>(bytes.size()), &known, nullptr, 0, &record, nullptr, nullptr);
  const std::int64_t peak = peak_bytes();
  rcap_record_destroy(record);
  if (status != nullptr) *status = got;
  return peak;
}

void check_refused_cheaply(std::int32_t format, std::string_view text, const rcap_decode_hints& known) {
  CAPTURE(text);
  std::int32_t status = RCAP_STATUS_OK;
  const std::int64_t peak = peak_of(format, text_of(text), known, &status);
  CHECK(status != RCAP_STATUS_OK);
  CHECK(peak <= kFactor * static_cast<std::int64_t>(text.size()) + kSlack);
}

}  // namespace

TEST_CASE("a frame that promises 2^60 rows does not allocate them") {
  const Text good = encode(*make_record({}, 1), RCAP_WIRE_FRAME).bytes;
  for (const std::int64_t rows : {std::int64_t{1} << 60, std::int64_t{1} << 40, std::int64_t{1} << 24}) {
    Text frame = good;
    set_number(frame, kRowsAt, rows);
    set_number(frame, parts_of(frame)[0].at, rows);
    seal(frame);
    std::int32_t status = RCAP_STATUS_OK;
    CHECK(peak_of(RCAP_WIRE_FRAME, frame, hints(), &status) < 10000);
    CHECK(status != RCAP_STATUS_OK);
    // The same, and a part that says it becomes as many bytes.
    const FramePart ids = parts_of(frame)[2];
    set_number(frame, ids.table_at + 4, std::uint32_t{1});
    if (rows <= std::int64_t{1} << 40) set_number(frame, ids.table_at + 16, rows * 4);
    seal(frame);
    CHECK(peak_of(RCAP_WIRE_FRAME, frame, hints(), &status) < 10000);
    CHECK(status != RCAP_STATUS_OK);
  }
}

TEST_CASE("a frame that promises 2^31 - 1 layers does not allocate them") {
  Text frame = encode(*make_record({}, 1), RCAP_WIRE_FRAME).bytes;
  set_number(frame, kLayersAt, INT32_MAX);
  set_number(frame, kHeaderBytesAt, 80 + std::int64_t{INT32_MAX} * 8 + 4 * 32 + 8);
  set_number(frame, kFrameBytesAt, INT64_MAX);
  std::int32_t status = RCAP_STATUS_OK;
  CHECK(peak_of(RCAP_WIRE_FRAME, frame, hints(), &status) < 10000);
  CHECK(status == RCAP_STATUS_CORRUPT);
}

TEST_CASE("what hints and headers promise to the other forms is not allocated") {
  rcap_decode_hints known = hints();
  known.start = 0;
  known.num_experts = 100000;
  std::string npy = "\x93NUMPY\x01";
  npy.append({'\0', '\x66', '\0'});
  npy += "{'descr': '<i4', 'fortran_order': False, 'shape': (1152921504606846976, 4, 8), }                     \n";
  for (const char* shape :
       {"(1152921504606846976, 4, 8)", "(0, 2147483647, 8)         ", "(3, 2147483647, 2147483647)", "(9223372036854775807, 1, 1)"}) {
    std::string file = npy;
    file.replace(file.find("(11"), std::string("(1152921504606846976, 4, 8)").size(), shape);
    check_refused_cheaply(RCAP_WIRE_NPY, file, known);
  }
  check_refused_cheaply(RCAP_WIRE_NEMO, "nrlre1:int32:1152921504606846976x4x8:", known);
  check_refused_cheaply(RCAP_WIRE_NEMO, "nrlre1:int32:0x2147483647x8:", known);
  check_refused_cheaply(RCAP_WIRE_PRIME, R"({"data":"","shape":[1152921504606846976,4,8],"start":0,"dtype":"uint8"})", known);
  check_refused_cheaply(RCAP_WIRE_PRIME, R"({"data":"","shape":[0,2147483647,8],"start":0,"dtype":"uint8"})", known);
  check_refused_cheaply(RCAP_WIRE_CSV, "step,layer,slot,expert\n0,0,0,0\n1000000000000,0,0,0\n", known);
  check_refused_cheaply(RCAP_WIRE_CSV, "step,layer,slot,expert\n0,0,2147483646,0\n", known);
  check_refused_cheaply(RCAP_WIRE_CSV, "# n_expert=9 n_expert_used=1\n# routecap start=0 rows=4611686018427387904\nstep,layer,slot,expert\n0,0,0,0\n",
                        hints());
  known.rows = std::int64_t{1} << 50;
  check_refused_cheaply(RCAP_WIRE_CSV, "step,layer,slot,expert\n0,0,0,0\n", known);
  known.rows = 0;
  known.num_layers = INT32_MAX;
  known.top_k = 1;
  check_refused_cheaply(RCAP_WIRE_SGLANG, "", known);
  check_refused_cheaply(RCAP_WIRE_LISTS, "[]", known);
}

TEST_CASE("a part that would become very much is refused; the writer makes none") {
  Shape shape;
  shape.rows = 1 << 20;
  const RecordPtr full = make_record(shape, 1);
  auto record = std::make_unique<Record>(full->geometry());
  record->canonicalize();
  rcap_encode_options compressed = options();
  compressed.zstd_level = 1;
  Text frame = encode(*record, RCAP_WIRE_FRAME, compressed).bytes;
  std::int32_t status = RCAP_STATUS_INTERNAL;
  CHECK(peak_of(RCAP_WIRE_FRAME, frame, hints(), &status) <=
        2 * routecap::wire::kCompressionLimit * static_cast<std::int64_t>(frame.size()) + kSlack);
  REQUIRE(status == RCAP_STATUS_OK);
  // Without the bytes that fill up.
  const FramePart ids = parts_of(frame)[2];
  set_number(frame, ids.table_at + 8, std::int64_t{200});
  frame.resize(ids.at + 200);
  set_number(frame, kFrameBytesAt, static_cast<std::int64_t>(frame.size()));
  seal(frame);
  CHECK(peak_of(RCAP_WIRE_FRAME, frame, hints(), &status) < 100000);
  CHECK(status == RCAP_STATUS_CORRUPT);
}

TEST_CASE("real content stays far below the bound, in every form") {
  Shape shape;
  shape.num_experts = 70000;  // the widest ids, and the shortest text for them
  shape.top_k = 4;
  shape.rows = 20000;
  shape.weights_dtype = RCAP_DTYPE_FLOAT32;
  const RecordPtr record = make_record(shape, 1);
  for (std::int32_t format = RCAP_WIRE_FRAME; format <= RCAP_WIRE_CSV; ++format) {
    const Text bytes = encode(*record, format).bytes;
    std::int32_t status = RCAP_STATUS_INTERNAL;
    const std::int64_t peak = peak_of(format, bytes, hints_of(*record), &status);
    CAPTURE(format);
    CHECK(status == RCAP_STATUS_OK);
    CHECK(peak < 8 * static_cast<std::int64_t>(bytes.size()));
  }
  Shape single;
  single.num_experts = 70000;
  single.top_k = 1;
  single.layer_ids = {0};
  single.rows = 20000;
  RecordPtr zeros = make_record(single, 1);
  std::memset(zeros->ids().data(), 0, static_cast<std::size_t>(zeros->ids().size()));
  const Text lists = encode(*zeros, RCAP_WIRE_LISTS).bytes;
  CHECK(peak_of(RCAP_WIRE_LISTS, lists, hints_of(*zeros)) < kFactor * static_cast<std::int64_t>(lists.size()) + kSlack);
}
