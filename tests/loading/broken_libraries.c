// SPDX-License-Identifier: Apache-2.0
// Writes what a library's file may look like that the dynamic linker must not see, for the tests of everything that opens the library by a path.
//
//   broken_libraries LIBRARY FOLDER
//
// FOLDER/cases has a line for each file of the folder: its name, a tab, and what is to be said of it behind its path; nothing where it is to be
// loaded.
#define _POSIX_C_SOURCE 200809L /* mkfifo */
#include <elf.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#if defined(__aarch64__)
enum { OWN = EM_AARCH64, OTHER = EM_X86_64 };
#else
enum { OWN = EM_X86_64, OTHER = EM_AARCH64 };
#endif

static const char* folder;
static FILE* cases;
static unsigned char* whole;
static uint64_t whole_bytes;

static void stop(const char* what) {
  perror(what);
  exit(1);
}

static const char* path_of(const char* name) {
  static char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static void say(const char* name, const char* format, va_list values) {
  fprintf(cases, "%s\t", name);
  vfprintf(cases, format, values);
  fputc('\n', cases);
}

__attribute__((format(printf, 2, 3))) static void other_file(const char* name, const char* format, ...) {
  va_list values;
  va_start(values, format);
  say(name, format, values);
  va_end(values);
}

__attribute__((format(printf, 4, 5))) static void file_of(const char* name, const void* bytes, uint64_t count, const char* format, ...) {
  va_list values;
  FILE* file = fopen(path_of(name), "wb");
  if (file == NULL || fwrite(bytes, 1, count, file) != count || fclose(file) != 0) {
    stop(name);
  }
  va_start(values, format);
  say(name, format, values);
  va_end(values);
}

static Elf64_Ehdr header_of(void) {
  Elf64_Ehdr header;
  memcpy(&header, whole, sizeof header);
  return header;
}

static Elf64_Phdr segment_at(const Elf64_Ehdr* header, int index) {
  Elf64_Phdr segment;
  memcpy(&segment, whole + header->e_phoff + (size_t)index * sizeof segment, sizeof segment);
  return segment;
}

static void put_header(const Elf64_Ehdr* header) { memcpy(whole, header, sizeof *header); }

static void put_segment(const Elf64_Ehdr* header, int index, const Elf64_Phdr* segment) {
  memcpy(whole + header->e_phoff + (size_t)index * sizeof *segment, segment, sizeof *segment);
}

/* The file without its end: each cut goes through one part. */
static void write_cut_files(void) {
  const Elf64_Ehdr header = header_of();
  Elf64_Ehdr bare = header;
  const uint64_t segments = header.e_phnum * (uint64_t)sizeof(Elf64_Phdr);
  const uint64_t sections = header.e_shnum * (uint64_t)sizeof(Elf64_Shdr);
  Elf64_Phdr first = {0};
  Elf64_Phdr last = {0};
  uint64_t cut;
  int i;
  file_of("cut_at_0", whole, 0, "is no shared object: no ELF header in its 0 bytes");
  file_of("cut_in_header", whole, 40, "is no shared object: no ELF header in its 40 bytes");
  file_of("cut_before_end_of_header", whole, 63, "is no shared object: no ELF header in its 63 bytes");
  cut = header.e_phoff + sizeof(Elf64_Phdr) + 8;
  file_of("cut_in_program_headers", whole, cut,
          "is not a whole shared object: the program headers of %" PRIu64 " bytes at %" PRIu64 ", the file has %" PRIu64, segments, header.e_phoff,
          cut);
  cut = whole_bytes / 2;
  file_of("cut_in_half", whole, cut, "is not a whole shared object: the section headers of %" PRIu64 " bytes at %" PRIu64 ", the file has %" PRIu64,
          sections, header.e_shoff, cut);
  cut = header.e_shoff + sections - 1;
  file_of("cut_in_section_headers", whole, cut,
          "is not a whole shared object: the section headers of %" PRIu64 " bytes at %" PRIu64 ", the file has %" PRIu64, sections, header.e_shoff,
          cut);
  /* Without section headers, which the dynamic linker does not read, what it does read is cut. */
  bare.e_shoff = 0;
  bare.e_shnum = 0;
  put_header(&bare);
  for (i = 0; i < header.e_phnum; ++i) {
    const Elf64_Phdr segment = segment_at(&header, i);
    if (segment.p_type == PT_LOAD && first.p_type != PT_LOAD) {
      first = segment;
    }
    if (segment.p_type == PT_LOAD) {
      last = segment;
    }
  }
  cut = first.p_offset + first.p_filesz - 1;
  file_of("cut_in_first_segment", whole, cut, "is not a whole shared object: a segment of %" PRIu64 " bytes at %" PRIu64 ", the file has %" PRIu64,
          first.p_filesz, first.p_offset, cut);
  cut = last.p_offset + last.p_filesz - 1;
  file_of("cut_before_end_of_last_segment", whole, cut,
          "is not a whole shared object: a segment of %" PRIu64 " bytes at %" PRIu64 ", the file has %" PRIu64, last.p_filesz, last.p_offset, cut);
  file_of("cut_behind_last_segment", whole, cut + 1, "%s", "");
  put_header(&header);
}

/* The file whole, and its header another's. */
static void write_foreign_files(void) {
  const Elf64_Ehdr header = header_of();
  Elf64_Ehdr other = header;
  const int swapped = (OWN & 0xff) << 8 | OWN >> 8;
  other.e_machine = OTHER;
  put_header(&other);
  file_of("other_machine", whole, whole_bytes,
          "is for another architecture: ELF machine %d (64 bit, little-endian), this process is %d (64 bit, little-endian)", OTHER, OWN);
  other = header;
  other.e_ident[EI_CLASS] = ELFCLASS32;
  put_header(&other);
  file_of("other_class", whole, whole_bytes,
          "is for another architecture: ELF machine %d (32 bit, little-endian), this process is %d (64 bit, little-endian)", OWN, OWN);
  other = header;
  other.e_ident[EI_DATA] = ELFDATA2MSB;
  put_header(&other);
  file_of("other_byte_order", whole, whole_bytes,
          "is for another architecture: ELF machine %d (64 bit, big-endian), this process is %d (64 bit, little-endian)", swapped, OWN);
  other = header;
  other.e_ident[EI_CLASS] = 7;
  put_header(&other);
  file_of("no_class", whole, whole_bytes, "is no shared object: no ELF header in its %" PRIu64 " bytes", whole_bytes);
  other = header;
  other.e_type = ET_EXEC;
  put_header(&other);
  file_of("program", whole, whole_bytes, "is no shared object: ELF type %d, one has %d", ET_EXEC, ET_DYN);
  put_header(&header);
}

/* The file whole, and its headers wrong. */
static void write_wrong_files(void) {
  const Elf64_Ehdr header = header_of();
  const uint64_t segments = header.e_phnum * (uint64_t)sizeof(Elf64_Phdr);
  Elf64_Ehdr other = header;
  Elf64_Phdr segment;
  int load = 0;
  int i;
  other.e_phnum = 0;
  put_header(&other);
  file_of("no_program_headers", whole, whole_bytes, "is not a whole shared object: 0 program headers of %d bytes", (int)sizeof segment);
  other = header;
  other.e_phentsize = 32;
  put_header(&other);
  file_of("other_program_headers", whole, whole_bytes, "is not a whole shared object: %d program headers of 32 bytes", header.e_phnum);
  other = header;
  other.e_phoff = UINT64_MAX;
  put_header(&other);
  file_of("far_program_headers", whole, whole_bytes,
          "is not a whole shared object: the program headers of %" PRIu64 " bytes at %" PRIu64 ", the file has %" PRIu64, segments, UINT64_MAX,
          whole_bytes);
  put_header(&header);
  while (segment_at(&header, load).p_type != PT_LOAD) {
    ++load;
  }
  segment = segment_at(&header, load);
  segment.p_offset = UINT64_MAX - 4095;
  put_segment(&header, load, &segment);
  file_of("far_segment", whole, whole_bytes, "is not a whole shared object: a segment of %" PRIu64 " bytes at %" PRIu64 ", the file has %" PRIu64,
          segment.p_filesz, segment.p_offset, whole_bytes);
  for (i = 0; i < header.e_phnum; ++i) {
    segment = segment_at(&header, i);
    if (segment.p_type == PT_LOAD) {
      segment.p_type = PT_NULL;
      put_segment(&header, i, &segment);
    }
  }
  file_of("nothing_to_load", whole, whole_bytes, "is not a whole shared object: no segment to load");
}

int main(int argc, char** argv) {
  static const char text[] = "This is a text, and longer than the header of an ELF file: it is no library.\n";
  struct stat status;
  FILE* library;
  if (argc != 3) {
    fprintf(stderr, "usage: broken_libraries LIBRARY FOLDER\n");
    return 2;
  }
  folder = argv[2];
  library = fopen(argv[1], "rb");
  if (library == NULL || stat(argv[1], &status) != 0) {
    stop(argv[1]);
    return 1;
  }
  whole_bytes = (uint64_t)status.st_size;
  whole = malloc(whole_bytes);
  if (whole == NULL || fread(whole, 1, whole_bytes, library) != whole_bytes || fclose(library) != 0) {
    stop(argv[1]);
  }
  if ((mkdir(folder, 0755) != 0 && stat(folder, &status) != 0) || (cases = fopen(path_of("cases"), "w")) == NULL) {
    stop(folder);
    return 1;
  }
  file_of("whole", whole, whole_bytes, "%s", "");
  file_of("empty", text, 0, "is no shared object: no ELF header in its 0 bytes");
  file_of("text", text, sizeof text - 1, "is no shared object: no ELF header in its %zu bytes", sizeof text - 1);
  if ((mkdir(path_of("folder"), 0755) != 0 && stat(path_of("folder"), &status) != 0) ||
      (mkfifo(path_of("fifo"), 0600) != 0 && stat(path_of("fifo"), &status) != 0)) {
    stop(folder);
  }
  other_file("folder", "is not a file");
  other_file("fifo", "is not a file");
  other_file("absent", "cannot open shared object file: No such file or directory");
  write_cut_files();
  write_foreign_files();
  write_wrong_files(); /* last: its segments are not put back */
  free(whole);
  return fclose(cases) == 0 ? 0 : 1;
}
