// SPDX-License-Identifier: Apache-2.0
#include "verify.h"

#include <algorithm>
#include <utility>

namespace engine {
namespace {

/// Parent of every node of a draft, node 0 being the root, that is the request's last token.
std::vector<std::int64_t> draft_parents(DraftShape shape, std::int64_t nodes, Random& random) {
  std::vector<std::int64_t> parents = {-1};
  for (std::int64_t node = 1; node < nodes; ++node) parents.push_back(shape == DraftShape::kChain ? node - 1 : random.below(node));
  return parents;
}

/// Nodes from the root to `node`.
std::vector<std::int32_t> path_to(const std::vector<std::int64_t>& parents, std::int64_t node) {
  std::vector<std::int32_t> path;
  for (; node >= 0; node = at(parents, node)) path.push_back(static_cast<std::int32_t>(node));
  std::ranges::reverse(path);
  return path;
}

}  // namespace

void propose(Forward& forward, Request& request, std::vector<std::int64_t> slots, DraftShape shape, Random& random) {
  const std::int64_t nodes = count(slots);
  const std::vector<std::int64_t> parents = draft_parents(shape, nodes, random);
  VerifyGroup group;
  group.request = &request;
  group.accepted = path_to(parents, random.below(nodes));

  const std::int64_t root_position = count(request.tokens) - 1;
  std::vector<PrefixHash> prefixes = {request.prefixes.back()};
  std::vector<std::int64_t> positions = {root_position};
  forward.rows.push_back(request.row_source(root_position));
  for (std::int64_t node = 1; node < nodes; ++node) {
    const std::int64_t parent = at(parents, node);
    const std::int64_t position = at(positions, parent) + 1;
    Token token = request.sample(at(prefixes, parent), position);
    const bool is_accepted = std::ranges::find(group.accepted, static_cast<std::int32_t>(node)) != group.accepted.end();
    // Distinct among siblings, and never what the target samples there.
    if (!is_accepted) token = {(token.id + 1 + static_cast<std::int32_t>(node)) % kVocabulary, -1};
    prefixes.push_back(extend(at(prefixes, parent), token.id));
    positions.push_back(position);
    forward.rows.push_back({prefixes.back(), token.trace_row});
    if (is_accepted) group.new_tokens.push_back(token);
  }
  const std::int32_t last = group.accepted.back();
  group.new_tokens.push_back(request.sample(at(prefixes, last), at(positions, last) + 1));

  group.tokens_after = count(request.tokens) + count(group.new_tokens);

  forward.kind = ForwardKind::kVerify;
  forward.group_rows = nodes;
  forward.slots.insert(forward.slots.end(), slots.begin(), slots.end());
  group.slots = std::move(slots);
  forward.groups.push_back(std::move(group));
}

CommitEntries accept_index(const Forward& forward, std::int64_t requests) {
  CommitEntries entries;
  entries.groups = requests;
  entries.width = forward.group_rows;
  entries.rows_stride = forward.group_rows + 1;
  entries.slots_stride = forward.group_rows;
  entries.rows.assign(static_cast<std::size_t>(requests * entries.rows_stride), -1);
  entries.slots.assign(static_cast<std::size_t>(requests * entries.slots_stride), -1);
  for (std::int64_t g = 0; g < count(forward.groups); ++g) {
    const VerifyGroup& group = at(forward.groups, g);
    for (std::int64_t j = 0; j < count(group.accepted); ++j) {
      const std::int32_t node = at(group.accepted, j);
      at(entries.rows, g * entries.rows_stride + j) = static_cast<std::int32_t>(g * forward.group_rows) + node;
      at(entries.slots, g * entries.slots_stride + j) = at(group.slots, node);
      ++entries.named;
    }
  }
  return entries;
}

CommitEntries accepted_list(const Forward& forward) {
  CommitEntries entries;
  for (std::int64_t g = 0; g < count(forward.groups); ++g) {
    const VerifyGroup& group = at(forward.groups, g);
    for (const std::int32_t node : group.accepted) {
      entries.rows.push_back(static_cast<std::int32_t>(g * forward.group_rows) + node);
      entries.slots.push_back(at(group.slots, node));
    }
  }
  entries.groups = 1;
  entries.width = entries.rows_stride = entries.slots_stride = entries.named = count(entries.rows);
  return entries;
}

}  // namespace engine
