// SPDX-License-Identifier: Apache-2.0
// generated from capi/api by capi/cmake/GenerateCapi.cmake; change those and run the target `capi-update`

/**
 * @file
 * Every function behind one pointer, for programs that load the library at run time (routecap_loader.h).
 */
#ifndef ROUTECAP_TABLE_H
#define ROUTECAP_TABLE_H

#include "routecap.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Functions in `struct rcap_api`. */
#define RCAP_API_FUNCTIONS 99

/**
 * The functions, in the order of their @slot. Grows at its end only; `struct_size` says how far this library's goes. A member is called as its
 * function is, without `rcap_`.
 */
typedef struct rcap_api {
  /** Bytes of this table in the library. */
  int64_t struct_size;
  /** ABI number of the library: the one that was asked for, or a newer one that still serves it. */
  int32_t abi;
  /** Always 0. */
  int32_t reserved;
  /** `rcap_error_init`, slot 0. */
  void (*error_init)(rcap_error* value, int64_t struct_size);
  /** `rcap_build_info_init`, slot 1. */
  void (*build_info_init)(rcap_build_info* value, int64_t struct_size);
  /** `rcap_version_string`, slot 2. */
  const char* (*version_string)(void);
  /** `rcap_abi_version`, slot 3. */
  int32_t (*abi_version)(void);
  /** `rcap_status_name`, slot 4. */
  const char* (*status_name)(int32_t status);
  /** `rcap_build_info_get`, slot 5. */
  rcap_status (*build_info_get)(rcap_build_info* info, rcap_error* err);
  /** `rcap_layout_rows`, slot 6. */
  rcap_status (*layout_rows)(int32_t kind, const int64_t* tokens_per_rank, int64_t tokens_per_rank_count, int64_t dp_rank, int64_t attn_tp_size,
                             int64_t attn_tp_rank, int64_t padded_tokens_per_rank, int64_t* first_row, int64_t* tokens, rcap_error* err);
  /** `rcap_backend_options_init`, slot 7. */
  void (*backend_options_init)(rcap_backend_options* value, int64_t struct_size);
  /** `rcap_backend_info_init`, slot 8. */
  void (*backend_info_init)(rcap_backend_info* value, int64_t struct_size);
  /** `rcap_backend_open`, slot 9. */
  rcap_status (*backend_open)(const char* name, const rcap_backend_options* options, rcap_backend** backend, rcap_error* err);
  /** `rcap_backend_describe`, slot 10. */
  rcap_status (*backend_describe)(const rcap_backend* self, rcap_backend_info* info, rcap_error* err);
  /** `rcap_backend_destroy`, slot 11. */
  void (*backend_destroy)(rcap_backend* self);
  /** `rcap_capturer_config_init`, slot 12. */
  void (*capturer_config_init)(rcap_capturer_config* value, int64_t struct_size);
  /** `rcap_capturer_plan_init`, slot 13. */
  void (*capturer_plan_init)(rcap_capturer_plan* value, int64_t struct_size);
  /** `rcap_tap_options_init`, slot 14. */
  void (*tap_options_init)(rcap_tap_options* value, int64_t struct_size);
  /** `rcap_capture_layout_init`, slot 15. */
  void (*capture_layout_init)(rcap_capture_layout* value, int64_t struct_size);
  /** `rcap_capturer_stats_init`, slot 16. */
  void (*capturer_stats_init)(rcap_capturer_stats* value, int64_t struct_size);
  /** `rcap_capturer_plan_get`, slot 17. */
  rcap_status (*capturer_plan_get)(const rcap_capturer_config* config, const int32_t* layer_ids, int64_t layer_ids_count, rcap_capturer_plan* plan,
                                   rcap_error* err);
  /** `rcap_capturer_create`, slot 18. */
  rcap_status (*capturer_create)(const rcap_capturer_config* config, const int32_t* layer_ids, int64_t layer_ids_count, rcap_backend* backend,
                                 rcap_capturer** capturer, rcap_error* err);
  /** `rcap_capturer_destroy`, slot 19. */
  void (*capturer_destroy)(rcap_capturer* self);
  /** `rcap_capturer_add_model`, slot 20. */
  rcap_status (*capturer_add_model)(rcap_capturer* self, int32_t role, const char* name, rcap_model** model, rcap_error* err);
  /** `rcap_model_set_capture`, slot 21. */
  rcap_status (*model_set_capture)(rcap_model* self, int32_t gate, rcap_error* err);
  /** `rcap_model_add_tap`, slot 22. */
  rcap_status (*model_add_tap)(rcap_model* self, int32_t layer_number, const rcap_tap_options* options, const void* id_map, int64_t id_map_bytes,
                               rcap_tap** tap, rcap_error* err);
  /** `rcap_capturer_seal`, slot 23. */
  rcap_status (*capturer_seal)(rcap_capturer* self, rcap_error* err);
  /** `rcap_tap_capture`, slot 24. */
  rcap_status (*tap_capture)(rcap_tap* self, const rcap_capture_layout* layout, const void* ids, int64_t ids_bytes, const void* weights,
                             int64_t weights_bytes, const int32_t* row_ids, int64_t row_ids_count, void* stream, rcap_error* err);
  /** `rcap_tap_is_enabled`, slot 25. */
  int32_t (*tap_is_enabled)(const rcap_tap* self, rcap_error* err);
  /** `rcap_tap_id`, slot 26. */
  int32_t (*tap_id)(const rcap_tap* self, rcap_error* err);
  /** `rcap_capturer_tap`, slot 27. */
  rcap_status (*capturer_tap)(rcap_capturer* self, int32_t tap_id, rcap_tap** tap, rcap_error* err);
  /** `rcap_capturer_stats_get`, slot 28. */
  rcap_status (*capturer_stats_get)(const rcap_capturer* self, rcap_capturer_stats* stats, rcap_error* err);
  /** `rcap_forward_layout_init`, slot 29. */
  void (*forward_layout_init)(rcap_forward_layout* value, int64_t struct_size);
  /** `rcap_accept_layout_init`, slot 30. */
  void (*accept_layout_init)(rcap_accept_layout* value, int64_t struct_size);
  /** `rcap_summary_init`, slot 31. */
  void (*summary_init)(rcap_summary* value, int64_t struct_size);
  /** `rcap_capturer_end_forward`, slot 32. */
  rcap_status (*capturer_end_forward)(rcap_capturer* self, const rcap_forward_layout* layout, const void* slots, int64_t slots_bytes,
                                      const void* rows, int64_t rows_bytes, const int64_t* tags, int64_t tags_count, void* stream,
                                      rcap_output** output, rcap_error* err);
  /** `rcap_capturer_discard_forward`, slot 33. */
  rcap_status (*capturer_discard_forward)(rcap_capturer* self, void* stream, rcap_error* err);
  /** `rcap_output_sequence`, slot 34. */
  int64_t (*output_sequence)(const rcap_output* self, rcap_error* err);
  /** `rcap_output_accept`, slot 35. */
  rcap_status (*output_accept)(rcap_output* self, const rcap_accept_layout* layout, const void* rows, int64_t rows_bytes, const void* slots,
                               int64_t slots_bytes, void* stream, rcap_error* err);
  /** `rcap_output_device_rows`, slot 36. */
  rcap_status (*output_device_rows)(rcap_output* self, void** data, int64_t* bytes, rcap_error* err);
  /** `rcap_output_copy_to_host`, slot 37. */
  rcap_status (*output_copy_to_host)(rcap_output* self, void* stream, rcap_error* err);
  /** `rcap_output_ready`, slot 38. */
  int32_t (*output_ready)(rcap_output* self, rcap_error* err);
  /** `rcap_output_wait`, slot 39. */
  rcap_status (*output_wait)(rcap_output* self, int64_t timeout_ns, rcap_error* err);
  /** `rcap_output_finalize`, slot 40. */
  rcap_status (*output_finalize)(rcap_output* self, rcap_summary* summary, rcap_error* err);
  /** `rcap_output_destroy`, slot 41. */
  void (*output_destroy)(rcap_output* self);
  /** `rcap_capturer_completion_fd`, slot 42. */
  rcap_status (*capturer_completion_fd)(rcap_capturer* self, int32_t* fd, rcap_error* err);
  /** `rcap_capturer_next_completed`, slot 43. */
  rcap_status (*capturer_next_completed)(rcap_capturer* self, int64_t timeout_ns, int64_t* sequence, int32_t* status, rcap_error* err);
  /** `rcap_slots_layout_init`, slot 44. */
  void (*slots_layout_init)(rcap_slots_layout* value, int64_t struct_size);
  /** `rcap_slot_info_init`, slot 45. */
  void (*slot_info_init)(rcap_slot_info* value, int64_t struct_size);
  /** `rcap_capturer_release_slots`, slot 46. */
  rcap_status (*capturer_release_slots)(rcap_capturer* self, const rcap_slots_layout* layout, const void* slots, int64_t slots_bytes, void* stream,
                                        rcap_error* err);
  /** `rcap_capturer_release_all`, slot 47. */
  rcap_status (*capturer_release_all)(rcap_capturer* self, void* stream, rcap_error* err);
  /** `rcap_capturer_copy_slots`, slot 48. */
  rcap_status (*capturer_copy_slots)(rcap_capturer* self, const rcap_slots_layout* layout, const void* from, int64_t from_bytes, const void* to,
                                     int64_t to_bytes, void* stream, rcap_error* err);
  /** `rcap_capturer_slot_info_get`, slot 49. */
  rcap_status (*capturer_slot_info_get)(const rcap_capturer* self, int64_t slot, rcap_slot_info* info, rcap_error* err);
  /** `rcap_read_layout_init`, slot 50. */
  void (*read_layout_init)(rcap_read_layout* value, int64_t struct_size);
  /** `rcap_read_info_init`, slot 51. */
  void (*read_info_init)(rcap_read_info* value, int64_t struct_size);
  /** `rcap_capturer_read`, slot 52. */
  rcap_status (*capturer_read)(const rcap_capturer* self, const rcap_read_layout* layout, const void* slots, int64_t slots_bytes, const int64_t* tags,
                               int64_t tags_count, rcap_record** record, rcap_error* err);
  /** `rcap_capturer_read_into`, slot 53. */
  rcap_status (*capturer_read_into)(const rcap_capturer* self, const rcap_read_layout* layout, const void* slots, int64_t slots_bytes,
                                    const int64_t* tags, int64_t tags_count, void* ids, int64_t ids_bytes, void* weights, int64_t weights_bytes,
                                    void* validity, int64_t validity_bytes, rcap_read_info* info, rcap_error* err);
  /** `rcap_record_layout_init`, slot 54. */
  void (*record_layout_init)(rcap_record_layout* value, int64_t struct_size);
  /** `rcap_record_info_init`, slot 55. */
  void (*record_info_init)(rcap_record_info* value, int64_t struct_size);
  /** `rcap_record_create`, slot 56. */
  rcap_status (*record_create)(const rcap_record_layout* layout, const int32_t* layer_ids, int64_t layer_ids_count, const int32_t* layer_flags,
                               int64_t layer_flags_count, const void* ids, int64_t ids_bytes, const void* weights, int64_t weights_bytes,
                               const void* validity, int64_t validity_bytes, rcap_record** record, rcap_error* err);
  /** `rcap_record_destroy`, slot 57. */
  void (*record_destroy)(rcap_record* self);
  /** `rcap_record_info_get`, slot 58. */
  rcap_status (*record_info_get)(const rcap_record* self, rcap_record_info* info, rcap_error* err);
  /** `rcap_record_ids`, slot 59. */
  rcap_status (*record_ids)(const rcap_record* self, const void** data, int64_t* bytes, rcap_error* err);
  /** `rcap_record_weights`, slot 60. */
  rcap_status (*record_weights)(const rcap_record* self, const void** data, int64_t* bytes, rcap_error* err);
  /** `rcap_record_row_validity`, slot 61. */
  rcap_status (*record_row_validity)(const rcap_record* self, const void** data, int64_t* bytes, rcap_error* err);
  /** `rcap_record_cell_validity`, slot 62. */
  rcap_status (*record_cell_validity)(const rcap_record* self, const void** data, int64_t* bytes, rcap_error* err);
  /** `rcap_record_layer_ids`, slot 63. */
  rcap_status (*record_layer_ids)(const rcap_record* self, const int32_t** data, int64_t* count, rcap_error* err);
  /** `rcap_record_layer_flags`, slot 64. */
  rcap_status (*record_layer_flags)(const rcap_record* self, const int32_t** data, int64_t* count, rcap_error* err);
  /** `rcap_record_version_spans`, slot 65. */
  rcap_status (*record_version_spans)(const rcap_record* self, const int64_t** starts, const int64_t** versions, int64_t* count, rcap_error* err);
  /** `rcap_record_slice`, slot 66. */
  rcap_status (*record_slice)(const rcap_record* self, int64_t start, int64_t end, rcap_record** record, rcap_error* err);
  /** `rcap_compare_report_init`, slot 67. */
  void (*compare_report_init)(rcap_compare_report* value, int64_t struct_size);
  /** `rcap_record_append`, slot 68. */
  rcap_status (*record_append)(const rcap_record* self, const rcap_record* next, int32_t overlap, rcap_record** record, rcap_error* err);
  /** `rcap_record_merge`, slot 69. */
  rcap_status (*record_merge)(const rcap_record* self, const rcap_record* decode, int64_t boundary, rcap_record** record, rcap_error* err);
  /** `rcap_record_truncate`, slot 70. */
  rcap_status (*record_truncate)(const rcap_record* self, int64_t tokens, int32_t flags, rcap_record** record, rcap_error* err);
  /** `rcap_record_stack`, slot 71. */
  rcap_status (*record_stack)(const rcap_record* self, const rcap_record* other, rcap_record** record, rcap_error* err);
  /** `rcap_record_interleave`, slot 72. */
  rcap_status (*record_interleave)(const rcap_record* self, const int64_t* positions, int64_t positions_count, const rcap_record* other,
                                   const int64_t* other_positions, int64_t other_positions_count, rcap_record** record, rcap_error* err);
  /** `rcap_record_to_full_axis`, slot 73. */
  rcap_status (*record_to_full_axis)(const rcap_record* self, int32_t num_layers, int32_t fill, int32_t fill_id, rcap_record** record,
                                     rcap_error* err);
  /** `rcap_record_to_compact`, slot 74. */
  rcap_status (*record_to_compact)(const rcap_record* self, const int32_t* layer_ids, int64_t layer_ids_count, rcap_record** record,
                                   rcap_error* err);
  /** `rcap_record_compare`, slot 75. */
  rcap_status (*record_compare)(const rcap_record* self, const rcap_record* other, rcap_compare_report* report, int64_t* by_layer,
                                int64_t by_layer_count, rcap_error* err);
  /** `rcap_encode_options_init`, slot 76. */
  void (*encode_options_init)(rcap_encode_options* value, int64_t struct_size);
  /** `rcap_decode_hints_init`, slot 77. */
  void (*decode_hints_init)(rcap_decode_hints* value, int64_t struct_size);
  /** `rcap_wire_format_name`, slot 78. */
  const char* (*wire_format_name)(int32_t format);
  /** `rcap_wire_format_of`, slot 79. */
  rcap_status (*wire_format_of)(const char* name, int32_t* format, rcap_error* err);
  /** `rcap_wire_detect`, slot 80. */
  rcap_status (*wire_detect)(const void* bytes, int64_t bytes_bytes, int32_t* format, rcap_error* err);
  /** `rcap_record_encode`, slot 81. */
  rcap_status (*record_encode)(const rcap_record* self, int32_t format, const rcap_encode_options* options, void* buffer, int64_t buffer_bytes,
                               int64_t* needed, rcap_error* err);
  /** `rcap_record_decode`, slot 82. */
  rcap_status (*record_decode)(int32_t format, const void* bytes, int64_t bytes_bytes, const rcap_decode_hints* hints, const int32_t* layer_ids,
                               int64_t layer_ids_count, rcap_record** record, int64_t* consumed, rcap_error* err);
  /** `rcap_capturer_encode`, slot 83. */
  rcap_status (*capturer_encode)(const rcap_capturer* self, const rcap_read_layout* layout, const void* slots, int64_t slots_bytes,
                                 const int64_t* tags, int64_t tags_count, int32_t format, const rcap_encode_options* options, void* buffer,
                                 int64_t buffer_bytes, int64_t* needed, rcap_error* err);
  /** `rcap_backend_search`, slot 84. */
  rcap_status (*backend_search)(const char* name, void* text, int64_t text_bytes, int64_t* needed, rcap_error* err);
  /** `rcap_fill_layout_init`, slot 85. */
  void (*fill_layout_init)(rcap_fill_layout* value, int64_t struct_size);
  /** `rcap_partition_layout_init`, slot 86. */
  void (*partition_layout_init)(rcap_partition_layout* value, int64_t struct_size);
  /** `rcap_record_fill`, slot 87. */
  rcap_status (*record_fill)(const rcap_record* self, const rcap_fill_layout* layout, const int32_t* layer_ids, int64_t layer_ids_count,
                             const int64_t* positions, int64_t positions_count, void* ids, int64_t ids_bytes, void* row_mask, int64_t row_mask_bytes,
                             void* cell_mask, int64_t cell_mask_bytes, int64_t* filled, rcap_error* err);
  /** `rcap_pack_offsets`, slot 88. */
  rcap_status (*pack_offsets)(const int64_t* lengths, int64_t lengths_count, int64_t multiple, int64_t* offsets, int64_t offsets_count,
                              rcap_error* err);
  /** `rcap_pack_pad`, slot 89. */
  rcap_status (*pack_pad)(const int64_t* lengths, int64_t lengths_count, const int64_t* offsets, int64_t offsets_count, int64_t item_bytes,
                          const void* pad, int64_t pad_bytes, const void* tokens, int64_t tokens_bytes, void* packed, int64_t packed_bytes,
                          rcap_error* err);
  /** `rcap_pack_strip`, slot 90. */
  rcap_status (*pack_strip)(const int64_t* lengths, int64_t lengths_count, const int64_t* offsets, int64_t offsets_count, int64_t item_bytes,
                            const void* packed, int64_t packed_bytes, void* tokens, int64_t tokens_bytes, rcap_error* err);
  /** `rcap_partition_multiple`, slot 91. */
  rcap_status (*partition_multiple)(const rcap_partition_layout* layout, int64_t* multiple, rcap_error* err);
  /** `rcap_partition_tokens`, slot 92. */
  rcap_status (*partition_tokens)(const rcap_partition_layout* layout, const int64_t* offsets, int64_t offsets_count, int64_t* tokens,
                                  rcap_error* err);
  /** `rcap_partition_indices`, slot 93. */
  rcap_status (*partition_indices)(const rcap_partition_layout* layout, const int64_t* offsets, int64_t offsets_count, int64_t* indices,
                                   int64_t indices_count, rcap_error* err);
  /** `rcap_partition_split`, slot 94. */
  rcap_status (*partition_split)(const rcap_partition_layout* layout, const int64_t* offsets, int64_t offsets_count, int64_t item_bytes,
                                 const void* whole, int64_t whole_bytes, void* part, int64_t part_bytes, rcap_error* err);
  /** `rcap_partition_gather`, slot 95. */
  rcap_status (*partition_gather)(const rcap_partition_layout* layout, const int64_t* offsets, int64_t offsets_count, int64_t item_bytes,
                                  const void* parts, int64_t parts_bytes, void* whole, int64_t whole_bytes, rcap_error* err);
  /** `rcap_stage_layers`, slot 96. */
  rcap_status (*stage_layers)(int32_t num_layers, int32_t pp_size, int32_t pp_rank, int32_t vp_size, int32_t vp_rank, int32_t first_layers,
                              int32_t last_layers, const int32_t* moe_layers, int64_t moe_layers_count, int32_t* layer_ids, int64_t layer_ids_count,
                              int64_t* needed, rcap_error* err);
  /** `rcap_layers_split`, slot 97. */
  rcap_status (*layers_split)(const int32_t* layer_ids, int64_t layer_ids_count, const int32_t* selected, int64_t selected_count, int64_t tokens,
                              int64_t item_bytes, int32_t order, const void* whole, int64_t whole_bytes, void* part, int64_t part_bytes,
                              rcap_error* err);
  /** `rcap_layers_gather`, slot 98. */
  rcap_status (*layers_gather)(const int32_t* layer_ids, int64_t layer_ids_count, const int32_t* selected, int64_t selected_count, int64_t tokens,
                               int64_t item_bytes, int32_t order, const void* part, int64_t part_bytes, void* whole, int64_t whole_bytes,
                               rcap_error* err);
} rcap_api;

/**
 * The table for an ABI number, static and never freed.
 *
 * @param abi_version  `RCAP_ABI_VERSION` that the caller was built with
 * @return the table; null for a number below 1 or newer than the library's
 * @thread any
 * @since 0.1
 */
RCAP_API const rcap_api* rcap_get_api(int32_t abi_version) RCAP_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
