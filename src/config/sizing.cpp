// SPDX-License-Identifier: Apache-2.0
#include "config/sizing.h"

#include <algorithm>
#include <cinttypes>

#include "support/checked.h"

namespace routecap {
namespace {

void require_at_least(const char* field, std::int64_t value, std::int64_t lowest) {
  if (value < lowest) fail(RCAP_STATUS_OUT_OF_RANGE, "%s is %" PRId64 ", it must be at least %" PRId64, field, value, lowest);
}

}  // namespace

DeviceRows size_device_rows(const rcap_capturer_config& config) {
  require_at_least("chunked_prefill_size", config.chunked_prefill_size, 0);
  require_at_least("max_forward_tokens", config.max_forward_tokens, 0);
  if ((config.chunked_prefill_size > 0) == (config.max_forward_tokens > 0)) {
    fail(RCAP_STATUS_INVALID_ARGUMENT,
         "chunked_prefill_size is %" PRId64 " and max_forward_tokens is %" PRId64 ", exactly one of them must be positive",
         config.chunked_prefill_size, config.max_forward_tokens);
  }
  require_at_least("max_running_requests", config.max_running_requests, 1);
  require_at_least("num_verify_tokens", config.num_verify_tokens, 0);
  require_at_least("max_graph_tokens", config.max_graph_tokens, 0);
  require_at_least("dp_size", config.dp_size, 1);
  require_at_least("attn_tp_size", config.attn_tp_size, 1);

  DeviceRows decided{std::max(config.chunked_prefill_size, config.max_forward_tokens), RCAP_TERM_PREFILL};
  const std::int64_t running =
      checked_multiply(config.max_running_requests, std::max<std::int64_t>(1, config.num_verify_tokens), "max_running_requests * num_verify_tokens");
  if (running > decided.rows) decided = {running, RCAP_TERM_RUNNING};
  if (config.max_graph_tokens > decided.rows) decided = {config.max_graph_tokens, RCAP_TERM_GRAPH};
  decided.rows = checked_align_up(decided.rows, config.attn_tp_size, "rows of a rank rounded up to attn_tp_size");
  decided.rows = checked_multiply(decided.rows, config.dp_size, "rows of a rank * dp_size");
  return decided;
}

std::int64_t cache_bytes(const rows::RowShape& shape, std::int64_t device_rows) {
  const std::int64_t cell = std::int64_t{shape.top_k} * (shape.id_bytes + shape.weight_bytes) + 1;
  const std::int64_t per_layer = checked_add(checked_multiply(device_rows, cell, "device rows * bytes of a row in a layer's cache"),
                                             sizeof(rows::LayerExtent), "bytes of a layer's cache");
  return checked_multiply(per_layer, shape.layers, "bytes of a layer's cache * layers");
}

}  // namespace routecap
