// SPDX-License-Identifier: Apache-2.0
// R42: filled rows make no expert-parallel rank run hot. Loads are counted, not computed.
#include <algorithm>
#include <set>

#include <doctest/doctest.h>

#include "records/model.h"
#include "trainer/calls.h"

using namespace routecap_trainer;
using routecap_records::Handle;
using routecap_records::Model;

namespace {

struct Shape {
  std::int32_t experts;
  std::int32_t top_k;
};

/// Models that are served, and shapes that divide badly.
const std::vector<Shape> kShapes = {{256, 8},  {384, 8}, {128, 8}, {160, 8}, {128, 4}, {32, 4}, {8, 2},  {256, 6}, {384, 6},
                                    {512, 10}, {128, 1}, {64, 6},  {1, 1},   {2, 2},   {5, 5},  {15, 8}, {129, 8}, {17, 11}};

Handle empty_record(const Shape& shape) {
  Model model;
  model.num_experts = shape.experts;
  model.top_k = shape.top_k;
  model.layers[3] = 0;
  return routecap_records::record(model);
}

/// A sequence in which each position that `step` divides is missing, and the last one.
Handle holes(const Shape& shape, std::int64_t tokens, std::int64_t step) {
  Model model;
  model.rows = tokens - 1;
  model.num_experts = shape.experts;
  model.top_k = shape.top_k;
  model.layers[3] = 0;
  for (std::int64_t position = 0; position < model.rows; ++position) {
    if (position % step == 0) continue;
    routecap_records::Cell cell;
    for (std::int32_t k = 0; k < shape.top_k; ++k) cell.ids.push_back(k);
    model.versions[position] = 0;
    model.cells[{position, 3}] = cell;
  }
  return routecap_records::record(model);
}

/// Tokens that each expert gets from rows that were filled.
class Load {
 public:
  explicit Load(const Shape& shape) : shape_(shape), experts_(static_cast<std::size_t>(shape.experts)) {}

  void add(const Filled& filled) {
    const auto top_k = static_cast<std::size_t>(shape_.top_k);
    for (std::size_t row = 0; row < filled.row_mask.size(); ++row) {
      if (filled.row_mask[row] != 0) continue;
      const auto begin = filled.ids.begin() + static_cast<std::ptrdiff_t>(row * top_k);
      check_row({begin, begin + shape_.top_k});
      for (auto id = begin; id != begin + shape_.top_k; ++id) ++experts_.at(static_cast<std::size_t>(*id));
    }
  }

  /// Most and least that a block of `size` neighbouring experts gets.
  [[nodiscard]] std::int64_t spread(std::int64_t size) const { return spread_of(experts_, size); }

 private:
  static std::int64_t spread_of(const Numbers& experts, std::int64_t size) {
    Numbers blocks;
    for (std::size_t first = 0; first + static_cast<std::size_t>(size) <= experts.size(); first += static_cast<std::size_t>(size)) {
      std::int64_t sum = 0;
      for (std::size_t i = 0; i < static_cast<std::size_t>(size); ++i) sum += experts[first + i];
      blocks.push_back(sum);
    }
    const auto [least, most] = std::minmax_element(blocks.begin(), blocks.end());
    return *most - *least;
  }

  /// Distinct ids, and every rank of every expert-parallel size gets as much of this one row as any other, give or take one.
  void check_row(const Numbers& ids) const {
    CHECK(std::set<std::int64_t>(ids.begin(), ids.end()).size() == ids.size());
    Numbers one(experts_.size(), 0);
    for (const std::int64_t id : ids) ++one.at(static_cast<std::size_t>(id));
    for (std::int64_t ranks = 1; ranks <= shape_.experts; ++ranks) {
      if (shape_.experts % ranks == 0) CHECK(spread_of(one, shape_.experts / ranks) <= 1);
    }
  }

  Shape shape_;
  Numbers experts_;
};

}  // namespace

TEST_CASE("R42: any number of filled rows loads any two experts alike, give or take one token") {
  for (const Shape& shape : kShapes) {
    CAPTURE(shape.experts);
    CAPTURE(shape.top_k);
    const Handle none = empty_record(shape);
    for (const std::int64_t rows : {std::int64_t{1}, std::int64_t{2}, std::int64_t{7}, std::int64_t{shape.experts}, std::int64_t{1000}}) {
      CAPTURE(rows);
      Load load(shape);
      load.add(fill(none.get(), {.tokens = rows, .length = rows, .first_fill = 5}));
      CHECK(load.spread(1) <= 1);
    }
  }
}

TEST_CASE("R42: holes at regular distances do not load the same experts again and again") {
  for (const Shape& shape : kShapes) {
    for (const std::int64_t step : {std::int64_t{2}, std::int64_t{16}, std::int64_t{shape.experts} + 1}) {
      CAPTURE(shape.experts);
      CAPTURE(shape.top_k);
      CAPTURE(step);
      const std::int64_t tokens = 40 * step;
      Load load(shape);
      const Filled made = fill(holes(shape, tokens, step).get(), {.tokens = tokens + 5, .length = tokens});
      CHECK(made.filled == 40 + 1 + 5);
      load.add(made);
      CHECK(load.spread(1) <= 1);
    }
  }
}

TEST_CASE("R42: neither do the last tokens of many sequences, each filled by a call of its own") {
  for (const Shape& shape : kShapes) {
    CAPTURE(shape.experts);
    CAPTURE(shape.top_k);
    Load load(shape);
    const Handle one = holes(shape, 64, 1000);
    std::int64_t filled = 0;
    for (int sequence = 0; sequence < 100; ++sequence) {
      const Filled made = fill(one.get(), {.tokens = 64, .length = 64, .first_fill = filled});
      CHECK(made.filled == 2);
      load.add(made);
      filled += made.filled;
    }
    CHECK(load.spread(1) <= 1);
  }
}
