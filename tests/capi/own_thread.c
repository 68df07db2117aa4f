/* SPDX-License-Identifier: Apache-2.0 */
/* No thread before it is needed, none after; and the capturer's own thread has every signal blocked. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "check.h"

enum { kMost = 64 };

/* Threads of this process. */
static int threads(long* ids) {
  DIR* tasks = opendir("/proc/self/task");
  struct dirent* entry;
  int count = 0;
  if (tasks == NULL) return -1;
  while ((entry = readdir(tasks)) != NULL) {
    if (entry->d_name[0] == '.' || count == kMost) continue;
    ids[count++] = strtol(entry->d_name, NULL, 10);
  }
  closedir(tasks);
  return count;
}

/* A thread that has been joined may stand in /proc for a moment more. */
static int settled_threads(int expected) {
  long ids[kMost];
  int attempt;
  int count = -1;
  for (attempt = 0; attempt < 1000; ++attempt) {
    const struct timespec pause = {0, 1000000};
    count = threads(ids);
    if (count == expected) break;
    nanosleep(&pause, NULL);
  }
  return count;
}

static unsigned long long blocked_signals(long thread) {
  char path[64];
  char line[256];
  unsigned long long mask = 0;
  FILE* status;
  snprintf(path, sizeof path, "/proc/self/task/%ld/status", thread);
  status = fopen(path, "r");
  if (status == NULL) return 0;
  while (fgets(line, (int)sizeof line, status) != NULL) {
    if (strncmp(line, "SigBlk:", 7) == 0) mask = strtoull(line + 7, NULL, 16);
  }
  fclose(status);
  return mask;
}

/* Threads once that one is gone: as few as were seen in a while. */
static int joined_threads(long* ids) {
  int fewest = threads(ids);
  int attempt;
  for (attempt = 0; attempt < 50; ++attempt) {
    const struct timespec pause = {0, 1000000};
    long now[kMost];
    const int count = threads(now);
    if (count <= fewest) {
      fewest = count;
      memcpy(ids, now, sizeof now);
    }
    nanosleep(&pause, NULL);
  }
  return fewest;
}

static void* nothing(void* argument) { return argument; }

int main(void) {
  rcap_capturer_config config;
  struct small caller;
  struct small own;
  rcap_output* output;
  long before[kMost];
  long after[kMost];
  sigset_t mask;
  sigset_t mask_after;
  pthread_t first;
  int at_start;
  int count;
  int i;
  int signal_number;

  /* A sanitizer's runtime starts a thread of its own with the first one of the program. */
  CHECK(pthread_create(&first, NULL, nothing, NULL) == 0);
  CHECK(pthread_join(first, NULL) == 0);
  at_start = joined_threads(before);
  CHECK(at_start >= 1);
  CHECK(sigprocmask(SIG_SETMASK, NULL, &mask) == 0);

  /* The caller finalizes: never a thread. */
  small_config(&config);
  small_create(&caller, &config);
  small_capture(&caller, 0, 3);
  output = small_end(&caller, 0, 3);
  CHECK_STATUS(rcap_output_copy_to_host(output, NULL, NULL), RCAP_STATUS_OK);
  CHECK_STATUS(rcap_output_finalize(output, NULL, NULL), RCAP_STATUS_OK);
  rcap_output_destroy(output);
  CHECK(small_holds(&caller, 0, 0, 3));
  CHECK(threads(after) == at_start);

  /* The capturer finalizes: one thread, from the first end_forward on. */
  config.finalize_mode = RCAP_FINALIZE_OWN_THREAD;
  small_create(&own, &config);
  small_capture(&own, 0, 3);
  CHECK(threads(after) == at_start);
  output = small_end(&own, 0, 3);
  CHECK_STATUS(rcap_output_wait(output, 20000000000, NULL), RCAP_STATUS_OK);
  count = threads(after);
  CHECK(count == at_start + 1);
  for (i = 0; i < count; ++i) {
    int known = 0;
    int j;
    for (j = 0; j < at_start; ++j) known |= after[i] == before[j];
    if (known) continue;
    for (signal_number = 1; signal_number <= 64; ++signal_number) {
      /* KILL and STOP cannot be blocked; 32 and 33 belong to the C library. */
      if (signal_number == SIGKILL || signal_number == SIGSTOP || signal_number == 32 || signal_number == 33) continue;
      CHECK((blocked_signals(after[i]) >> (signal_number - 1) & 1U) == 1U);
    }
  }
  rcap_output_destroy(output);
  for (i = 0; i < 20; ++i) {
    small_capture(&own, i, 1);
    output = small_end(&own, i % kSlots, 1);
    CHECK_STATUS(rcap_output_wait(output, 20000000000, NULL), RCAP_STATUS_OK);
    rcap_output_destroy(output);
  }
  CHECK(threads(after) == at_start + 1);
  CHECK(small_holds(&own, 3, 19, 1)); /* token 19 went to slot 19 % 16 */
  rcap_capturer_destroy(own.capturer);
  CHECK(settled_threads(at_start) == at_start);
  rcap_capturer_destroy(caller.capturer);

  /* The caller's own mask is what it was. */
  CHECK(sigprocmask(SIG_SETMASK, NULL, &mask_after) == 0);
  for (signal_number = 1; signal_number < 32; ++signal_number) CHECK(sigismember(&mask, signal_number) == sigismember(&mask_after, signal_number));
  return check_failures != 0;
}
