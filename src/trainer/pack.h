// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace routecap {

/// Refuses offsets that do not begin with 0 or that descend, naming the place.
void check_offsets(std::span<const std::int64_t> offsets);

/// Where each sequence of a pack begins when each is padded to a multiple, and last the pack's tokens (R43).
[[nodiscard]] std::vector<std::int64_t> pack_offsets(std::span<const std::int64_t> lengths, std::int64_t multiple);

/// Sequences without padding on one side, and at their places in a pack on the other. Made from whoever is not trusted; nothing fails after it is
/// made. Holds on to its lists.
class Packing {
 public:
  Packing(std::span<const std::int64_t> lengths, std::span<const std::int64_t> offsets, std::int64_t item_bytes);

  [[nodiscard]] std::int64_t tokens_bytes() const { return tokens_bytes_; }
  [[nodiscard]] std::int64_t packed_bytes() const { return packed_bytes_; }
  /// `pad` is one item, null for zero bytes.
  void pad(const std::byte* pad, const std::byte* tokens, std::byte* packed) const;
  void strip(const std::byte* packed, std::byte* tokens) const;

 private:
  std::span<const std::int64_t> lengths_;
  std::span<const std::int64_t> offsets_;
  std::int64_t item_bytes_;
  std::int64_t tokens_bytes_ = 0;
  std::int64_t packed_bytes_ = 0;
};

}  // namespace routecap
