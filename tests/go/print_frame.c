// SPDX-License-Identifier: Apache-2.0
// print_frame FILE: one frame, read with the C API alone and printed as the examples of the bindings print what their router chose.
#include <inttypes.h>
#include <routecap/routecap.h>
#include <stdio.h>
#include <stdlib.h>

static void check(rcap_status status, const rcap_error* error) {
  if (status == RCAP_STATUS_OK) return;
  fprintf(stderr, "%s: %s\n", rcap_status_name(status), error->text);
  exit(EXIT_FAILURE);
}

static long read_file(const char* path, unsigned char* bytes, size_t capacity) {
  FILE* file = fopen(path, "rb");
  if (!file) {
    perror(path);
    exit(EXIT_FAILURE);
  }
  const size_t got = fread(bytes, 1, capacity, file);
  fclose(file);
  return (long)got;
}

int main(int count, char** arguments) {
  static unsigned char frame[1 << 20];
  rcap_error error;
  rcap_error_init(&error, sizeof error);
  if (count != 2) {
    fprintf(stderr, "usage: print_frame FILE\n");
    return EXIT_FAILURE;
  }
  const long bytes = read_file(arguments[1], frame, sizeof frame);

  rcap_record* record;
  int64_t consumed;
  check(rcap_record_decode(RCAP_WIRE_FRAME, frame, bytes, NULL, NULL, 0, &record, &consumed, &error), &error);
  rcap_record_info info;
  rcap_record_info_init(&info, sizeof info);
  check(rcap_record_info_get(record, &info, &error), &error);
  const void* data;
  const int32_t* layers;
  int64_t ids_bytes;
  int64_t layer_count;
  check(rcap_record_ids(record, &data, &ids_bytes, &error), &error);
  check(rcap_record_layer_ids(record, &layers, &layer_count, &error), &error);
  if (consumed != bytes || info.ids_dtype != RCAP_DTYPE_UINT8 || info.rows_valid != info.rows) {
    fprintf(stderr, "%" PRId64 " of %ld bytes, ids of dtype %d, %" PRId64 " of %" PRId64 " rows valid\n", consumed, bytes, info.ids_dtype,
            info.rows_valid, info.rows);
    return EXIT_FAILURE;
  }
  const unsigned char* id = (const unsigned char*)data;
  for (int64_t row = 0; row < info.rows; ++row) {
    for (int64_t layer = 0; layer < layer_count; ++layer) {
      printf("token %" PRId64 ", layer %d: [", info.start + row, layers[layer]);
      for (int k = 0; k < info.top_k; ++k) printf(k == 0 ? "%d" : " %d", *id++);
      printf("]\n");
    }
  }
  rcap_record_destroy(record);
  return EXIT_SUCCESS;
}
