// SPDX-License-Identifier: Apache-2.0
#include "records/sketch.h"

#include <cstring>
#include <sstream>

#include <doctest/doctest.h>

namespace routecap_records {
namespace {

bool bit(const Bytes& bits, std::size_t index) { return (bits.at(index / 8) >> (index % 8) & 1) != 0; }

std::uint32_t number(const Bytes& bytes, std::size_t index, std::size_t size) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < size; ++i) value |= std::uint32_t{bytes.at(index * size + i)} << (8 * i);
  return value;
}

Cell cell_of(const std::string& text) {
  Cell cell;
  std::istringstream ids(text);
  for (std::string id; std::getline(ids, id, '.');) {
    const std::size_t equals = id.find('=');
    cell.ids.push_back(std::stoi(id));
    if (equals != std::string::npos) cell.weights.push_back(static_cast<std::uint32_t>(std::stoul(id.substr(equals + 1))));
  }
  return cell;
}

}  // namespace

Model model(const Sketch& sketch) {
  Model model;
  model.start = sketch.start;
  model.rows = static_cast<std::int64_t>(sketch.rows.size());
  model.num_experts = sketch.num_experts;
  model.top_k = sketch.top_k;
  model.weights_dtype = sketch.weights_dtype;
  model.weights_kind = sketch.weights_kind;
  for (std::size_t column = 0; column < sketch.layers.size(); ++column)
    model.layers[sketch.layers[column]] = sketch.flags.empty() ? 0 : sketch.flags[column];
  std::int64_t position = sketch.start;
  for (const std::string& row : sketch.rows) {
    std::istringstream words(row);
    std::int64_t version = 0;
    std::size_t column = 0;
    if (row != "~") model.versions[position] = 0;
    for (std::string word; row != "~" && words >> word;) {
      if (word[0] == '#') {
        version = std::stoll(word.substr(1));
      } else if (word == "-") {
        ++column;
      } else {
        model.cells[{position, sketch.layers.at(column++)}] = cell_of(word);
      }
    }
    if (row != "~") model.versions[position] = version;
    ++position;
  }
  return model;
}

Handle record(const Sketch& sketch) { return record(model(sketch)); }

std::string show(const Handle& record) {
  const View bytes = view(record.get());
  const std::size_t id_bytes = bytes.ids_dtype == RCAP_DTYPE_UINT8 ? 1 : bytes.ids_dtype == RCAP_DTYPE_UINT16 ? 2 : 4;
  const std::size_t weight_bytes = bytes.weights_dtype == RCAP_DTYPE_NONE ? 0 : bytes.weights_dtype == RCAP_DTYPE_FLOAT32 ? 4 : 2;
  const auto top_k = static_cast<std::size_t>(bytes.top_k);
  std::string text = std::to_string(bytes.start) + ":";
  std::size_t span = 0;
  for (std::size_t row = 0; row < static_cast<std::size_t>(bytes.rows); ++row) {
    text += row == 0 ? "" : " |";
    while (span + 1 < bytes.spans.size() && bytes.spans[span + 1].first <= bytes.start + static_cast<std::int64_t>(row)) ++span;
    for (std::size_t column = 0; column < bytes.layer_ids.size(); ++column) {
      const std::size_t cell = row * bytes.layer_ids.size() + column;
      const bool valid = bytes.has_cells != 0 ? bit(bytes.cell_bits, cell) : bit(bytes.row_bits, row);
      if (bit(bytes.row_bits, row)) text += valid ? " " : " -";
      for (std::size_t k = 0; k < top_k; ++k) {
        const std::size_t at = cell * top_k + k;
        if (valid) {
          text += (k == 0 ? "" : ".") + std::to_string(number(bytes.ids, at, id_bytes));
          if (weight_bytes > 0) text += "=" + std::to_string(number(bytes.weights, at, weight_bytes));
        } else {
          for (std::size_t i = 0; i < id_bytes; ++i) CHECK(bytes.ids.at(at * id_bytes + i) == 0xFF);
          for (std::size_t i = 0; i < weight_bytes; ++i) CHECK(bytes.weights.at(at * weight_bytes + i) == 0xFF);
        }
      }
    }
    if (!bit(bytes.row_bits, row)) {
      text += " ~";
    } else if (bytes.spans.at(span).second != 0) {
      text += " #" + std::to_string(bytes.spans[span].second);
    }
  }
  return text;
}

}  // namespace routecap_records
