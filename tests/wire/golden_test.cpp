// SPDX-License-Identifier: Apache-2.0
// Files that numpy or hand-written scripts made (golden/make_golden.py): read, and written byte for byte alike.
#include <doctest/doctest.h>

#include <cstring>
#include <functional>

#include "files.h"

using namespace wire_test;

namespace {

using IdOf = std::function<std::int64_t(std::int64_t row, std::int64_t column, std::int64_t rank)>;
using ValidOf = std::function<bool(std::int64_t row, std::int64_t column)>;

RecordPtr record_of(routecap::RecordGeometry geometry, const IdOf& id_of, const ValidOf& valid_of, const std::vector<std::int64_t>& versions) {
  geometry = routecap::RecordGeometry::checked(std::move(geometry));
  geometry.has_cells = true;
  auto record = std::make_unique<Record>(geometry);
  for (std::int64_t row = 0; row < geometry.rows; ++row) {
    for (std::int64_t column = 0; column < geometry.layers(); ++column) {
      if (!valid_of(row, column)) continue;
      routecap::bits::set(record->row_validity().data(), row);
      routecap::bits::set(record->cell_validity().data(), row * geometry.layers() + column);
      for (std::int64_t rank = 0; rank < geometry.top_k; ++rank) {
        const std::int64_t element = (row * geometry.layers() + column) * geometry.top_k + rank;
        const auto id = static_cast<std::uint16_t>(id_of(row, column, rank));
        if (geometry.ids_dtype == RCAP_DTYPE_UINT8) {
          record->ids().data()[element] = static_cast<std::byte>(id);
        } else {
          std::memcpy(record->ids().data() + element * 2, &id, sizeof id);
        }
      }
    }
  }
  record->canonicalize();
  record->set_versions(versions);
  return record;
}

RecordPtr plain(std::int64_t start, std::int64_t version) {
  routecap::RecordGeometry geometry;
  geometry.start = start;
  geometry.rows = 4;
  geometry.num_experts = 16;
  geometry.top_k = 2;
  geometry.layer_ids = {0, 1, 2};
  return record_of(
      geometry, [](auto row, auto column, auto rank) { return (7 * row + 3 * column + 5 * rank) % 16; }, [](auto, auto) { return true; },
      std::vector<std::int64_t>(4, version));
}

RecordPtr rows_missing() {
  routecap::RecordGeometry geometry;
  geometry.rows = 4;
  geometry.num_experts = 300;
  geometry.top_k = 3;
  geometry.layer_ids = {0, 1};
  return record_of(
      geometry, [](auto row, auto column, auto rank) { return (90 * row + 40 * column + 7 * rank) % 300; }, [](auto row, auto) { return row != 1; },
      std::vector<std::int64_t>(4, 0));
}

RecordPtr cells_missing(const std::vector<std::int64_t>& versions) {
  routecap::RecordGeometry geometry;
  geometry.start = 100;
  geometry.rows = 5;
  geometry.num_experts = 300;
  geometry.top_k = 3;
  geometry.layer_ids = {2, 5};
  geometry.layer_flags = {0, RCAP_TAP_PARTIAL};
  geometry.weights_dtype = RCAP_DTYPE_FLOAT16;
  geometry.weights_kind = RCAP_WEIGHTS_RENORMALIZED;
  RecordPtr record = record_of(
      geometry, [](auto row, auto column, auto rank) { return (11 * row + 100 * column + 7 * rank) % 300; },
      [](auto row, auto column) { return row != 1 && (row != 3 || column != 1); }, versions);
  // binary16 of (rank + 1) / 8 + row / 16, sixteenths below 1: exponent and the bits behind the leading one.
  for (std::int64_t element = 0; element < 30; ++element) {
    const std::int64_t sixteenths = (element % 3 + 1) * 2 + element / 6;
    if (!record->cell_valid(element / 6, element / 3 % 2)) continue;
    std::int64_t exponent = 0;
    while (sixteenths >> (exponent + 1) != 0) ++exponent;
    const auto half = static_cast<std::uint16_t>((exponent - 4 + 15) << 10 | ((sixteenths << (10 - exponent)) & 0x3FF));
    std::memcpy(record->weights().data() + element * 2, &half, sizeof half);
  }
  return record;
}

struct File {
  const char* name;
  std::int32_t format;
  std::int32_t dtype;  ///< to ask for, in options and (sglang) in hints
  bool written;        ///< we write it alike
};

std::filesystem::path path_of(const std::string& name) { return std::filesystem::path(ROUTECAP_GOLDEN) / name; }

void check_file(const File& file, const Record& record, std::int32_t missing = RCAP_MISSING_REFUSE) {
  CAPTURE(file.name);
  const Text golden = read_file(path_of(file.name));
  rcap_decode_hints known = hints_of(record);
  known.dtype = file.format == RCAP_WIRE_SGLANG ? file.dtype : RCAP_DTYPE_NONE;
  const DecodedRecord decoded = decode(file.format, golden, known);
  REQUIRE_MESSAGE(decoded.status == RCAP_STATUS_OK, decoded.text);
  CHECK(difference(*decoded.record, record) == "");
  if (!file.written) return;
  rcap_encode_options chosen = options();
  chosen.dtype = file.dtype;
  chosen.missing = missing;
  const Encoded encoded = encode(record, file.format, chosen);
  REQUIRE_MESSAGE(encoded.status == RCAP_STATUS_OK, encoded.text);
  CHECK(string_of(encoded.bytes) == string_of(golden));
}

}  // namespace

TEST_CASE("R41: golden files of foreign forms") {
  const File files[] = {
      {"plain.npy", RCAP_WIRE_NPY, RCAP_DTYPE_NONE, true},
      {"plain_2.npy", RCAP_WIRE_NPY, RCAP_DTYPE_NONE, false},
      {"plain_3.npy", RCAP_WIRE_NPY, RCAP_DTYPE_NONE, false},
      {"plain_u2.npy", RCAP_WIRE_NPY, RCAP_DTYPE_UINT16, true},
      {"plain_i2.npy", RCAP_WIRE_NPY, RCAP_DTYPE_INT16, true},
      {"plain_i4.npy", RCAP_WIRE_NPY, RCAP_DTYPE_INT32, true},
      {"plain_i8.npy", RCAP_WIRE_NPY, RCAP_DTYPE_INT64, true},
      {"plain_big_u2.npy", RCAP_WIRE_NPY, RCAP_DTYPE_NONE, false},
      {"plain_big_i4.npy", RCAP_WIRE_NPY, RCAP_DTYPE_NONE, false},
      {"plain_big_i8.npy", RCAP_WIRE_NPY, RCAP_DTYPE_NONE, false},
      {"plain.vllm", RCAP_WIRE_VLLM, RCAP_DTYPE_NONE, true},
      {"plain_i4.vllm", RCAP_WIRE_VLLM, RCAP_DTYPE_INT32, true},
      {"plain.sglang", RCAP_WIRE_SGLANG, RCAP_DTYPE_NONE, true},
      {"plain_u1.sglang", RCAP_WIRE_SGLANG, RCAP_DTYPE_UINT8, true},
      {"plain_u2.sglang", RCAP_WIRE_SGLANG, RCAP_DTYPE_UINT16, true},
      {"plain.prime", RCAP_WIRE_PRIME, RCAP_DTYPE_NONE, true},
      {"plain_spaced.prime", RCAP_WIRE_PRIME, RCAP_DTYPE_NONE, false},
      {"plain.nemo", RCAP_WIRE_NEMO, RCAP_DTYPE_NONE, true},
      {"plain.lists", RCAP_WIRE_LISTS, RCAP_DTYPE_NONE, true},
      {"plain_spaced.lists", RCAP_WIRE_LISTS, RCAP_DTYPE_NONE, false},
  };
  for (const File& file : files) check_file(file, *plain(10, 0));
}

TEST_CASE("R41: golden files with missing rows") {
  check_file({"rows.nemo", RCAP_WIRE_NEMO, RCAP_DTYPE_NONE, true}, *rows_missing());
  check_file({"rows.npy", RCAP_WIRE_NPY, RCAP_DTYPE_NONE, true}, *rows_missing(), RCAP_MISSING_MINUS_ONE);
  check_file({"rows.sglang", RCAP_WIRE_SGLANG, RCAP_DTYPE_NONE, true}, *rows_missing(), RCAP_MISSING_MINUS_ONE);
  check_file({"rows.lists", RCAP_WIRE_LISTS, RCAP_DTYPE_NONE, true}, *rows_missing(), RCAP_MISSING_MINUS_ONE);
}

TEST_CASE("R37: golden frames") {
  check_file({"plain.frame", RCAP_WIRE_FRAME, RCAP_DTYPE_NONE, true}, *plain(10, 5));
  const RecordPtr cells = cells_missing({4, 4, 4, 9, 9});
  check_file({"cells.frame", RCAP_WIRE_FRAME, RCAP_DTYPE_NONE, true}, *cells);
  check_file({"cells.frame-base64", RCAP_WIRE_FRAME_BASE64, RCAP_DTYPE_NONE, true}, *cells);
}

TEST_CASE("a golden trace") {
  const RecordPtr record = cells_missing(std::vector<std::int64_t>(5, 0));
  const Text golden = read_file(path_of("cells.csv"));
  const DecodedRecord decoded = decode(RCAP_WIRE_CSV, golden, hints());
  REQUIRE_MESSAGE(decoded.status == RCAP_STATUS_OK, decoded.text);
  CHECK(difference(*decoded.record, *record) == "");
  rcap_encode_options chosen = options();
  chosen.turn = 2;
  chosen.decode_start = 103;
  CHECK(string_of(encode(*record, RCAP_WIRE_CSV, chosen).bytes) == string_of(golden));
}

TEST_CASE("arrays that are no rows are refused") {
  const RecordPtr record = plain(10, 0);
  const DecodedRecord fortran = decode(RCAP_WIRE_NPY, read_file(path_of("plain_fortran.npy")), hints_of(*record));
  CHECK(fortran.status == RCAP_STATUS_UNSUPPORTED);
  CHECK(fortran.text == "npy: fortran_order is True, only arrays in C order are read");
  const DecodedRecord real = decode(RCAP_WIRE_NPY, read_file(path_of("plain_float.npy")), hints_of(*record));
  CHECK(real.status == RCAP_STATUS_UNSUPPORTED);
  CHECK(real.text.find("'<f4'") != std::string::npos);
  const DecodedRecord flat = decode(RCAP_WIRE_NPY, read_file(path_of("plain_flat.npy")), hints_of(*record));
  CHECK(flat.status == RCAP_STATUS_UNSUPPORTED);
  CHECK(flat.text.find("2 dimensions") != std::string::npos);
}
