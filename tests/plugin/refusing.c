// SPDX-License-Identifier: Apache-2.0
//
// Plugins that a library must refuse, or that refuse it: one mistake each, chosen when this is compiled. Everything else of the table is there and
// traps.
#include <routecap/backend.h>
#include <stddef.h>
#include <stdlib.h>

#define OTHER_INTERFACE 1
#define NULL_TABLE 2
#define SHORT_TABLE 3
#define NO_CAPTURE 4
#define SMALL_JOBS 5
#define NO_DEVICE 6
#define SILENT 7
#define BAD_STATUS 8
#define BROKEN_OPEN 9

static int32_t probe(const rcap_plugin_host* host, rcap_plugin_error* error) {
  if (MISTAKE == NO_DEVICE) return host->fail(error, RCAP_STATUS_NO_DEVICE, "driver 12.2 is older than the 12.4 that is needed");
  if (MISTAKE == SILENT) return RCAP_STATUS_NO_DEVICE;
  if (MISTAKE == BAD_STATUS) return host->fail(error, RCAP_STATUS_BUSY, "later");
  return RCAP_STATUS_OK;
}

static int32_t open_device(const rcap_plugin_host* host, const rcap_plugin_options* options, rcap_plugin_device** device, rcap_plugin_error* error) {
  (void)options, (void)device;
  return host->fail(error, RCAP_STATUS_DEVICE, "the card answers\nnothing");
}

static void trap(void) { abort(); }

#if MISTAKE == OTHER_INTERFACE
#define ENTRY routecap_backend_entry_3
#else
#define ENTRY RCAP_PLUGIN_ENTRY
#endif
RCAP_PLUGIN_EXPORT const rcap_plugin_table* ENTRY(const rcap_plugin_host* host, rcap_plugin_error* error);

const rcap_plugin_table* ENTRY(const rcap_plugin_host* host, rcap_plugin_error* error) {
  static rcap_plugin_table table;
  if (MISTAKE == NULL_TABLE) return host->fail(error, RCAP_STATUS_UNSUPPORTED, "needs a library that knows lanes"), NULL;
  // Every function traps, whatever its type: none of them may be called.
  void (**functions)(void) = (void (**)(void))(void*)&table.probe;
  for (size_t i = 0; i < (sizeof table - offsetof(rcap_plugin_table, probe)) / sizeof functions[0]; ++i) functions[i] = trap;
  table.struct_size = MISTAKE == SHORT_TABLE ? (int64_t)offsetof(rcap_plugin_table, widen) : (int64_t)sizeof table;
  table.name = "refusing";
  table.version = "1";
  table.cache_size = sizeof(rcap_plugin_cache);
  table.capture_size = MISTAKE == SMALL_JOBS ? 64 : sizeof(rcap_plugin_capture);
  table.snapshot_size = sizeof(rcap_plugin_snapshot);
  table.probe = probe;
  table.open = open_device;
  if (MISTAKE == NO_CAPTURE) table.capture = NULL;
  return &table;
}
