// SPDX-License-Identifier: Apache-2.0
//
// A program of the next release that uses what is new in it, linked.
#include <routecap/routecap.h>
#include <stdio.h>

int main(void) {
  printf("%d\n", (int)rcap_next_number(41));
  return 0;
}
