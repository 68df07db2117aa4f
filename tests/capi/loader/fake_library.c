// SPDX-License-Identifier: Apache-2.0
// Libraries that the loader must tell apart, one for each value of FAKE.
#include <stddef.h>

#include "routecap/routecap_table.h"

#define FAKE_NO_TABLE 1      /* answers no ABI number at all */
#define FAKE_SHORT_TABLE 2   /* a release with fewer functions */
#define FAKE_EMPTY_TABLE 3   /* a struct_size that covers no function */
#define FAKE_LONG_TABLE 4    /* a newer release with more functions */
#define FAKE_OTHER_LIBRARY 5 /* not routecap */

#if FAKE == FAKE_OTHER_LIBRARY

RCAP_API int32_t other_library(void);
int32_t other_library(void) { return 0; }

#else

#define SHORT_FUNCTIONS 10

static const char* version(void) { return "9.9.9"; }

struct longer_api {
  rcap_api known;
  void* newer[3];
};

const rcap_api* rcap_get_api(int32_t abi_version) {
  static struct longer_api table;
  if (FAKE == FAKE_NO_TABLE || abi_version > RCAP_ABI_VERSION) {
    return NULL;
  }
  table.known.abi = RCAP_ABI_VERSION;
  table.known.version_string = version;
#if FAKE == FAKE_SHORT_TABLE
  table.known.struct_size = (int64_t)(offsetof(rcap_api, error_init) + SHORT_FUNCTIONS * sizeof(void*));
#elif FAKE == FAKE_EMPTY_TABLE
  table.known.struct_size = 8;
#else
  table.known.struct_size = (int64_t)sizeof table;
#endif
  return &table.known;
}

#endif
