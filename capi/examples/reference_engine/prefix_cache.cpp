// SPDX-License-Identifier: Apache-2.0
#include "prefix_cache.h"

#include <algorithm>
#include <tuple>

namespace engine {

PrefixCache::Node* PrefixCache::find(PrefixHash prefix) {
  const auto found = nodes_.find(prefix);
  return found == nodes_.end() ? nullptr : &found->second;
}

void PrefixCache::match(Request& request) {
  ++clock_;
  std::vector<Node*> path;
  for (std::int64_t i = 0; i + 1 < count(request.tokens); ++i) {
    Node* node = find(at(request.prefixes, i));
    if (node == nullptr) break;
    path.push_back(node);
  }
  // Pinned before anything is evicted for the load: evicting may not eat the path it is for.
  for (Node* node : path) {
    ++node->users;
    node->last_use = clock_;
  }
  const auto on_device = std::ranges::find_if(path, [](const Node* node) { return node->device_slot < 0; });
  std::vector<Node*> to_load(on_device, path.end());
  std::optional<std::vector<std::int64_t>> loaded;
  if (!to_load.empty()) loaded = take_device(count(to_load));
  if (!loaded) {
    for (Node* node : to_load) --node->users;
    path.resize(path.size() - to_load.size());
    to_load.clear();
  }
  std::vector<std::int64_t> from;
  for (std::int64_t i = 0; i < count(to_load); ++i) {
    Node& node = *at(to_load, i);
    from.push_back(node.host_slot);
    node.device_slot = at(*loaded, i);
    if (Node* parent = find(node.parent)) ++parent->device_children;
  }
  if (!from.empty()) slots_.copy(from, *loaded);

  for (const Node* node : path) request.slots.push_back(node->device_slot);
  request.cached_slots = count(path);
}

void PrefixCache::unpin(Request& request) {
  for (std::int64_t i = 0; i < request.cached_slots; ++i) --find(at(request.prefixes, i))->users;
  request.slots.erase(request.slots.begin(), request.slots.begin() + request.cached_slots);
  request.cached_slots = 0;
}

void PrefixCache::insert(Request& request, std::int64_t tokens, bool backed_up) {
  ++clock_;
  std::vector<std::int64_t> spare;
  for (std::int64_t i = request.cached_slots; i < count(request.slots); ++i) {
    const std::int64_t slot = at(request.slots, i);
    if (i >= tokens) {
      spare.push_back(slot);
      continue;
    }
    const PrefixHash parent_prefix = i == 0 ? kEmptyPrefix : at(request.prefixes, i - 1);
    Node& node = nodes_[at(request.prefixes, i)];
    node.last_use = clock_;
    if (node.device_slot >= 0) {
      spare.push_back(slot);  // somebody computed the same prefix meanwhile
      continue;
    }
    node.parent = parent_prefix;
    node.device_slot = slot;
    if (Node* parent = find(parent_prefix)) ++parent->device_children;
  }
  if (backed_up) back_up(std::span(request.prefixes).first(static_cast<std::size_t>(std::min(tokens, count(request.slots)))));
  // Unpinned last: the whole path was needed on the accelerator until here.
  for (std::int64_t i = 0; i < request.cached_slots; ++i) --find(at(request.prefixes, i))->users;
  slots_.give_back(spare);
  request.slots.clear();
  request.cached_slots = 0;
}

void PrefixCache::back_up(std::span<const PrefixHash> path) {
  std::vector<std::int64_t> from;
  std::vector<std::int64_t> to;
  for (const PrefixHash prefix : path) {
    Node& node = *find(prefix);
    if (node.host_slot >= 0) continue;
    const auto slot = slots_.take_host(1);
    if (!slot) break;
    node.host_slot = slot->front();
    if (Node* parent = find(node.parent)) ++parent->host_children;
    from.push_back(node.device_slot);
    to.push_back(node.host_slot);
  }
  slots_.copy(from, to);
}

bool PrefixCache::is_evictable(const Node& node, Pool pool) const {
  if (pool == Pool::kDevice) return node.device_slot >= 0 && node.users == 0 && node.device_children == 0;
  // A node being loaded back is read from its host slot in call order, so a pinned one may lose that slot.
  return node.host_slot >= 0 && node.host_children == 0;
}

void PrefixCache::drop(PrefixHash prefix, Pool pool) {
  Node& node = *find(prefix);
  Node* parent = find(node.parent);
  std::int64_t& slot = pool == Pool::kDevice ? node.device_slot : node.host_slot;
  if (parent != nullptr) --(pool == Pool::kDevice ? parent->device_children : parent->host_children);
  slots_.give_back({&slot, 1});
  slot = -1;
  if (node.device_slot < 0 && node.host_slot < 0) nodes_.erase(prefix);
}

void PrefixCache::evict(std::int64_t wanted, Pool pool) {
  const auto freed = [&] { return pool == Pool::kDevice ? slots_.free_device() : slots_.free_host(); };
  while (freed() < wanted) {
    // Ties are broken by hash: the order of a hash table is nobody's promise, and a run has to be repeatable.
    const PrefixHash* oldest = nullptr;
    std::int64_t last_use = 0;
    for (const auto& [prefix, node] : nodes_) {
      if (!is_evictable(node, pool)) continue;
      if (oldest == nullptr || std::tie(node.last_use, prefix) < std::tie(last_use, *oldest)) {
        oldest = &prefix;
        last_use = node.last_use;
      }
    }
    if (oldest == nullptr) return;
    // From the leaf towards the root, as long as nothing else hangs there.
    PrefixHash prefix = *oldest;
    for (const Node* node = find(prefix); freed() < wanted && node != nullptr && is_evictable(*node, pool); node = find(prefix)) {
      const PrefixHash parent = node->parent;
      drop(prefix, pool);
      prefix = parent;
    }
  }
}

std::optional<std::vector<std::int64_t>> PrefixCache::take_device(std::int64_t wanted) {
  evict(wanted, Pool::kDevice);
  return slots_.take_device(wanted);
}

std::optional<std::vector<std::int64_t>> PrefixCache::take_host(std::int64_t wanted) {
  evict(wanted, Pool::kHost);
  return slots_.take_host(wanted);
}

std::int64_t PrefixCache::available_device() const {
  return slots_.free_device() +
         std::ranges::count_if(nodes_, [](const auto& entry) { return entry.second.device_slot >= 0 && entry.second.users == 0; });
}

}  // namespace engine
