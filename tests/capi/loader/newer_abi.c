// SPDX-License-Identifier: Apache-2.0
// The loader as a program of a later release would have it: the same table, ABI number 2.
#include "routecap/routecap_table.h"
#undef RCAP_ABI_VERSION
#define RCAP_ABI_VERSION 2
#include "routecap/routecap_loader.h"

rcap_status load_as_abi_2(const char* path, char* why, int64_t why_bytes);

rcap_status load_as_abi_2(const char* path, char* why, int64_t why_bytes) {
  const rcap_api* api;
  return rcap_load(path, &api, why, why_bytes);
}
