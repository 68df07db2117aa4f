// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Marks what a device compiler may also compile for its device. Nothing else in this folder knows of one.
#if defined(__CUDACC__) || defined(__HIPCC__)
#define RCAP_HD __host__ __device__
#else
#define RCAP_HD
#endif
