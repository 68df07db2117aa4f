// SPDX-License-Identifier: Apache-2.0
//
// A script of C calls and what they must answer, as README.md describes it: read from text, and written.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace replay {

using Bytes = std::vector<std::uint8_t>;

/// One call: `verb name=value ... -> name=value ...`, the answer behind the arrow. Names keep their order.
class Line {
 public:
  using Words = std::vector<std::pair<std::string, std::string>>;

  Line() = default;
  explicit Line(std::string verb) : verb_(std::move(verb)) {}

  [[nodiscard]] const std::string& verb() const { return verb_; }
  [[nodiscard]] bool has(const std::string& name) const { return find(given_, name) != nullptr; }
  [[nodiscard]] bool wants(const std::string& name) const { return find(wanted_, name) != nullptr; }
  /// @throws std::runtime_error naming the word that is absent or is no number
  [[nodiscard]] const std::string& text(const std::string& name) const;
  [[nodiscard]] const std::string& wanted(const std::string& name) const;
  [[nodiscard]] std::int64_t number(const std::string& name) const;
  [[nodiscard]] std::int64_t wanted_number(const std::string& name) const;

  Line& give(const std::string& name, const std::string& value);
  Line& give(const std::string& name, std::int64_t value) { return give(name, std::to_string(value)); }
  Line& want(const std::string& name, const std::string& value);
  Line& want(const std::string& name, std::int64_t value) { return want(name, std::to_string(value)); }

  /// Every word behind the arrow.
  [[nodiscard]] const Words& answers() const { return wanted_; }

  [[nodiscard]] std::string written() const;
  [[nodiscard]] static Line read(const std::string& text);

 private:
  static const std::string* find(const Words& words, const std::string& name);

  std::string verb_;
  Words given_;
  Words wanted_;
};

/// What stands for the ids in a replay: an id of the script is a byte, and becomes byte * factor of the column's dtype.
struct Variant {
  std::int64_t experts = 0;
  std::int64_t factor = 0;
  std::vector<std::int32_t> ids_dtypes;  // of every column
};

struct Run {
  std::map<std::int64_t, Bytes> data;
  std::vector<Line> lines;          // without `data`
  std::vector<std::int64_t> where;  // line number of each in the file, 0 where there is none
};

struct Script {
  std::vector<Variant> variants;
  std::vector<Run> runs;

  /// @throws std::runtime_error in one line that begins with the line's number
  [[nodiscard]] static Script read(const std::string& text);
};

[[nodiscard]] std::string hex(const Bytes& bytes);
[[nodiscard]] Bytes bytes_of_hex(const std::string& text);
/// Numbers with commas between them; none is an empty text.
[[nodiscard]] std::string joined(const std::vector<std::int64_t>& numbers);
[[nodiscard]] std::vector<std::int64_t> numbers_of(const std::string& text);
[[nodiscard]] std::vector<std::string> split(const std::string& text, char separator);

/// Names as in the file: `uint8`, `bfloat16`, ...
[[nodiscard]] std::string dtype_name(std::int32_t dtype);
[[nodiscard]] std::int32_t dtype_of(const std::string& name);
[[nodiscard]] std::int64_t dtype_bytes(std::int32_t dtype);

/// A list as it lies in memory: `dtype:memory:numbers`.
struct List {
  std::int32_t dtype = 0;
  std::int32_t memory = 0;
  std::vector<std::int64_t> numbers;

  [[nodiscard]] Bytes bytes() const;
  [[nodiscard]] std::string written() const;
  [[nodiscard]] static List read(const std::string& text);
  [[nodiscard]] static List at(std::int32_t dtype, std::int32_t memory, const void* data, std::int64_t bytes);
};

/// Script ids in the dtype of a column: each cut to its low bits, which only matters for what stands in padding.
[[nodiscard]] Bytes widened(const Bytes& ids, std::int64_t factor, std::int32_t dtype);

/// CRC-32 of IEEE 802.3, eight hexadecimal digits.
[[nodiscard]] std::string crc32(const Bytes& bytes);

}  // namespace replay
