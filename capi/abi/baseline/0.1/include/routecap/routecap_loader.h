// SPDX-License-Identifier: Apache-2.0
// generated from capi/api by capi/cmake/GenerateCapi.cmake; change those and run the target `capi-update`

/**
 * @file
 * Loads the library at run time, for programs that must start without it: C99, header-only, needs nothing at link time but dlopen.
 *
 *   const rcap_api* api;
 *   char why[512];
 *   if (rcap_load(NULL, &api, why, sizeof why) != RCAP_STATUS_OK) { fprintf(stderr, "no routecap: %s\n", why); }
 *   else { puts(api->version_string()); }
 *
 * The table stays valid until the process ends: the library never leaves it.
 */
#ifndef ROUTECAP_LOADER_H
#define ROUTECAP_LOADER_H

#include <dlfcn.h>
#include <elf.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#include "routecap_table.h"

/** What the dynamic linker looks for when no path is given. */
#define RCAP_LOADER_SONAME "libroutecap.so.0"

/** Name of a function of the table, counted from 0; null behind the last. */
static inline const char* rcap_loader_function_name(int64_t index) {
  static const char* const names[RCAP_API_FUNCTIONS] = {
    "rcap_error_init",
    "rcap_build_info_init",
    "rcap_version_string",
    "rcap_abi_version",
    "rcap_status_name",
    "rcap_build_info_get",
    "rcap_layout_rows",
    "rcap_backend_options_init",
    "rcap_backend_info_init",
    "rcap_backend_open",
    "rcap_backend_describe",
    "rcap_backend_destroy",
    "rcap_capturer_config_init",
    "rcap_capturer_plan_init",
    "rcap_tap_options_init",
    "rcap_capture_layout_init",
    "rcap_capturer_stats_init",
    "rcap_capturer_plan_get",
    "rcap_capturer_create",
    "rcap_capturer_destroy",
    "rcap_capturer_add_model",
    "rcap_model_set_capture",
    "rcap_model_add_tap",
    "rcap_capturer_seal",
    "rcap_tap_capture",
    "rcap_tap_is_enabled",
    "rcap_tap_id",
    "rcap_capturer_tap",
    "rcap_capturer_stats_get",
    "rcap_forward_layout_init",
    "rcap_accept_layout_init",
    "rcap_summary_init",
    "rcap_capturer_end_forward",
    "rcap_capturer_discard_forward",
    "rcap_output_sequence",
    "rcap_output_accept",
    "rcap_output_device_rows",
    "rcap_output_copy_to_host",
    "rcap_output_ready",
    "rcap_output_wait",
    "rcap_output_finalize",
    "rcap_output_destroy",
    "rcap_capturer_completion_fd",
    "rcap_capturer_next_completed",
    "rcap_slots_layout_init",
    "rcap_slot_info_init",
    "rcap_capturer_release_slots",
    "rcap_capturer_release_all",
    "rcap_capturer_copy_slots",
    "rcap_capturer_slot_info_get",
    "rcap_read_layout_init",
    "rcap_read_info_init",
    "rcap_capturer_read",
    "rcap_capturer_read_into",
    "rcap_record_layout_init",
    "rcap_record_info_init",
    "rcap_record_create",
    "rcap_record_destroy",
    "rcap_record_info_get",
    "rcap_record_ids",
    "rcap_record_weights",
    "rcap_record_row_validity",
    "rcap_record_cell_validity",
    "rcap_record_layer_ids",
    "rcap_record_layer_flags",
    "rcap_record_version_spans",
    "rcap_record_slice",
    "rcap_compare_report_init",
    "rcap_record_append",
    "rcap_record_merge",
    "rcap_record_truncate",
    "rcap_record_stack",
    "rcap_record_interleave",
    "rcap_record_to_full_axis",
    "rcap_record_to_compact",
    "rcap_record_compare",
    "rcap_encode_options_init",
    "rcap_decode_hints_init",
    "rcap_wire_format_name",
    "rcap_wire_format_of",
    "rcap_wire_detect",
    "rcap_record_encode",
    "rcap_record_decode",
    "rcap_capturer_encode",
    "rcap_backend_search",
    "rcap_fill_layout_init",
    "rcap_partition_layout_init",
    "rcap_record_fill",
    "rcap_pack_offsets",
    "rcap_pack_pad",
    "rcap_pack_strip",
    "rcap_partition_multiple",
    "rcap_partition_tokens",
    "rcap_partition_indices",
    "rcap_partition_split",
    "rcap_partition_gather",
    "rcap_stage_layers",
    "rcap_layers_split",
    "rcap_layers_gather"
  };
  return index >= 0 && index < RCAP_API_FUNCTIONS ? names[index] : NULL;
}

/* Adds to a zero-terminated text; what does not fit is cut. */
static inline void rcap_loader_say(char* why, int64_t why_bytes, const char* text) {
  int64_t used = 0;
  if (why == NULL) {
    return;
  }
  while (used < why_bytes && why[used] != '\0') {
    ++used;
  }
  for (; used + 1 < why_bytes && *text != '\0'; ++text) {
    why[used] = *text;
    ++used;
    why[used] = '\0';
  }
}

static inline void rcap_loader_say_number(char* why, int64_t why_bytes, int64_t number) {
  char text[24];
  snprintf(text, sizeof text, "%" PRId64, number);
  rcap_loader_say(why, why_bytes, text);
}

/* The reason behind the path: the dynamic linker's texts mostly begin with the path itself, which then stands once. */
static inline void rcap_loader_say_dlerror(char* why, int64_t why_bytes, const char* path) {
  const char* text = dlerror();
  size_t length = strlen(path);
  if (text == NULL) {
    text = "unknown reason";
  } else if (strncmp(text, path, length) == 0 && strncmp(text + length, ": ", 2) == 0) {
    text += length + 2;
  }
  rcap_loader_say(why, why_bytes, text);
}

/* Whether a part of a file reaches beyond its end, and says so. */
static inline int rcap_loader_lacks(const char* part, uint64_t offset, uint64_t bytes, uint64_t file_bytes, char* why, int64_t why_bytes) {
  char text[160];
  if (offset <= file_bytes && bytes <= file_bytes - offset) {
    return 0;
  }
  snprintf(text, sizeof text, "is not a whole shared object: %s of %" PRIu64 " bytes at %" PRIu64 ", the file has %" PRIu64, part, bytes, offset, file_bytes);
  rcap_loader_say(why, why_bytes, text);
  return 1;
}

/* Whether an ELF header is not one of a shared object for this process, and says so. A machine that this does not know is left to the dynamic linker. */
static inline int rcap_loader_is_foreign(const Elf64_Ehdr* header, char* why, int64_t why_bytes) {
  const uint16_t one = 1;
  unsigned char first;
  unsigned own_data;
  unsigned own_machine = EM_NONE;
  unsigned machine = header->e_machine;
  char text[160];
  memcpy(&first, &one, 1);
  own_data = first == 1 ? ELFDATA2LSB : ELFDATA2MSB;
#if defined(__x86_64__)
  own_machine = EM_X86_64;
#elif defined(__aarch64__)
  own_machine = EM_AARCH64;
#endif
  if (header->e_ident[EI_DATA] != own_data) {
    machine = machine >> 8 | (machine & 0xffU) << 8;
  }
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != own_data || (own_machine != EM_NONE && machine != own_machine)) {
    snprintf(text, sizeof text, "is for another architecture: ELF machine %u (%d bit, %s-endian), this process is %u (64 bit, %s-endian)", machine,
             header->e_ident[EI_CLASS] == ELFCLASS64 ? 64 : 32, header->e_ident[EI_DATA] == ELFDATA2LSB ? "little" : "big", own_machine,
             own_data == ELFDATA2LSB ? "little" : "big");
    rcap_loader_say(why, why_bytes, text);
    return 1;
  }
  if (header->e_type != ET_DYN) {
    snprintf(text, sizeof text, "is no shared object: ELF type %u, one has %d", (unsigned)header->e_type, ET_DYN);
    rcap_loader_say(why, why_bytes, text);
    return 1;
  }
  return 0;
}

/* Whether the file is no whole shared object for this process, and says so. */
static inline int rcap_loader_is_broken(FILE* file, uint64_t file_bytes, char* why, int64_t why_bytes) {
  Elf64_Ehdr header;
  Elf64_Phdr segment;
  int i;
  int loads = 0;
  char text[160];
  const size_t has = fread(&header, 1, sizeof header, file);
  if (has < sizeof(Elf32_Ehdr) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      (header.e_ident[EI_CLASS] != ELFCLASS32 && header.e_ident[EI_CLASS] != ELFCLASS64) ||
      (header.e_ident[EI_DATA] != ELFDATA2LSB && header.e_ident[EI_DATA] != ELFDATA2MSB) ||
      (header.e_ident[EI_CLASS] == ELFCLASS64 && has < sizeof header)) {
    snprintf(text, sizeof text, "is no shared object: no ELF header in its %" PRIu64 " bytes", file_bytes);
    rcap_loader_say(why, why_bytes, text);
    return 1;
  }
  if (rcap_loader_is_foreign(&header, why, why_bytes)) {
    return 1;
  }
  if (header.e_phentsize != sizeof segment || header.e_phnum == 0) {
    snprintf(text, sizeof text, "is not a whole shared object: %u program headers of %u bytes", (unsigned)header.e_phnum, (unsigned)header.e_phentsize);
    rcap_loader_say(why, why_bytes, text);
    return 1;
  }
  if (rcap_loader_lacks("the program headers", header.e_phoff, header.e_phnum * (uint64_t)sizeof segment, file_bytes, why, why_bytes) ||
      (header.e_shoff != 0 &&
       rcap_loader_lacks("the section headers", header.e_shoff, header.e_shnum * (uint64_t)header.e_shentsize, file_bytes, why, why_bytes))) {
    return 1;
  }
  if (fseek(file, (long)header.e_phoff, SEEK_SET) != 0) {
    rcap_loader_say(why, why_bytes, "is not a whole shared object: its program headers cannot be read");
    return 1;
  }
  for (i = 0; i < header.e_phnum; ++i) {
    if (fread(&segment, sizeof segment, 1, file) != 1) {
      rcap_loader_say(why, why_bytes, "is not a whole shared object: its program headers cannot be read");
      return 1;
    }
    if ((segment.p_type == PT_LOAD || segment.p_type == PT_DYNAMIC) &&
        rcap_loader_lacks("a segment", segment.p_offset, segment.p_filesz, file_bytes, why, why_bytes)) {
      return 1;
    }
    loads += segment.p_type == PT_LOAD;
  }
  if (loads == 0) {
    rcap_loader_say(why, why_bytes, "is not a whole shared object: no segment to load");
    return 1;
  }
  return 0;
}

/*
 * Whether the dynamic linker must not see a file, and says why: it maps what the headers name and touches it, which beyond the end of a file that was cut
 * short is a SIGBUS. A file that cannot be opened is left to the dynamic linker, which says so.
 */
static inline int rcap_loader_refuses(const char* path, char* why, int64_t why_bytes) {
  struct stat status;
  FILE* file;
  int refused;
  if (stat(path, &status) != 0) {
    return 0;
  }
  /* Asked before it is opened: a FIFO would wait for somebody to write into it. */
  if (!S_ISREG(status.st_mode)) {
    rcap_loader_say(why, why_bytes, "is not a file");
    return 1;
  }
  file = fopen(path, "rbe"); /* e: no child inherits it */
  if (file == NULL) {
    return 0;
  }
  refused = rcap_loader_is_broken(file, (uint64_t)status.st_size, why, why_bytes);
  fclose(file);
  return refused;
}

/* The table of an open library, or null and why not. */
static inline rcap_status rcap_loader_table(void* library, const rcap_api** api, char* why, int64_t why_bytes) {
  const rcap_api* (*get_api)(int32_t) = NULL;
  const rcap_api* table;
  int32_t has;
  int64_t functions;
  void* symbol = dlsym(library, "rcap_get_api");
  if (symbol == NULL) {
    rcap_loader_say(why, why_bytes, "is not routecap: it has no rcap_get_api");
    return RCAP_STATUS_NOT_FOUND;
  }
  memcpy(&get_api, &symbol, sizeof get_api); /* ISO C knows no cast from an object's pointer to a function's */
  table = get_api(RCAP_ABI_VERSION);
  if (table == NULL) {
    has = RCAP_ABI_VERSION - 1;
    while (has > 0 && get_api(has) == NULL) {
      --has;
    }
    rcap_loader_say(why, why_bytes, "is too old: has ABI ");
    rcap_loader_say_number(why, why_bytes, has);
    rcap_loader_say(why, why_bytes, ", needs ");
    rcap_loader_say_number(why, why_bytes, RCAP_ABI_VERSION);
    return RCAP_STATUS_VERSION_MISMATCH;
  }
  if (table->struct_size < (int64_t)sizeof(rcap_api)) {
    functions = (table->struct_size - (int64_t)offsetof(rcap_api, error_init)) / (int64_t)sizeof symbol;
    if (functions < 0) {
      functions = 0;
    }
    rcap_loader_say(why, why_bytes, "is too old: has ");
    rcap_loader_say_number(why, why_bytes, functions);
    rcap_loader_say(why, why_bytes, " functions, needs ");
    rcap_loader_say_number(why, why_bytes, RCAP_API_FUNCTIONS);
    rcap_loader_say(why, why_bytes, "; the first it lacks is ");
    rcap_loader_say(why, why_bytes, rcap_loader_function_name(functions));
    return RCAP_STATUS_VERSION_MISMATCH;
  }
  *api = table;
  return RCAP_STATUS_OK;
}

/**
 * Loads the library and gives its function table.
 *
 * One place is tried: `path`, else what the environment variable ROUTECAP_LIBRARY names (not in a setuid or otherwise privileged process), else the
 * SONAME in the dynamic linker's search path. A newer library's longer table serves; one that lacks functions of this header is refused. A path with a
 * slash names a file, which is looked at first: one that was cut short, or is none of this machine's, is refused and does not reach the dynamic linker.
 *
 * @param path       file or SONAME, null = look for it
 * @param api        receives the table, null on failure
 * @param why        receives one line on failure: the path tried and the reason, cut to fit; "" on success; null = not wanted
 * @param why_bytes  capacity of why
 * @return OK | INVALID_ARGUMENT (no api, empty path) | NOT_FOUND (no library there) | VERSION_MISMATCH (too old)
 * @thread any
 * @since 0.1
 */
static inline rcap_status rcap_load(const char* path, const rcap_api** api, char* why, int64_t why_bytes) {
  const char* origin = "";
  const char* named = NULL;
  void* library;
  rcap_status status;
  if (why != NULL && why_bytes > 0) {
    why[0] = '\0';
  }
  if (api == NULL) {
    rcap_loader_say(why, why_bytes, "api is null");
    return RCAP_STATUS_INVALID_ARGUMENT;
  }
  *api = NULL;
  if (path != NULL && path[0] == '\0') {
    rcap_loader_say(why, why_bytes, "path is empty; null looks for the library");
    return RCAP_STATUS_INVALID_ARGUMENT;
  }
  if (path == NULL) {
    path = RCAP_LOADER_SONAME;
    named = getenv("ROUTECAP_LIBRARY");
    if (named != NULL && named[0] != '\0') {
      if (getauxval(AT_SECURE) == 0) {
        path = named;
        origin = " (from ROUTECAP_LIBRARY)";
      } else {
        origin = " (ROUTECAP_LIBRARY is ignored in a privileged process)";
      }
    }
  }
  rcap_loader_say(why, why_bytes, path);
  rcap_loader_say(why, why_bytes, origin);
  rcap_loader_say(why, why_bytes, ": ");
  if (strchr(path, '/') != NULL && rcap_loader_refuses(path, why, why_bytes)) {
    return RCAP_STATUS_NOT_FOUND;
  }
  library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    rcap_loader_say_dlerror(why, why_bytes, path);
    return RCAP_STATUS_NOT_FOUND;
  }
  status = rcap_loader_table(library, api, why, why_bytes);
  if (status != RCAP_STATUS_OK) {
    dlclose(library);
  } else if (why != NULL && why_bytes > 0) {
    why[0] = '\0';
  }
  return status;
}

#endif
