// SPDX-License-Identifier: Apache-2.0
#include <routecap/routecap.h>

int32_t rcap_next_number(int32_t number) { return number + 1; }
