// SPDX-License-Identifier: Apache-2.0
// A program that asks for no reason, as its optimizer sees it: with the null in every text of the loader, and no warning of it.
//
// The caller sets LD_LIBRARY_PATH to the library's folder.
#include "routecap/routecap_loader.h"

int main(void) {
  const rcap_api* api;
  return rcap_load(NULL, &api, NULL, 0) == RCAP_STATUS_OK && api->abi_version() == RCAP_ABI_VERSION ? 0 : 1;
}
