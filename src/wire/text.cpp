// SPDX-License-Identifier: Apache-2.0
#include "wire/text.h"

#include <charconv>

#include "wire/base64.h"

namespace routecap::wire {

std::vector<std::byte> decoded_base64(const char* form, std::string_view text, std::int64_t offset) {
  const auto chars = static_cast<std::int64_t>(text.size());
  std::vector<std::byte> bytes(static_cast<std::size_t>(base64_decoded_size_at_most(chars)));
  const Base64Result result = base64_decode(text.data(), chars, bytes.data());
  if (!result.ok()) fail(RCAP_STATUS_CORRUPT, "%s: base64 is wrong at byte %" PRId64 ": %s", form, offset + result.offset, result.reason);
  bytes.resize(static_cast<std::size_t>(result.bytes));
  return bytes;
}

void JsonReader::fail_here(const char* what) const { fail(RCAP_STATUS_CORRUPT, "%s: %s at byte %zu", form_, what, at_); }

void JsonReader::expect(char wanted) {
  if (take(wanted)) return;
  const char what[] = {'\'', wanted, '\'', ' ', 'i', 's', ' ', 'm', 'i', 's', 's', 'i', 'n', 'g', '\0'};
  fail_here(what);
}

std::int64_t JsonReader::integer() {
  skip_space();
  std::int64_t value = 0;
  const char* begin = text_.data() + at_;
  const char* end = text_.data() + text_.size();
  const auto [behind, status] = std::from_chars(begin, end, value);
  if (status == std::errc::result_out_of_range) fail_here("a number is too large");
  if (status != std::errc{}) fail_here("a whole number is missing");
  const char* digits = *begin == '-' ? begin + 1 : begin;
  if (*digits == '0' && behind - digits > 1) fail_here("a number begins with 0");
  at_ += static_cast<std::size_t>(behind - begin);
  if (at_ < text_.size() && (text_[at_] == '.' || text_[at_] == 'e' || text_[at_] == 'E')) fail_here("a number is not whole");
  return value;
}

std::string_view JsonReader::raw_string() {
  expect('"');
  const std::size_t begin = at_;
  while (true) {
    const std::size_t stop = text_.find_first_of("\"\\", at_);
    if (stop == std::string_view::npos || (text_[stop] == '\\' && stop + 1 >= text_.size())) {
      at_ = text_.size();
      fail_here("a string does not end");
    }
    if (text_[stop] == '"') {
      at_ = stop + 1;
      return text_.substr(begin, stop - begin);
    }
    at_ = stop + 2;
  }
}

void JsonReader::skip_value() {
  // Brackets are matched by their count per kind in a list that grows with the text, never by recursion.
  std::string open;
  do {
    const char next = peek();
    if (next == '"') {
      raw_string();
    } else if (next == '{' || next == '[') {
      open.push_back(next == '{' ? '}' : ']');
      ++at_;
      if (!take(open.back())) {
        if (next == '{') {
          raw_string();
          expect(':');
        }
        continue;
      }
      open.pop_back();
    } else {
      const std::size_t begin = at_;
      while (at_ < text_.size() && (std::string_view("+-.").find(text_[at_]) != std::string_view::npos || (text_[at_] >= '0' && text_[at_] <= '9') ||
                                    (text_[at_] >= 'a' && text_[at_] <= 'z') || (text_[at_] >= 'A' && text_[at_] <= 'Z'))) {
        ++at_;
      }
      if (at_ == begin) fail_here("a value is missing");
    }
    // A value is over: close what ends here, or go on behind a comma.
    while (!open.empty()) {
      if (take(',')) {
        if (open.back() == '}') {
          raw_string();
          expect(':');
        }
        break;
      }
      expect(open.back());
      open.pop_back();
    }
  } while (!open.empty());
}

void JsonReader::expect_end() {
  if (peek() != '\0' || at_ < text_.size()) fail_here("something follows");
}

std::string unescaped(const JsonReader& reader, std::string_view raw) {
  std::string text;
  text.reserve(raw.size());
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\') {
      text.push_back(raw[i]);
      continue;
    }
    const char kind = raw[++i];
    if (kind == '"' || kind == '\\' || kind == '/') {
      text.push_back(kind);
    } else if (kind == 'u' && raw.size() - i > 4) {
      unsigned code = 0;
      const auto [behind, status] = std::from_chars(raw.data() + i + 1, raw.data() + i + 5, code, 16);
      if (status != std::errc{} || behind != raw.data() + i + 5 || code > 127) reader.fail_here("an escape stands for no ASCII character, before");
      text.push_back(static_cast<char>(code));
      i += 4;
    } else {
      reader.fail_here("an escape stands for no ASCII character, before");
    }
  }
  return text;
}

}  // namespace routecap::wire
