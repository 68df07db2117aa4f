// SPDX-License-Identifier: Apache-2.0
#include "wire/csv_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "support/checked.h"

namespace routecap::wire {
namespace {

enum class Column : std::uint8_t { kOther, kTurn, kStep, kLayer, kSlot, kExpert, kWeight };

constexpr std::size_t kMostColumns = 64;

Column column_named(std::string_view name) {
  if (name == "turn") return Column::kTurn;
  if (name == "step" || name == "token") return Column::kStep;
  if (name == "layer") return Column::kLayer;
  if (name == "slot" || name == "rank") return Column::kSlot;
  if (name == "expert") return Column::kExpert;
  return name == "weight" ? Column::kWeight : Column::kOther;
}

class CsvReader {
 public:
  CsvReader(std::string_view text, std::int64_t turn) : begin_(text.data()), at_(text.data()), end_(text.data() + text.size()), turn_(turn) {}

  CsvTrace read() {
    while (at_ != end_) {
      if (*at_ == '#') {
        read_comment();
      } else if (columns_ == 0) {
        read_columns();
      } else {
        read_entry();
      }
    }
    if (columns_ == 0) fail(RCAP_STATUS_CORRUPT, "csv: there is no line of column names");
    // The encoder ends every line, so this text was cut, and its last number may be. Other writers may leave the last end out (RFC 4180).
    if (ours_ && end_[-1] != '\n') fail_at(end_, "the last line of a trace that routecap wrote has no end, the text was cut");
    if (turn_ >= 0 && lines_ > 0 && trace_.entries.empty()) {
      fail(RCAP_STATUS_INVALID_ARGUMENT, "csv: hint turn is %" PRId64 ", no line has it", turn_);
    }
    return std::move(trace_);
  }

 private:
  /// The line at the cursor without its end; the cursor goes behind it.
  std::string_view line() {
    const auto left = static_cast<std::size_t>(end_ - at_);
    const auto* stop = static_cast<const char*>(std::memchr(at_, '\n', left));
    std::string_view found(at_, stop == nullptr ? left : static_cast<std::size_t>(stop - at_));
    at_ = stop == nullptr ? end_ : stop + 1;
    if (found.ends_with('\r')) found.remove_suffix(1);
    return found;
  }

  void read_comment() {
    const char* place = at_;
    std::string_view comment = line();
    const bool ours = comment.starts_with(kCsvFactsMark);
    ours_ = ours_ || ours;
    // A comment's words of the form name=value; all others are prose.
    while (!comment.empty()) {
      const std::size_t stop = std::min(comment.find(' '), comment.size());
      const std::string_view word = comment.substr(0, stop);
      comment.remove_prefix(std::min(stop + 1, comment.size()));
      const std::size_t equals = word.find('=');
      if (equals == std::string_view::npos) continue;
      take_fact(word.substr(0, equals), word.substr(equals + 1), ours, place);
    }
  }

  void take_fact(std::string_view name, std::string_view value, bool ours, const char* place) {
    Facts& facts = trace_.facts;
    if (name == "n_expert") facts.num_experts = number<std::int32_t>(value, place);
    if (name == "n_expert_used") facts.top_k = number<std::int32_t>(value, place);
    if (!ours) return;
    if (name == "start") facts.start = number<std::int64_t>(value, place);
    if (name == "rows") facts.rows = number<std::int64_t>(value, place);
    if (name == "weights_kind") facts.weights_kind = number<std::int32_t>(value, place);
    if (name == "layers") facts.layer_ids = numbers(value, place);
    if (name == "flags") facts.layer_flags = numbers(value, place);
    if (name != "weights") return;
    facts.weights_dtype = value == "float16" ? RCAP_DTYPE_FLOAT16 : value == "bfloat16" ? RCAP_DTYPE_BFLOAT16 : RCAP_DTYPE_FLOAT32;
    if (facts.weights_dtype == RCAP_DTYPE_FLOAT32 && value != "float32") fail_at(place, "a comment names an unknown type of weights");
  }

  std::vector<std::int32_t> numbers(std::string_view list, const char* place) {
    std::vector<std::int32_t> found;
    found.reserve(static_cast<std::size_t>(std::count(list.begin(), list.end(), ',')) + 1);
    while (true) {
      const std::size_t stop = std::min(list.find(','), list.size());
      found.push_back(number<std::int32_t>(list.substr(0, stop), place));
      if (stop == list.size()) return found;
      list.remove_prefix(stop + 1);
    }
  }

  template <class Number>
  Number number(std::string_view text, const char* place) const {
    Number value = 0;
    const auto [behind, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status != std::errc{} || behind != text.data() + text.size() || value < 0) fail_at(place, "a comment has no number where one belongs");
    return value;
  }

  void read_columns() {
    const char* place = at_;
    std::string_view names = line();
    std::array<bool, 7> seen{};
    while (true) {
      const std::size_t stop = std::min(names.find(','), names.size());
      const Column column = column_named(names.substr(0, stop));
      if (columns_ == kMostColumns) fail_at(place, "there are more than 64 columns");
      if (column != Column::kOther && seen[static_cast<std::size_t>(column)]) fail_at(place, "a column stands twice");
      seen[static_cast<std::size_t>(column)] = true;
      kinds_[columns_++] = column;
      if (stop == names.size()) break;
      names.remove_prefix(stop + 1);
    }
    const auto has = [&seen](Column column) { return seen[static_cast<std::size_t>(column)]; };
    // Without a step, rows could only be counted, and a layer that was left out somewhere would shift its rows unseen.
    if (!has(Column::kStep) || !has(Column::kLayer) || !has(Column::kSlot) || !has(Column::kExpert)) {
      fail_at(place, "the columns step (or token), layer, slot (or rank) and expert are not all there");
    }
    trace_.has_weights = has(Column::kWeight);
    while (kinds_[same_columns_] != Column::kSlot && kinds_[same_columns_] != Column::kExpert && kinds_[same_columns_] != Column::kWeight)
      ++same_columns_;
    if (turn_ >= 0 && !has(Column::kTurn)) fail(RCAP_STATUS_INVALID_ARGUMENT, "csv: hint turn is %" PRId64 ", the trace has no column turn", turn_);
    // No line is shorter than a character and a comma or line end per column: the list never grows.
    const auto left = static_cast<std::size_t>(end_ - at_);
    const auto most = left / (2 * columns_) + 1;
    const auto lines = static_cast<std::size_t>(std::count(at_, end_, '\n')) + 1;
    trace_.entries.reserve(std::min(most, lines));
  }

  void read_entry() {
    const char* place = at_;
    CsvEntry entry{0, 0, 0, 0, 0.0F};
    std::int64_t turn = 0;
    std::size_t i = 0;
    // Lines of a cell begin alike: what was read once is not read again for each rank.
    if (same_length_ > 0 && end_ - at_ > same_length_ && std::memcmp(at_, same_, static_cast<std::size_t>(same_length_)) == 0) {
      entry = same_entry_;
      turn = only_turn_;
      at_ += same_length_;
      i = same_columns_;
    }
    for (; i < columns_; ++i) {
      if (i == same_columns_ && i > 0) {
        same_ = place;
        same_length_ = at_ - place;
        same_entry_ = entry;
      }
      switch (kinds_[i]) {
        case Column::kTurn: turn = field<std::int64_t>(); break;
        case Column::kStep: entry.step = field<std::int64_t>(); break;
        case Column::kLayer: entry.layer = field<std::int32_t>(); break;
        case Column::kSlot: entry.slot = field<std::int32_t>(); break;
        case Column::kExpert: entry.expert = field<std::int32_t>(); break;
        case Column::kWeight: entry.weight = weight(); break;
        case Column::kOther:
          while (at_ != end_ && *at_ != ',' && *at_ != '\n' && *at_ != '\r') ++at_;
          break;
      }
      if (i + 1 == columns_) break;
      if (at_ == end_ || *at_ != ',') fail_at(at_, "a line has too few columns or something that is no number");
      ++at_;
    }
    if (at_ != end_ && *at_ == '\r') ++at_;
    if (at_ != end_ && *at_ != '\n') fail_at(at_, "a line has too many columns or something that is no number");
    if (at_ != end_) ++at_;
    ++lines_;
    if (turn_ < 0 && lines_ > 1 && turn != only_turn_) {
      fail(RCAP_STATUS_INVALID_ARGUMENT, "csv: the trace has the turns %" PRId64 " and %" PRId64 ", the hint turn is needed", only_turn_, turn);
    }
    only_turn_ = turn;
    if (turn_ >= 0 && turn != turn_) return;
    if (entry.slot == INT32_MAX) fail_at(place, "a rank is too large");
    trace_.entries.push_back(entry);
  }

  /// A number >= 0 in plain digits.
  template <class Number>
  Number field() {
    constexpr std::int64_t kDigits = sizeof(Number) == 8 ? 18 : 9;  // cannot overflow
    const char* first = at_;
    Number value = 0;
    while (at_ != end_ && static_cast<unsigned char>(*at_ - '0') < 10 && at_ - first < kDigits)
      value = static_cast<Number>(value * 10 + (*at_++ - '0'));
    if (at_ == first) fail_at(at_, "a number is missing");
    if (at_ != end_ && static_cast<unsigned char>(*at_ - '0') < 10) {
      const auto [behind, status] = std::from_chars(first, end_, value);
      if (status != std::errc{}) fail_at(first, "a number is too large");
      at_ = behind;
    }
    return value;
  }

  float weight() {
    float value = 0.0F;
    const auto [behind, status] = std::from_chars(at_, end_, value);
    if (status == std::errc::invalid_argument) fail_at(at_, "a weight is missing");
    if (status != std::errc{}) fail_at(at_, "a weight is too large or too small for 32 bits");
    at_ = behind;
    return value;
  }

  [[noreturn]] void fail_at(const char* place, const char* what) const {
    fail(RCAP_STATUS_CORRUPT, "csv: %s, line %" PRId64 ", at byte %" PRId64, what, static_cast<std::int64_t>(std::count(begin_, place, '\n')) + 1,
         static_cast<std::int64_t>(place - begin_));
  }

  const char* begin_;
  const char* at_;
  const char* end_;
  std::int64_t turn_;
  std::array<Column, kMostColumns> kinds_{};
  std::size_t columns_ = 0;
  std::size_t same_columns_ = 0;  ///< in front of the first that is a rank's own
  const char* same_ = nullptr;    ///< their text in the line before, up to and with the comma
  std::ptrdiff_t same_length_ = 0;
  CsvEntry same_entry_{0, 0, 0, 0, 0.0F};
  bool ours_ = false;  ///< a comment names our own facts
  std::int64_t lines_ = 0;
  std::int64_t only_turn_ = 0;
  CsvTrace trace_;
};

}  // namespace

std::int64_t csv_cells_bytes(const RecordGeometry& geometry) {
  const std::int64_t cells = checked_multiply(geometry.rows, geometry.layers(), "cells of a trace");
  const std::int64_t ids = checked_multiply(cells, geometry.top_k, "ids of a trace");
  return checked_add(checked_multiply(cells, 4, "cells of a trace"), ids, "cells of a trace");
}

CsvTrace read_csv(std::string_view text, std::int64_t turn) { return CsvReader(text, turn).read(); }

}  // namespace routecap::wire
