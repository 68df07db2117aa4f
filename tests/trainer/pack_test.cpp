// SPDX-License-Identifier: Apache-2.0
// Packs of sequences: offsets, padding and its inverse.
#include <doctest/doctest.h>

#include "trainer/calls.h"

using namespace routecap_trainer;

TEST_CASE("R43: every sequence of a pack is padded to the multiple by itself") {
  CHECK(pack_offsets({5, 8, 0, 1}, 1) == Numbers{0, 5, 13, 13, 14});
  CHECK(pack_offsets({5, 8, 0, 1}, 8) == Numbers{0, 8, 16, 16, 24});
  CHECK(pack_offsets({}, 8) == Numbers{0});
  CHECK(pack_offsets({INT64_MAX - 8, 8}, 1) == Numbers{0, INT64_MAX - 8, INT64_MAX});
}

TEST_CASE("R43: padding stands behind each sequence, and stripping takes it away again") {
  const Numbers lengths = {3, 0, 2};
  const Numbers offsets = {0, 4, 4, 8};
  const Bytes tokens = {1, 2, 3, 4, 5};
  CHECK(pad(lengths, offsets, 1, {9}, tokens) == Bytes{1, 2, 3, 9, 4, 5, 9, 9});
  CHECK(pad(lengths, offsets, 1, {}, tokens) == Bytes{1, 2, 3, 0, 4, 5, 0, 0});
  CHECK(strip(lengths, offsets, 1, {1, 2, 3, 9, 4, 5, 9, 9}) == tokens);
  // Items of several bytes, and a pack with room of its own behind the last.
  CHECK(pad({1, 1}, {0, 2, 4}, 2, {8, 9}, {1, 2, 3, 4}) == Bytes{1, 2, 8, 9, 3, 4, 8, 9});
  CHECK(strip({1, 1}, {0, 2, 4}, 2, {1, 2, 8, 9, 3, 4, 8, 9}) == Bytes{1, 2, 3, 4});
  CHECK(pad({}, {0}, 1, {9}, {}) == Bytes{});
}

TEST_CASE("R43: lengths, offsets and arrays that do not fit are refused by name, and nothing is written") {
  const auto offsets_of = [](Numbers lengths, std::int64_t multiple, std::size_t capacity) {
    return refused([&](rcap_error* err) {
      Numbers offsets(capacity, -3);
      const std::int32_t status = rcap_pack_offsets(lengths.data(), count(lengths), multiple, offsets.data(), count(offsets), err);
      CHECK(offsets == Numbers(capacity, -3));
      return status;
    });
  };
  CHECK(offsets_of({5, -1}, 8, 3) == "OUT_OF_RANGE: lengths[1] is -1, it must not be negative");
  CHECK(offsets_of({5}, 0, 2) == "OUT_OF_RANGE: multiple is 0, allowed are 1 .. 9223372036854775807");
  CHECK(offsets_of({5, 6}, 8, 2) == "INVALID_ARGUMENT: offsets_count is 2, lengths_count is 2: it must be one more");
  CHECK(offsets_of({1, INT64_MAX - 8, 8}, 1, 4) == "OUT_OF_RANGE: lengths summed up: 9223372036854775800 + 8 exceeds 9223372036854775807");
  CHECK(offsets_of({INT64_MAX - 1}, 8, 2) == "OUT_OF_RANGE: a length rounded up: 9223372036854775806 + 2 exceeds 9223372036854775807");

  const auto pad_of = [](Numbers lengths, Numbers offsets, std::int64_t item_bytes, Bytes item, std::int64_t tokens_bytes,
                         std::int64_t packed_bytes) {
    return refused([&](rcap_error* err) {
      const Bytes tokens(64, 1);
      Bytes packed(64, 2);
      const std::int32_t status =
          rcap_pack_pad(lengths.data(), count(lengths), offsets.data(), count(offsets), item_bytes, item.empty() ? nullptr : item.data(), count(item),
                        tokens.data(), tokens_bytes, packed.data(), packed_bytes, err);
      CHECK(packed == Bytes(64, 2));
      return status;
    });
  };
  CHECK(pad_of({3}, {0, 4, 5}, 1, {}, 3, 5) == "INVALID_ARGUMENT: offsets_count is 3, lengths_count is 1: it must be one more");
  CHECK(pad_of({3}, {1, 4}, 1, {}, 3, 4) == "OUT_OF_RANGE: offsets[0] is 1, only 0 is allowed");
  CHECK(pad_of({3, 0}, {0, 4, 3}, 1, {}, 3, 3) == "OUT_OF_RANGE: offsets[2] is 3 behind 4, they must not descend");
  CHECK(pad_of({3, 5}, {0, 4, 8}, 1, {}, 8, 8) == "OUT_OF_RANGE: lengths[1] is 5, its place in the pack is [4, 8)");
  CHECK(pad_of({3}, {0, 4}, 0, {}, 3, 4) == "OUT_OF_RANGE: item_bytes is 0, allowed are 1 .. 9223372036854775807");
  CHECK(pad_of({3}, {0, 4}, 2, {1}, 6, 8) == "INVALID_ARGUMENT: pad_bytes is 1, it must be 2");
  CHECK(pad_of({3}, {0, 4}, 2, {}, 5, 8) == "INVALID_ARGUMENT: tokens_bytes is 5, it must be 6");
  CHECK(pad_of({3}, {0, 4}, 2, {}, 6, 7) == "INVALID_ARGUMENT: packed_bytes is 7, it must be 8");
  CHECK(pad_of({3}, {0, INT64_MAX}, 2, {}, 6, 8) ==
        "OUT_OF_RANGE: tokens of the pack * item_bytes: 9223372036854775807 * 2 exceeds 9223372036854775807");

  const Numbers lengths = {3};
  const Numbers offsets = {0, 4};
  Bytes tokens(3, 7);
  CHECK(refused([&](rcap_error* err) { return rcap_pack_strip(lengths.data(), 1, offsets.data(), 2, 1, nullptr, 4, tokens.data(), 3, err); }) ==
        "INVALID_ARGUMENT: packed is null, packed_bytes is 4");
  CHECK(refused([&](rcap_error* err) { return rcap_pack_strip(nullptr, 1, offsets.data(), 2, 1, tokens.data(), 4, tokens.data(), 3, err); }) ==
        "INVALID_ARGUMENT: lengths is null, lengths_count is 1");
  CHECK(tokens == Bytes(3, 7));
}
