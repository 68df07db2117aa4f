// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "backend/backend.h"
#include "support/handle.h"

namespace routecap::capi {

/// What a `rcap_backend` points to: one share of a backend that capturers may keep longer.
class BackendHandle : public Handle<0x646E656B636162> {
 public:
  explicit BackendHandle(std::shared_ptr<Backend> shared) : backend(std::move(shared)) {}
  std::shared_ptr<Backend> backend;
};

}  // namespace routecap::capi
