// SPDX-License-Identifier: Apache-2.0
//
// A program of the next release that finds its library at run time.
#include <routecap/routecap_loader.h>

int main(void) {
  const rcap_api* api = NULL;
  char why[512];
  if (rcap_load(NULL, &api, why, (int64_t)sizeof why) != RCAP_STATUS_OK) {
    puts(why);
    return 1;
  }
  printf("%d\n", (int)api->next_number(41));
  return 0;
}
