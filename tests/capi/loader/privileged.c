// SPDX-License-Identifier: Apache-2.0
// Run setuid with ROUTECAP_LIBRARY set: prints what the loader says, and whether the named library was mapped all the same.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "routecap/routecap_loader.h"

static int is_mapped(const char* path) {
  char line[4200];
  int found = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    found = found || strstr(line, path) != NULL;
  }
  if (maps != NULL) {
    fclose(maps);
  }
  return found;
}

int main(void) {
  const rcap_api* api;
  char why[512];
  const char* named = getenv("ROUTECAP_LIBRARY");
  const rcap_status status = rcap_load(NULL, &api, why, sizeof why);
  printf("secure=%d status=%d mapped=%d why=%s\n", getauxval(AT_SECURE) != 0, status, named != NULL && is_mapped(named), why);
  return 0;
}
