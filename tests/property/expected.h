// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "property/model.h"

namespace routecap_test::property {

using Bytes = std::vector<std::byte>;

/// Every byte of a record, made from the model's rows.
struct ExpectedRecord {
  std::int64_t start = 0;
  std::int64_t rows = 0;
  std::int64_t rows_valid = 0;
  Bytes ids;
  Bytes weights;
  Bytes row_validity;
  Bytes cell_validity;                                       ///< empty where no layer is PARTIAL
  std::vector<std::pair<std::int64_t, std::int64_t>> spans;  ///< first token position and version of every run
  std::int64_t version_min = 0;
  std::int64_t version_max = 0;
};

[[nodiscard]] ExpectedRecord expected_record(const Geometry& geometry, std::int64_t start, const std::vector<RowPointer>& rows);
/// One row as `rcap_output_device_rows` holds it: ids, weights, cell bits, each padded to 8 bytes.
[[nodiscard]] Bytes expected_payload(const Geometry& geometry, const Row& row);
/// Whether two payloads agree in everything that has a meaning: padding and cells nobody captured may hold any bytes.
[[nodiscard]] bool same_payload(const Geometry& geometry, const Row& row, const std::byte* payload);

/// The id dtype that an expert count decides (R28).
[[nodiscard]] std::int32_t ids_dtype(std::int64_t experts);
/// Bits of a float32 in the dtype that is kept; NaN becomes the quiet one.
[[nodiscard]] std::uint32_t weight_bits(std::uint32_t float32_bits, std::int32_t dtype);
/// Bytes of one element; 0 for NONE.
[[nodiscard]] std::int64_t bytes_of(std::int32_t dtype);
/// Appends the low bytes of a number, as an element of this dtype.
void append(Bytes& bytes, std::int64_t value, std::int32_t dtype);
/// Where two byte strings differ, in words; empty where they do not.
[[nodiscard]] std::string difference(const Bytes& expected, const void* data, std::int64_t bytes);

}  // namespace routecap_test::property
