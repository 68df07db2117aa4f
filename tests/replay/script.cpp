// SPDX-License-Identifier: Apache-2.0
#include "script.h"

#include <routecap/routecap.h>

#include <array>
#include <charconv>
#include <cstring>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace replay {
namespace {

constexpr std::array<std::string_view, 9> kDtypes = {"none", "uint8", "uint16", "int16", "int32", "int64", "float16", "bfloat16", "float32"};
constexpr std::array<std::int64_t, 9> kDtypeBytes = {0, 1, 2, 2, 4, 8, 2, 2, 4};

std::int64_t number_of(const std::string& text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, fault] = std::from_chars(text.data(), end, number);
  if (fault != std::errc() || stopped != end) throw std::runtime_error("'" + text + "' is no number");
  return number;
}

std::uint8_t nibble(char digit) {
  if (digit >= '0' && digit <= '9') return static_cast<std::uint8_t>(digit - '0');
  if (digit >= 'a' && digit <= 'f') return static_cast<std::uint8_t>(digit - 'a' + 10);
  throw std::runtime_error(std::string("'") + digit + "' is no hexadecimal digit");
}

Variant variant_of(const Line& line) {
  Variant variant;
  variant.experts = line.number("experts");
  variant.factor = line.number("factor");
  for (const std::string& name : split(line.text("ids"), ',')) variant.ids_dtypes.push_back(dtype_of(name));
  return variant;
}

}  // namespace

const std::string* Line::find(const Words& words, const std::string& name) {
  for (const auto& [key, value] : words) {
    if (key == name) return &value;
  }
  return nullptr;
}

const std::string& Line::text(const std::string& name) const {
  const std::string* const value = find(given_, name);
  if (value == nullptr) throw std::runtime_error(verb_ + " has no '" + name + "'");
  return *value;
}

const std::string& Line::wanted(const std::string& name) const {
  const std::string* const value = find(wanted_, name);
  if (value == nullptr) throw std::runtime_error(verb_ + " has no '" + name + "' in its answer");
  return *value;
}

std::int64_t Line::number(const std::string& name) const { return number_of(text(name)); }
std::int64_t Line::wanted_number(const std::string& name) const { return number_of(wanted(name)); }

Line& Line::give(const std::string& name, const std::string& value) {
  given_.emplace_back(name, value);
  return *this;
}

Line& Line::want(const std::string& name, const std::string& value) {
  wanted_.emplace_back(name, value);
  return *this;
}

std::string Line::written() const {
  std::string text = verb_;
  for (const auto& [name, value] : given_) text += " " + name + "=" + value;
  if (!wanted_.empty()) text += " ->";
  for (const auto& [name, value] : wanted_) text += " " + name + "=" + value;
  return text;
}

Line Line::read(const std::string& text) {
  Line line;
  bool is_answer = false;
  for (const std::string& word : split(text, ' ')) {
    if (line.verb_.empty()) {
      line.verb_ = word;
    } else if (word == "->") {
      is_answer = true;
    } else {
      const std::size_t equals = word.find('=');
      if (equals == std::string::npos) throw std::runtime_error("'" + word + "' is not name=value");
      (is_answer ? line.wanted_ : line.given_).emplace_back(word.substr(0, equals), word.substr(equals + 1));
    }
  }
  return line;
}

Script Script::read(const std::string& text) {
  Script script;
  std::istringstream lines(text);
  std::string line;
  bool is_ours = false;
  for (std::int64_t number = 1; std::getline(lines, line); ++number) {
    if (line.empty() || line.front() == '#') continue;
    try {
      Line call = Line::read(line);
      if (!is_ours) {
        if (call.verb() != "script" || call.number("version") != 1) throw std::runtime_error("not a script of version 1");
        is_ours = true;
      } else if (call.verb() == "variant") {
        script.variants.push_back(variant_of(call));
      } else if (call.verb() == "run") {
        script.runs.emplace_back();
      } else if (script.runs.empty()) {
        throw std::runtime_error(call.verb() + " before the first run");
      } else if (call.verb() == "data") {
        script.runs.back().data[call.number("id")] = bytes_of_hex(call.text("bytes"));
      } else {
        script.runs.back().lines.push_back(std::move(call));
        script.runs.back().where.push_back(number);
      }
    } catch (const std::exception& error) {
      throw std::runtime_error("line " + std::to_string(number) + ": " + error.what());
    }
  }
  if (script.runs.empty() || script.variants.empty()) throw std::runtime_error("line 1: a script has at least one variant and one run");
  return script;
}

std::string hex(const Bytes& bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

Bytes bytes_of_hex(const std::string& text) {
  if (text.size() % 2 != 0) throw std::runtime_error("an odd number of hexadecimal digits");
  Bytes bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); i += 2) bytes.push_back(static_cast<std::uint8_t>(nibble(text[i]) << 4 | nibble(text[i + 1])));
  return bytes;
}

std::string joined(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (const std::int64_t number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

std::vector<std::int64_t> numbers_of(const std::string& text) {
  std::vector<std::int64_t> numbers;
  for (const std::string& part : split(text, ',')) numbers.push_back(number_of(part));
  return numbers;
}

std::string dtype_name(std::int32_t dtype) { return std::string(kDtypes.at(static_cast<std::size_t>(dtype))); }
std::int64_t dtype_bytes(std::int32_t dtype) { return kDtypeBytes.at(static_cast<std::size_t>(dtype)); }

std::int32_t dtype_of(const std::string& name) {
  for (std::size_t i = 0; i < kDtypes.size(); ++i) {
    if (kDtypes[i] == name) return static_cast<std::int32_t>(i);
  }
  throw std::runtime_error("'" + name + "' is no dtype");
}

Bytes List::bytes() const {
  Bytes bytes;
  for (const std::int64_t number : numbers) {
    const auto bits = static_cast<std::uint64_t>(number);
    for (std::int64_t i = 0; i < dtype_bytes(dtype); ++i) bytes.push_back(static_cast<std::uint8_t>(bits >> (8 * i)));
  }
  return bytes;
}

std::string List::written() const { return dtype_name(dtype) + ":" + (memory == RCAP_MEMORY_DEVICE ? "device" : "host") + ":" + joined(numbers); }

List List::read(const std::string& text) {
  const std::size_t first = text.find(':');
  const std::size_t second = text.find(':', first == std::string::npos ? first : first + 1);
  if (second == std::string::npos) throw std::runtime_error("'" + text + "' is not dtype:memory:numbers");
  List list;
  list.dtype = dtype_of(text.substr(0, first));
  const std::string memory = text.substr(first + 1, second - first - 1);
  if (memory != "host" && memory != "device") throw std::runtime_error("'" + memory + "' is no memory");
  list.memory = memory == "device" ? RCAP_MEMORY_DEVICE : RCAP_MEMORY_HOST;
  list.numbers = numbers_of(text.substr(second + 1));
  return list;
}

List List::at(std::int32_t dtype, std::int32_t memory, const void* data, std::int64_t bytes) {
  List list{dtype, memory, {}};
  const auto* const begin = static_cast<const std::uint8_t*>(data);
  for (std::int64_t offset = 0; offset < bytes; offset += dtype_bytes(dtype)) {
    std::int64_t wide = 0;
    std::int32_t narrow = 0;
    if (dtype == RCAP_DTYPE_INT64) {
      std::memcpy(&wide, begin + offset, sizeof wide);
    } else {
      std::memcpy(&narrow, begin + offset, sizeof narrow);
      wide = narrow;
    }
    list.numbers.push_back(wide);
  }
  return list;
}

Bytes widened(const Bytes& ids, std::int64_t factor, std::int32_t dtype) {
  List list{dtype, RCAP_MEMORY_HOST, {}};
  for (const std::uint8_t id : ids) list.numbers.push_back(id * factor);
  return list.bytes();
}

std::string crc32(const Bytes& bytes) {
  std::uint32_t crc = 0xffffffffU;
  for (const std::uint8_t byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (0xedb88320U & (0U - (crc & 1U)));
  }
  crc = ~crc;
  return hex({static_cast<std::uint8_t>(crc >> 24), static_cast<std::uint8_t>(crc >> 16), static_cast<std::uint8_t>(crc >> 8),
              static_cast<std::uint8_t>(crc)});
}

}  // namespace replay
