// SPDX-License-Identifier: Apache-2.0
#include "files.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace wire_test {

Text read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  const std::string content((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return text_of(content);
}

void write_file(const std::filesystem::path& path, const Text& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

std::filesystem::path traces() {
  const char* given = std::getenv("ROUTECAP_TRACES");
  const std::filesystem::path folder(given != nullptr ? given : ROUTECAP_DEFAULT_TRACES);
  return std::filesystem::is_directory(folder) ? folder : std::filesystem::path();
}

std::string& skipped() {
  static std::string reason;
  return reason;
}

void keep_frame(const std::string& name, const Record& record, const Text& frame) {
  const char* folder = std::getenv("ROUTECAP_KEEP_FRAMES");
  if (folder == nullptr) return;
  const std::filesystem::path base = std::filesystem::path(folder) / name;
  write_file(base.string() + ".frame", frame);
  // One line "name count", then that many numbers or bytes: easy to read in any language, and nothing like a frame.
  std::ofstream out(base.string() + ".content", std::ios::binary);
  const routecap::RecordGeometry& geometry = record.geometry();
  const auto number = [&out](const char* what, std::int64_t value) { out << what << ' ' << value << '\n'; };
  const auto list = [&out](const char* what, const auto& numbers) {
    out << what;
    for (const auto value : numbers) out << ' ' << value;
    out << '\n';
  };
  const auto bytes = [&out](const char* what, const routecap::Bytes& content) {
    out << what << ' ' << content.size() << '\n';
    out.write(reinterpret_cast<const char*>(content.data()), content.size());
    out << '\n';
  };
  number("start", geometry.start);
  number("rows", geometry.rows);
  number("num_experts", geometry.num_experts);
  number("top_k", geometry.top_k);
  number("ids_dtype", geometry.ids_dtype);
  number("weights_dtype", geometry.weights_dtype);
  number("weights_kind", geometry.weights_kind);
  list("layer_ids", geometry.layer_ids);
  list("layer_flags", geometry.layer_flags);
  list("span_starts", record.spans().starts);
  list("span_versions", record.spans().versions);
  bytes("row_validity", record.row_validity());
  bytes("cell_validity", record.cell_validity());
  bytes("ids", record.ids());
  bytes("weights", record.weights());
  if (!out.flush()) throw std::runtime_error("cannot write " + base.string());
}

}  // namespace wire_test
