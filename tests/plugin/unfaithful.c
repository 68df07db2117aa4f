// SPDX-License-Identifier: Apache-2.0
//
// The example plugin with one broken promise, chosen when this is compiled: it answers OK and gives nothing, or notes what cannot be.
#include <routecap/backend.h>

#undef RCAP_PLUGIN_ENTRY
#undef RCAP_PLUGIN_EXPORT
#define RCAP_PLUGIN_ENTRY example_entry
#define RCAP_PLUGIN_EXPORT static
#include "../../capi/examples/backend_plugin/plugin.c"

#define NULL_DEVICE 1
#define NULL_MEMORY 2
#define NULL_EVENT 3
#define LAYER_ABOVE 4
#define LAYER_BELOW 5
#define LAYER_HIGHEST 6
#define LAYER_LOWEST 7

static int32_t open_nothing(const rcap_plugin_host* host, const rcap_plugin_options* options, rcap_plugin_device** device, rcap_plugin_error* error) {
  return *device = NULL, (void)host, (void)options, (void)error, RCAP_STATUS_OK;
}

static int32_t allocate_nothing(rcap_plugin_device* device, int32_t home, int64_t bytes, void** memory, rcap_plugin_error* error) {
  return *memory = NULL, (void)device, (void)home, (void)bytes, (void)error, RCAP_STATUS_OK;
}

static int32_t create_nothing(rcap_plugin_device* device, void** event, rcap_plugin_error* error) {
  return *event = NULL, (void)device, (void)error, RCAP_STATUS_OK;
}

static int32_t snapshot_of_no_layer(rcap_plugin_device* device, const rcap_plugin_snapshot* job, void* stream, rcap_plugin_error* error) {
  const int32_t status = snapshot(device, job, stream, error);
  const int32_t layers = job->cache->layers;
  if (job->staged == 0) return status;
  int32_t* last = &job->bad_layer[job->staged - 1];
  if (MISTAKE == LAYER_ABOVE) *last = layers + 1;
  if (MISTAKE == LAYER_BELOW) *last = -layers - 1;
  if (MISTAKE == LAYER_HIGHEST) *last = INT32_MAX;
  if (MISTAKE == LAYER_LOWEST) *last = INT32_MIN;
  return status;
}

__attribute__((visibility("default"))) const rcap_plugin_table* routecap_backend_entry_1(const rcap_plugin_host* host, rcap_plugin_error* error);

const rcap_plugin_table* routecap_backend_entry_1(const rcap_plugin_host* host, rcap_plugin_error* error) {
  static rcap_plugin_table table;
  table = *example_entry(host, error);
  table.name = "unfaithful";
  if (MISTAKE == NULL_DEVICE) table.open = open_nothing;
  if (MISTAKE == NULL_MEMORY) table.allocate = allocate_nothing;
  if (MISTAKE == NULL_EVENT) table.event_create = create_nothing;
  table.snapshot = snapshot_of_no_layer;
  return &table;
}
