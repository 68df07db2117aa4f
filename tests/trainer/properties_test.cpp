// SPDX-License-Identifier: Apache-2.0
// R43: every split is the exact inverse of its gather, for every size, world and padding, and goes where a naive owner of each token says.
#include <random>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "records/random.h"
#include "trainer/calls.h"

using namespace routecap_trainer;
using routecap_records::any_number;

namespace {

Bytes any_bytes(std::int64_t size) {
  std::mt19937_64 random(*rc::gen::arbitrary<std::uint32_t>());
  Bytes bytes(static_cast<std::size_t>(size));
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
  return bytes;
}

Ranks any_sizes() {
  return {.split = static_cast<std::int32_t>(any_number(RCAP_SPLIT_CONTIGUOUS, RCAP_SPLIT_ZIGZAG)),
          .cp_size = static_cast<std::int32_t>(any_number(1, 6)),
          .sp_size = static_cast<std::int32_t>(any_number(1, 5))};
}

/// Context-parallel rank that has a token, from its place in its sequence alone.
std::int64_t owner(const Ranks& sizes, std::int64_t place, std::int64_t length) {
  if (sizes.split == RCAP_SPLIT_CONTIGUOUS || sizes.cp_size == 1) return place / (length / sizes.cp_size);
  const std::int64_t chunk = place / (length / (2 * sizes.cp_size));
  return std::min<std::int64_t>(chunk, 2 * sizes.cp_size - 1 - chunk);
}

/// Tokens of a rank: those it owns, in the pack's order, and of these the slice of sequence parallelism.
Numbers expected_indices(const Ranks& ranks, const Numbers& offsets) {
  Numbers owned;
  for (std::size_t sequence = 0; sequence + 1 < offsets.size(); ++sequence) {
    const std::int64_t length = offsets[sequence + 1] - offsets[sequence];
    for (std::int64_t place = 0; place < length; ++place) {
      if (owner(ranks, place, length) == ranks.cp_rank) owned.push_back(offsets[sequence] + place);
    }
  }
  Numbers slice;
  for (std::size_t i = 0; i < owned.size(); ++i) {
    if (static_cast<std::int64_t>(i) * ranks.sp_size / count(owned) == ranks.sp_rank) slice.push_back(owned[i]);
  }
  return slice;
}

Bytes items_at(const Bytes& whole, const Numbers& indices, std::int64_t item_bytes) {
  Bytes items;
  for (const std::int64_t index : indices) {
    const auto begin = whole.begin() + index * item_bytes;
    items.insert(items.end(), begin, begin + item_bytes);
  }
  return items;
}

}  // namespace

TEST_CASE("R43: pad, split, gather and strip give back every token") {
  CHECK(rc::check("tokens", [] {
    const Ranks sizes = any_sizes();
    const auto lengths = *rc::gen::container<Numbers>(rc::gen::inRange<std::int64_t>(0, 60)).as("lengths");
    const std::int64_t item_bytes = any_number(1, 17);
    const Numbers offsets = pack_offsets(lengths, multiple(sizes) * any_number(1, 3));
    std::int64_t tokens = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      RC_ASSERT(offsets[i + 1] - offsets[i] >= lengths[i]);
      tokens += lengths[i];
    }
    const Bytes given = any_bytes(tokens * item_bytes);
    const Bytes packed = pad(lengths, offsets, item_bytes, any_number(0, 1) == 0 ? Bytes{} : any_bytes(item_bytes), given);
    Bytes parts;
    for (Ranks ranks = sizes; ranks.cp_rank < sizes.cp_size; ++ranks.cp_rank) {
      for (ranks.sp_rank = 0; ranks.sp_rank < sizes.sp_size; ++ranks.sp_rank) {
        const Numbers expected = expected_indices(ranks, offsets);
        RC_ASSERT(indices(ranks, offsets) == expected);
        const Bytes part = split(ranks, offsets, item_bytes, packed);
        RC_ASSERT(part == items_at(packed, expected, item_bytes));
        parts.insert(parts.end(), part.begin(), part.end());
      }
    }
    const Bytes gathered = gather(sizes, offsets, item_bytes, parts);
    RC_ASSERT(gathered == packed);
    RC_ASSERT(strip(lengths, offsets, item_bytes, gathered) == given);
  }));
}

TEST_CASE("R43: a pack splits exactly where every rank gets the same number of whole chunks") {
  CHECK(rc::check("divisible", [] {
    const Ranks sizes = any_sizes();
    const auto lengths = *rc::gen::container<Numbers>(rc::gen::inRange<std::int64_t>(0, 30)).as("lengths");
    const Numbers offsets = pack_offsets(lengths, 1);
    const std::int64_t chunks = sizes.cp_size == 1 ? 1 : sizes.split == RCAP_SPLIT_ZIGZAG ? 2 * sizes.cp_size : sizes.cp_size;
    bool fits = offsets.back() / sizes.cp_size % sizes.sp_size == 0;
    for (const std::int64_t length : lengths) fits = fits && length % chunks == 0;
    const rcap_partition_layout layout = layout_of(sizes);
    std::int64_t tokens = -1;
    const std::int32_t status = rcap_partition_tokens(&layout, offsets.data(), count(offsets), &tokens, nullptr);
    RC_ASSERT(status == (fits ? RCAP_STATUS_OK : RCAP_STATUS_OUT_OF_RANGE));
    if (fits) RC_ASSERT(tokens * sizes.cp_size * sizes.sp_size == offsets.back());
  }));
}

TEST_CASE("R43: the stages' columns, gathered, are the whole array") {
  CHECK(rc::check("stages", [] {
    // A model dealt out by hand, layer after layer, in rounds.
    const std::int64_t pp_size = any_number(1, 4);
    const std::int64_t vp_size = any_number(1, 3);
    std::vector<std::int64_t> share(static_cast<std::size_t>(pp_size), any_number(1, 3));
    Stage stage{.pp_size = static_cast<std::int32_t>(pp_size), .vp_size = static_cast<std::int32_t>(vp_size)};
    if (pp_size > 1 && any_number(0, 1) == 1) {
      share.front() = any_number(1, 4);
      stage.first_layers = static_cast<std::int32_t>(share.front() * vp_size);
    }
    if (pp_size > 1 && any_number(0, 1) == 1) {
      share.back() = any_number(1, 4);
      stage.last_layers = static_cast<std::int32_t>(share.back() * vp_size);
    }
    std::mt19937_64 random(*rc::gen::arbitrary<std::uint32_t>());
    Layers moe;
    std::vector<std::vector<Layers>> chunks(static_cast<std::size_t>(pp_size), std::vector<Layers>(static_cast<std::size_t>(vp_size)));
    for (std::size_t round = 0; round < static_cast<std::size_t>(vp_size); ++round) {
      for (std::size_t rank = 0; rank < static_cast<std::size_t>(pp_size); ++rank) {
        for (std::int64_t i = 0; i < share[rank]; ++i, ++stage.num_layers) {
          if (random() % 4 == 0) continue;  // a dense layer
          moe.push_back(stage.num_layers - 1);
          chunks[rank][round].push_back(stage.num_layers - 1);
        }
      }
    }
    --stage.num_layers;  // it began at 1
    RC_PRE(!moe.empty());
    const std::int64_t tokens = any_number(0, 5);
    const std::int64_t item_bytes = any_number(1, 9);
    const auto order = static_cast<std::int32_t>(any_number(RCAP_AXIS_ORDER_TOKENS_FIRST, RCAP_AXIS_ORDER_LAYERS_FIRST));
    const Bytes whole = any_bytes(tokens * count(moe) * item_bytes);
    Bytes made(whole.size(), 0x5A);
    for (; stage.pp_rank < pp_size; ++stage.pp_rank) {
      Layers all;
      for (stage.vp_rank = 0; stage.vp_rank < vp_size; ++stage.vp_rank) {
        const Layers& expected = chunks[static_cast<std::size_t>(stage.pp_rank)][static_cast<std::size_t>(stage.vp_rank)];
        RC_ASSERT(stage_layers(stage, moe) == expected);
        all.insert(all.end(), expected.begin(), expected.end());
      }
      stage.vp_rank = -1;
      RC_ASSERT(stage_layers(stage, moe) == all);
      const Bytes part = split_layers(moe, all, tokens, item_bytes, order, whole);
      for (std::int64_t token = 0; token < tokens; ++token) {
        for (std::int64_t column = 0; column < count(all); ++column) {
          const std::int64_t at = order == RCAP_AXIS_ORDER_TOKENS_FIRST ? token * count(all) + column : column * tokens + token;
          const std::int64_t from = token * count(moe) + (std::find(moe.begin(), moe.end(), all[static_cast<std::size_t>(column)]) - moe.begin());
          RC_ASSERT(items_at(part, {at}, item_bytes) == items_at(whole, {from}, item_bytes));
        }
      }
      gather_layers(moe, all, tokens, item_bytes, order, part, made);
    }
    RC_ASSERT(made == whole);
  }));
}
