// SPDX-License-Identifier: Apache-2.0
#include "records/model.h"

#include <algorithm>
#include <cstring>

#include "record/record.h"

namespace routecap_records {
namespace {

int bytes_of(std::int32_t dtype) {
  switch (dtype) {
    case RCAP_DTYPE_NONE: return 0;
    case RCAP_DTYPE_UINT8: return 1;
    case RCAP_DTYPE_INT32:
    case RCAP_DTYPE_FLOAT32: return 4;
    default: return 2;
  }
}

void put_bytes(Bytes& out, std::uint32_t value, int bytes) {
  for (int byte = 0; byte < bytes; ++byte) out.push_back(static_cast<unsigned char>(value >> (8 * byte) & 0xFF));
}

void put_bit(Bytes& out, std::size_t index, bool bit) {
  if (index % 8 == 0) out.push_back(0);
  if (bit) out.back() = static_cast<unsigned char>(out.back() | 1 << index % 8);
}

bool is_partial(const std::pair<const std::int32_t, std::int32_t>& layer) { return (layer.second & RCAP_TAP_PARTIAL) != 0; }

}  // namespace

void Model::take_row(const Model& from, std::int64_t position, std::int64_t to) {
  versions.erase(to);
  for (const auto& [layer, flags] : layers) cells.erase({to, layer});
  if (const auto version = from.versions.find(position); version != from.versions.end()) versions[to] = version->second;
  for (const auto& [layer, flags] : layers) {
    if (const auto cell = from.cells.find({position, layer}); cell != from.cells.end()) cells[{to, layer}] = cell->second;
  }
}

Model Model::emptied(std::int64_t new_start, std::int64_t new_rows) const {
  Model model = *this;
  model.start = new_start;
  model.rows = new_rows;
  model.versions.clear();
  model.cells.clear();
  return model;
}

void Model::settle() {
  if (std::all_of(layers.begin(), layers.end(), is_partial)) return;
  for (auto row = versions.begin(); row != versions.end();) {
    const bool any = std::any_of(layers.begin(), layers.end(), [&](const auto& layer) { return cells.count({row->first, layer.first}) != 0; });
    row = any ? std::next(row) : versions.erase(row);
  }
}

View view(const Model& model) {
  View view;
  view.start = model.start;
  view.rows = model.rows;
  view.rows_valid = static_cast<std::int64_t>(model.versions.size());
  view.num_experts = model.num_experts;
  view.top_k = model.top_k;
  view.ids_dtype = model.num_experts <= 256 ? RCAP_DTYPE_UINT8 : model.num_experts <= 65536 ? RCAP_DTYPE_UINT16 : RCAP_DTYPE_INT32;
  view.weights_dtype = model.weights_dtype;
  view.weights_kind = model.weights_kind;
  for (const auto& [layer, flags] : model.layers) {
    view.layer_ids.push_back(layer);
    view.layer_flags.push_back(flags);
  }
  const bool whole_rows = model.cells.size() == model.versions.size() * model.layers.size();
  view.has_cells = std::any_of(model.layers.begin(), model.layers.end(), is_partial) || !whole_rows ? 1 : 0;
  std::size_t row = 0;
  std::size_t cell_index = 0;
  for (std::int64_t position = model.start; position < model.end(); ++position, ++row) {
    const auto version = model.versions.find(position);
    put_bit(view.row_bits, row, version != model.versions.end());
    if (version != model.versions.end() && (view.spans.empty() || view.spans.back().second != version->second)) {
      view.spans.emplace_back(view.spans.empty() ? model.start : position, version->second);
    }
    for (const auto& [layer, flags] : model.layers) {
      const auto cell = model.cells.find({position, layer});
      const bool there = cell != model.cells.end();
      if (view.has_cells != 0) put_bit(view.cell_bits, cell_index++, there);
      for (std::size_t k = 0; k < static_cast<std::size_t>(model.top_k); ++k) {
        put_bytes(view.ids, there ? static_cast<std::uint32_t>(cell->second.ids.at(k)) : 0xFFFFFFFFU, bytes_of(view.ids_dtype));
        if (model.weights_dtype != RCAP_DTYPE_NONE)
          put_bytes(view.weights, there ? cell->second.weights.at(k) : 0xFFFFFFFFU, bytes_of(model.weights_dtype));
      }
    }
  }
  return view;
}

Handle record(const Model& model) {
  const View bytes = view(model);
  routecap::RecordGeometry geometry;
  geometry.start = bytes.start;
  geometry.rows = bytes.rows;
  geometry.num_experts = bytes.num_experts;
  geometry.top_k = bytes.top_k;
  geometry.ids_dtype = bytes.ids_dtype;
  geometry.weights_dtype = bytes.weights_dtype;
  geometry.weights_kind = bytes.weights_kind;
  geometry.has_cells = bytes.has_cells != 0;
  geometry.layer_ids = bytes.layer_ids;
  geometry.layer_flags = bytes.layer_flags;
  auto made = std::make_unique<routecap::Record>(std::move(geometry));
  const auto fill = [](routecap::Bytes& to, const Bytes& from) {
    if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
  };
  fill(made->ids(), bytes.ids);
  fill(made->weights(), bytes.weights);
  fill(made->row_validity(), bytes.row_bits);
  fill(made->cell_validity(), bytes.cell_bits);
  std::vector<std::int64_t> versions(static_cast<std::size_t>(model.rows));
  for (const auto& [position, version] : model.versions) versions[static_cast<std::size_t>(position - model.start)] = version;
  made->set_versions(versions);
  return Handle(reinterpret_cast<rcap_record*>(made.release()));
}

}  // namespace routecap_records
