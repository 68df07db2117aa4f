// SPDX-License-Identifier: Apache-2.0
//
// KV of finished requests, found again by prefix. A hit hands out slots, and with the slots come the rows recorded when that KV was computed
// (R11): the cache has nothing to do for routecap but to tell it of copies between the accelerator and the host pool.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "kv_slots.h"
#include "request.h"

namespace engine {

/// One node a token, named by the hash of the prefix that ends there; a node may have KV on the accelerator, in the host pool, or in both.
/// Invariants: a node on the accelerator has its parent there too, the same for the host pool; a node in use is on the accelerator.
class PrefixCache {
 public:
  explicit PrefixCache(KvSlots& slots) : slots_(slots) {}

  /// Finds the longest cached prefix of the request's tokens, leaving at least its last one to compute, loads back what is in the host pool
  /// only, pins it, and makes it the request's first slots.
  void match(Request& request);

  /// Unpins the request's cached slots; the request has none afterwards.
  void unpin(Request& request);

  /// Takes over the slots of the request's first `tokens` tokens where the cache has none for that prefix, and gives the others back.
  /// @param backed_up  copies what is new to the host pool as well, as far as there is room
  void insert(Request& request, std::int64_t tokens, bool backed_up);

  /// Takes device slots, evicting cached ones that nobody uses, the least recently used first.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> take_device(std::int64_t wanted);
  /// The same for the host pool.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> take_host(std::int64_t wanted);

  /// Device slots that `take_device` could give.
  [[nodiscard]] std::int64_t available_device() const;

 private:
  struct Node {
    PrefixHash parent = kEmptyPrefix;
    std::int64_t device_slot = -1;
    std::int64_t host_slot = -1;
    std::int64_t users = 0;
    std::int64_t device_children = 0;
    std::int64_t host_children = 0;
    std::int64_t last_use = 0;
  };
  enum class Pool { kDevice, kHost };

  [[nodiscard]] Node* find(PrefixHash prefix);
  [[nodiscard]] bool is_evictable(const Node& node, Pool pool) const;
  /// Frees one node's slot in a pool, and the node with its last slot.
  void drop(PrefixHash prefix, Pool pool);
  void evict(std::int64_t wanted, Pool pool);
  void back_up(std::span<const PrefixHash> path);

  KvSlots& slots_;
  std::unordered_map<PrefixHash, Node> nodes_;
  std::int64_t clock_ = 0;
};

}  // namespace engine
