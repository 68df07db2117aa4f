/* SPDX-License-Identifier: Apache-2.0 */
/* A guest in its host's process: no output, no change of environment, signal handlers, working directory or open files. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

extern char** environ;

enum { kMostSignals = 65 };

/* Everything that a library could do wrong to a process which is seen from outside. */
struct outside {
  unsigned long environment;
  int files;
  char folder[4096];
  char locale[64];
  void (*handlers[kMostSignals])(int);
};

static int open_files(void) {
  DIR* files = opendir("/proc/self/fd");
  int count = 0;
  if (files == NULL) return -1;
  while (readdir(files) != NULL) ++count;
  closedir(files);
  return count;
}

static void look(struct outside* outside) {
  char** variable;
  const char* locale = setlocale(LC_ALL, NULL);
  int number;
  memset(outside, 0, sizeof *outside);
  outside->environment = 5381;
  for (variable = environ; *variable != NULL; ++variable) {
    const char* c;
    for (c = *variable; *c != '\0'; ++c) outside->environment = outside->environment * 33 + (unsigned char)*c;
    outside->environment = outside->environment * 33 + 1;
  }
  outside->files = open_files();
  if (getcwd(outside->folder, sizeof outside->folder) == NULL) outside->folder[0] = '\0';
  if (locale != NULL) strncpy(outside->locale, locale, sizeof outside->locale - 1);
  for (number = 1; number < kMostSignals; ++number) {
    struct sigaction action;
    if (sigaction(number, NULL, &action) == 0) outside->handlers[number] = action.sa_handler;
  }
}

/* A life with everything that might tempt a library to speak: success, refusals, bad rows, drops, timeouts, a capturer destroyed early. */
static void live(int32_t mode) {
  rcap_capturer_config config;
  rcap_capture_layout capture;
  rcap_capturer* capturer = NULL;
  rcap_output* output;
  rcap_backend* backend = NULL;
  struct small small;
  const int32_t bad[2] = {77, -4};
  int32_t fd = -1;

  small_config(&config);
  config.finalize_mode = mode;
  config.num_experts = -1;
  CHECK_STATUS(rcap_capturer_create(&config, small_layers, kLayers, NULL, &capturer, NULL), RCAP_STATUS_OUT_OF_RANGE);
  CHECK_STATUS(rcap_backend_open("abacus", NULL, &backend, NULL), RCAP_STATUS_NOT_FOUND);
  config.num_experts = 8;
  small_create(&small, &config);
  if (mode == RCAP_FINALIZE_OWN_THREAD) CHECK_STATUS(rcap_capturer_completion_fd(small.capturer, &fd, NULL), RCAP_STATUS_OK);
  rcap_capture_layout_init(&capture, (int64_t)sizeof capture);
  capture.columns = kTopK;
  capture.tokens = 1;
  CHECK_STATUS(rcap_tap_capture(small.taps[0], &capture, bad, (int64_t)sizeof bad, NULL, 0, NULL, 0, NULL, NULL), RCAP_STATUS_OK);
  output = small_end(&small, 0, 1);
  CHECK_STATUS(rcap_output_copy_to_host(output, NULL, NULL), RCAP_STATUS_OK);
  CHECK_STATUS(rcap_output_wait(output, 20000000000, NULL), RCAP_STATUS_OK);
  CHECK_STATUS(rcap_output_finalize(output, NULL, NULL), RCAP_STATUS_OK);
  rcap_output_destroy(output);
  small_capture(&small, 0, 3);
  rcap_output_destroy(small_end(&small, 0, 3));
  small_capture(&small, 0, 3);
  output = small_end(&small, 0, 3);
  rcap_capturer_destroy(small.capturer);
  CHECK_STATUS(rcap_output_finalize(output, NULL, NULL), RCAP_STATUS_CLOSED);
  rcap_output_destroy(output);
}

int main(void) {
  struct outside before;
  struct outside after;
  char name[] = "/tmp/routecap-quiet-XXXXXX";
  char byte;
  int number;
  int saved_out;
  int saved_err;
  int file = mkstemp(name);
  CHECK(file >= 0);
  unlink(name);
  errno = 0;
  look(&before);

  fflush(stdout);
  fflush(stderr);
  saved_out = dup(1);
  saved_err = dup(2);
  dup2(file, 1);
  dup2(file, 2);
  live(RCAP_FINALIZE_CALLER);
  live(RCAP_FINALIZE_OWN_THREAD);
  fflush(stdout);
  fflush(stderr);
  dup2(saved_out, 1);
  dup2(saved_err, 2);
  close(saved_out);
  close(saved_err);
  if (lseek(file, 0, SEEK_END) != 0) {
    ++check_failures;
    fprintf(stderr, "the library, or a failed check, has written:\n");
    lseek(file, 0, SEEK_SET);
    while (read(file, &byte, 1) == 1) fputc(byte, stderr);
  }

  look(&after);
  CHECK(before.environment == after.environment);
  CHECK(before.files == after.files);
  CHECK(strcmp(before.folder, after.folder) == 0);
  CHECK(strcmp(before.locale, after.locale) == 0);
  for (number = 1; number < kMostSignals; ++number) CHECK(before.handlers[number] == after.handlers[number]);
  close(file);
  return check_failures != 0;
}
