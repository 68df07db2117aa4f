// SPDX-License-Identifier: Apache-2.0
#include "payload.h"

#include "error.h"

namespace routecap::cli {
bool looks_like_answer(const std::string& /*bytes*/) { return false; }
std::vector<Payload> payloads_of(const std::string& /*bytes*/) { refuse("no record in this answer"); }
}  // namespace routecap::cli
