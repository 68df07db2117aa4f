// SPDX-License-Identifier: Apache-2.0
#ifndef ROUTECAP_TESTS_INSTALL_COPY_H
#define ROUTECAP_TESTS_INSTALL_COPY_H

#include <routecap/routecap.h>
#include <routecap/routecap_table.h>

#define COPY __attribute__((visibility("default")))

COPY int copy_start(void);
COPY int copy_forward(int32_t id, int64_t slot);
COPY int copy_id(int64_t slot);
COPY void copy_stop(void);
COPY const void* copy_table(void);

#endif
