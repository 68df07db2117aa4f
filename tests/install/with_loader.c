// SPDX-License-Identifier: Apache-2.0
//
// A program that starts without the library and asks the one it finds for its version.
#include <routecap/routecap_loader.h>

int main(void) {
  const rcap_api* api = NULL;
  char why[512];
  if (rcap_load(NULL, &api, why, sizeof why) != RCAP_STATUS_OK) {
    fprintf(stderr, "%s\n", why);
    return EXIT_FAILURE;
  }
  puts(api->version_string());
  return EXIT_SUCCESS;
}
