// SPDX-License-Identifier: Apache-2.0
// Dense ids of random records, against a naive model of cells.
#include <algorithm>
#include <map>
#include <random>

#include <doctest/doctest.h>

#include "records/random.h"
#include "trainer/calls.h"

using namespace routecap_trainer;
using namespace routecap_records;

namespace {

/// A record that starts low enough for its sequence to have a length.
Model any_sequence() {
  Model model = any_model();
  RC_PRE(model.end() < INT64_MAX / 2);
  return model;
}

/// What every cell of a dense array must hold, told cell by cell.
struct Naive {
  const Model& model;
  const Fill& fill;
  const Layers& layers;
  Filled made;
  std::map<std::int32_t, std::int64_t> filled_before = {};  // by layer

  std::size_t cell(std::size_t row, std::size_t column) const {
    return fill.order == RCAP_AXIS_ORDER_TOKENS_FIRST ? row * layers.size() + column : column * static_cast<std::size_t>(fill.tokens) + row;
  }

  void add(std::size_t row, std::int64_t position) {
    made.row_mask[row] = 1;
    for (std::size_t column = 0; column < layers.size(); ++column) {
      const auto found = model.cells.find({position, layers[column]});
      const bool given = found != model.cells.end();
      made.cell_mask[cell(row, column)] = given ? 1 : 0;
      if (!given) made.row_mask[row] = 0;
      for (std::int64_t k = 0; k < model.top_k; ++k) {
        std::int64_t& id = made.ids[cell(row, column) * static_cast<std::size_t>(model.top_k) + static_cast<std::size_t>(k)];
        if (given) {
          id = found->second.ids[static_cast<std::size_t>(k)];
        } else if (fill.padding == RCAP_PADDING_VALUE) {
          id = fill.fill_value;
        } else {
          id = (fill.first_fill + filled_before[layers[column]] + k * model.num_experts / model.top_k) % model.num_experts;
        }
      }
      if (!given) ++filled_before[layers[column]];
    }
    if (made.row_mask[row] == 0) ++made.filled;
  }
};

void must_equal(const Filled& got, const Filled& expected) {
  RC_ASSERT(got.ids == expected.ids);
  RC_ASSERT(got.row_mask == expected.row_mask);
  RC_ASSERT(got.cell_mask == expected.cell_mask);
  RC_ASSERT(got.filled == expected.filled);
}

Fill any_fill(const Model& model, std::int64_t tokens) {
  Fill fill{.tokens = tokens, .length = model.end() + any_number(0, 3), .first_fill = any_number(0, 1000)};
  fill.order = static_cast<std::int32_t>(any_number(RCAP_AXIS_ORDER_TOKENS_FIRST, RCAP_AXIS_ORDER_LAYERS_FIRST));
  fill.padding = static_cast<std::int32_t>(any_number(RCAP_PADDING_SPREAD, RCAP_PADDING_VALUE));
  fill.dtype = *rc::gen::element<std::int32_t>(RCAP_DTYPE_UINT8, RCAP_DTYPE_UINT16, RCAP_DTYPE_INT16, RCAP_DTYPE_INT32, RCAP_DTYPE_INT64);
  const std::int32_t experts = model.num_experts;
  if (experts > 256 && fill.dtype == RCAP_DTYPE_UINT8) fill.dtype = RCAP_DTYPE_UINT16;
  if (experts > 32768 && fill.dtype == RCAP_DTYPE_INT16) fill.dtype = RCAP_DTYPE_INT32;
  if (experts > 65536 && fill.dtype == RCAP_DTYPE_UINT16) fill.dtype = RCAP_DTYPE_INT64;
  const bool is_signed = fill.dtype != RCAP_DTYPE_UINT8 && fill.dtype != RCAP_DTYPE_UINT16;
  if (fill.padding == RCAP_PADDING_VALUE) fill.fill_value = static_cast<std::int32_t>(any_number(is_signed ? -1 : 0, 200));
  return fill;
}

Layers any_layers(const Model& model) {
  Layers layers = any_number(0, 1) == 0 ? layers_of(model) : any_part(layers_of(model));
  if (any_number(0, 1) == 1) std::reverse(layers.begin(), layers.end());
  return layers;
}

Filled empty(const Fill& fill, const Layers& layers, std::int32_t top_k) {
  const auto cells = static_cast<std::size_t>(fill.tokens * count(layers));
  return {.ids = Numbers(cells * static_cast<std::size_t>(top_k)),
          .row_mask = Bytes(static_cast<std::size_t>(fill.tokens)),
          .cell_mask = Bytes(cells),
          .filled = 0};
}

}  // namespace

TEST_CASE("R42: a stretch of any record is what the naive model says, cell by cell") {
  CHECK(rc::check("stretch", [] {
    const Model model = any_sequence();
    Fill request = any_fill(model, any_number(0, 60));
    request.start = any_number(0, model.end() + 5);
    const Layers layers = any_layers(model);
    Naive naive{model, request, layers, empty(request, layers, model.top_k)};
    for (std::int64_t row = 0; row < request.tokens; ++row) naive.add(static_cast<std::size_t>(row), request.start + row);
    must_equal(fill(record(model).get(), request, layers), naive.made);
  }));
}

TEST_CASE("R43: so are any positions in any order, as a rank has them") {
  CHECK(rc::check("positions", [] {
    const Model model = any_sequence();
    Numbers positions;
    std::mt19937_64 random(*rc::gen::arbitrary<std::uint32_t>());
    for (std::int64_t i = any_number(0, 60); i > 0; --i)
      positions.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(model.end() + 6)) - 1);
    const Fill request = any_fill(model, count(positions));
    const Layers layers = any_layers(model);
    Naive naive{model, request, layers, empty(request, layers, model.top_k)};
    for (std::size_t row = 0; row < positions.size(); ++row) naive.add(row, positions[row]);
    must_equal(fill(record(model).get(), request, layers, &positions), naive.made);
  }));
}

TEST_CASE("R43: what the ranks of a pack fill, gathered, is what the whole sequence holds") {
  CHECK(rc::check("ranks", [] {
    const Model model = any_sequence();
    Ranks ranks{.split = static_cast<std::int32_t>(any_number(RCAP_SPLIT_CONTIGUOUS, RCAP_SPLIT_ZIGZAG)),
                .cp_size = static_cast<std::int32_t>(any_number(1, 4)),
                .sp_size = static_cast<std::int32_t>(any_number(1, 3))};
    const std::int64_t length = model.end() + 1;
    const Numbers offsets = pack_offsets({length}, multiple(ranks));
    const Handle rows = record(model);
    const Fill whole{.tokens = offsets.back(), .length = length, .padding = RCAP_PADDING_VALUE, .fill_value = -1};
    const Filled expected = fill(rows.get(), whole);
    const std::int64_t items = count(model.layers) * model.top_k;
    Bytes parts;
    for (; ranks.cp_rank < ranks.cp_size; ++ranks.cp_rank) {
      for (ranks.sp_rank = 0; ranks.sp_rank < ranks.sp_size; ++ranks.sp_rank) {
        const Numbers mine = indices(ranks, offsets);
        Fill part = whole;
        part.tokens = count(mine);
        const Filled made = fill(rows.get(), part, {}, &mine);
        const auto* bytes = reinterpret_cast<const unsigned char*>(made.ids.data());
        parts.insert(parts.end(), bytes, bytes + made.ids.size() * sizeof(std::int64_t));
      }
    }
    const auto* bytes = reinterpret_cast<const unsigned char*>(expected.ids.data());
    RC_ASSERT(gather(ranks, offsets, items * static_cast<std::int64_t>(sizeof(std::int64_t)), parts) ==
              Bytes(bytes, bytes + expected.ids.size() * sizeof(std::int64_t)));
  }));
}
