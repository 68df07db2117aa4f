// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <routecap/routecap.h>

/// Records as the public C API shows them.
namespace routecap_records {

struct Destroy {
  void operator()(rcap_record* record) const { rcap_record_destroy(record); }
};
using Handle = std::unique_ptr<rcap_record, Destroy>;

using Bytes = std::vector<unsigned char>;

/// Everything that a record says of itself.
struct View {
  std::int64_t start = 0;
  std::int64_t rows = 0;
  std::int64_t rows_valid = 0;
  std::int32_t num_experts = 0;
  std::int32_t top_k = 0;
  std::int32_t ids_dtype = 0;
  std::int32_t weights_dtype = 0;
  std::int32_t weights_kind = 0;
  std::int32_t has_cells = 0;
  std::vector<std::int32_t> layer_ids;
  std::vector<std::int32_t> layer_flags;
  Bytes ids;
  Bytes weights;
  Bytes row_bits;
  Bytes cell_bits;
  std::vector<std::pair<std::int64_t, std::int64_t>> spans;

  friend bool operator==(const View&, const View&) = default;
};

View view(const rcap_record* record);
/// All of it in one line, for a failing comparison.
std::ostream& operator<<(std::ostream& out, const View& view);

/// One call that makes a record: `call(&record, err)`.
using Call = std::function<std::int32_t(rcap_record**, rcap_error*)>;

/// The record that a call makes; the test fails with the library's text where it does not.
Handle made(const Call& call);

/// What a refused call says: "OUT_OF_RANGE: one line". It must leave the record alone, and say the same without an error to fill.
std::string refusal(const Call& call);

Handle append(const Handle& self, const Handle& next, std::int32_t overlap = RCAP_OVERLAP_REFUSE);
Handle merge(const Handle& self, const Handle& decode, std::int64_t boundary);
Handle truncate(const Handle& self, std::int64_t tokens, std::int32_t flags = 0);
Handle slice(const Handle& self, std::int64_t start, std::int64_t end);
Handle stack(const Handle& self, const Handle& other);
/// No positions: null.
Handle interleave(const Handle& self, const std::vector<std::int64_t>& positions, const Handle& other,
                  const std::vector<std::int64_t>& other_positions);
Handle to_full_axis(const Handle& self, std::int32_t num_layers, std::int32_t fill, std::int32_t fill_id);
Handle to_compact(const Handle& self, const std::vector<std::int32_t>& layer_ids);

struct Compared {
  rcap_compare_report report{};
  std::vector<std::int64_t> by_layer;  ///< -7 where nothing was written
};
Compared compare(const Handle& self, const Handle& other);

}  // namespace routecap_records
