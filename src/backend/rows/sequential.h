// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The algorithms under the sequential policy. Thrust otherwise picks CUDA as its device system, and looks for its headers, even where only
/// `thrust::seq` is used; so this comes before any other Thrust header.
#if !defined(THRUST_DEVICE_SYSTEM)
#define THRUST_DEVICE_SYSTEM THRUST_DEVICE_SYSTEM_CPP
#endif

#include <thrust/execution_policy.h>

#include "backend/rows/capture.h"
#include "backend/rows/count.h"
#include "backend/rows/gather.h"
#include "backend/rows/scatter.h"
#include "backend/rows/snapshot.h"
#include "backend/rows/words.h"
