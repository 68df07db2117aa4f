// SPDX-License-Identifier: Apache-2.0
// One record behind another, against the naive model.
#include <algorithm>

#include <doctest/doctest.h>

#include "records/random.h"

using namespace routecap_records;

namespace {

Model rows_of(const Model& model, std::int64_t start, std::int64_t end) {
  Model part = model.emptied(start, end - start);
  for (std::int64_t position = start; position < end; ++position) part.take_row(model, position, position);
  return part;
}

/// Positions of a first record, then of one that starts inside it or right behind it, in this model's shape.
struct Pair {
  Model first;
  Model next;
};

Pair any_pair() {
  Pair pair;
  pair.first = any_model();
  const std::int64_t start = any_number(pair.first.start, pair.first.end());
  pair.next = any_rows(pair.first, start, any_number(0, std::min<std::int64_t>(20, INT64_MAX - start)));
  return pair;
}

}  // namespace

TEST_CASE("R3: a slice is the cells of its positions") {
  CHECK(rc::check("slice", [] {
    const Model whole = any_model();
    const std::int64_t start = any_number(whole.start, whole.end());
    const std::int64_t end = any_number(start, whole.end());
    must_be(record(whole), whole);
    must_be(slice(record(whole), start, end), rows_of(whole, start, end));
  }));
}

TEST_CASE("R5: slices at any cuts append to the same bytes") {
  CHECK(rc::check("append of slices = whole", [] {
    const Model model = any_model();
    const Handle whole = record(model);
    auto cuts = *rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(0, model.rows + 1));
    std::sort(cuts.begin(), cuts.end());
    std::int64_t at = model.start;
    Handle so_far = slice(whole, at, at);
    for (const std::int64_t cut : cuts) {
      so_far = append(so_far, slice(whole, at, model.start + cut));
      at = model.start + cut;
    }
    must_be(append(so_far, slice(whole, at, model.end())), whole);
  }));
}

TEST_CASE("R39: where two records overlap the one chosen wins, row by row") {
  CHECK(rc::check("append = rows of one, then of the other", [] {
    const Pair pair = any_pair();
    for (const std::int32_t overlap : {RCAP_OVERLAP_KEEP_OLD, RCAP_OVERLAP_KEEP_NEW}) {
      const std::int64_t end = std::max(pair.first.end(), pair.next.end());
      Model expected = pair.first.emptied(pair.first.start, end - pair.first.start);
      for (std::int64_t position = expected.start; position < end; ++position) {
        const bool in_first = position < pair.first.end();
        const bool in_next = position >= pair.next.start && position < pair.next.end();
        const bool from_next = in_next && (!in_first || overlap == RCAP_OVERLAP_KEEP_NEW);
        expected.take_row(from_next ? pair.next : pair.first, position, position);
      }
      must_be(append(record(pair.first), record(pair.next), overlap), expected);
    }
  }));
}

TEST_CASE("R39: an overlap is an error exactly where a position is in both") {
  CHECK(rc::check("append refuses", [] {
    const Pair pair = any_pair();
    const Handle first = record(pair.first);
    const Handle next = record(pair.next);
    rcap_record* made = nullptr;
    const std::int32_t status = rcap_record_append(first.get(), next.get(), RCAP_OVERLAP_REFUSE, &made, nullptr);
    const Handle owner(made);
    RC_ASSERT(status == (pair.next.rows > 0 && pair.next.start < pair.first.end() ? RCAP_STATUS_OUT_OF_RANGE : RCAP_STATUS_OK));
    if (status == RCAP_STATUS_OK) must_be(owner, append(first, next, RCAP_OVERLAP_KEEP_NEW));
  }));
}

TEST_CASE("R40: a merge is a slice of one appended to by a slice of the other") {
  CHECK(rc::check("merge = slice + append", [] {
    const Model first = any_model();
    const std::int64_t boundary = any_number(first.start, first.end());
    const std::int64_t start = any_number(std::max<std::int64_t>(0, boundary - 15), boundary);
    const Model second = any_rows(first, start, any_number(boundary - start, boundary - start + std::min<std::int64_t>(15, INT64_MAX - boundary)));
    Model expected = first.emptied(first.start, second.end() - first.start);
    for (std::int64_t position = expected.start; position < expected.end(); ++position) {
      expected.take_row(position < boundary ? first : second, position, position);
    }
    const Handle a = record(first);
    const Handle b = record(second);
    const Handle merged = merge(a, b, boundary);
    must_be(merged, expected);
    must_be(merged, append(slice(a, first.start, boundary), slice(b, boundary, second.end())));
  }));
}

TEST_CASE("R4: truncating is slicing") {
  CHECK(rc::check("truncate = slice", [] {
    const Model model = any_model();
    const Handle whole = record(model);
    const std::int64_t tokens = *rc::gen::oneOf(rc::gen::inRange<std::int64_t>(0, 70), rc::gen::just<std::int64_t>(model.end()));
    const auto flags = static_cast<std::int32_t>(any_number(0, RCAP_READ_INCLUDE_LAST));
    const std::int64_t end = std::clamp(tokens - (flags == 0 ? 1 : 0), model.start, model.end());
    must_be(truncate(whole, tokens, flags), slice(whole, model.start, end));
  }));
}
