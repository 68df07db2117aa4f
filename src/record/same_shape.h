// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "record/geometry.h"

namespace routecap {

/// Refuses records of other E, K, weights dtype or kind, naming both values. `what` is the operation.
void require_same_cells(const char* what, const RecordGeometry& first, const RecordGeometry& second);

/// As above, and for other layers or layer flags.
void require_same_columns(const char* what, const RecordGeometry& first, const RecordGeometry& second);

}  // namespace routecap
