// Generated from capi/abi/api.json by bindings/swig/java_types.py; do not edit.
// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.internal;

import java.nio.ByteBuffer;

/**
 * The C API as it is: a pointer is a long, an array is a {@link Span} or null. What a function answers is not looked at, and what went wrong stands in
 * the memory that {@code err} points to.
 */
public interface NativeApi {
  /** How the library is called: {@code jni} or {@code ffm}. */
  String kind();

  /** What was loaded, in words. */
  String origin();

  /** The address of a direct buffer's first byte. */
  long address(ByteBuffer direct);

  /** Memory of the library as a direct buffer, which keeps nothing alive. */
  ByteBuffer view(long address, long bytes);

  /** {@code rcap_error_init}, slot 0. */
  void rcap_error_init(long value, long structSize);

  /** {@code rcap_build_info_init}, slot 1. */
  void rcap_build_info_init(long value, long structSize);

  /** {@code rcap_version_string}, slot 2. */
  String rcap_version_string();

  /** {@code rcap_abi_version}, slot 3. */
  int rcap_abi_version();

  /** {@code rcap_status_name}, slot 4. */
  String rcap_status_name(int status);

  /** {@code rcap_build_info_get}, slot 5. */
  int rcap_build_info_get(long info, long err);

  /** {@code rcap_layout_rows}, slot 6. */
  int rcap_layout_rows(int kind, Span tokensPerRank, long dpRank, long attnTpSize, long attnTpRank, long paddedTokensPerRank, long firstRow,
      long tokens, long err);

  /** {@code rcap_backend_options_init}, slot 7. */
  void rcap_backend_options_init(long value, long structSize);

  /** {@code rcap_backend_info_init}, slot 8. */
  void rcap_backend_info_init(long value, long structSize);

  /** {@code rcap_backend_open}, slot 9. */
  int rcap_backend_open(long name, long options, long backend, long err);

  /** {@code rcap_backend_describe}, slot 10. */
  int rcap_backend_describe(long self, long info, long err);

  /** {@code rcap_backend_destroy}, slot 11. */
  void rcap_backend_destroy(long self);

  /** {@code rcap_capturer_config_init}, slot 12. */
  void rcap_capturer_config_init(long value, long structSize);

  /** {@code rcap_capturer_plan_init}, slot 13. */
  void rcap_capturer_plan_init(long value, long structSize);

  /** {@code rcap_tap_options_init}, slot 14. */
  void rcap_tap_options_init(long value, long structSize);

  /** {@code rcap_capture_layout_init}, slot 15. */
  void rcap_capture_layout_init(long value, long structSize);

  /** {@code rcap_capturer_stats_init}, slot 16. */
  void rcap_capturer_stats_init(long value, long structSize);

  /** {@code rcap_capturer_plan_get}, slot 17. */
  int rcap_capturer_plan_get(long config, Span layerIds, long plan, long err);

  /** {@code rcap_capturer_create}, slot 18. */
  int rcap_capturer_create(long config, Span layerIds, long backend, long capturer, long err);

  /** {@code rcap_capturer_destroy}, slot 19. */
  void rcap_capturer_destroy(long self);

  /** {@code rcap_capturer_add_model}, slot 20. */
  int rcap_capturer_add_model(long self, int role, long name, long model, long err);

  /** {@code rcap_model_set_capture}, slot 21. */
  int rcap_model_set_capture(long self, int gate, long err);

  /** {@code rcap_model_add_tap}, slot 22. */
  int rcap_model_add_tap(long self, int layerNumber, long options, Span idMap, long tap, long err);

  /** {@code rcap_capturer_seal}, slot 23. */
  int rcap_capturer_seal(long self, long err);

  /** {@code rcap_tap_capture}, slot 24. */
  int rcap_tap_capture(long self, long layout, Span ids, Span weights, Span rowIds, long stream, long err);

  /** {@code rcap_tap_is_enabled}, slot 25. */
  int rcap_tap_is_enabled(long self, long err);

  /** {@code rcap_tap_id}, slot 26. */
  int rcap_tap_id(long self, long err);

  /** {@code rcap_capturer_tap}, slot 27. */
  int rcap_capturer_tap(long self, int tapId, long tap, long err);

  /** {@code rcap_capturer_stats_get}, slot 28. */
  int rcap_capturer_stats_get(long self, long stats, long err);

  /** {@code rcap_forward_layout_init}, slot 29. */
  void rcap_forward_layout_init(long value, long structSize);

  /** {@code rcap_accept_layout_init}, slot 30. */
  void rcap_accept_layout_init(long value, long structSize);

  /** {@code rcap_summary_init}, slot 31. */
  void rcap_summary_init(long value, long structSize);

  /** {@code rcap_capturer_end_forward}, slot 32. */
  int rcap_capturer_end_forward(long self, long layout, Span slots, Span rows, Span tags, long stream, long output, long err);

  /** {@code rcap_capturer_discard_forward}, slot 33. */
  int rcap_capturer_discard_forward(long self, long stream, long err);

  /** {@code rcap_output_sequence}, slot 34. */
  long rcap_output_sequence(long self, long err);

  /** {@code rcap_output_accept}, slot 35. */
  int rcap_output_accept(long self, long layout, Span rows, Span slots, long stream, long err);

  /** {@code rcap_output_device_rows}, slot 36. */
  int rcap_output_device_rows(long self, long data, long bytes, long err);

  /** {@code rcap_output_copy_to_host}, slot 37. */
  int rcap_output_copy_to_host(long self, long stream, long err);

  /** {@code rcap_output_ready}, slot 38. */
  int rcap_output_ready(long self, long err);

  /** {@code rcap_output_wait}, slot 39. */
  int rcap_output_wait(long self, long timeoutNanos, long err);

  /** {@code rcap_output_finalize}, slot 40. */
  int rcap_output_finalize(long self, long summary, long err);

  /** {@code rcap_output_destroy}, slot 41. */
  void rcap_output_destroy(long self);

  /** {@code rcap_capturer_completion_fd}, slot 42. */
  int rcap_capturer_completion_fd(long self, long fd, long err);

  /** {@code rcap_capturer_next_completed}, slot 43. */
  int rcap_capturer_next_completed(long self, long timeoutNanos, long sequence, long status, long err);

  /** {@code rcap_slots_layout_init}, slot 44. */
  void rcap_slots_layout_init(long value, long structSize);

  /** {@code rcap_slot_info_init}, slot 45. */
  void rcap_slot_info_init(long value, long structSize);

  /** {@code rcap_capturer_release_slots}, slot 46. */
  int rcap_capturer_release_slots(long self, long layout, Span slots, long stream, long err);

  /** {@code rcap_capturer_release_all}, slot 47. */
  int rcap_capturer_release_all(long self, long stream, long err);

  /** {@code rcap_capturer_copy_slots}, slot 48. */
  int rcap_capturer_copy_slots(long self, long layout, Span from, Span to, long stream, long err);

  /** {@code rcap_capturer_slot_info_get}, slot 49. */
  int rcap_capturer_slot_info_get(long self, long slot, long info, long err);

  /** {@code rcap_read_layout_init}, slot 50. */
  void rcap_read_layout_init(long value, long structSize);

  /** {@code rcap_read_info_init}, slot 51. */
  void rcap_read_info_init(long value, long structSize);

  /** {@code rcap_capturer_read}, slot 52. */
  int rcap_capturer_read(long self, long layout, Span slots, Span tags, long record, long err);

  /** {@code rcap_capturer_read_into}, slot 53. */
  int rcap_capturer_read_into(long self, long layout, Span slots, Span tags, Span ids, Span weights, Span validity, long info, long err);

  /** {@code rcap_record_layout_init}, slot 54. */
  void rcap_record_layout_init(long value, long structSize);

  /** {@code rcap_record_info_init}, slot 55. */
  void rcap_record_info_init(long value, long structSize);

  /** {@code rcap_record_create}, slot 56. */
  int rcap_record_create(long layout, Span layerIds, Span layerFlags, Span ids, Span weights, Span validity, long record, long err);

  /** {@code rcap_record_destroy}, slot 57. */
  void rcap_record_destroy(long self);

  /** {@code rcap_record_info_get}, slot 58. */
  int rcap_record_info_get(long self, long info, long err);

  /** {@code rcap_record_ids}, slot 59. */
  int rcap_record_ids(long self, long data, long bytes, long err);

  /** {@code rcap_record_weights}, slot 60. */
  int rcap_record_weights(long self, long data, long bytes, long err);

  /** {@code rcap_record_row_validity}, slot 61. */
  int rcap_record_row_validity(long self, long data, long bytes, long err);

  /** {@code rcap_record_cell_validity}, slot 62. */
  int rcap_record_cell_validity(long self, long data, long bytes, long err);

  /** {@code rcap_record_layer_ids}, slot 63. */
  int rcap_record_layer_ids(long self, long data, long count, long err);

  /** {@code rcap_record_layer_flags}, slot 64. */
  int rcap_record_layer_flags(long self, long data, long count, long err);

  /** {@code rcap_record_version_spans}, slot 65. */
  int rcap_record_version_spans(long self, long starts, long versions, long count, long err);

  /** {@code rcap_record_slice}, slot 66. */
  int rcap_record_slice(long self, long start, long end, long record, long err);

  /** {@code rcap_compare_report_init}, slot 67. */
  void rcap_compare_report_init(long value, long structSize);

  /** {@code rcap_record_append}, slot 68. */
  int rcap_record_append(long self, long next, int overlap, long record, long err);

  /** {@code rcap_record_merge}, slot 69. */
  int rcap_record_merge(long self, long decode, long boundary, long record, long err);

  /** {@code rcap_record_truncate}, slot 70. */
  int rcap_record_truncate(long self, long tokens, int flags, long record, long err);

  /** {@code rcap_record_stack}, slot 71. */
  int rcap_record_stack(long self, long other, long record, long err);

  /** {@code rcap_record_interleave}, slot 72. */
  int rcap_record_interleave(long self, Span positions, long other, Span otherPositions, long record, long err);

  /** {@code rcap_record_to_full_axis}, slot 73. */
  int rcap_record_to_full_axis(long self, int numLayers, int fill, int fillId, long record, long err);

  /** {@code rcap_record_to_compact}, slot 74. */
  int rcap_record_to_compact(long self, Span layerIds, long record, long err);

  /** {@code rcap_record_compare}, slot 75. */
  int rcap_record_compare(long self, long other, long report, Span byLayer, long err);

  /** {@code rcap_encode_options_init}, slot 76. */
  void rcap_encode_options_init(long value, long structSize);

  /** {@code rcap_decode_hints_init}, slot 77. */
  void rcap_decode_hints_init(long value, long structSize);

  /** {@code rcap_wire_format_name}, slot 78. */
  String rcap_wire_format_name(int format);

  /** {@code rcap_wire_format_of}, slot 79. */
  int rcap_wire_format_of(long name, long format, long err);

  /** {@code rcap_wire_detect}, slot 80. */
  int rcap_wire_detect(Span bytes, long format, long err);

  /** {@code rcap_record_encode}, slot 81. */
  int rcap_record_encode(long self, int format, long options, Span buffer, long needed, long err);

  /** {@code rcap_record_decode}, slot 82. */
  int rcap_record_decode(int format, Span bytes, long hints, Span layerIds, long record, long consumed, long err);

  /** {@code rcap_capturer_encode}, slot 83. */
  int rcap_capturer_encode(long self, long layout, Span slots, Span tags, int format, long options, Span buffer, long needed, long err);

  /** {@code rcap_backend_search}, slot 84. */
  int rcap_backend_search(long name, Span text, long needed, long err);

  /** {@code rcap_fill_layout_init}, slot 85. */
  void rcap_fill_layout_init(long value, long structSize);

  /** {@code rcap_partition_layout_init}, slot 86. */
  void rcap_partition_layout_init(long value, long structSize);

  /** {@code rcap_record_fill}, slot 87. */
  int rcap_record_fill(long self, long layout, Span layerIds, Span positions, Span ids, Span rowMask, Span cellMask, long filled, long err);

  /** {@code rcap_pack_offsets}, slot 88. */
  int rcap_pack_offsets(Span lengths, long multiple, Span offsets, long err);

  /** {@code rcap_pack_pad}, slot 89. */
  int rcap_pack_pad(Span lengths, Span offsets, long itemBytes, Span pad, Span tokens, Span packed, long err);

  /** {@code rcap_pack_strip}, slot 90. */
  int rcap_pack_strip(Span lengths, Span offsets, long itemBytes, Span packed, Span tokens, long err);

  /** {@code rcap_partition_multiple}, slot 91. */
  int rcap_partition_multiple(long layout, long multiple, long err);

  /** {@code rcap_partition_tokens}, slot 92. */
  int rcap_partition_tokens(long layout, Span offsets, long tokens, long err);

  /** {@code rcap_partition_indices}, slot 93. */
  int rcap_partition_indices(long layout, Span offsets, Span indices, long err);

  /** {@code rcap_partition_split}, slot 94. */
  int rcap_partition_split(long layout, Span offsets, long itemBytes, Span whole, Span part, long err);

  /** {@code rcap_partition_gather}, slot 95. */
  int rcap_partition_gather(long layout, Span offsets, long itemBytes, Span parts, Span whole, long err);

  /** {@code rcap_stage_layers}, slot 96. */
  int rcap_stage_layers(int numLayers, int ppSize, int ppRank, int vpSize, int vpRank, int firstLayers, int lastLayers, Span moeLayers, Span
      layerIds, long needed, long err);

  /** {@code rcap_layers_split}, slot 97. */
  int rcap_layers_split(Span layerIds, Span selected, long tokens, long itemBytes, int order, Span whole, Span part, long err);

  /** {@code rcap_layers_gather}, slot 98. */
  int rcap_layers_gather(Span layerIds, Span selected, long tokens, long itemBytes, int order, Span part, Span whole, long err);
}
