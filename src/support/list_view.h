// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

namespace routecap {

/// Groups of int32 or int64 numbers, a stride of elements apart; what stands between two groups is never read. Any alignment.
struct ListView {
  const void* data = nullptr;
  std::int32_t element_bytes = 8;  ///< 4 or 8
  std::int64_t groups = 0;
  std::int64_t width = 0;   ///< elements of a group
  std::int64_t stride = 0;  ///< elements between the starts of two groups

  [[nodiscard]] bool given() const { return data != nullptr; }
  [[nodiscard]] std::int64_t count() const { return groups * width; }

  /// Calls visit(i, value) for every element in order.
  template <class Visit>
  void for_each(Visit&& visit) const {
    if (element_bytes == 4) {
      walk<std::int32_t>(visit);
    } else {
      walk<std::int64_t>(visit);
    }
  }

  /// Writes count() numbers.
  void widen(std::int64_t* out) const {
    for_each([out](std::int64_t index, std::int64_t value) { out[index] = value; });
  }

 private:
  template <class Element, class Visit>
  void walk(Visit& visit) const {
    std::int64_t index = 0;
    for (std::int64_t group = 0; group < groups; ++group) {
      const auto* begin = static_cast<const char*>(data) + group * stride * static_cast<std::int64_t>(sizeof(Element));
      for (std::int64_t j = 0; j < width; ++j, ++index) {
        Element value;
        std::memcpy(&value, begin + j * static_cast<std::int64_t>(sizeof(Element)), sizeof value);
        visit(index, static_cast<std::int64_t>(value));
      }
    }
  }
};

}  // namespace routecap
