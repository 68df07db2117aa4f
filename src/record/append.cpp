// SPDX-License-Identifier: Apache-2.0
// One record behind another: append, merge, truncate.
#include <algorithm>
#include <array>
#include <cinttypes>

#include "record/algebra.h"
#include "record/same_shape.h"
#include "support/checked.h"
#include "support/choice.h"

namespace routecap {
namespace {

constexpr std::array<Choice, 3> kOverlaps{
    {{RCAP_OVERLAP_REFUSE, "REFUSE"}, {RCAP_OVERLAP_KEEP_OLD, "KEEP_OLD"}, {RCAP_OVERLAP_KEEP_NEW, "KEEP_NEW"}}};

/// Positions [start, end) of a record.
struct Piece {
  const Record& record;
  std::int64_t start;
  std::int64_t end;
};

/// Pieces that follow each other without a gap, as one record; those of no rows are skipped.
template <std::size_t Count>
std::unique_ptr<Record> join(std::int64_t start, const std::array<Piece, Count>& pieces) {
  RecordGeometry geometry = pieces.front().record.geometry();
  geometry.start = start;
  geometry.rows = 0;
  for (const Piece& piece : pieces) {
    geometry.rows += std::max<std::int64_t>(0, piece.end - piece.start);
    geometry.has_cells = geometry.has_cells || piece.record.geometry().has_cells;
  }
  auto whole = std::make_unique<Record>(geometry);
  std::vector<std::int64_t> versions(static_cast<std::size_t>(geometry.rows));
  for (const Piece& piece : pieces) {
    if (piece.end <= piece.start) continue;
    const std::int64_t first = piece.start - piece.record.geometry().start;
    whole->copy_rows(piece.record, first, piece.end - piece.start, piece.start - start);
    const std::vector<std::int64_t> own = piece.record.row_versions();
    std::copy_n(own.begin() + first, piece.end - piece.start, versions.begin() + (piece.start - start));
  }
  whole->canonicalize();
  whole->set_versions(versions);
  return whole;
}

}  // namespace

std::unique_ptr<Record> append(const Record& first, const Record& next, std::int32_t overlap) {
  require_choice("overlap", overlap, kOverlaps);
  const RecordGeometry& a = first.geometry();
  const RecordGeometry& b = next.geometry();
  require_same_columns("append", a, b);
  const auto refuse = [&](const char* why) {
    fail(RCAP_STATUS_OUT_OF_RANGE, "append: [%" PRId64 ", %" PRId64 ") %s [%" PRId64 ", %" PRId64 ")", b.start, b.end(), why, a.start, a.end());
  };
  if (b.start > a.end()) refuse("leaves a gap behind");
  if (b.start < a.start) refuse("starts before");
  if (overlap == RCAP_OVERLAP_REFUSE && b.rows > 0 && b.start < a.end()) refuse("overlaps");
  // Where the first record's rows stay, the next one begins behind them.
  const std::int64_t cut = overlap == RCAP_OVERLAP_KEEP_OLD ? a.end() : b.start;
  return join<3>(a.start, {{{first, a.start, cut}, {next, cut, b.end()}, {first, std::max(cut, b.end()), a.end()}}});
}

std::unique_ptr<Record> merge(const Record& prefill, const Record& decode, std::int64_t boundary) {
  const RecordGeometry& a = prefill.geometry();
  const RecordGeometry& b = decode.geometry();
  require_same_columns("merge", a, b);
  const auto refuse = [&](const char* side, const RecordGeometry& geometry) {
    fail(RCAP_STATUS_OUT_OF_RANGE, "merge: boundary %" PRId64 ", the %s record has the positions [%" PRId64 ", %" PRId64 ") and does not reach it",
         boundary, side, geometry.start, geometry.end());
  };
  if (boundary < a.start || boundary > a.end()) refuse("prefill", a);
  if (boundary < b.start || boundary > b.end()) refuse("decode", b);
  return join<2>(a.start, {{{prefill, a.start, boundary}, {decode, boundary, b.end()}}});
}

std::unique_ptr<Record> truncate(const Record& record, std::int64_t tokens, std::int32_t read_flags) {
  require_range("tokens", tokens, 0, INT64_MAX);
  require_flags("flags", read_flags, kReadFlags);
  const RecordGeometry& geometry = record.geometry();
  const std::int64_t end = (read_flags & RCAP_READ_INCLUDE_LAST) != 0 ? tokens : tokens - 1;  // R1: the last token was no input yet
  return record.slice(geometry.start, std::clamp(end, geometry.start, geometry.end()));
}

}  // namespace routecap
