// SPDX-License-Identifier: Apache-2.0
//
// The parts of the schedule that the oracle leans on: router, presence book, verification, geometry.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "geometry.h"
#include "presence.h"
#include "router.h"
#include "support.h"
#include "verify.h"
#include "workload.h"

using engine::at;
using engine::Presence;
using engine::PresenceBook;

TEST_CASE("the router is a function of prefix and layer, with distinct experts in range") {
  const engine::ModelShape shape = engine::deepseek_v3();
  const engine::Router router(shape, nullptr);
  std::vector<std::int32_t> ids(8);
  std::vector<std::int32_t> again(8);
  std::set<std::vector<std::int32_t>> rows;
  for (engine::PrefixHash prefix = 1; prefix <= 50; ++prefix) {
    for (std::int32_t column = 0; column < shape.num_layers(); ++column) {
      router.route({prefix, -1}, column, ids);
      router.route({prefix, -1}, column, again);
      CHECK(ids == again);
      CHECK(std::ranges::all_of(ids, [](std::int32_t id) { return id >= 0 && id < 256; }));
      CHECK(std::set<std::int32_t>(ids.begin(), ids.end()).size() == 8);
      rows.insert(ids);
    }
  }
  CHECK(rows.size() == 50 * 58);
}

TEST_CASE("presence: the newest number decides, whatever order things are told in") {
  PresenceBook book(4);
  CHECK(book.at_slot(1) == Presence::kMissing);
  book.wrote(1, 3, false);
  CHECK(book.at_slot(1) == Presence::kRow);
  book.released(std::vector<std::int64_t>{1}, 4);
  book.wrote(1, 2, false);  // accepted late, numbered before the release
  CHECK(book.at_slot(1) == Presence::kMissing);
  book.wrote(1, 5, true);
  CHECK(book.at_slot(1) == Presence::kPrunedRow);
}

TEST_CASE("presence: copies are simultaneous, and a lost forward takes its copies along") {
  PresenceBook book(4);
  book.wrote(0, 1, false);
  book.wrote(1, 2, true);
  book.copied(std::vector<std::int64_t>{0, 1, 3}, std::vector<std::int64_t>{1, 2, 0}, 3);
  CHECK(book.at_slot(1) == Presence::kRow);
  CHECK(book.at_slot(2) == Presence::kPrunedRow);
  CHECK(book.at_slot(0) == Presence::kMissing);
  book.dropped(2);
  CHECK(book.at_slot(2) == Presence::kMissing);
  CHECK(book.at_slot(1) == Presence::kRow);
}

namespace {

engine::Request request_of(std::int64_t tokens) {
  engine::Request request;
  request.prompt_tokens = tokens;
  request.new_tokens = 100;
  request.sampling_seed = 5;
  for (std::int64_t i = 0; i < tokens; ++i) request.append({static_cast<std::int32_t>(i), -1});
  return request;
}

}  // namespace

TEST_CASE("accepted proposals are what the target samples, rejected ones are not, for chains and trees") {
  engine::Random random(3);
  std::set<std::size_t> accepted_counts;
  for (int round = 0; round < 200; ++round) {
    const auto shape = round % 2 == 0 ? engine::DraftShape::kChain : engine::DraftShape::kTree;
    engine::Request request = request_of(6);
    engine::Forward forward;
    engine::propose(forward, request, {50, 51, 52, 53, 54}, shape, random);
    REQUIRE(forward.rows.size() == 5);
    REQUIRE(forward.groups.size() == 1);
    const engine::VerifyGroup& group = forward.groups.front();
    REQUIRE(group.accepted.front() == 0);
    CHECK(std::ranges::is_sorted(group.accepted));
    CHECK(group.new_tokens.size() == group.accepted.size());
    accepted_counts.insert(group.accepted.size());

    // Walks on from the request's tokens as plain decoding would.
    std::set<engine::PrefixHash> right = {request.prefixes.back()};
    for (const engine::Token& token : group.new_tokens) {
      CHECK(token.id == request.sample(request.prefixes.back(), engine::count(request.tokens)).id);
      request.append(token);
      right.insert(request.prefixes.back());
    }
    std::set<engine::PrefixHash> all;
    for (std::int32_t row = 0; row < 5; ++row) {
      const bool is_accepted = std::ranges::find(group.accepted, row) != group.accepted.end();
      CHECK(right.contains(at(forward.rows, row).prefix) == is_accepted);
      all.insert(at(forward.rows, row).prefix);
    }
    CHECK(all.size() == 5);
  }
  CHECK(accepted_counts == std::set<std::size_t>{1, 2, 3, 4, 5});
}

TEST_CASE("the accept index and the plain list name the same entries") {
  engine::Random random(4);
  engine::Request first = request_of(4);
  engine::Request second = request_of(9);
  engine::Forward forward;
  engine::propose(forward, first, {10, 11, 12}, engine::DraftShape::kTree, random);
  engine::propose(forward, second, {20, 21, 22}, engine::DraftShape::kTree, random);

  const engine::CommitEntries index = engine::accept_index(forward, 4);
  CHECK(index.groups == 4);
  CHECK(index.width == 3);
  CHECK(index.rows.size() == 16);
  CHECK(index.slots.size() == 12);
  std::vector<std::pair<std::int32_t, std::int64_t>> entries;
  for (std::int64_t g = 0; g < index.groups; ++g) {
    for (std::int64_t j = 0; j < index.width; ++j) {
      const std::int32_t row = at(index.rows, g * index.rows_stride + j);
      const std::int64_t slot = at(index.slots, g * index.slots_stride + j);
      CHECK((row < 0) == (slot < 0));
      if (row >= 0) entries.emplace_back(row, slot);
    }
  }
  const engine::CommitEntries list = engine::accepted_list(forward);
  CHECK(list.named == index.named);
  REQUIRE(list.rows.size() == entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    CHECK(list.rows[i] == entries[i].first);
    CHECK(list.slots[i] == entries[i].second);
    CHECK(entries[i].second == (entries[i].first < 3 ? 10 : 17) + entries[i].first);
  }
}

TEST_CASE("ranks' shares: aligned to attention-TP when concatenated, the recorded batch when padded, idle ranks without rows") {
  engine::EngineConfig config;
  config.dp_size = 3;
  config.attn_tp_size = 2;
  const engine::Geometry eager = engine::concatenated(config, std::vector<std::int64_t>{3, 0, 4});
  CHECK(eager.rows == 8);
  CHECK(eager.ranks[0].first_row == 0);
  CHECK(eager.ranks[0].tokens == 3);
  CHECK(eager.ranks[1].tokens == 0);
  CHECK(eager.ranks[2].first_row == 4);
  CHECK(eager.ranks[2].tokens == 4);

  // Three requests of five rows run the graph of four: 20 rows a rank.
  const engine::Geometry graph = engine::padded(config, std::vector<std::int64_t>{1, 0, 3}, 5);
  CHECK(graph.graph);
  CHECK(graph.rows == 60);
  CHECK(graph.ranks[0].first_row == 0);
  CHECK(graph.ranks[0].tokens == 20);
  CHECK(graph.ranks[1].tokens == 0);
  CHECK(graph.ranks[2].first_row == 40);
  CHECK(graph.ranks[2].tokens == 20);
}

TEST_CASE("a workload has every kind of request in it") {
  engine::Options options;
  options.requests = 200;
  engine::Workload workload(options, nullptr);
  std::int64_t silent = 0;
  std::int64_t aborted = 0;
  std::int64_t external = 0;
  std::int64_t seen = 0;
  for (std::int64_t step = 0; step < 2000; ++step) {
    for (engine::Request* request : workload.arrivals(step)) {
      ++seen;
      silent += request->opted_in ? 0 : 1;
      aborted += request->abort_at >= 0 ? 1 : 0;
      external += request->external_tokens > 0 ? 1 : 0;
      CHECK(engine::count(request->tokens) == request->prompt_tokens);
      request->phase = engine::Phase::kDone;
    }
  }
  CHECK(seen == 200);
  CHECK(silent > 10);
  CHECK(aborted > 5);
  CHECK(external > 5);
}
