// SPDX-License-Identifier: Apache-2.0
// routecap_loader.h in a C99 program that links nothing but the dynamic linker.
//
//   loader_test LIBRARY FOLDER-OF-FAKES FOLDER-OF-BROKEN-FILES
//
// The caller sets LD_LIBRARY_PATH to the library's folder.
#define _POSIX_C_SOURCE 200809L /* setenv, fork */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "routecap/routecap_loader.h"

static int failures = 0;
static const char* real_library;
static const char* fakes;
static const char* broken; /* what tests/loading/broken_libraries.c writes */

#define CHECK(condition)                                     \
  do {                                                       \
    if (!(condition)) {                                      \
      printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                            \
    }                                                        \
  } while (0)

#define CHECK_TEXT(text, expected)                                                          \
  do {                                                                                      \
    if (strcmp((text), (expected)) != 0) {                                                  \
      printf("%s:%d:\n  got      %s\n  expected %s\n", __FILE__, __LINE__, text, expected); \
      ++failures;                                                                           \
    }                                                                                       \
  } while (0)

/* What another translation unit, built as if the ABI number were 2, says of the library of today. */
rcap_status load_as_abi_2(const char* path, char* why, int64_t why_bytes);

static const char* fake(const char* name) {
  static char path[4096];
  snprintf(path, sizeof path, "%s/%s", fakes, name);
  return path;
}

static void loads_from_an_explicit_path(void) {
  const rcap_api* api = NULL;
  char why[64] = "untouched";
  CHECK(rcap_load(real_library, &api, why, sizeof why) == RCAP_STATUS_OK);
  CHECK_TEXT(why, "");
  CHECK(api != NULL);
  if (api == NULL) {
    return;
  }
  CHECK(api->struct_size == (int64_t)sizeof(rcap_api));
  CHECK(api->abi == RCAP_ABI_VERSION);
  CHECK(api->reserved == 0);
  CHECK(api->abi_version() == RCAP_ABI_VERSION);
  CHECK_TEXT(api->version_string(), RCAP_VERSION_STRING);
  CHECK_TEXT(api->status_name(RCAP_STATUS_BUSY), "RCAP_STATUS_BUSY");
}

/* Every slot leads to a function, and a call with structs goes through. */
static void table_is_complete(void) {
  const rcap_api* api = NULL;
  const unsigned char* slots;
  void* function;
  int64_t i;
  rcap_build_info info;
  rcap_error error;
  CHECK(rcap_load(real_library, &api, NULL, 0) == RCAP_STATUS_OK);
  if (api == NULL) {
    return;
  }
  slots = (const unsigned char*)api + offsetof(rcap_api, error_init);
  for (i = 0; i < RCAP_API_FUNCTIONS; ++i) {
    memcpy(&function, slots + (size_t)i * sizeof function, sizeof function);
    CHECK(function != NULL);
    CHECK(rcap_loader_function_name(i) != NULL);
  }
  CHECK(rcap_loader_function_name(RCAP_API_FUNCTIONS) == NULL);
  CHECK(rcap_loader_function_name(-1) == NULL);
  CHECK_TEXT(rcap_loader_function_name(0), "rcap_error_init");
  api->error_init(&error, sizeof error);
  api->build_info_init(&info, sizeof info);
  CHECK(api->build_info_get(&info, &error) == RCAP_STATUS_OK);
  CHECK_TEXT(info.version, RCAP_VERSION_STRING);
}

static void keeps_its_symbols_to_itself(void) {
  const rcap_api* api = NULL;
  void* program = dlopen(NULL, RTLD_NOW);
  CHECK(rcap_load(real_library, &api, NULL, 0) == RCAP_STATUS_OK);
  CHECK(program != NULL);
  CHECK(dlsym(program, "rcap_get_api") == NULL);
  CHECK(dlsym(program, "rcap_version_string") == NULL);
}

static void gives_the_same_table_twice(void) {
  const rcap_api* first = NULL;
  const rcap_api* second = NULL;
  CHECK(rcap_load(real_library, &first, NULL, 0) == RCAP_STATUS_OK);
  CHECK(rcap_load(real_library, &second, NULL, 0) == RCAP_STATUS_OK);
  CHECK(first != NULL && first == second);
}

/* The last user lets go of the library; its table stays good (-z nodelete). In a child, where nobody else has loaded it. */
static void stays_after_dlclose(void) {
  const rcap_api* api = NULL;
  void* library = dlopen(real_library, RTLD_NOW | RTLD_LOCAL);
  CHECK(library != NULL);
  CHECK(rcap_loader_table(library, &api, NULL, 0) == RCAP_STATUS_OK);
  CHECK(library != NULL && dlclose(library) == 0);
  CHECK(api != NULL && api->abi_version() == RCAP_ABI_VERSION);
}

/* A host lets go of the library while a capturer's own thread is at work: the thread goes on, and every call does (-z nodelete). */
static void captures_after_dlclose(void) {
  enum { ROWS = 4, FORWARDS = 200 };
  const struct timespec pause = {0, 50000000};
  const int32_t layer = 0;
  int32_t ids[ROWS];
  int64_t slots[ROWS];
  uint8_t read_ids[ROWS];
  uint8_t validity = 0;
  const rcap_api* api = NULL;
  rcap_capturer_config config;
  rcap_capture_layout capture;
  rcap_forward_layout forward;
  rcap_read_layout read;
  rcap_read_info info;
  rcap_capturer* capturer = NULL;
  rcap_model* model = NULL;
  rcap_tap* tap = NULL;
  rcap_output* output = NULL;
  int i;
  void* library = dlopen(real_library, RTLD_NOW | RTLD_LOCAL);
  CHECK(library != NULL && rcap_loader_table(library, &api, NULL, 0) == RCAP_STATUS_OK);
  if (api == NULL) {
    return;
  }
  api->capturer_config_init(&config, sizeof config);
  config.num_experts = 8;
  config.top_k = 1;
  config.max_forward_tokens = ROWS;
  config.num_slots = ROWS;
  config.finalize_mode = RCAP_FINALIZE_OWN_THREAD;
  CHECK(api->capturer_create(&config, &layer, 1, NULL, &capturer, NULL) == RCAP_STATUS_OK);
  CHECK(api->capturer_add_model(capturer, RCAP_ROLE_TARGET, "target", &model, NULL) == RCAP_STATUS_OK);
  CHECK(api->model_add_tap(model, layer, NULL, NULL, 0, &tap, NULL) == RCAP_STATUS_OK);
  CHECK(api->capturer_seal(capturer, NULL) == RCAP_STATUS_OK);
  api->capture_layout_init(&capture, sizeof capture);
  capture.columns = 1;
  capture.tokens = ROWS;
  api->forward_layout_init(&forward, sizeof forward);
  forward.tokens = ROWS;
  for (i = 0; i < ROWS; ++i) {
    ids[i] = (i * 3 + 1) % 8;
    slots[i] = i;
  }
  for (i = 0; i < FORWARDS; ++i) {
    CHECK(api->tap_capture(tap, &capture, ids, sizeof ids, NULL, 0, NULL, 0, NULL, NULL) == RCAP_STATUS_OK);
    CHECK(api->capturer_end_forward(capturer, &forward, slots, sizeof slots, NULL, 0, NULL, 0, NULL, &output, NULL) == RCAP_STATUS_OK);
    if (i == 0) {
      /* The forward is on its way, and its thread there. */
      CHECK(dlclose(library) == 0);
      CHECK(nanosleep(&pause, NULL) == 0);
    }
    CHECK(api->output_wait(output, INT64_C(20000000000), NULL) == RCAP_STATUS_OK);
    api->output_destroy(output);
  }
  api->read_layout_init(&read, sizeof read);
  api->read_info_init(&info, sizeof info);
  read.tokens = ROWS + 1;
  CHECK(api->capturer_read_into(capturer, &read, slots, sizeof slots, NULL, 0, read_ids, sizeof read_ids, NULL, 0, &validity, 1, &info, NULL) ==
        RCAP_STATUS_OK);
  CHECK(info.rows_valid == ROWS && validity == 15);
  for (i = 0; i < ROWS; ++i) {
    CHECK(read_ids[i] == ids[i]);
  }
  api->capturer_destroy(capturer);
}

/* A number that the library does not have answers nothing rather than the table that it has. */
static void knows_no_other_abi(void) {
  static const int32_t others[] = {INT32_MIN, -1, 0, RCAP_ABI_VERSION + 1, 999, INT32_MAX};
  const rcap_api* (*get_api)(int32_t) = NULL;
  size_t i;
  void* library = dlopen(real_library, RTLD_NOW | RTLD_LOCAL);
  void* symbol = library == NULL ? NULL : dlsym(library, "rcap_get_api");
  CHECK(symbol != NULL);
  if (symbol == NULL) {
    return;
  }
  memcpy(&get_api, &symbol, sizeof get_api);
  for (i = 0; i < sizeof others / sizeof others[0]; ++i) {
    CHECK(get_api(others[i]) == NULL);
  }
  CHECK(get_api(RCAP_ABI_VERSION) != NULL);
  CHECK(dlclose(library) == 0);
}

static void in_child(void (*test)(void)) {
  int status = 1;
  const pid_t child = fork();
  if (child == 0) {
    test();
    fflush(stdout);
    _exit(failures == 0 ? 0 : 1);
  }
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void* load_in_thread(void* result) {
  const rcap_api** api = result;
  char why[256];
  int i;
  for (i = 0; i < 50; ++i) {
    if (rcap_load(i % 2 == 0 ? real_library : NULL, api, why, sizeof why) != RCAP_STATUS_OK) {
      *api = NULL;
      return NULL;
    }
  }
  return NULL;
}

static void loads_from_threads(void) {
  enum { THREADS = 8 };
  pthread_t threads[THREADS];
  const rcap_api* tables[THREADS] = {0};
  int i;
  for (i = 0; i < THREADS; ++i) {
    CHECK(pthread_create(&threads[i], NULL, load_in_thread, &tables[i]) == 0);
  }
  for (i = 0; i < THREADS; ++i) {
    CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(tables[i] != NULL && tables[i] == tables[0]);
  }
}

static void finds_it_by_soname(void) {
  const rcap_api* by_name = NULL;
  const rcap_api* by_path = NULL;
  char why[512];
  CHECK(unsetenv("ROUTECAP_LIBRARY") == 0);
  CHECK(rcap_load(NULL, &by_name, why, sizeof why) == RCAP_STATUS_OK);
  CHECK_TEXT(why, "");
  CHECK(rcap_load(real_library, &by_path, NULL, 0) == RCAP_STATUS_OK);
  CHECK(by_name != NULL && by_name == by_path);
  CHECK(setenv("ROUTECAP_LIBRARY", "", 1) == 0);
  CHECK(rcap_load(NULL, &by_name, why, sizeof why) == RCAP_STATUS_OK);
  CHECK(unsetenv("ROUTECAP_LIBRARY") == 0);
}

static void environment_names_the_library(void) {
  const rcap_api* api = NULL;
  char why[4600];
  char expected[4600];
  CHECK(setenv("ROUTECAP_LIBRARY", fake("libfake_long_table.so"), 1) == 0);
  CHECK(rcap_load(NULL, &api, why, sizeof why) == RCAP_STATUS_OK);
  CHECK(api != NULL && strcmp(api->version_string(), "9.9.9") == 0);

  /* An explicit path wins over it, and it alone is tried although the SONAME would be found. */
  CHECK(rcap_load(real_library, &api, why, sizeof why) == RCAP_STATUS_OK);
  CHECK(api != NULL && strcmp(api->version_string(), RCAP_VERSION_STRING) == 0);
  CHECK(setenv("ROUTECAP_LIBRARY", "/nonexistent/libroutecap.so.0", 1) == 0);
  CHECK(rcap_load(NULL, &api, why, sizeof why) == RCAP_STATUS_NOT_FOUND);
  CHECK(api == NULL);
  CHECK_TEXT(why, "/nonexistent/libroutecap.so.0 (from ROUTECAP_LIBRARY): cannot open shared object file: No such file or directory");

  CHECK(setenv("ROUTECAP_LIBRARY", fake("libfake_no_table.so"), 1) == 0);
  snprintf(expected, sizeof expected, "%s (from ROUTECAP_LIBRARY): is too old: has ABI 0, needs 1", fake("libfake_no_table.so"));
  CHECK(rcap_load(NULL, &api, why, sizeof why) == RCAP_STATUS_VERSION_MISMATCH);
  CHECK_TEXT(why, expected);
  CHECK(unsetenv("ROUTECAP_LIBRARY") == 0);
}

static void refused(const char* path, rcap_status status, const char* reason) {
  const rcap_api* api = (const rcap_api*)&failures;
  char why[4600];
  char expected[4600];
  snprintf(expected, sizeof expected, "%s: %s", path, reason);
  CHECK(rcap_load(path, &api, why, sizeof why) == status);
  CHECK(api == NULL);
  CHECK_TEXT(why, expected);
}

static void says_why_not(void) {
  char why[4600];
  char expected[4600];
  refused("/nonexistent/x.so", RCAP_STATUS_NOT_FOUND, "cannot open shared object file: No such file or directory");
  refused("librcap-none.so.7", RCAP_STATUS_NOT_FOUND, "cannot open shared object file: No such file or directory");
  refused("/", RCAP_STATUS_NOT_FOUND, "is not a file");
  refused("/proc/self/environ", RCAP_STATUS_NOT_FOUND, "is no shared object: no ELF header in its 0 bytes");
  refused(fake("libfake_other_library.so"), RCAP_STATUS_NOT_FOUND, "is not routecap: it has no rcap_get_api");
  refused(fake("libfake_no_table.so"), RCAP_STATUS_VERSION_MISMATCH, "is too old: has ABI 0, needs 1");
  snprintf(expected, sizeof expected, "is too old: has 10 functions, needs %d; the first it lacks is %s", RCAP_API_FUNCTIONS,
           rcap_loader_function_name(10));
  refused(fake("libfake_short_table.so"), RCAP_STATUS_VERSION_MISMATCH, expected);
  snprintf(expected, sizeof expected, "is too old: has 0 functions, needs %d; the first it lacks is rcap_error_init", RCAP_API_FUNCTIONS);
  refused(fake("libfake_empty_table.so"), RCAP_STATUS_VERSION_MISMATCH, expected);

  CHECK(load_as_abi_2(real_library, why, sizeof why) == RCAP_STATUS_VERSION_MISMATCH);
  snprintf(expected, sizeof expected, "%s: is too old: has ABI 1, needs 2", real_library);
  CHECK_TEXT(why, expected);
}

static char broken_path[4096];
static const char* broken_reason;

static void says_what_is_broken(void) {
  const rcap_api* api = NULL;
  char why[4600];
  if (broken_reason[0] != '\0') {
    refused(broken_path, RCAP_STATUS_NOT_FOUND, broken_reason);
  } else {
    CHECK(rcap_load(broken_path, &api, why, sizeof why) == RCAP_STATUS_OK);
    CHECK_TEXT(why, "");
    CHECK(api != NULL && api->abi_version() == RCAP_ABI_VERSION);
  }
}

/* What is no whole library of this machine is told from it, and does not reach the dynamic linker, which it would crash. Each in a child. */
static void looks_at_files_first(void) {
  char line[512];
  int count = 0;
  FILE* cases;
  snprintf(broken_path, sizeof broken_path, "%s/cases", broken);
  cases = fopen(broken_path, "r");
  CHECK(cases != NULL);
  while (cases != NULL && fgets(line, sizeof line, cases) != NULL) {
    char* tab = strchr(line, '\t');
    char* end = strchr(line, '\n');
    CHECK(tab != NULL && end != NULL);
    if (tab == NULL || end == NULL) {
      break;
    }
    *tab = '\0';
    *end = '\0';
    snprintf(broken_path, sizeof broken_path, "%s/%s", broken, line);
    broken_reason = tab + 1;
    in_child(says_what_is_broken);
    ++count;
  }
  CHECK(count >= 20);
  if (cases != NULL) {
    fclose(cases);
  }
}

static void accepts_a_newer_library(void) {
  const rcap_api* api = NULL;
  CHECK(rcap_load(fake("libfake_long_table.so"), &api, NULL, 0) == RCAP_STATUS_OK);
  CHECK(api != NULL && api->struct_size > (int64_t)sizeof(rcap_api));
}

static void arguments(void) {
  const rcap_api* api = (const rcap_api*)&failures;
  char why[64];
  char small[16];
  CHECK(rcap_load(real_library, NULL, why, sizeof why) == RCAP_STATUS_INVALID_ARGUMENT);
  CHECK_TEXT(why, "api is null");
  CHECK(rcap_load("", &api, why, sizeof why) == RCAP_STATUS_INVALID_ARGUMENT);
  CHECK_TEXT(why, "path is empty; null looks for the library");
  CHECK(api == NULL);
  CHECK(rcap_load("/nonexistent/x.so", &api, NULL, 100) == RCAP_STATUS_NOT_FOUND);
  memset(small, 'x', sizeof small);
  CHECK(rcap_load("/nonexistent/x.so", &api, small, 0) == RCAP_STATUS_NOT_FOUND);
  CHECK(small[0] == 'x');
  CHECK(rcap_load("/nonexistent/x.so", &api, small, -1) == RCAP_STATUS_NOT_FOUND);
  CHECK(small[0] == 'x');
  CHECK(rcap_load("/nonexistent/x.so", &api, small, 9) == RCAP_STATUS_NOT_FOUND);
  CHECK_TEXT(small, "/nonexis");
  CHECK(small[9] == 'x');
  CHECK(rcap_load("/nonexistent/x.so", &api, small, 1) == RCAP_STATUS_NOT_FOUND);
  CHECK_TEXT(small, "");
}

int main(int argc, char** argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: loader_test LIBRARY FOLDER-OF-FAKES FOLDER-OF-BROKEN-FILES\n");
    return 2;
  }
  real_library = argv[1];
  fakes = argv[2];
  broken = argv[3];
  in_child(stays_after_dlclose);
  in_child(captures_after_dlclose);
  in_child(knows_no_other_abi);
  looks_at_files_first();
  loads_from_threads(); /* before any other load, so that the threads race for the first one too */
  loads_from_an_explicit_path();
  table_is_complete();
  keeps_its_symbols_to_itself();
  gives_the_same_table_twice();
  finds_it_by_soname();
  environment_names_the_library();
  says_why_not();
  accepts_a_newer_library();
  arguments();
  printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
