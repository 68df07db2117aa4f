// SPDX-License-Identifier: Apache-2.0
#include "files.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>

namespace engine {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& why) { throw std::runtime_error(path + ": " + why); }

std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(path, "cannot be opened");
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (file.bad()) fail(path, "cannot be read");
  return text;
}

/// What follows `'key':` in an array file's header, up to the next comma or closing mark that ends it.
std::string_view header_value(std::string_view header, const std::string& key, const std::string& path) {
  const std::size_t found = header.find("'" + key + "':");
  if (found == std::string_view::npos) fail(path, "its header has no '" + key + "'");
  std::string_view rest = header.substr(found + key.size() + 3);
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  if (rest.starts_with('(')) return rest.substr(0, rest.find(')'));
  return rest.substr(0, rest.find_first_of(",}"));
}

std::vector<std::int64_t> parse_shape(std::string_view text, const std::string& path) {
  std::vector<std::int64_t> shape;
  for (std::size_t at = text.find_first_of("0123456789"); at < text.size(); at = text.find_first_of("0123456789", at)) {
    std::int64_t extent = 0;
    const auto [stop, error] = std::from_chars(text.data() + at, text.data() + text.size(), extent);
    if (error != std::errc()) fail(path, "its shape has a number that does not fit");
    shape.push_back(extent);
    at = static_cast<std::size_t>(stop - text.data());
  }
  return shape;
}

}  // namespace

NpyArray read_npy(const std::string& path, const std::string& element_type) {
  const std::string file = read_all(path);
  constexpr std::string_view kMagic = "\x93NUMPY";
  if (!std::string_view(file).starts_with(kMagic) || file.size() < 12) fail(path, "is no .npy file");
  const auto byte = [&](std::size_t index) { return static_cast<std::size_t>(static_cast<unsigned char>(file[index])); };
  const std::size_t version = byte(6);
  if (version != 1 && version != 2) fail(path, "has .npy version " + std::to_string(version) + ", 1 and 2 are known");
  const std::size_t begin = version == 1 ? 10 : 12;
  std::size_t length = byte(8) | byte(9) << 8;
  if (version == 2) length |= byte(10) << 16 | byte(11) << 24;
  if (length > file.size() - begin) fail(path, "ends inside its header");

  const std::string_view header = std::string_view(file).substr(begin, length);
  if (header_value(header, "descr", path) != "'" + element_type + "'") fail(path, "does not hold elements of type '" + element_type + "'");
  if (header_value(header, "fortran_order", path) != "False") fail(path, "is in Fortran order");
  NpyArray array;
  array.shape = parse_shape(header_value(header, "shape", path), path);
  array.bytes.assign(file.begin() + static_cast<std::ptrdiff_t>(begin + length), file.end());

  // One extent at a time, against what is there: a header that promises more than any memory holds overflows nothing.
  std::size_t left = array.bytes.size() / static_cast<std::size_t>(element_type.back() - '0');
  bool fits = array.bytes.size() % static_cast<std::size_t>(element_type.back() - '0') == 0;
  for (const std::int64_t extent : array.shape) {
    fits = fits && extent > 0 && left % static_cast<std::size_t>(extent) == 0;
    if (fits) left /= static_cast<std::size_t>(extent);
  }
  if (!fits || left != 1) fail(path, "does not hold as many elements as its shape says");
  return array;
}

/// Recursive descent over a whole file.
class JsonReader {
 public:
  JsonReader(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  JsonValue read_file() {
    JsonValue value = read_value(0);
    skip_blanks();
    if (at_ != text_.size()) refuse("has something behind its value");
    return value;
  }

 private:
  static constexpr int kDeepest = 16;

  JsonValue read_value(int depth) {
    if (depth > kDeepest) refuse("is nested too deep");
    JsonValue value;
    switch (peek()) {
      case '{':
        value.kind_ = JsonValue::Kind::kObject;
        read_members('}', [&] {
          std::string key = read_string();
          expect(':');
          value.object_.insert_or_assign(std::move(key), read_value(depth + 1));
        });
        break;
      case '[':
        value.kind_ = JsonValue::Kind::kList;
        read_members(']', [&] { value.list_.push_back(read_value(depth + 1)); });
        break;
      case '"':
        value.kind_ = JsonValue::Kind::kString;
        value.text_ = read_string();
        break;
      default: value.number_ = read_number();
    }
    return value;
  }

  template <typename ReadMember>
  void read_members(char closing, ReadMember read_member) {
    ++at_;
    if (peek() == closing) {
      ++at_;
      return;
    }
    for (;;) {
      read_member();
      const char next = peek();
      if (next != ',' && next != closing) refuse("lacks a comma or a closing bracket");
      ++at_;
      if (next == closing) return;
    }
  }

  std::string read_string() {
    expect('"');
    const std::size_t end = text_.find_first_of("\"\\", at_);
    if (end == std::string_view::npos || text_[end] != '"') refuse("has a string without an end, or with an escape");
    std::string read(text_.substr(at_, end - at_));
    at_ = end + 1;
    return read;
  }

  std::int64_t read_number() {
    std::int64_t number = 0;
    const auto [stop, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
    if (error != std::errc()) refuse("has something that is neither a whole number, a string, a list nor an object");
    at_ = static_cast<std::size_t>(stop - text_.data());
    return number;
  }

  void skip_blanks() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }
  char peek() {
    skip_blanks();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  void expect(char wanted) {
    if (peek() != wanted) refuse(std::string("lacks a ") + wanted);
    ++at_;
  }
  [[noreturn]] void refuse(const std::string& why) const { fail(path_, why + " (byte " + std::to_string(at_) + ")"); }

  std::string_view text_;
  const std::string& path_;
  std::size_t at_ = 0;
};

JsonValue JsonValue::read(const std::string& path) { return JsonReader(read_all(path), path).read_file(); }

const JsonValue& JsonValue::member(const std::string& key, Kind kind) const {
  const auto found = object_.find(key);
  if (found == object_.end() || found->second.kind_ != kind) throw std::runtime_error("has no '" + key + "' of the right kind");
  return found->second;
}

std::int64_t JsonValue::number(const std::string& key) const { return member(key, Kind::kNumber).number_; }
const std::string& JsonValue::text(const std::string& key) const { return member(key, Kind::kString).text_; }
const std::vector<JsonValue>& JsonValue::list(const std::string& key) const { return member(key, Kind::kList).list_; }

}  // namespace engine
