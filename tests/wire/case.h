// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <routecap/routecap.h>

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "record/record.h"
#include "wire/wire.h"

/// Records made on purpose, and the C functions under test as values.
namespace wire_test {

using routecap::Record;
using RecordPtr = std::unique_ptr<Record>;
using Text = std::vector<std::byte>;

enum class Holes { kNone, kRows, kCells };

struct Shape {
  std::int32_t num_experts = 8;
  std::int32_t top_k = 2;
  std::int64_t rows = 3;
  std::vector<std::int32_t> layer_ids{0, 1};
  Holes holes = Holes::kNone;
  std::int32_t weights_dtype = RCAP_DTYPE_NONE;
  std::int32_t weights_kind = RCAP_WEIGHTS_AS_ROUTED;
  std::int64_t start = 0;
  std::vector<std::int32_t> layer_flags{};
  std::int32_t versions = 1;  ///< how many weight versions the rows cycle through
};

/// A record of a shape; ids and holes follow from `seed` alone. The first and the last id of [0, E) occur where there is room.
RecordPtr make_record(const Shape& shape, std::uint64_t seed);

/// What a foreign form keeps of a record: no weights, no flags, version 0, and rows without a cell are missing.
RecordPtr foreign_view(const Record& record);
/// The same with every missing cell filled: fill_id, fill_id + 1, ... modulo E.
RecordPtr filled_view(const Record& record, std::int32_t fill_id);

/// The first difference in words; empty where both are the same, byte for byte.
std::string difference(const Record& a, const Record& b);

struct Outcome {
  std::int32_t status = RCAP_STATUS_INTERNAL;
  std::string text;
};

struct Encoded : Outcome {
  Text bytes;
};

struct DecodedRecord : Outcome {
  RecordPtr record;
  std::int64_t consumed = -1;
};

rcap_encode_options options();
rcap_decode_hints hints();
/// What every form may be told about a record, and sglang must.
rcap_decode_hints hints_of(const Record& record);

/// rcap_record_encode, asked for the size first. Checks that the size is right, that nothing is written behind it, and that a byte less is refused.
Encoded encode(const Record& record, std::int32_t format, const rcap_encode_options& options);
inline Encoded encode(const Record& record, std::int32_t format) { return encode(record, format, options()); }

/// rcap_record_decode of a copy that ends where its memory ends.
DecodedRecord decode(std::int32_t format, const Text& bytes, const rcap_decode_hints& hints, const std::vector<std::int32_t>& layer_ids = {});

Text text_of(std::string_view characters);
std::string string_of(const Text& bytes);

}  // namespace wire_test
