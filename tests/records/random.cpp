// SPDX-License-Identifier: Apache-2.0
#include "records/random.h"

#include <algorithm>
#include <numeric>
#include <sstream>

namespace routecap_records {
namespace {

using Random = std::mt19937_64;

bool chance(Random& random, int percent) { return static_cast<int>(random() % 100) < percent; }

Cell any_cell(const Model& model, Random& random) {
  Cell cell;
  const std::uint32_t mask = model.weights_dtype == RCAP_DTYPE_FLOAT32 ? 0xFFFFFFFFU : 0xFFFFU;
  for (std::int32_t k = 0; k < model.top_k; ++k) {
    // The ends of the range are where a wrong width shows.
    const auto experts = static_cast<std::uint64_t>(model.num_experts);
    cell.ids.push_back(static_cast<std::int32_t>(chance(random, 20) ? (chance(random, 50) ? 0 : experts - 1) : random() % experts));
    if (model.weights_dtype != RCAP_DTYPE_NONE) cell.weights.push_back(static_cast<std::uint32_t>(random()) & mask);
  }
  return cell;
}

}  // namespace

std::int64_t any_number(std::int64_t low, std::int64_t high) { return high == INT64_MAX ? high : *rc::gen::inRange(low, high + 1); }

Model any_rows(const Model& shape, std::int64_t start, std::int64_t rows) {
  Model model = shape.emptied(start, rows);
  const auto hole_percent = static_cast<int>(any_number(0, 3) * 30);
  const auto lacking_percent = static_cast<int>(any_number(0, 1) * 20);
  Random random(*rc::gen::arbitrary<std::uint32_t>());
  std::int64_t version = 5;
  for (std::int64_t position = start; position < model.end(); ++position) {
    if (chance(random, 20)) version = static_cast<std::int64_t>(random() % 3);
    if (chance(random, hole_percent)) continue;
    model.versions[position] = version;
    for (const auto& [layer, flags] : model.layers) {
      const bool partial = (flags & RCAP_TAP_PARTIAL) != 0;
      if (chance(random, partial ? 50 : lacking_percent)) continue;
      model.cells[{position, layer}] = any_cell(model, random);
    }
  }
  model.settle();
  return model;
}

Model any_model(const Draw& draw) {
  Model shape;
  shape.num_experts = *rc::gen::element(256, 1, 2, 127, 128, 255, 257, 384, 65535, 65536, 65537);
  shape.top_k = static_cast<std::int32_t>(any_number(1, std::min(shape.num_experts, 5)));
  shape.weights_dtype = *rc::gen::element<std::int32_t>(RCAP_DTYPE_NONE, RCAP_DTYPE_FLOAT16, RCAP_DTYPE_BFLOAT16, RCAP_DTYPE_FLOAT32);
  shape.weights_kind = static_cast<std::int32_t>(any_number(RCAP_WEIGHTS_AS_ROUTED, RCAP_WEIGHTS_SCALED));
  const std::int64_t layers = any_number(1, draw.most_layers);
  const auto partial_percent = *rc::gen::element(0, 0, 30, 100);
  Random random(*rc::gen::arbitrary<std::uint32_t>());
  std::int32_t layer = -1;
  for (std::int64_t column = 0; column < layers; ++column) {
    layer += 1 + static_cast<std::int32_t>(random() % 3);
    const std::int32_t others = chance(random, 60) ? 0 : static_cast<std::int32_t>(random() % 4);
    static_assert((RCAP_TAP_HASH_ROUTED | RCAP_TAP_UNORDERED) == 3);
    shape.layers[layer] = others | (chance(random, partial_percent) ? RCAP_TAP_PARTIAL : 0);
  }
  const std::int64_t rows = any_number(draw.least_rows, draw.most_rows);
  const std::int64_t start = *rc::gen::weightedElement<std::int64_t>({{4, 0}, {4, any_number(0, 20)}, {1, INT64_MAX - rows}});
  return any_rows(shape, start, rows);
}

std::vector<std::int32_t> any_part(const std::vector<std::int32_t>& list) {
  std::vector<std::int32_t> part;
  if (list.size() < 2) return list;
  Random random(*rc::gen::arbitrary<std::uint32_t>());
  while (part.empty() || part.size() == list.size()) {
    part.clear();
    for (const std::int32_t value : list) {
      if (chance(random, 50)) part.push_back(value);
    }
  }
  return part;
}

std::vector<std::int32_t> layers_of(const Model& model) {
  std::vector<std::int32_t> layers;
  for (const auto& [layer, flags] : model.layers) layers.push_back(layer);
  return layers;
}

void must_be(const Handle& record, const Model& model) {
  const View got = view(record.get());
  const View expected = view(model);
  if (got == expected) return;
  std::ostringstream text;
  text << "got      " << got << "\nexpected " << expected;
  RC_FAIL(text.str());
}

void must_be(const Handle& record, const Handle& other) {
  const View got = view(record.get());
  const View expected = view(other.get());
  if (got == expected) return;
  std::ostringstream text;
  text << "got      " << got << "\nexpected " << expected;
  RC_FAIL(text.str());
}

}  // namespace routecap_records
