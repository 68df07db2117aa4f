// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <utility>

#include "support/checked.h"
#include "support/choice.h"
#include "support/dtype.h"
#include "wire/codecs.h"
#include "wire/csv_text.h"
#include "wire/half.h"

namespace routecap::wire {
namespace {

/// What the entries say of the geometry, where the comments do not: the layers that occur, the rows between the first and the last step, the ranks.
void complete_facts(CsvTrace& trace, const DecodeHints& hints) {
  Facts& facts = trace.facts;
  if (facts.weights_dtype == RCAP_DTYPE_NONE && trace.has_weights) facts.weights_dtype = RCAP_DTYPE_FLOAT32;
  if (!trace.has_weights) facts.weights_dtype = RCAP_DTYPE_NONE;
  if (facts.weights_kind > RCAP_WEIGHTS_SCALED) fail(RCAP_STATUS_CORRUPT, "csv: a comment has weights_kind %d", facts.weights_kind);
  if (trace.entries.empty()) {
    if (facts.rows < 0) facts.rows = hints.rows < 0 ? 0 : -1;
    return;
  }
  std::int64_t first = INT64_MAX;
  std::int64_t last = 0;
  std::int32_t slots = 0;
  std::vector<std::int32_t> layers;
  for (const CsvEntry& entry : trace.entries) {
    first = std::min(first, entry.step);
    last = std::max(last, entry.step);
    slots = std::max(slots, entry.slot + 1);
    if (layers.empty() || layers.back() != entry.layer) layers.push_back(entry.layer);
  }
  if (facts.top_k == 0) facts.top_k = slots;
  // A caller may know of missing rows before the first line and behind the last; then the hint adds to the bytes and does not contradict them.
  if (facts.start < 0) facts.start = hints.start >= 0 && hints.start <= first ? hints.start : first;
  if (facts.rows < 0) {
    const std::int64_t behind = last - facts.start;  // one less than the rows: cannot overflow
    if (behind == INT64_MAX) fail(RCAP_STATUS_OUT_OF_RANGE, "csv: step %" PRId64 " is too large", last);
    facts.rows = hints.rows > behind ? hints.rows : behind + 1;
  }
  // Layers that the hints name may be without a line; one that the lines have and the hints do not is found where it is placed.
  if (!facts.layer_ids.empty() || hints.num_layers > 0 || !hints.layer_ids.empty()) return;
  std::sort(layers.begin(), layers.end());
  layers.erase(std::unique(layers.begin(), layers.end()), layers.end());
  facts.layer_ids = std::move(layers);
}

void check_layer_facts(const Facts& facts) {
  for (std::size_t column = 1; column < facts.layer_ids.size(); ++column) {
    if (facts.layer_ids[column] <= facts.layer_ids[column - 1]) {
      fail(RCAP_STATUS_CORRUPT, "csv: layer %d stands after %d in a comment, layers must ascend", facts.layer_ids[column],
           facts.layer_ids[column - 1]);
    }
  }
  if (!facts.layer_flags.empty() && facts.layer_flags.size() != facts.layer_ids.size()) {
    fail(RCAP_STATUS_CORRUPT, "csv: %zu flags for %zu layers in a comment", facts.layer_flags.size(), facts.layer_ids.size());
  }
  constexpr std::int32_t kKnown = RCAP_TAP_HASH_ROUTED | RCAP_TAP_UNORDERED | RCAP_TAP_PARTIAL;
  for (const std::int32_t flags : facts.layer_flags) {
    if ((flags & ~kKnown) != 0) fail(RCAP_STATUS_CORRUPT, "csv: a comment has layer flags %d, known bits are %d", flags, kKnown);
  }
}

/// Entries on their way into a record: which cells there are is known before the record is made.
class Placer {
 public:
  Placer(const CsvTrace& trace, RecordGeometry geometry, const DecodeHints& hints, std::int64_t input)
      : trace_(trace), geometry_(std::move(geometry)) {
    const std::int64_t bytes = csv_cells_bytes(geometry_);
    if (!size_is_hinted(hints)) check_allocation(kCsvForm, "trace's cells", bytes, input);
    counts_.resize(static_cast<std::size_t>(geometry_.rows * geometry_.layers()));
    seen_.resize(counts_.size() * static_cast<std::size_t>(geometry_.top_k));
  }

  std::unique_ptr<Record> place() {
    places_.reserve(trace_.entries.size());
    for (const CsvEntry& entry : trace_.entries) places_.push_back(place_of(entry));
    find_holes();
    auto record = std::make_unique<Record>(geometry_);
    for (std::int64_t row = 0; row < geometry_.rows; ++row) {
      if (!row_there(row)) continue;
      bits::set(record->row_validity().data(), row);
      if (!geometry_.has_cells) continue;
      for (std::int64_t column = 0; column < geometry_.layers(); ++column) {
        const std::int64_t cell = row * geometry_.layers() + column;
        if (counts_[static_cast<std::size_t>(cell)] != 0) bits::set(record->cell_validity().data(), cell);
      }
    }
    switch (geometry_.ids_dtype) {
      case RCAP_DTYPE_UINT8: write_ids<std::uint8_t>(*record); break;
      case RCAP_DTYPE_UINT16: write_ids<std::uint16_t>(*record); break;
      default: write_ids<std::int32_t>(*record); break;
    }
    write_weights(*record);
    record->canonicalize();
    if (record->rows_valid() > 0) record->spans() = {{geometry_.start}, {0}};
    return record;
  }

 private:
  /// Element of the record that an entry is; everything about the entry is checked here.
  std::int64_t place_of(const CsvEntry& entry) {
    if (entry.step < geometry_.start || entry.step - geometry_.start >= geometry_.rows) {
      fail(RCAP_STATUS_CORRUPT, "csv: step %" PRId64 " lies outside start %" PRId64 " and %" PRId64 " rows", entry.step, geometry_.start,
           geometry_.rows);
    }
    if (last_column_ < 0 || geometry_.layer_ids[static_cast<std::size_t>(last_column_)] != entry.layer) {
      const auto found = std::lower_bound(geometry_.layer_ids.begin(), geometry_.layer_ids.end(), entry.layer);
      if (found == geometry_.layer_ids.end() || *found != entry.layer) {
        fail(RCAP_STATUS_INVALID_ARGUMENT, "csv: step %" PRId64 " has layer %d, the layers (hint or comment) do not", entry.step, entry.layer);
      }
      last_column_ = found - geometry_.layer_ids.begin();
    }
    if (entry.slot >= geometry_.top_k) {
      fail(RCAP_STATUS_CORRUPT, "csv: step %" PRId64 ", layer %d has rank %d, top_k is %d", entry.step, entry.layer, entry.slot, geometry_.top_k);
    }
    if (entry.expert >= geometry_.num_experts) {
      fail(RCAP_STATUS_OUT_OF_RANGE, "csv: step %" PRId64 ", layer %d has id %d, num_experts is %d", entry.step, entry.layer, entry.expert,
           geometry_.num_experts);
    }
    const std::int64_t cell = (entry.step - geometry_.start) * geometry_.layers() + last_column_;
    const std::int64_t element = cell * geometry_.top_k + entry.slot;
    if (seen_[static_cast<std::size_t>(element)] != 0) {
      fail(RCAP_STATUS_CORRUPT, "csv: step %" PRId64 ", layer %d, rank %d stands twice", entry.step, entry.layer, entry.slot);
    }
    seen_[static_cast<std::size_t>(element)] = 1;
    ++counts_[static_cast<std::size_t>(cell)];
    return element;
  }

  /// Cells that lack some ranks are corrupt; where a row that is there lacks a whole cell, cells need a validity of their own.
  void find_holes() {
    for (std::int64_t row = 0; row < geometry_.rows; ++row) {
      if (!row_there(row)) continue;
      for (std::int64_t column = 0; column < geometry_.layers(); ++column) {
        const std::int32_t count = counts_[static_cast<std::size_t>(row * geometry_.layers() + column)];
        if (count == geometry_.top_k) continue;
        if (count != 0) {
          fail(RCAP_STATUS_CORRUPT, "csv: step %" PRId64 ", layer %d has %d of %d ranks", geometry_.start + row,
               geometry_.layer_ids[static_cast<std::size_t>(column)], count, geometry_.top_k);
        }
        geometry_.has_cells = true;
      }
    }
  }

  [[nodiscard]] bool row_there(std::int64_t row) const {
    const auto* first = counts_.data() + row * geometry_.layers();
    return std::any_of(first, first + geometry_.layers(), [](std::int32_t count) { return count != 0; });
  }

  template <class Id>
  void write_ids(Record& record) const {
    auto* ids = reinterpret_cast<Id*>(record.ids().data());
    for (std::size_t i = 0; i < places_.size(); ++i) ids[places_[i]] = static_cast<Id>(trace_.entries[i].expert);
  }

  void write_weights(Record& record) const {
    const std::int32_t dtype = geometry_.weights_dtype;
    if (dtype == RCAP_DTYPE_NONE) return;
    std::byte* weights = record.weights().data();
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const float weight = trace_.entries[i].weight;
      if (dtype == RCAP_DTYPE_FLOAT32) {
        std::memcpy(weights + places_[i] * 4, &weight, sizeof weight);
      } else {
        const std::uint16_t narrow = dtype == RCAP_DTYPE_FLOAT16 ? half_of_float(weight) : bfloat_of_float(weight);
        std::memcpy(weights + places_[i] * 2, &narrow, sizeof narrow);
      }
    }
  }

  const CsvTrace& trace_;
  RecordGeometry geometry_;
  std::vector<std::int32_t> counts_;  ///< ranks of every cell
  std::vector<std::uint8_t> seen_;    ///< of every element
  std::vector<std::int64_t> places_;  ///< element of every entry
  std::int64_t last_column_ = -1;
};

}  // namespace

Decoded decode_csv(std::span<const std::byte> bytes, const DecodeHints& hints) {
  if (hints.dtype != RCAP_DTYPE_NONE) fail(RCAP_STATUS_INVALID_ARGUMENT, "csv: hint dtype is %s, numbers in text have none", dtype_name(hints.dtype));
  const auto input = static_cast<std::int64_t>(bytes.size());
  CsvTrace trace = read_csv(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()), hints.turn);
  complete_facts(trace, hints);
  check_layer_facts(trace.facts);
  RecordGeometry geometry = resolve(kCsvForm, std::move(trace.facts), hints, input);
  return {Placer(trace, std::move(geometry), hints, input).place(), input};
}

bool looks_like_csv(std::span<const std::byte> bytes) {
  // Behind comments stands a line with the columns that every trace has. It is short, and comments are few.
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), std::min<std::size_t>(bytes.size(), 65536));
  if (text.starts_with(kCsvMark)) return true;
  while (text.starts_with('#')) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  text = text.substr(0, std::min({text.find('\n'), text.find('\r'), text.size()}));
  const auto has = [&text](std::string_view name) {
    const std::size_t at = text.find(name);
    return at != std::string_view::npos && (at == 0 || text[at - 1] == ',') && (at + name.size() == text.size() || text[at + name.size()] == ',');
  };
  return has("layer") && has("expert");
}

}  // namespace routecap::wire
