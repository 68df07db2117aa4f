// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

/// What a capturer's configuration and a record must both be: the checks stand here once.
namespace routecap {

/// E >= 1 and K in 1 .. E.
void check_experts(std::int32_t num_experts, std::int32_t top_k);

/// A dtype of weights or NONE, and a known kind (R29).
void check_weights(std::int32_t weights_dtype, std::int32_t weights_kind);

/// Model layer numbers of the columns: one at least (R20), none negative, ascending, each once (R26).
void check_layer_list(std::span<const std::int32_t> layer_ids);

}  // namespace routecap
