// SPDX-License-Identifier: Apache-2.0
//
// Faults put into a record on purpose, which the comparison must find: how the tests test it.
#pragma once

#include <vector>

#include "options.h"
#include "server.h"

namespace llama_demo {

/// Spoils the longest record. kNeighbourRows exchanges two rows, kSameToken gives a row the ids of an earlier one of the very same token; the last
/// layer, whose cells may be missing, stays as it is. @throws EngineError where no request has what it takes
void inject(Inject fault, std::vector<Served>& served);

}  // namespace llama_demo
