// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "arguments.h"
#include "backend/backend.h"
#include "support/handle.h"
#include "support/mapping.h"

namespace routecap::capi {

/// What a `rcap_backend` points to: one share of a backend that capturers may keep longer.
class BackendHandle : public Handle<0x646E656B636162> {
 public:
  explicit BackendHandle(std::shared_ptr<Backend> shared) : backend(std::move(shared)) {}
  std::shared_ptr<Backend> backend;
  [[nodiscard]] bool same_process() const { return fork_guard_.same_process(); }

 private:
  ForkGuard fork_guard_;
};

/// Not one inherited through a fork: a device's driver, and a plugin's threads, do not come along.
inline const BackendHandle& live_backend(const rcap_backend* handle) {
  const auto& backend = live<BackendHandle>(handle, "backend");
  if (!backend.same_process()) fail(RCAP_STATUS_FORKED, "the backend belongs to the parent process");
  return backend;
}

}  // namespace routecap::capi
