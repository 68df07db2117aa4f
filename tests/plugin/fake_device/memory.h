// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace fake_device {

/// Pages that stand at two addresses: the one that the world is given, which traps, and one that only the device's streams know. Freed with the
/// object.
class TwofoldPages {
 public:
  /// Null where the system gives none.
  static std::shared_ptr<TwofoldPages> of(std::int64_t bytes);
  TwofoldPages(const TwofoldPages&) = delete;
  TwofoldPages& operator=(const TwofoldPages&) = delete;
  ~TwofoldPages();

  [[nodiscard]] std::byte* given() const { return given_; }
  [[nodiscard]] std::byte* inner() const { return inner_; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

 private:
  TwofoldPages(std::byte* given, std::byte* inner, std::int64_t bytes, std::size_t mapped)
      : given_(given), inner_(inner), bytes_(bytes), mapped_(mapped) {}
  std::byte* given_;
  std::byte* inner_;
  std::int64_t bytes_;
  std::size_t mapped_;
};

/// The device memory that is handed out, by address.
class AddressSpace {
 public:
  void add(const std::shared_ptr<TwofoldPages>& pages);
  /// The pages that begin there; null where none do.
  [[nodiscard]] std::shared_ptr<TwofoldPages> find(const void* given) const;
  /// These are nobody's from now on.
  void remove(const void* given);
  /// Where the streams find these bytes; null where they do not all lie in one piece that was handed out.
  [[nodiscard]] std::byte* inner(const void* given, std::int64_t bytes) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::uintptr_t, std::shared_ptr<TwofoldPages>> pages_;
};

}  // namespace fake_device
