// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "guarded.h"
#include "oracle.h"
#include "wire/base64_kernels.h"
#include "wire/base64_stream.h"

using namespace routecap;
using namespace routecap_test;

namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::int64_t kMostBytes = 6000;

std::int64_t size_of(const auto& list) { return static_cast<std::int64_t>(list.size()); }

/// Every instruction set that this machine has.
std::vector<const base64::Kernels*> all_kernels() {
  std::vector<const base64::Kernels*> all;
  for (const rows::SimdLevel level : {rows::SimdLevel::kScalar, rows::SimdLevel::kAvx2, rows::SimdLevel::kAvx512, rows::SimdLevel::kNeon}) {
    if (const base64::Kernels* kernels = base64::kernels_for(level); kernels != nullptr) all.push_back(kernels);
  }
  return all;
}

std::vector<std::byte> random_bytes(std::mt19937_64& random, std::int64_t count) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(count));
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

/// Encodes between pages: input and output end where nobody may touch anything.
std::string encode(const base64::Kernels& kernels, const std::vector<std::byte>& bytes) {
  static const GuardedBytes in(kMostBytes);
  static const GuardedBytes out(base64_encoded_size(kMostBytes));
  std::byte* from = in.last(size_of(bytes));
  std::copy(bytes.begin(), bytes.end(), from);
  const std::int64_t chars = base64_encoded_size(size_of(bytes));
  char* to = out.last_chars(chars);
  to[-1] = '#';
  base64::encode_with(kernels, from, size_of(bytes), to);
  CHECK(to[-1] == '#');
  return {to, static_cast<std::size_t>(chars)};
}

struct Decoding {
  Base64Result result;
  std::vector<std::byte> bytes;
};

Decoding decode(const base64::Kernels& kernels, const std::string& text) {
  static const GuardedBytes in(base64_encoded_size(kMostBytes));
  static const GuardedBytes out(kMostBytes);
  char* from = in.last_chars(size_of(text));
  std::copy(text.begin(), text.end(), from);
  const std::int64_t padding = text.size() % 4 == 0 ? std::count(text.begin() + (text.size() < 2 ? 0 : size_of(text) - 2), text.end(), '=') : 0;
  // Exactly what good text decodes to: the byte behind it belongs to somebody else.
  std::byte* to = out.last(std::max<std::int64_t>(base64_decoded_size_at_most(size_of(text)) - padding, 0));
  to[-1] = std::byte{0xA5};
  Decoding decoding;
  decoding.result = base64::decode_with(kernels, from, size_of(text), to);
  CHECK(to[-1] == std::byte{0xA5});
  if (decoding.result.ok()) decoding.bytes.assign(to, to + decoding.result.bytes);
  return decoding;
}

/// Compares with the oracle, good or bad.
void check_decode(const base64::Kernels& kernels, const std::string& text) {
  const OracleDecoded expected = oracle_decode(text);
  const Decoding decoding = decode(kernels, text);
  INFO(kernels.name, ", ", text.size(), " characters: ", text);
  REQUIRE(decoding.result.ok() == (expected.bad_at < 0));
  REQUIRE(decoding.result.offset == expected.bad_at);
  REQUIRE(decoding.bytes == expected.bytes);
  REQUIRE(decoding.result.bytes == size_of(expected.bytes));
}

}  // namespace

TEST_CASE("the vectors of RFC 4648") {
  const std::pair<std::string_view, std::string_view> vectors[] = {
      {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"fooba", "Zm9vYmE="}, {"foobar", "Zm9vYmFy"}};
  for (const base64::Kernels* kernels : all_kernels()) {
    for (const auto& [plain, text] : vectors) {
      std::vector<std::byte> bytes(plain.size());
      std::transform(plain.begin(), plain.end(), bytes.begin(), [](char c) { return static_cast<std::byte>(c); });
      CHECK(encode(*kernels, bytes) == text);
      CHECK(decode(*kernels, std::string(text)).bytes == bytes);
    }
  }
}

TEST_CASE("the best level of the machine is what the library uses") {
  const std::vector<const base64::Kernels*> all = all_kernels();
  REQUIRE(!all.empty());
  CHECK(&base64::best_kernels() == all.back());
  const std::vector<std::byte> bytes{std::byte{0xFB}, std::byte{0xF0}};
  char text[4];
  base64_encode(bytes.data(), 2, text);
  CHECK(std::string_view(text, 4) == "+/A=");
  std::byte back[3];
  const Base64Result result = base64_decode(text, 4, back);
  CHECK(result.ok());
  CHECK(result.bytes == 2);
  CHECK(std::equal(bytes.begin(), bytes.end(), back));
}

TEST_CASE("every size, at its own alignment, there and back") {
  std::mt19937_64 random(1);
  for (std::int64_t size = 0; size <= 700; ++size) {
    const std::vector<std::byte> bytes = random_bytes(random, size);
    const std::string text = oracle_encode(bytes);
    REQUIRE(size_of(text) == base64_encoded_size(size));
    for (const base64::Kernels* kernels : all_kernels()) {
      INFO(kernels->name, ", ", size, " bytes");
      REQUIRE(encode(*kernels, bytes) == text);
      REQUIRE(decode(*kernels, text).bytes == bytes);
    }
  }
}

TEST_CASE("every alignment of both sides") {
  std::mt19937_64 random(2);
  for (std::int64_t shift_in = 0; shift_in < 67; ++shift_in) {
    for (std::int64_t shift_out = 0; shift_out < 67; ++shift_out) {
      const std::vector<std::byte> bytes = random_bytes(random, 600 + static_cast<std::int64_t>(random() % 100));
      const std::string text = oracle_encode(bytes);
      for (const base64::Kernels* kernels : all_kernels()) {
        std::vector<std::byte> in(bytes.size() + 67);
        std::copy(bytes.begin(), bytes.end(), in.begin() + shift_in);
        std::string out(text.size() + 2 * 67, '#');
        base64::encode_with(*kernels, in.data() + shift_in, size_of(bytes), out.data() + shift_out);
        const auto end = static_cast<std::size_t>(shift_out) + text.size();
        REQUIRE(out.substr(static_cast<std::size_t>(shift_out), text.size()) == text);
        REQUIRE(out.find_first_not_of('#') == static_cast<std::size_t>(shift_out));
        REQUIRE(out.find_first_not_of('#', end) == std::string::npos);
        std::vector<std::byte> back(bytes.size() + 2 * 67, std::byte{0xA5});
        std::string shifted(static_cast<std::size_t>(shift_in), '#');
        shifted += text;
        const Base64Result result = base64::decode_with(*kernels, shifted.data() + shift_in, size_of(text), back.data() + shift_out);
        REQUIRE(result.ok());
        REQUIRE(result.bytes == size_of(bytes));
        REQUIRE(std::equal(bytes.begin(), bytes.end(), back.begin() + shift_out));
        REQUIRE(std::all_of(back.begin(), back.begin() + shift_out, [](std::byte byte) { return byte == std::byte{0xA5}; }));
        REQUIRE(std::all_of(back.begin() + shift_out + size_of(bytes), back.end(), [](std::byte byte) { return byte == std::byte{0xA5}; }));
      }
    }
  }
}

TEST_CASE("parts of any length make one text") {
  std::mt19937_64 random(8);
  for (int turn = 0; turn < 3000; ++turn) {
    const std::vector<std::byte> bytes = random_bytes(random, static_cast<std::int64_t>(random() % 400));
    const std::string text = oracle_encode(bytes);
    std::string out(text.size() + 8, '#');
    Base64Stream stream(out.data());
    const std::uint64_t longest = turn % 2 == 0 ? 4 : 100;
    for (std::int64_t at = 0; at < size_of(bytes);) {
      const std::int64_t part = std::min(static_cast<std::int64_t>(random() % longest), size_of(bytes) - at);
      stream.put(bytes.data() + at, part);
      at += part;
    }
    REQUIRE(stream.finish() == out.data() + text.size());
    REQUIRE(out == text + "########");
  }
}

TEST_CASE("random sizes and bytes") {
  std::mt19937_64 random(3);
  for (int turn = 0; turn < 200; ++turn) {
    const std::vector<std::byte> bytes = random_bytes(random, static_cast<std::int64_t>(random() % kMostBytes));
    const std::string text = oracle_encode(bytes);
    for (const base64::Kernels* kernels : all_kernels()) {
      REQUIRE(encode(*kernels, bytes) == text);
      REQUIRE(decode(*kernels, text).bytes == bytes);
    }
  }
}

TEST_CASE("every bad character at every position is told at its offset") {
  std::mt19937_64 random(4);
  for (const std::int64_t size : {3, 6, 33, 66, 97, 192, 296}) {
    const std::string good = oracle_encode(random_bytes(random, size));
    for (std::size_t at = 0; at < good.size(); ++at) {
      for (int code = 0; code < 256; ++code) {
        const auto character = static_cast<char>(code);
        if (kAlphabet.find(character) != std::string_view::npos) continue;
        std::string bad = good;
        bad[at] = character;
        for (const base64::Kernels* kernels : all_kernels()) check_decode(*kernels, bad);
      }
    }
  }
}

TEST_CASE("of two bad characters the first is told") {
  std::mt19937_64 random(5);
  for (int turn = 0; turn < 3000; ++turn) {
    std::string text = oracle_encode(random_bytes(random, static_cast<std::int64_t>(random() % 500 + 2)));
    const std::size_t first = random() % text.size();
    const std::size_t second = random() % text.size();
    text[first] = '.';
    text[second] = '\n';
    for (const base64::Kernels* kernels : all_kernels()) {
      const Base64Result result = decode(*kernels, text).result;
      REQUIRE(result.offset == static_cast<std::int64_t>(std::min(first, second)));
      REQUIRE(std::string_view(result.reason).find("alphabet") != std::string_view::npos);
    }
  }
}

TEST_CASE("a text that ends inside a group is told at its end") {
  std::mt19937_64 random(6);
  for (std::int64_t size = 1; size <= 300; ++size) {
    const std::string text = oracle_encode(random_bytes(random, size / 3 * 3 + 3));
    for (std::size_t cut = 1; cut <= 3; ++cut) {
      const std::string part = text.substr(0, text.size() - cut);
      for (const base64::Kernels* kernels : all_kernels()) {
        const Base64Result result = decode(*kernels, part).result;
        REQUIRE(result.offset == size_of(part));
        REQUIRE(std::string_view(result.reason).find("group of four") != std::string_view::npos);
      }
    }
  }
}

TEST_CASE("padding stands at the end only, once, and behind a byte") {
  for (const std::string_view text : {"=", "==", "===", "====", "A===", "AA=A", "A=AA", "=AAA", "AA==AAAA", "AAA=AAAA",
                                      "AAAA=", "AAAA==", "AAAA====", "AA=", "A=", "A==", "AAAA=AAA", "AAAAA===", "AA=="}) {
    std::string shown(text);
    for (int groups : {0, 1, 7, 40}) {
      std::string whole;
      for (int group = 0; group < groups; ++group) whole += "Zm9v";
      for (const base64::Kernels* kernels : all_kernels()) check_decode(*kernels, whole + shown);
    }
  }
  CHECK(decode(*all_kernels().back(), "AA=A").result.offset == 2);
  CHECK(std::string_view(decode(*all_kernels().back(), "AA=A").result.reason).find("padding") != std::string_view::npos);
}

TEST_CASE("bits behind the last byte must be zero") {
  for (const base64::Kernels* kernels : all_kernels()) {
    for (std::size_t value = 0; value < 64; ++value) {
      const std::string one = std::string("A") + kAlphabet[value] + "==";
      const Base64Result of_one = decode(*kernels, one).result;
      CHECK(of_one.ok() == (value % 16 == 0));
      if (!of_one.ok()) CHECK(of_one.offset == 1);
      const std::string two = std::string("AA") + kAlphabet[value] + "=";
      const Base64Result of_two = decode(*kernels, two).result;
      CHECK(of_two.ok() == (value % 4 == 0));
      if (!of_two.ok()) CHECK(of_two.offset == 2);
      for (const std::string& text : {one, two}) check_decode(*kernels, "Zm9vYmFy" + text);
    }
  }
}

TEST_CASE("text changed anywhere decodes as the oracle says") {
  std::mt19937_64 random(7);
  constexpr std::string_view kMostly = "ABab01+/=-_ \n\x80\xFF";
  for (int turn = 0; turn < 4000; ++turn) {
    std::string text = oracle_encode(random_bytes(random, static_cast<std::int64_t>(random() % 420)));
    for (auto changes = random() % 3; changes > 0 && !text.empty(); --changes) text[random() % text.size()] = kMostly[random() % kMostly.size()];
    if (random() % 3 == 0) text.resize(random() % (text.size() + 1));
    for (const base64::Kernels* kernels : all_kernels()) check_decode(*kernels, text);
  }
}
