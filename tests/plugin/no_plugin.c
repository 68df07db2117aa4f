// SPDX-License-Identifier: Apache-2.0
// A shared object that is no plugin; with LACKING it needs what nobody has.
#ifdef LACKING
void a_function_that_no_library_has(void);
#else
static void a_function_that_no_library_has(void) {}
#endif
__attribute__((visibility("default"))) void call(void);
void call(void) { a_function_that_no_library_has(); }
