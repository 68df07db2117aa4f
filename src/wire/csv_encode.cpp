// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "support/dtype.h"
#include "wire/codecs.h"
#include "wire/csv_text.h"
#include "wire/half.h"

namespace routecap::wire {
namespace {

std::string comma_separated(const std::vector<std::int32_t>& numbers) {
  std::string list;
  for (const std::int32_t number : numbers) list.append(list.empty() ? "" : ",").append(std::to_string(number));
  return list;
}

std::string preamble(const RecordGeometry& geometry) {
  const std::string_view weights = geometry.weights_dtype == RCAP_DTYPE_FLOAT16    ? "float16"
                                   : geometry.weights_dtype == RCAP_DTYPE_BFLOAT16 ? "bfloat16"
                                                                                   : "float32";
  std::string text(kCsvMark);
  text.append("\n# n_layer=").append(std::to_string(geometry.layer_ids.back() + std::int64_t{1}));
  text.append(" n_expert=")
      .append(std::to_string(geometry.num_experts))
      .append(" n_expert_used=")
      .append(std::to_string(geometry.top_k))
      .append("\n");
  text.append(kCsvFactsMark).append("start=").append(std::to_string(geometry.start)).append(" rows=").append(std::to_string(geometry.rows));
  text.append(" layers=").append(comma_separated(geometry.layer_ids)).append(" flags=").append(comma_separated(geometry.layer_flags));
  if (geometry.weights_dtype != RCAP_DTYPE_NONE) text.append(" weights=").append(weights);
  text.append(" weights_kind=").append(std::to_string(geometry.weights_kind));
  text.append("\nturn,phase,step,layer,slot,expert").append(geometry.weights_dtype == RCAP_DTYPE_NONE ? "" : ",weight").append("\n");
  return text;
}

float weight_at(const Record& record, std::int64_t element) {
  const std::byte* weights = record.weights().data();
  if (record.geometry().weights_dtype == RCAP_DTYPE_FLOAT32) {
    float value = 0;
    std::memcpy(&value, weights + element * 4, sizeof value);
    return value;
  }
  std::uint16_t value = 0;
  std::memcpy(&value, weights + element * 2, sizeof value);
  return record.geometry().weights_dtype == RCAP_DTYPE_FLOAT16 ? float_of_half(value) : float_of_bfloat(value);
}

std::int64_t id_at(const Record& record, std::int64_t element) {
  const std::int32_t bytes = dtype_bytes(record.geometry().ids_dtype);
  std::int32_t id = 0;  // little endian: the low bytes are the number
  std::memcpy(&id, record.ids().data() + element * bytes, static_cast<std::size_t>(bytes));
  return id;
}

/// One line in the making; the fields that stay the same within a cell are written once.
class Line {
 public:
  void restart(std::size_t length) { length_ = length; }
  [[nodiscard]] std::size_t length() const { return length_; }
  void number(std::int64_t value, char behind) {
    length_ = static_cast<std::size_t>(std::to_chars(text_.data() + length_, text_.data() + text_.size(), value).ptr - text_.data());
    text_[length_++] = behind;
  }
  void number(float value, char behind) {
    // The shortest text that reads back as the same number.
    length_ = static_cast<std::size_t>(std::to_chars(text_.data() + length_, text_.data() + text_.size(), value).ptr - text_.data());
    text_[length_++] = behind;
  }
  [[nodiscard]] std::string_view text() const { return {text_.data(), length_}; }

 private:
  std::array<char, 192> text_{};  // six numbers of at most 20 characters and a weight of at most 16
  std::size_t length_ = 0;
};

/// A reader takes memory by the bytes it is given, and rows that are missing have no line: where nearly all are, comments speak for them, or our own
/// reader would refuse the trace.
void speak_for_missing_rows(const RecordGeometry& geometry, Output& out) {
  constexpr std::string_view kComment = "# for rows without a line: a reader takes no more memory than the bytes it is given account for\n";
  const std::int64_t needed = std::max(record_bytes(geometry), csv_cells_bytes(geometry));
  while (out.size() < (needed - kAllocationSlack) / kAllocationFactor) out.put(kComment);
}

}  // namespace

void encode_csv(const Record& record, const rcap_encode_options& options, Output& out) {
  const RecordGeometry& geometry = record.geometry();
  const bool has_weights = geometry.weights_dtype != RCAP_DTYPE_NONE;
  out.put(preamble(geometry));
  Line line;
  for (std::int64_t row = 0; row < geometry.rows; ++row) {
    if (!record.row_valid(row)) continue;
    const std::int64_t position = geometry.start + row;
    line.restart(0);
    line.number(options.turn, ',');
    line.number(std::int64_t{options.decode_start >= 0 && position >= options.decode_start ? 1 : 0}, ',');
    line.number(position, ',');
    const std::size_t of_row = line.length();
    for (std::int64_t column = 0; column < geometry.layers(); ++column) {
      if (!record.cell_valid(row, column)) continue;
      line.restart(of_row);
      line.number(std::int64_t{geometry.layer_ids[static_cast<std::size_t>(column)]}, ',');
      const std::size_t of_cell = line.length();
      for (std::int64_t k = 0; k < geometry.top_k; ++k) {
        const std::int64_t element = (row * geometry.layers() + column) * geometry.top_k + k;
        line.restart(of_cell);
        line.number(k, ',');
        line.number(id_at(record, element), has_weights ? ',' : '\n');
        if (has_weights) line.number(weight_at(record, element), '\n');
        out.put(line.text());
      }
    }
  }
  speak_for_missing_rows(geometry, out);
}

}  // namespace routecap::wire
