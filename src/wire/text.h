// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wire/arrays.h"
#include "wire/output.h"

/// What the text forms share.
namespace routecap::wire {

/// The bytes of a base64 text; a bad character is CORRUPT and told with its place: `offset` is where the text begins in the form.
std::vector<std::byte> decoded_base64(const char* form, std::string_view text, std::int64_t offset);

/// Reads JSON strictly, without building anything; what is wrong is CORRUPT and told with its byte.
class JsonReader {
 public:
  JsonReader(const char* form, std::string_view text) : form_(form), text_(text) {}

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) ++at_;
  }
  /// The next character that is no space, 0 at the end.
  char peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  /// Takes the character if it is next.
  bool take(char wanted) {
    if (peek() != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted);
  /// A whole number without fraction or exponent.
  std::int64_t integer();
  /// A string's characters as they stand between the quotes, escapes and all.
  std::string_view raw_string();
  /// Any value.
  void skip_value();
  /// Nothing but space may follow.
  void expect_end();
  [[nodiscard]] std::int64_t offset() const { return static_cast<std::int64_t>(at_); }
  [[noreturn]] void fail_here(const char* what) const;

 private:
  const char* form_;
  std::string_view text_;
  std::size_t at_ = 0;
};

/// The characters that a JSON string stands for, where they are ASCII; others are CORRUPT.
std::string unescaped(const JsonReader& reader, std::string_view raw);

}  // namespace routecap::wire
