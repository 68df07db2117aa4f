// SPDX-License-Identifier: Apache-2.0
// Recorded routing of real models through every form and back.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "files.h"

using namespace wire_test;

namespace {

void check_same(const Encoded& encoded, std::int32_t format, const Record& expected, const rcap_decode_hints& known) {
  REQUIRE_MESSAGE(encoded.status == RCAP_STATUS_OK, encoded.text);
  const DecodedRecord decoded = decode(format, encoded.bytes, known, expected.geometry().layer_ids);
  REQUIRE_MESSAGE(decoded.status == RCAP_STATUS_OK, decoded.text);
  CHECK(difference(*decoded.record, expected) == "");
}

/// Through every form and back: whole where the form holds it, else what it holds of it.
void check_all_forms(const Record& record, const std::string& name) {
  CAPTURE(name);
  const RecordPtr foreign = foreign_view(record);
  const rcap_decode_hints known = hints_of(record);
  for (std::int32_t format = RCAP_WIRE_FRAME; format <= RCAP_WIRE_CSV; ++format) {
    CAPTURE(format);
    rcap_encode_options chosen = options();
    switch (format) {
      case RCAP_WIRE_FRAME:
      case RCAP_WIRE_FRAME_BASE64:
        check_same(encode(record, format), format, record, known);
        chosen.zstd_level = 3;
        check_same(encode(record, format, chosen), format, record, known);
        break;
      case RCAP_WIRE_CSV: check_same(encode(record, format), format, record, known); break;
      case RCAP_WIRE_PRIME:
        chosen.missing = RCAP_MISSING_FILL;
        check_same(encode(record, format, chosen), format, *filled_view(record, 0), known);
        break;
      case RCAP_WIRE_NEMO:
        chosen.missing = foreign->geometry().has_cells ? RCAP_MISSING_FILL : RCAP_MISSING_REFUSE;
        check_same(encode(record, format, chosen), format, foreign->geometry().has_cells ? *filled_view(record, 0) : *foreign, known);
        break;
      default:
        chosen.missing = RCAP_MISSING_MINUS_ONE;
        check_same(encode(record, format, chosen), format, *foreign, known);
        break;
    }
  }
  keep_frame("trace-" + name, record, encode(record, RCAP_WIRE_FRAME).bytes);
}

bool detected_csv(const Text& text) {
  std::int32_t format = 0;
  return rcap_wire_detect(text.data(), static_cast<std::int64_t>(text.size()), &format, nullptr) == RCAP_STATUS_OK && format == RCAP_WIRE_CSV;
}

bool has_traces() {
  if (!traces().empty()) return true;
  skipped() = "no recorded traces (ROUTECAP_TRACES)";
  return false;
}

}  // namespace

TEST_CASE("BigMoeOnEdge's traces, holes included, go through every form and back") {
  if (!has_traces()) return;
  struct Trace {
    const char* name;
    std::int32_t layers;
    std::int32_t top_k;
    std::int64_t rows;
    std::int64_t prefill;
    std::int64_t lines;
  };
  for (const Trace& trace : {Trace{"qwen", 48, 6, 156, 28, 44766}, Trace{"gemma", 30, 6, 157, 29, 28260}, Trace{"gptoss", 36, 2, 149, 85, 10560}}) {
    CAPTURE(trace.name);
    const Text text = read_file(traces() / "bigmoe" / (std::string(trace.name) + ".route.csv"));
    const DecodedRecord decoded = decode(RCAP_WIRE_CSV, text, hints());
    REQUIRE_MESSAGE(decoded.status == RCAP_STATUS_OK, decoded.text);
    const Record& record = *decoded.record;
    CHECK(record.geometry().start == 0);
    CHECK(record.geometry().rows == trace.rows);
    CHECK(record.geometry().layers() == trace.layers);
    CHECK(record.geometry().num_experts == 128);
    CHECK(record.geometry().top_k == trace.top_k);
    CHECK(record.rows_valid() == trace.rows);
    // Lines and valid cells are the same number; the engine prunes outputs before the last layer, and gemma's trace is whole.
    std::int64_t cells = 0;
    for (std::int64_t row = 0; row < trace.rows; ++row) {
      for (std::int64_t column = 0; column < trace.layers; ++column) cells += record.cell_valid(row, column) ? 1 : 0;
    }
    CHECK(cells * trace.top_k == trace.lines);
    CHECK(record.geometry().has_cells == (cells != trace.rows * trace.layers));
    if (record.geometry().has_cells) {
      for (std::int64_t row = 0; row < trace.rows; ++row) CHECK(record.cell_valid(row, trace.layers - 1) == (row >= trace.prefill - 1));
    }
    CHECK(detected_csv(text));
    check_all_forms(record, trace.name);
  }
}

TEST_CASE("gpt-oss-20b's requests go through every form and back") {
  if (!has_traces()) return;
  const Text file = read_file(traces() / "gpt-oss-20b" / "ids_u8.npy");
  rcap_decode_hints known = hints();
  known.start = 0;
  known.num_experts = 32;
  const DecodedRecord decoded = decode(RCAP_WIRE_NPY, file, known);
  REQUIRE_MESSAGE(decoded.status == RCAP_STATUS_OK, decoded.text);
  const routecap::RecordGeometry& plain = decoded.record->geometry();
  CHECK(plain.rows == 12524);
  CHECK(plain.layers() == 24);
  CHECK(plain.top_k == 4);
  // The weights, bit patterns of bfloat16, lie beside the ids in a file of their own.
  const Text weights = read_file(traces() / "gpt-oss-20b" / "weights_bf16bits_u16.npy");
  routecap::RecordGeometry geometry = plain;
  geometry.weights_dtype = RCAP_DTYPE_BFLOAT16;
  geometry.weights_kind = RCAP_WEIGHTS_RENORMALIZED;
  const auto bytes = static_cast<std::size_t>(12524 * 24 * 4 * 2);
  REQUIRE(weights.size() == 128 + bytes);
  auto record = std::make_unique<Record>(geometry);
  std::memcpy(record->ids().data(), decoded.record->ids().data(), bytes / 2);
  std::memcpy(record->weights().data(), weights.data() + 128, bytes);
  routecap::bits::set_range(record->row_validity().data(), 0, geometry.rows);
  record->canonicalize();
  record->set_versions(std::vector<std::int64_t>(12524, 0));
  check_all_forms(*record, "gpt-oss-20b");
  CHECK(string_of(encode(*decoded.record, RCAP_WIRE_NPY).bytes) == string_of(file));
}
