// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cinttypes>
#include <limits>
#include <utility>

#include "record/algebra.h"
#include "record/same_shape.h"
#include "support/checked.h"

namespace routecap {
namespace {

/// Lowest and highest position named, missing rows' too.
struct Reach {
  std::int64_t lowest = std::numeric_limits<std::int64_t>::max();
  std::int64_t highest = -1;

  void add(const char* which, const DealtRows& dealt) {
    const RecordGeometry& geometry = dealt.record.geometry();
    if (!dealt.positions.empty() && static_cast<std::int64_t>(dealt.positions.size()) != geometry.rows) {
      fail(RCAP_STATUS_INVALID_ARGUMENT, "interleave: %zu positions of the %s record, it has %" PRId64 " rows", dealt.positions.size(), which,
           geometry.rows);
    }
    for (std::int64_t row = 0; row < geometry.rows; ++row) {
      const std::int64_t position = dealt.position(row);
      if (position < 0 || position == INT64_MAX) {
        fail(RCAP_STATUS_OUT_OF_RANGE, "interleave: row %" PRId64 " of the %s record has position %" PRId64 ", allowed are 0 .. %" PRId64, row, which,
             position, INT64_MAX - 1);
      }
      lowest = std::min(lowest, position);
      highest = std::max(highest, position);
    }
  }
};

/// Index of the first valid row before `end` that stands at `position`, -1 without one.
std::int64_t holder(const DealtRows& dealt, std::int64_t position, std::int64_t end) {
  for (std::int64_t row = 0; row < end; ++row) {
    if (dealt.record.row_valid(row) && dealt.position(row) == position) return row;
  }
  return -1;
}

[[noreturn]] void refuse_twice(const DealtRows& first, const DealtRows& dealt, std::int64_t row) {
  const std::int64_t position = dealt.position(row);
  const bool in_second = &dealt != &first;
  const std::int64_t in_first = holder(first, position, in_second ? first.record.geometry().rows : row);
  fail(RCAP_STATUS_INVALID_ARGUMENT, "interleave: position %" PRId64 " is row %" PRId64 " of the %s record and row %" PRId64 " of the %s, both valid",
       position, in_first >= 0 ? in_first : holder(dealt, position, row), in_first >= 0 ? "first" : "second", row, in_second ? "second" : "first");
}

/// Copies the valid rows of `dealt` to their places, neighbours that stay neighbours at once.
void place(const DealtRows& first, const DealtRows& dealt, Record& whole, std::vector<std::int64_t>& versions) {
  const Record& record = dealt.record;
  const std::vector<std::int64_t> own = record.row_versions();
  const std::int64_t rows = record.geometry().rows;
  const std::int64_t start = whole.geometry().start;
  for (std::int64_t row = 0; row < rows;) {
    if (!record.row_valid(row)) {
      ++row;
      continue;
    }
    const std::int64_t target = dealt.position(row) - start;
    std::int64_t count = 0;
    while (row + count < rows && record.row_valid(row + count) && dealt.position(row + count) - start == target + count) {
      if (whole.row_valid(target + count)) refuse_twice(first, dealt, row + count);
      versions[static_cast<std::size_t>(target + count)] = own[static_cast<std::size_t>(row + count)];
      ++count;
    }
    whole.copy_rows(record, row, count, target);
    row += count;
  }
}

/// A position too many digits long would ask for memory that no rank's rows account for: what two of `kMostRanks` ranks hold may lie as far apart as
/// the tokens of all of them.
constexpr std::int64_t kMostRanks = 1024;
constexpr std::int64_t kAnySpan = 65536;

void check_span(const Reach& reach, std::int64_t rows) {
  const std::int64_t most = rows > (INT64_MAX - kAnySpan) / kMostRanks ? INT64_MAX : rows * kMostRanks + kAnySpan;
  if (reach.highest - reach.lowest < most) return;
  fail(RCAP_STATUS_OUT_OF_RANGE, "interleave: positions reach from %" PRId64 " to %" PRId64 ", %" PRId64 " rows may span %" PRId64, reach.lowest,
       reach.highest, rows, most);
}

}  // namespace

std::unique_ptr<Record> interleave(const DealtRows& first, const DealtRows& second) {
  const RecordGeometry& a = first.record.geometry();
  const RecordGeometry& b = second.record.geometry();
  require_same_columns("interleave", a, b);
  Reach reach;
  reach.add("first", first);
  reach.add("second", second);
  if (reach.highest >= 0) check_span(reach, a.rows + b.rows);
  RecordGeometry geometry = a;
  geometry.start = reach.highest < 0 ? std::min(a.start, b.start) : reach.lowest;
  geometry.rows = reach.highest < 0 ? 0 : reach.highest - reach.lowest + 1;
  geometry.has_cells = a.has_cells || b.has_cells;
  auto whole = std::make_unique<Record>(std::move(geometry));
  std::vector<std::int64_t> versions(static_cast<std::size_t>(whole->geometry().rows));
  place(first, first, *whole, versions);
  place(first, second, *whole, versions);
  whole->canonicalize();
  whole->set_versions(versions);
  return whole;
}

}  // namespace routecap
