// SPDX-License-Identifier: Apache-2.0
#include <thrust/version.h>

#include "backend/rows/rows.h"

namespace routecap::rows {

int thrust_version() { return THRUST_VERSION; }

}  // namespace routecap::rows
