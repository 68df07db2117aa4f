// SPDX-License-Identifier: Apache-2.0
// generated from capi/api by capi/cmake/GenerateCapi.cmake; change those and run the target `capi-update`

// Handles are made and ended by functions of the library only.
%rcap_handle(rcap_backend)
%nodefaultctor rcap_backend;
%nodefaultdtor rcap_backend;
%feature("rcap:destroy", "rcap_backend_destroy") rcap_backend;
%rcap_handle(rcap_capturer)
%nodefaultctor rcap_capturer;
%nodefaultdtor rcap_capturer;
%feature("rcap:destroy", "rcap_capturer_destroy") rcap_capturer;
%rcap_handle(rcap_model)
%nodefaultctor rcap_model;
%nodefaultdtor rcap_model;
%feature("rcap:borrowed", "rcap_capturer") rcap_model;
%rcap_handle(rcap_tap)
%nodefaultctor rcap_tap;
%nodefaultdtor rcap_tap;
%feature("rcap:borrowed", "rcap_capturer") rcap_tap;
%rcap_handle(rcap_output)
%nodefaultctor rcap_output;
%nodefaultdtor rcap_output;
%feature("rcap:destroy", "rcap_output_destroy") rcap_output;
%rcap_handle(rcap_record)
%nodefaultctor rcap_record;
%nodefaultdtor rcap_record;
%feature("rcap:destroy", "rcap_record_destroy") rcap_record;

// Structs, all free of pointers.
%rcap_struct(rcap_error, Error)
%rcap_struct(rcap_build_info, BuildInfo)
%rcap_struct(rcap_backend_options, BackendOptions)
%rcap_struct(rcap_backend_info, BackendInfo)
%rcap_struct(rcap_capturer_config, CapturerConfig)
%rcap_struct(rcap_capturer_plan, CapturerPlan)
%rcap_struct(rcap_tap_options, TapOptions)
%rcap_struct(rcap_capture_layout, CaptureLayout)
%rcap_struct(rcap_capturer_stats, CapturerStats)
%rcap_struct(rcap_forward_layout, ForwardLayout)
%rcap_struct(rcap_accept_layout, AcceptLayout)
%rcap_struct(rcap_summary, Summary)
%rcap_struct(rcap_slots_layout, SlotsLayout)
%rcap_struct(rcap_slot_info, SlotInfo)
%rcap_struct(rcap_read_layout, ReadLayout)
%rcap_struct(rcap_read_info, ReadInfo)
%rcap_struct(rcap_record_layout, RecordLayout)
%rcap_struct(rcap_record_info, RecordInfo)
%rcap_struct(rcap_compare_report, CompareReport)
%rcap_struct(rcap_fill_layout, FillLayout)
%rcap_struct(rcap_partition_layout, PartitionLayout)
%rcap_struct(rcap_encode_options, EncodeOptions)
%rcap_struct(rcap_decode_hints, DecodeHints)

// Arrays and their lengths.
%apply (const int32_t* ARRAY_IN, int64_t ARRAY_COUNT) { (const int32_t* layer_flags, int64_t layer_flags_count) };
%apply (const int32_t* ARRAY_IN, int64_t ARRAY_COUNT) { (const int32_t* layer_ids, int64_t layer_ids_count) };
%apply (const int32_t* ARRAY_IN, int64_t ARRAY_COUNT) { (const int32_t* moe_layers, int64_t moe_layers_count) };
%apply (const int32_t* ARRAY_IN, int64_t ARRAY_COUNT) { (const int32_t* row_ids, int64_t row_ids_count) };
%apply (const int32_t* ARRAY_IN, int64_t ARRAY_COUNT) { (const int32_t* selected, int64_t selected_count) };
%apply (const int64_t* ARRAY_IN, int64_t ARRAY_COUNT) { (const int64_t* lengths, int64_t lengths_count) };
%apply (const int64_t* ARRAY_IN, int64_t ARRAY_COUNT) { (const int64_t* offsets, int64_t offsets_count) };
%apply (const int64_t* ARRAY_IN, int64_t ARRAY_COUNT) { (const int64_t* other_positions, int64_t other_positions_count) };
%apply (const int64_t* ARRAY_IN, int64_t ARRAY_COUNT) { (const int64_t* positions, int64_t positions_count) };
%apply (const int64_t* ARRAY_IN, int64_t ARRAY_COUNT) { (const int64_t* tags, int64_t tags_count) };
%apply (const int64_t* ARRAY_IN, int64_t ARRAY_COUNT) { (const int64_t* tokens_per_rank, int64_t tokens_per_rank_count) };
%apply (const void* BYTES_IN, int64_t BYTES_COUNT) { (const void* bytes, int64_t bytes_bytes) };
%apply (const void* BYTES_IN, int64_t BYTES_COUNT) { (const void* from, int64_t from_bytes) };
%apply (const void* BYTES_IN, int64_t BYTES_COUNT) { (const void* id_map, int64_t id_map_bytes) };
%apply (const void* BYTES_IN, int64_t BYTES_COUNT) { (const void* ids, int64_t ids_bytes) };
%apply (const void* BYTES_IN, int64_t BYTES_COUNT) { (const void* packed, int64_t packed_bytes) };
%apply (const void* BYTES_IN, int64_t BYTES_COUNT) { (const void* pad, int64_t pad_bytes) };
%apply (const void* BYTES_IN, int64_t BYTES_COUNT) { (const void* part, int64_t part_bytes) };
%apply (const void* BYTES_IN, int64_t BYTES_COUNT) { (const void* parts, int64_t parts_bytes) };
%apply (const void* BYTES_IN, int64_t BYTES_COUNT) { (const void* rows, int64_t rows_bytes) };
%apply (const void* BYTES_IN, int64_t BYTES_COUNT) { (const void* slots, int64_t slots_bytes) };
%apply (const void* BYTES_IN, int64_t BYTES_COUNT) { (const void* to, int64_t to_bytes) };
%apply (const void* BYTES_IN, int64_t BYTES_COUNT) { (const void* tokens, int64_t tokens_bytes) };
%apply (const void* BYTES_IN, int64_t BYTES_COUNT) { (const void* validity, int64_t validity_bytes) };
%apply (const void* BYTES_IN, int64_t BYTES_COUNT) { (const void* weights, int64_t weights_bytes) };
%apply (const void* BYTES_IN, int64_t BYTES_COUNT) { (const void* whole, int64_t whole_bytes) };
%apply (int32_t* ARRAY_OUT, int64_t ARRAY_COUNT) { (int32_t* layer_ids, int64_t layer_ids_count) };
%apply (int64_t* ARRAY_OUT, int64_t ARRAY_COUNT) { (int64_t* by_layer, int64_t by_layer_count) };
%apply (int64_t* ARRAY_OUT, int64_t ARRAY_COUNT) { (int64_t* indices, int64_t indices_count) };
%apply (int64_t* ARRAY_OUT, int64_t ARRAY_COUNT) { (int64_t* offsets, int64_t offsets_count) };
%apply (void* BYTES_OUT, int64_t BYTES_COUNT) { (void* buffer, int64_t buffer_bytes) };
%apply (void* BYTES_OUT, int64_t BYTES_COUNT) { (void* cell_mask, int64_t cell_mask_bytes) };
%apply (void* BYTES_OUT, int64_t BYTES_COUNT) { (void* ids, int64_t ids_bytes) };
%apply (void* BYTES_OUT, int64_t BYTES_COUNT) { (void* packed, int64_t packed_bytes) };
%apply (void* BYTES_OUT, int64_t BYTES_COUNT) { (void* part, int64_t part_bytes) };
%apply (void* BYTES_OUT, int64_t BYTES_COUNT) { (void* row_mask, int64_t row_mask_bytes) };
%apply (void* BYTES_OUT, int64_t BYTES_COUNT) { (void* text, int64_t text_bytes) };
%apply (void* BYTES_OUT, int64_t BYTES_COUNT) { (void* tokens, int64_t tokens_bytes) };
%apply (void* BYTES_OUT, int64_t BYTES_COUNT) { (void* validity, int64_t validity_bytes) };
%apply (void* BYTES_OUT, int64_t BYTES_COUNT) { (void* weights, int64_t weights_bytes) };
%apply (void* BYTES_OUT, int64_t BYTES_COUNT) { (void* whole, int64_t whole_bytes) };

// Numbers and pointers that are filled, numbers that are returned, and streams.
%apply const int32_t** VIEW_OUT { const int32_t** data };
%apply const int64_t** VIEW_OUT { const int64_t** starts };
%apply const int64_t** VIEW_OUT { const int64_t** versions };
%apply const void** VIEW_OUT { const void** data };
%apply int32_t ANSWER { int32_t rcap_output_ready };
%apply int32_t ANSWER { int32_t rcap_tap_id };
%apply int32_t ANSWER { int32_t rcap_tap_is_enabled };
%apply int32_t* SCALAR_OUT { int32_t* fd };
%apply int32_t* SCALAR_OUT { int32_t* format };
%apply int32_t* SCALAR_OUT { int32_t* status };
%apply int64_t ANSWER { int64_t rcap_output_sequence };
%apply int64_t* SCALAR_OUT { int64_t* bytes };
%apply int64_t* SCALAR_OUT { int64_t* consumed };
%apply int64_t* SCALAR_OUT { int64_t* count };
%apply int64_t* SCALAR_OUT { int64_t* filled };
%apply int64_t* SCALAR_OUT { int64_t* first_row };
%apply int64_t* SCALAR_OUT { int64_t* multiple };
%apply int64_t* SCALAR_OUT { int64_t* needed };
%apply int64_t* SCALAR_OUT { int64_t* sequence };
%apply int64_t* SCALAR_OUT { int64_t* tokens };
%apply void* STREAM { void* stream };
%apply void** VIEW_OUT { void** data };

// Ownership and threads.
%feature("rcap:thread", "any") rcap_version_string;
%feature("rcap:thread", "any") rcap_abi_version;
%feature("rcap:thread", "any") rcap_status_name;
%feature("rcap:thread", "any") rcap_build_info_get;
%feature("rcap:thread", "any") rcap_layout_rows;
%feature("rcap:owner", "backend") rcap_backend_open;
%feature("rcap:thread", "any") rcap_backend_open;
%feature("rcap:thread", "any") rcap_backend_search;
%feature("rcap:thread", "any") rcap_backend_describe;
%feature("rcap:frees", "self") rcap_backend_destroy;
%feature("rcap:thread", "handle") rcap_backend_destroy;
%feature("rcap:thread", "any") rcap_capturer_plan_get;
%feature("rcap:owner", "capturer") rcap_capturer_create;
%feature("rcap:thread", "any") rcap_capturer_create;
%feature("rcap:frees", "self") rcap_capturer_destroy;
%feature("rcap:thread", "handle") rcap_capturer_destroy;
%feature("rcap:thread", "capturer") rcap_capturer_add_model;
%feature("rcap:thread", "capturer") rcap_model_set_capture;
%feature("rcap:retains", "id_map") rcap_model_add_tap;
%feature("rcap:thread", "capturer") rcap_model_add_tap;
%feature("rcap:thread", "capturer") rcap_capturer_seal;
%feature("rcap:thread", "any") rcap_tap_capture;
%feature("rcap:capture", "ok") rcap_tap_capture;
%feature("rcap:thread", "any") rcap_tap_is_enabled;
%feature("rcap:capture", "ok") rcap_tap_is_enabled;
%feature("rcap:thread", "any") rcap_tap_id;
%feature("rcap:capture", "ok") rcap_tap_id;
%feature("rcap:thread", "any") rcap_capturer_tap;
%feature("rcap:capture", "ok") rcap_capturer_tap;
%feature("rcap:thread", "any") rcap_capturer_stats_get;
%feature("rcap:owner", "output") rcap_capturer_end_forward;
%feature("rcap:thread", "capturer") rcap_capturer_end_forward;
%feature("rcap:thread", "capturer") rcap_capturer_discard_forward;
%feature("rcap:thread", "any") rcap_output_sequence;
%feature("rcap:thread", "handle") rcap_output_accept;
%feature("rcap:thread", "handle") rcap_output_device_rows;
%feature("rcap:thread", "handle") rcap_output_copy_to_host;
%feature("rcap:thread", "handle") rcap_output_ready;
%feature("rcap:thread", "handle") rcap_output_wait;
%feature("rcap:thread", "handle") rcap_output_finalize;
%feature("rcap:frees", "self") rcap_output_destroy;
%feature("rcap:thread", "handle") rcap_output_destroy;
%feature("rcap:thread", "any") rcap_capturer_completion_fd;
%feature("rcap:thread", "any") rcap_capturer_next_completed;
%feature("rcap:thread", "capturer") rcap_capturer_release_slots;
%feature("rcap:thread", "capturer") rcap_capturer_release_all;
%feature("rcap:thread", "capturer") rcap_capturer_copy_slots;
%feature("rcap:thread", "any") rcap_capturer_slot_info_get;
%feature("rcap:owner", "record") rcap_capturer_read;
%feature("rcap:thread", "any") rcap_capturer_read;
%feature("rcap:thread", "any") rcap_capturer_read_into;
%feature("rcap:owner", "record") rcap_record_create;
%feature("rcap:thread", "any") rcap_record_create;
%feature("rcap:frees", "self") rcap_record_destroy;
%feature("rcap:thread", "handle") rcap_record_destroy;
%feature("rcap:thread", "any") rcap_record_info_get;
%feature("rcap:thread", "any") rcap_record_ids;
%feature("rcap:thread", "any") rcap_record_weights;
%feature("rcap:thread", "any") rcap_record_row_validity;
%feature("rcap:thread", "any") rcap_record_cell_validity;
%feature("rcap:thread", "any") rcap_record_layer_ids;
%feature("rcap:thread", "any") rcap_record_layer_flags;
%feature("rcap:thread", "any") rcap_record_version_spans;
%feature("rcap:owner", "record") rcap_record_slice;
%feature("rcap:thread", "any") rcap_record_slice;
%feature("rcap:owner", "record") rcap_record_append;
%feature("rcap:thread", "any") rcap_record_append;
%feature("rcap:owner", "record") rcap_record_merge;
%feature("rcap:thread", "any") rcap_record_merge;
%feature("rcap:owner", "record") rcap_record_truncate;
%feature("rcap:thread", "any") rcap_record_truncate;
%feature("rcap:owner", "record") rcap_record_stack;
%feature("rcap:thread", "any") rcap_record_stack;
%feature("rcap:owner", "record") rcap_record_interleave;
%feature("rcap:thread", "any") rcap_record_interleave;
%feature("rcap:owner", "record") rcap_record_to_full_axis;
%feature("rcap:thread", "any") rcap_record_to_full_axis;
%feature("rcap:owner", "record") rcap_record_to_compact;
%feature("rcap:thread", "any") rcap_record_to_compact;
%feature("rcap:thread", "any") rcap_record_compare;
%feature("rcap:thread", "any") rcap_record_fill;
%feature("rcap:thread", "any") rcap_pack_offsets;
%feature("rcap:thread", "any") rcap_pack_pad;
%feature("rcap:thread", "any") rcap_pack_strip;
%feature("rcap:thread", "any") rcap_partition_multiple;
%feature("rcap:thread", "any") rcap_partition_tokens;
%feature("rcap:thread", "any") rcap_partition_indices;
%feature("rcap:thread", "any") rcap_partition_split;
%feature("rcap:thread", "any") rcap_partition_gather;
%feature("rcap:thread", "any") rcap_stage_layers;
%feature("rcap:thread", "any") rcap_layers_split;
%feature("rcap:thread", "any") rcap_layers_gather;
%feature("rcap:thread", "any") rcap_wire_format_name;
%feature("rcap:thread", "any") rcap_wire_format_of;
%feature("rcap:thread", "any") rcap_wire_detect;
%feature("rcap:thread", "any") rcap_record_encode;
%feature("rcap:owner", "record") rcap_record_decode;
%feature("rcap:thread", "any") rcap_record_decode;
%feature("rcap:thread", "any") rcap_capturer_encode;

#ifdef SWIGGO
%insert(cgo_comment_typedefs) %{
#cgo nocallback _wrap_rcap_version_string_native
#cgo noescape _wrap_rcap_version_string_native
#cgo nocallback _wrap_rcap_abi_version_native
#cgo noescape _wrap_rcap_abi_version_native
#cgo nocallback _wrap_rcap_status_name_native
#cgo noescape _wrap_rcap_status_name_native
#cgo nocallback _wrap_rcap_build_info_get_native
#cgo noescape _wrap_rcap_build_info_get_native
#cgo nocallback _wrap_rcap_layout_rows_native
#cgo noescape _wrap_rcap_layout_rows_native
#cgo nocallback _wrap_rcap_backend_open_native
#cgo noescape _wrap_rcap_backend_open_native
#cgo nocallback _wrap_rcap_backend_search_native
#cgo noescape _wrap_rcap_backend_search_native
#cgo nocallback _wrap_rcap_backend_describe_native
#cgo noescape _wrap_rcap_backend_describe_native
#cgo nocallback _wrap_rcap_backend_destroy_native
#cgo noescape _wrap_rcap_backend_destroy_native
#cgo nocallback _wrap_rcap_capturer_plan_get_native
#cgo noescape _wrap_rcap_capturer_plan_get_native
#cgo nocallback _wrap_rcap_capturer_create_native
#cgo noescape _wrap_rcap_capturer_create_native
#cgo nocallback _wrap_rcap_capturer_destroy_native
#cgo noescape _wrap_rcap_capturer_destroy_native
#cgo nocallback _wrap_rcap_capturer_add_model_native
#cgo noescape _wrap_rcap_capturer_add_model_native
#cgo nocallback _wrap_rcap_model_set_capture_native
#cgo noescape _wrap_rcap_model_set_capture_native
#cgo nocallback _wrap_rcap_model_add_tap_native
#cgo nocallback _wrap_rcap_capturer_seal_native
#cgo noescape _wrap_rcap_capturer_seal_native
#cgo nocallback _wrap_rcap_tap_capture_native
#cgo noescape _wrap_rcap_tap_capture_native
#cgo nocallback _wrap_rcap_tap_is_enabled_native
#cgo noescape _wrap_rcap_tap_is_enabled_native
#cgo nocallback _wrap_rcap_tap_id_native
#cgo noescape _wrap_rcap_tap_id_native
#cgo nocallback _wrap_rcap_capturer_tap_native
#cgo noescape _wrap_rcap_capturer_tap_native
#cgo nocallback _wrap_rcap_capturer_stats_get_native
#cgo noescape _wrap_rcap_capturer_stats_get_native
#cgo nocallback _wrap_rcap_capturer_end_forward_native
#cgo noescape _wrap_rcap_capturer_end_forward_native
#cgo nocallback _wrap_rcap_capturer_discard_forward_native
#cgo noescape _wrap_rcap_capturer_discard_forward_native
#cgo nocallback _wrap_rcap_output_sequence_native
#cgo noescape _wrap_rcap_output_sequence_native
#cgo nocallback _wrap_rcap_output_accept_native
#cgo noescape _wrap_rcap_output_accept_native
#cgo nocallback _wrap_rcap_output_device_rows_native
#cgo noescape _wrap_rcap_output_device_rows_native
#cgo nocallback _wrap_rcap_output_copy_to_host_native
#cgo noescape _wrap_rcap_output_copy_to_host_native
#cgo nocallback _wrap_rcap_output_ready_native
#cgo noescape _wrap_rcap_output_ready_native
#cgo nocallback _wrap_rcap_output_wait_native
#cgo noescape _wrap_rcap_output_wait_native
#cgo nocallback _wrap_rcap_output_finalize_native
#cgo noescape _wrap_rcap_output_finalize_native
#cgo nocallback _wrap_rcap_output_destroy_native
#cgo noescape _wrap_rcap_output_destroy_native
#cgo nocallback _wrap_rcap_capturer_completion_fd_native
#cgo noescape _wrap_rcap_capturer_completion_fd_native
#cgo nocallback _wrap_rcap_capturer_next_completed_native
#cgo noescape _wrap_rcap_capturer_next_completed_native
#cgo nocallback _wrap_rcap_capturer_release_slots_native
#cgo noescape _wrap_rcap_capturer_release_slots_native
#cgo nocallback _wrap_rcap_capturer_release_all_native
#cgo noescape _wrap_rcap_capturer_release_all_native
#cgo nocallback _wrap_rcap_capturer_copy_slots_native
#cgo noescape _wrap_rcap_capturer_copy_slots_native
#cgo nocallback _wrap_rcap_capturer_slot_info_get_native
#cgo noescape _wrap_rcap_capturer_slot_info_get_native
#cgo nocallback _wrap_rcap_capturer_read_native
#cgo noescape _wrap_rcap_capturer_read_native
#cgo nocallback _wrap_rcap_capturer_read_into_native
#cgo noescape _wrap_rcap_capturer_read_into_native
#cgo nocallback _wrap_rcap_record_create_native
#cgo noescape _wrap_rcap_record_create_native
#cgo nocallback _wrap_rcap_record_destroy_native
#cgo noescape _wrap_rcap_record_destroy_native
#cgo nocallback _wrap_rcap_record_info_get_native
#cgo noescape _wrap_rcap_record_info_get_native
#cgo nocallback _wrap_rcap_record_ids_native
#cgo noescape _wrap_rcap_record_ids_native
#cgo nocallback _wrap_rcap_record_weights_native
#cgo noescape _wrap_rcap_record_weights_native
#cgo nocallback _wrap_rcap_record_row_validity_native
#cgo noescape _wrap_rcap_record_row_validity_native
#cgo nocallback _wrap_rcap_record_cell_validity_native
#cgo noescape _wrap_rcap_record_cell_validity_native
#cgo nocallback _wrap_rcap_record_layer_ids_native
#cgo noescape _wrap_rcap_record_layer_ids_native
#cgo nocallback _wrap_rcap_record_layer_flags_native
#cgo noescape _wrap_rcap_record_layer_flags_native
#cgo nocallback _wrap_rcap_record_version_spans_native
#cgo noescape _wrap_rcap_record_version_spans_native
#cgo nocallback _wrap_rcap_record_slice_native
#cgo noescape _wrap_rcap_record_slice_native
#cgo nocallback _wrap_rcap_record_append_native
#cgo noescape _wrap_rcap_record_append_native
#cgo nocallback _wrap_rcap_record_merge_native
#cgo noescape _wrap_rcap_record_merge_native
#cgo nocallback _wrap_rcap_record_truncate_native
#cgo noescape _wrap_rcap_record_truncate_native
#cgo nocallback _wrap_rcap_record_stack_native
#cgo noescape _wrap_rcap_record_stack_native
#cgo nocallback _wrap_rcap_record_interleave_native
#cgo noescape _wrap_rcap_record_interleave_native
#cgo nocallback _wrap_rcap_record_to_full_axis_native
#cgo noescape _wrap_rcap_record_to_full_axis_native
#cgo nocallback _wrap_rcap_record_to_compact_native
#cgo noescape _wrap_rcap_record_to_compact_native
#cgo nocallback _wrap_rcap_record_compare_native
#cgo noescape _wrap_rcap_record_compare_native
#cgo nocallback _wrap_rcap_record_fill_native
#cgo noescape _wrap_rcap_record_fill_native
#cgo nocallback _wrap_rcap_pack_offsets_native
#cgo noescape _wrap_rcap_pack_offsets_native
#cgo nocallback _wrap_rcap_pack_pad_native
#cgo noescape _wrap_rcap_pack_pad_native
#cgo nocallback _wrap_rcap_pack_strip_native
#cgo noescape _wrap_rcap_pack_strip_native
#cgo nocallback _wrap_rcap_partition_multiple_native
#cgo noescape _wrap_rcap_partition_multiple_native
#cgo nocallback _wrap_rcap_partition_tokens_native
#cgo noescape _wrap_rcap_partition_tokens_native
#cgo nocallback _wrap_rcap_partition_indices_native
#cgo noescape _wrap_rcap_partition_indices_native
#cgo nocallback _wrap_rcap_partition_split_native
#cgo noescape _wrap_rcap_partition_split_native
#cgo nocallback _wrap_rcap_partition_gather_native
#cgo noescape _wrap_rcap_partition_gather_native
#cgo nocallback _wrap_rcap_stage_layers_native
#cgo noescape _wrap_rcap_stage_layers_native
#cgo nocallback _wrap_rcap_layers_split_native
#cgo noescape _wrap_rcap_layers_split_native
#cgo nocallback _wrap_rcap_layers_gather_native
#cgo noescape _wrap_rcap_layers_gather_native
#cgo nocallback _wrap_rcap_wire_format_name_native
#cgo noescape _wrap_rcap_wire_format_name_native
#cgo nocallback _wrap_rcap_wire_format_of_native
#cgo noescape _wrap_rcap_wire_format_of_native
#cgo nocallback _wrap_rcap_wire_detect_native
#cgo noescape _wrap_rcap_wire_detect_native
#cgo nocallback _wrap_rcap_record_encode_native
#cgo noescape _wrap_rcap_record_encode_native
#cgo nocallback _wrap_rcap_record_decode_native
#cgo noescape _wrap_rcap_record_decode_native
#cgo nocallback _wrap_rcap_capturer_encode_native
#cgo noescape _wrap_rcap_capturer_encode_native
%}
#endif
