/* SPDX-License-Identifier: Apache-2.0 */
/* Two capturers in one process know nothing of each other (R35). */
#include "check.h"

int main(void) {
  rcap_capturer_config config;
  rcap_capturer_stats stats;
  struct small first;
  struct small second;
  rcap_output* of_first;
  rcap_output* of_second;
  small_config(&config);
  small_create(&first, &config);
  config.finalize_mode = RCAP_FINALIZE_OWN_THREAD;
  small_create(&second, &config);

  /* Their forwards interleave call by call, in the same slots. */
  small_capture(&first, 0, 4);
  small_capture(&second, 50, 4);
  of_first = small_end(&first, 2, 4);
  of_second = small_end(&second, 2, 4);
  CHECK(rcap_output_sequence(of_first, NULL) == 1);
  CHECK(rcap_output_sequence(of_second, NULL) == 1);
  CHECK_STATUS(rcap_output_copy_to_host(of_first, NULL, NULL), RCAP_STATUS_OK);
  CHECK_STATUS(rcap_output_finalize(of_first, NULL, NULL), RCAP_STATUS_OK);
  CHECK_STATUS(rcap_output_wait(of_second, 20000000000, NULL), RCAP_STATUS_OK);
  CHECK(small_holds(&first, 2, 0, 4));
  CHECK(small_holds(&second, 2, 50, 4));

  CHECK_STATUS(rcap_capturer_release_all(first.capturer, NULL, NULL), RCAP_STATUS_OK);
  CHECK(!small_holds(&first, 2, 0, 4));
  CHECK(small_holds(&second, 2, 50, 4));

  rcap_capturer_destroy(first.capturer);
  CHECK_STATUS(rcap_output_ready(of_first, NULL), RCAP_STATUS_CLOSED);
  CHECK_STATUS(rcap_output_ready(of_second, NULL), 1);
  CHECK(small_holds(&second, 2, 50, 4));
  rcap_capturer_stats_init(&stats, (int64_t)sizeof stats);
  CHECK_STATUS(rcap_capturer_stats_get(second.capturer, &stats, NULL), RCAP_STATUS_OK);
  CHECK(stats.last_sequence == 1 && stats.finalized == 1 && stats.slots_released == 0);
  rcap_output_destroy(of_first);
  rcap_output_destroy(of_second);
  rcap_capturer_destroy(second.capturer);
  return check_failures != 0;
}
