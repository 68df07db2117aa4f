// SPDX-License-Identifier: Apache-2.0
// Rows dealt out by position, against the naive model.
#include <algorithm>

#include <doctest/doctest.h>

#include "records/random.h"

using namespace routecap_records;

namespace {

struct Dealt {
  Model model;
  std::vector<std::int64_t> positions;
};

/// The rows at these positions as one rank holds them: its own rows 0, 1, ...
Dealt deal(const Model& whole, std::vector<std::int64_t> positions) {
  Dealt dealt{whole.emptied(0, static_cast<std::int64_t>(positions.size())), std::move(positions)};
  for (std::size_t row = 0; row < dealt.positions.size(); ++row) dealt.model.take_row(whole, dealt.positions[row], static_cast<std::int64_t>(row));
  return dealt;
}

std::vector<std::int64_t> range(std::int64_t begin, std::int64_t end) {
  std::vector<std::int64_t> positions;
  for (std::int64_t position = begin; position < end; ++position) positions.push_back(position);
  return positions;
}

/// All ranks' positions; null where a rank names none.
Handle gather(const std::vector<Dealt>& ranks) {
  Handle whole = interleave(record(ranks[0].model), ranks[0].positions, record(ranks[1].model), ranks[1].positions);
  for (std::size_t rank = 2; rank < ranks.size(); ++rank) whole = interleave(whole, {}, record(ranks[rank].model), ranks[rank].positions);
  return whole;
}

/// A whole record that starts low enough for any position to be a real one.
Model any_whole() {
  Model model = any_model({.least_rows = 1});
  RC_PRE(model.end() < INT64_MAX);
  return model;
}

}  // namespace

TEST_CASE("R45: contiguous shares interleave to the same bytes") {
  CHECK(rc::check("contiguous", [] {
    const Model whole = any_whole();
    const std::int64_t ranks = any_number(2, 5);
    std::vector<Dealt> dealt;
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      dealt.push_back(deal(whole, range(whole.start + whole.rows * rank / ranks, whole.start + whole.rows * (rank + 1) / ranks)));
    }
    must_be(gather(dealt), whole);
  }));
}

TEST_CASE("R45: zigzag shares interleave to the same bytes") {
  CHECK(rc::check("zigzag", [] {
    const Model whole = any_whole();
    const std::int64_t ranks = any_number(2, 5);
    const auto chunk = [&](std::int64_t index) {
      return range(whole.start + whole.rows * index / (2 * ranks), whole.start + whole.rows * (index + 1) / (2 * ranks));
    };
    std::vector<Dealt> dealt;
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      std::vector<std::int64_t> positions = chunk(rank);
      const std::vector<std::int64_t> mirrored = chunk(2 * ranks - 1 - rank);
      positions.insert(positions.end(), mirrored.begin(), mirrored.end());
      dealt.push_back(deal(whole, positions));
    }
    must_be(gather(dealt), whole);
  }));
}

TEST_CASE("R45: any deal in any order interleaves to what was dealt, either way round") {
  CHECK(rc::check("any deal", [] {
    const Model whole = any_whole();
    std::mt19937_64 random(*rc::gen::arbitrary<std::uint32_t>());
    std::vector<std::int64_t> positions = range(whole.start, whole.end());
    if (any_number(0, 1) == 1) std::shuffle(positions.begin(), positions.end(), random);
    std::vector<std::int64_t> shares[2];
    for (const std::int64_t position : positions) {
      const auto share = random() % 5;
      if (share < 4) shares[share % 2].push_back(position);  // and some are lost
    }
    std::vector<std::int64_t> named = shares[0];
    named.insert(named.end(), shares[1].begin(), shares[1].end());
    RC_PRE(!named.empty());
    const auto [lowest, highest] = std::minmax_element(named.begin(), named.end());
    Model expected = whole.emptied(*lowest, *highest - *lowest + 1);
    for (const std::int64_t position : named) expected.take_row(whole, position, position);
    const Dealt first = deal(whole, shares[0]);
    const Dealt second = deal(whole, shares[1]);
    must_be(interleave(record(first.model), first.positions, record(second.model), second.positions), expected);
    must_be(interleave(record(second.model), second.positions, record(first.model), first.positions), expected);
  }));
}

TEST_CASE("R45: the same valid position in both is an error, a missing row gives way") {
  CHECK(rc::check("twice", [] {
    const Model whole = any_whole();
    const Model other = any_rows(whole, whole.start, whole.rows);
    bool clash = false;
    Model expected = whole;
    for (std::int64_t position = whole.start; position < whole.end(); ++position) {
      clash = clash || (whole.versions.count(position) != 0 && other.versions.count(position) != 0);
      if (other.versions.count(position) != 0) expected.take_row(other, position, position);
    }
    rcap_record* made = nullptr;
    const Handle first = record(whole);
    const Handle second = record(other);
    const std::int32_t status = rcap_record_interleave(first.get(), nullptr, 0, second.get(), nullptr, 0, &made, nullptr);
    const Handle owner(made);
    RC_ASSERT(status == (clash ? RCAP_STATUS_INVALID_ARGUMENT : RCAP_STATUS_OK));
    if (!clash) must_be(owner, expected);
  }));
}
