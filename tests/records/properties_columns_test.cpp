// SPDX-License-Identifier: Apache-2.0
// Columns beside each other, and comparison, against the naive model.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <set>

#include <doctest/doctest.h>

#include "records/random.h"

using namespace routecap_records;

namespace {

Model columns_of(const Model& model, const std::vector<std::int32_t>& layers) {
  Model part = model;
  part.layers.clear();
  part.cells.clear();
  for (const std::int32_t layer : layers) part.layers[layer] = model.layers.at(layer);
  for (const auto& [key, cell] : model.cells) {
    if (part.layers.count(key.second) != 0) part.cells[key] = cell;
  }
  part.settle();
  return part;
}

std::vector<std::int32_t> others(const std::vector<std::int32_t>& all, const std::vector<std::int32_t>& part) {
  std::vector<std::int32_t> rest;
  std::set_difference(all.begin(), all.end(), part.begin(), part.end(), std::back_inserter(rest));
  return rest;
}

}  // namespace

TEST_CASE("R26: a compact view is the cells of its layers") {
  CHECK(rc::check("compact", [] {
    const Model whole = any_model();
    const std::vector<std::int32_t> layers = any_part(layers_of(whole));
    must_be(to_compact(record(whole), layers), columns_of(whole, layers));
  }));
}

TEST_CASE("R44: compact views of disjoint layers stack to the same bytes, either way round") {
  CHECK(rc::check("stack of compacts = whole", [] {
    const Model model = any_model();
    const std::vector<std::int32_t> layers = layers_of(model);
    RC_PRE(layers.size() >= 2U);
    const Handle whole = record(model);
    const std::vector<std::int32_t> some = any_part(layers);
    const std::vector<std::int32_t> rest = others(layers, some);
    const Handle first = to_compact(whole, some);
    const Handle second = to_compact(whole, rest);
    must_be(stack(first, second), whole);
    must_be(stack(second, first), whole);
    // More stages, one after the other.
    if (rest.size() >= 2) {
      const std::vector<std::int32_t> third = any_part(rest);
      must_be(stack(stack(to_compact(whole, third), first), to_compact(whole, others(rest, third))), whole);
    }
  }));
}

TEST_CASE("R44: stages with holes of their own stack cell by cell, and come out again") {
  CHECK(rc::check("stack", [] {
    const Model first = any_model();
    Model shape = first;
    shape.layers.clear();
    for (const auto& [layer, flags] : first.layers) shape.layers[layer + 100] = flags & ~RCAP_TAP_PARTIAL;
    Model second = any_rows(shape, first.start, first.rows);
    for (auto& [position, version] : second.versions) {
      if (const auto found = first.versions.find(position); found != first.versions.end()) version = found->second;
    }
    Model expected = first;
    expected.layers.insert(second.layers.begin(), second.layers.end());
    expected.cells.insert(second.cells.begin(), second.cells.end());
    expected.versions.insert(second.versions.begin(), second.versions.end());
    expected.settle();
    const Handle whole = stack(record(first), record(second));
    must_be(whole, expected);
    must_be(to_compact(whole, layers_of(second)), second);
    // Slicing and stacking may change places: cell validity follows from what is there.
    const std::int64_t cut = any_number(first.start, first.end());
    must_be(stack(slice(record(first), cut, first.end()), slice(record(second), cut, first.end())), slice(whole, cut, first.end()));
  }));
}

TEST_CASE("R26: the full axis and back is the same bytes") {
  CHECK(rc::check("full, then compact = identity", [] {
    const Model model = any_model();
    const Handle compact = record(model);
    const std::vector<std::int32_t> layers = layers_of(model);
    const auto num_layers = static_cast<std::int32_t>(any_number(layers.back() + 1, layers.back() + 5));
    const auto id = static_cast<std::int32_t>(any_number(0, model.num_experts - 1));
    for (const std::int32_t fill : {RCAP_FILL_MISSING, RCAP_FILL_VALUE}) {
      Model expected = model;
      for (std::int32_t layer = 0; layer < num_layers; ++layer) {
        if (model.layers.count(layer) != 0) continue;
        expected.layers[layer] = fill == RCAP_FILL_MISSING ? RCAP_TAP_PARTIAL : 0;
        if (fill == RCAP_FILL_MISSING) continue;
        const auto top_k = static_cast<std::size_t>(model.top_k);
        const Cell cell{std::vector<std::int32_t>(top_k, id), std::vector<std::uint32_t>(model.weights_dtype == RCAP_DTYPE_NONE ? 0 : top_k, 0)};
        for (const auto& [position, version] : model.versions) expected.cells[{position, layer}] = cell;
      }
      const Handle full = to_full_axis(compact, num_layers, fill, id);
      must_be(full, expected);
      must_be(to_compact(full, layers), compact);
    }
  }));
}

TEST_CASE("compare: what the model counts, and the same from the other side") {
  CHECK(rc::check("compare", [] {
    const Model first = any_model();
    Model second = any_rows(
        first, any_number(std::max<std::int64_t>(0, first.start - 5), first.start + std::min<std::int64_t>(5, INT64_MAX - first.end())), first.rows);
    // Alike for the most part: other rows would hardly ever hold the same cell.
    std::mt19937_64 random(*rc::gen::arbitrary<std::uint32_t>());
    for (std::int64_t position = second.start; position < second.end(); ++position) {
      if (position < first.start || position >= first.end() || random() % 4 == 0) continue;
      second.take_row(first, position, position);
      const auto cell = second.cells.lower_bound({position, 0});
      if (cell == second.cells.end() || cell->first.first != position) continue;
      if (random() % 3 == 0) std::reverse(cell->second.ids.begin(), cell->second.ids.end());
      if (random() % 3 == 0) std::reverse(cell->second.weights.begin(), cell->second.weights.end());
    }
    const Compared there = compare(record(first), record(second));
    const Compared back = compare(record(second), record(first));
    const rcap_compare_report& report = there.report;
    RC_ASSERT(report.same_shape == 1);
    RC_ASSERT((report.equal == 1) == (view(first) == view(second)));
    RC_ASSERT(report.start == std::max(first.start, second.start));
    RC_ASSERT(report.rows == std::max<std::int64_t>(0, std::min(first.end(), second.end()) - report.start));
    RC_ASSERT(report.rows_only_first == first.rows - report.rows);
    rcap_compare_report expected{};
    expected.first_row = expected.first_layer = -1;
    std::vector<std::int64_t> by_layer(first.layers.size());
    for (std::int64_t position = report.start; position < report.start + report.rows; ++position) {
      const auto version_a = first.versions.find(position);
      const auto version_b = second.versions.find(position);
      if (version_a != first.versions.end() && version_b != second.versions.end() && version_a->second != version_b->second)
        ++expected.rows_differ_in_version;
      std::size_t column = 0;
      for (const auto& [layer, flags] : first.layers) {
        const auto a = first.cells.find({position, layer});
        const auto b = second.cells.find({position, layer});
        const bool in_a = a != first.cells.end();
        const bool in_b = b != second.cells.end();
        bool differs = in_a != in_b;
        if (in_a && in_b) {
          ++expected.cells;
          differs = a->second.ids != b->second.ids;
          expected.cells_differ += differs ? 1 : 0;
          by_layer[column] += differs ? 1 : 0;
          const std::multiset<std::int32_t> set_a(a->second.ids.begin(), a->second.ids.end());
          const std::multiset<std::int32_t> set_b(b->second.ids.begin(), b->second.ids.end());
          expected.cells_differ_as_sets += set_a != set_b ? 1 : 0;
          expected.cells_differ_in_weights += a->second.weights != b->second.weights ? 1 : 0;
        } else if (differs) {
          ++(in_a ? expected.cells_only_first : expected.cells_only_second);
        }
        if (differs && expected.first_row < 0) {
          expected.first_row = position;
          expected.first_layer = layer;
        }
        ++column;
      }
    }
    RC_ASSERT(there.by_layer == by_layer);
    RC_ASSERT(report.cells == expected.cells);
    RC_ASSERT(report.cells_only_first == expected.cells_only_first);
    RC_ASSERT(report.cells_only_second == expected.cells_only_second);
    RC_ASSERT(report.cells_differ == expected.cells_differ);
    RC_ASSERT(report.cells_differ_as_sets == expected.cells_differ_as_sets);
    RC_ASSERT(report.cells_differ_in_weights == expected.cells_differ_in_weights);
    RC_ASSERT(report.rows_differ_in_version == expected.rows_differ_in_version);
    RC_ASSERT(report.first_row == expected.first_row);
    RC_ASSERT(report.first_layer == expected.first_layer);

    rcap_compare_report mirrored = back.report;
    std::swap(mirrored.rows_only_first, mirrored.rows_only_second);
    std::swap(mirrored.cells_only_first, mirrored.cells_only_second);
    RC_ASSERT(std::memcmp(&mirrored, &report, sizeof report) == 0);
    RC_ASSERT(back.by_layer == there.by_layer);
  }));
}
