// Generated from capi/abi/api.json by bindings/swig/java_types.py; do not edit.
// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.internal.jni;

import io.github.routecap.internal.NativeApi;
import io.github.routecap.internal.Span;
import java.nio.ByteBuffer;

/** The C API through JNI: SWIG's functions behind the interface. */
public final class JniApi implements NativeApi {
  private final String origin;

  /** For a process whose JNI library has been loaded. */
  public JniApi(String origin) {
    this.origin = origin;
  }

  @Override
  public String kind() {
    return "jni";
  }

  @Override
  public String origin() {
    return origin;
  }

  @Override
  public long address(ByteBuffer direct) {
    return routecap.rcap_java_address(direct);
  }

  @Override
  public ByteBuffer view(long address, long bytes) {
    return routecap.rcap_java_view(address, bytes);
  }

  @Override
  public void rcap_error_init(long value, long structSize) {
    routecap.rcap_error_init(value, structSize);
  }

  @Override
  public void rcap_build_info_init(long value, long structSize) {
    routecap.rcap_build_info_init(value, structSize);
  }

  @Override
  public String rcap_version_string() {
    return routecap.rcap_version_string();
  }

  @Override
  public int rcap_abi_version() {
    return routecap.rcap_abi_version();
  }

  @Override
  public String rcap_status_name(int status) {
    return routecap.rcap_status_name(status);
  }

  @Override
  public int rcap_build_info_get(long info, long err) {
    return routecap.rcap_build_info_get(info, err);
  }

  @Override
  public int rcap_layout_rows(int kind, Span tokensPerRank, long dpRank, long attnTpSize, long attnTpRank, long paddedTokensPerRank, long
      firstRow, long tokens, long err) {
    return routecap.rcap_layout_rows(kind, tokensPerRank, dpRank, attnTpSize, attnTpRank, paddedTokensPerRank, firstRow, tokens, err);
  }

  @Override
  public void rcap_backend_options_init(long value, long structSize) {
    routecap.rcap_backend_options_init(value, structSize);
  }

  @Override
  public void rcap_backend_info_init(long value, long structSize) {
    routecap.rcap_backend_info_init(value, structSize);
  }

  @Override
  public int rcap_backend_open(long name, long options, long backend, long err) {
    return routecap.rcap_backend_open(name, options, backend, err);
  }

  @Override
  public int rcap_backend_describe(long self, long info, long err) {
    return routecap.rcap_backend_describe(self, info, err);
  }

  @Override
  public void rcap_backend_destroy(long self) {
    routecap.rcap_backend_destroy(self);
  }

  @Override
  public void rcap_capturer_config_init(long value, long structSize) {
    routecap.rcap_capturer_config_init(value, structSize);
  }

  @Override
  public void rcap_capturer_plan_init(long value, long structSize) {
    routecap.rcap_capturer_plan_init(value, structSize);
  }

  @Override
  public void rcap_tap_options_init(long value, long structSize) {
    routecap.rcap_tap_options_init(value, structSize);
  }

  @Override
  public void rcap_capture_layout_init(long value, long structSize) {
    routecap.rcap_capture_layout_init(value, structSize);
  }

  @Override
  public void rcap_capturer_stats_init(long value, long structSize) {
    routecap.rcap_capturer_stats_init(value, structSize);
  }

  @Override
  public int rcap_capturer_plan_get(long config, Span layerIds, long plan, long err) {
    return routecap.rcap_capturer_plan_get(config, layerIds, plan, err);
  }

  @Override
  public int rcap_capturer_create(long config, Span layerIds, long backend, long capturer, long err) {
    return routecap.rcap_capturer_create(config, layerIds, backend, capturer, err);
  }

  @Override
  public void rcap_capturer_destroy(long self) {
    routecap.rcap_capturer_destroy(self);
  }

  @Override
  public int rcap_capturer_add_model(long self, int role, long name, long model, long err) {
    return routecap.rcap_capturer_add_model(self, role, name, model, err);
  }

  @Override
  public int rcap_model_set_capture(long self, int gate, long err) {
    return routecap.rcap_model_set_capture(self, gate, err);
  }

  @Override
  public int rcap_model_add_tap(long self, int layerNumber, long options, Span idMap, long tap, long err) {
    return routecap.rcap_model_add_tap(self, layerNumber, options, idMap, tap, err);
  }

  @Override
  public int rcap_capturer_seal(long self, long err) {
    return routecap.rcap_capturer_seal(self, err);
  }

  @Override
  public int rcap_tap_capture(long self, long layout, Span ids, Span weights, Span rowIds, long stream, long err) {
    return routecap.rcap_tap_capture(self, layout, ids, weights, rowIds, stream, err);
  }

  @Override
  public int rcap_tap_is_enabled(long self, long err) {
    return routecap.rcap_tap_is_enabled(self, err);
  }

  @Override
  public int rcap_tap_id(long self, long err) {
    return routecap.rcap_tap_id(self, err);
  }

  @Override
  public int rcap_capturer_tap(long self, int tapId, long tap, long err) {
    return routecap.rcap_capturer_tap(self, tapId, tap, err);
  }

  @Override
  public int rcap_capturer_stats_get(long self, long stats, long err) {
    return routecap.rcap_capturer_stats_get(self, stats, err);
  }

  @Override
  public void rcap_forward_layout_init(long value, long structSize) {
    routecap.rcap_forward_layout_init(value, structSize);
  }

  @Override
  public void rcap_accept_layout_init(long value, long structSize) {
    routecap.rcap_accept_layout_init(value, structSize);
  }

  @Override
  public void rcap_summary_init(long value, long structSize) {
    routecap.rcap_summary_init(value, structSize);
  }

  @Override
  public int rcap_capturer_end_forward(long self, long layout, Span slots, Span rows, Span tags, long stream, long output, long err) {
    return routecap.rcap_capturer_end_forward(self, layout, slots, rows, tags, stream, output, err);
  }

  @Override
  public int rcap_capturer_discard_forward(long self, long stream, long err) {
    return routecap.rcap_capturer_discard_forward(self, stream, err);
  }

  @Override
  public long rcap_output_sequence(long self, long err) {
    return routecap.rcap_output_sequence(self, err);
  }

  @Override
  public int rcap_output_accept(long self, long layout, Span rows, Span slots, long stream, long err) {
    return routecap.rcap_output_accept(self, layout, rows, slots, stream, err);
  }

  @Override
  public int rcap_output_device_rows(long self, long data, long bytes, long err) {
    return routecap.rcap_output_device_rows(self, data, bytes, err);
  }

  @Override
  public int rcap_output_copy_to_host(long self, long stream, long err) {
    return routecap.rcap_output_copy_to_host(self, stream, err);
  }

  @Override
  public int rcap_output_ready(long self, long err) {
    return routecap.rcap_output_ready(self, err);
  }

  @Override
  public int rcap_output_wait(long self, long timeoutNanos, long err) {
    return routecap.rcap_output_wait(self, timeoutNanos, err);
  }

  @Override
  public int rcap_output_finalize(long self, long summary, long err) {
    return routecap.rcap_output_finalize(self, summary, err);
  }

  @Override
  public void rcap_output_destroy(long self) {
    routecap.rcap_output_destroy(self);
  }

  @Override
  public int rcap_capturer_completion_fd(long self, long fd, long err) {
    return routecap.rcap_capturer_completion_fd(self, fd, err);
  }

  @Override
  public int rcap_capturer_next_completed(long self, long timeoutNanos, long sequence, long status, long err) {
    return routecap.rcap_capturer_next_completed(self, timeoutNanos, sequence, status, err);
  }

  @Override
  public void rcap_slots_layout_init(long value, long structSize) {
    routecap.rcap_slots_layout_init(value, structSize);
  }

  @Override
  public void rcap_slot_info_init(long value, long structSize) {
    routecap.rcap_slot_info_init(value, structSize);
  }

  @Override
  public int rcap_capturer_release_slots(long self, long layout, Span slots, long stream, long err) {
    return routecap.rcap_capturer_release_slots(self, layout, slots, stream, err);
  }

  @Override
  public int rcap_capturer_release_all(long self, long stream, long err) {
    return routecap.rcap_capturer_release_all(self, stream, err);
  }

  @Override
  public int rcap_capturer_copy_slots(long self, long layout, Span from, Span to, long stream, long err) {
    return routecap.rcap_capturer_copy_slots(self, layout, from, to, stream, err);
  }

  @Override
  public int rcap_capturer_slot_info_get(long self, long slot, long info, long err) {
    return routecap.rcap_capturer_slot_info_get(self, slot, info, err);
  }

  @Override
  public void rcap_read_layout_init(long value, long structSize) {
    routecap.rcap_read_layout_init(value, structSize);
  }

  @Override
  public void rcap_read_info_init(long value, long structSize) {
    routecap.rcap_read_info_init(value, structSize);
  }

  @Override
  public int rcap_capturer_read(long self, long layout, Span slots, Span tags, long record, long err) {
    return routecap.rcap_capturer_read(self, layout, slots, tags, record, err);
  }

  @Override
  public int rcap_capturer_read_into(long self, long layout, Span slots, Span tags, Span ids, Span weights, Span validity, long info, long
      err) {
    return routecap.rcap_capturer_read_into(self, layout, slots, tags, ids, weights, validity, info, err);
  }

  @Override
  public void rcap_record_layout_init(long value, long structSize) {
    routecap.rcap_record_layout_init(value, structSize);
  }

  @Override
  public void rcap_record_info_init(long value, long structSize) {
    routecap.rcap_record_info_init(value, structSize);
  }

  @Override
  public int rcap_record_create(long layout, Span layerIds, Span layerFlags, Span ids, Span weights, Span validity, long record, long err) {
    return routecap.rcap_record_create(layout, layerIds, layerFlags, ids, weights, validity, record, err);
  }

  @Override
  public void rcap_record_destroy(long self) {
    routecap.rcap_record_destroy(self);
  }

  @Override
  public int rcap_record_info_get(long self, long info, long err) {
    return routecap.rcap_record_info_get(self, info, err);
  }

  @Override
  public int rcap_record_ids(long self, long data, long bytes, long err) {
    return routecap.rcap_record_ids(self, data, bytes, err);
  }

  @Override
  public int rcap_record_weights(long self, long data, long bytes, long err) {
    return routecap.rcap_record_weights(self, data, bytes, err);
  }

  @Override
  public int rcap_record_row_validity(long self, long data, long bytes, long err) {
    return routecap.rcap_record_row_validity(self, data, bytes, err);
  }

  @Override
  public int rcap_record_cell_validity(long self, long data, long bytes, long err) {
    return routecap.rcap_record_cell_validity(self, data, bytes, err);
  }

  @Override
  public int rcap_record_layer_ids(long self, long data, long count, long err) {
    return routecap.rcap_record_layer_ids(self, data, count, err);
  }

  @Override
  public int rcap_record_layer_flags(long self, long data, long count, long err) {
    return routecap.rcap_record_layer_flags(self, data, count, err);
  }

  @Override
  public int rcap_record_version_spans(long self, long starts, long versions, long count, long err) {
    return routecap.rcap_record_version_spans(self, starts, versions, count, err);
  }

  @Override
  public int rcap_record_slice(long self, long start, long end, long record, long err) {
    return routecap.rcap_record_slice(self, start, end, record, err);
  }

  @Override
  public void rcap_compare_report_init(long value, long structSize) {
    routecap.rcap_compare_report_init(value, structSize);
  }

  @Override
  public int rcap_record_append(long self, long next, int overlap, long record, long err) {
    return routecap.rcap_record_append(self, next, overlap, record, err);
  }

  @Override
  public int rcap_record_merge(long self, long decode, long boundary, long record, long err) {
    return routecap.rcap_record_merge(self, decode, boundary, record, err);
  }

  @Override
  public int rcap_record_truncate(long self, long tokens, int flags, long record, long err) {
    return routecap.rcap_record_truncate(self, tokens, flags, record, err);
  }

  @Override
  public int rcap_record_stack(long self, long other, long record, long err) {
    return routecap.rcap_record_stack(self, other, record, err);
  }

  @Override
  public int rcap_record_interleave(long self, Span positions, long other, Span otherPositions, long record, long err) {
    return routecap.rcap_record_interleave(self, positions, other, otherPositions, record, err);
  }

  @Override
  public int rcap_record_to_full_axis(long self, int numLayers, int fill, int fillId, long record, long err) {
    return routecap.rcap_record_to_full_axis(self, numLayers, fill, fillId, record, err);
  }

  @Override
  public int rcap_record_to_compact(long self, Span layerIds, long record, long err) {
    return routecap.rcap_record_to_compact(self, layerIds, record, err);
  }

  @Override
  public int rcap_record_compare(long self, long other, long report, Span byLayer, long err) {
    return routecap.rcap_record_compare(self, other, report, byLayer, err);
  }

  @Override
  public void rcap_encode_options_init(long value, long structSize) {
    routecap.rcap_encode_options_init(value, structSize);
  }

  @Override
  public void rcap_decode_hints_init(long value, long structSize) {
    routecap.rcap_decode_hints_init(value, structSize);
  }

  @Override
  public String rcap_wire_format_name(int format) {
    return routecap.rcap_wire_format_name(format);
  }

  @Override
  public int rcap_wire_format_of(long name, long format, long err) {
    return routecap.rcap_wire_format_of(name, format, err);
  }

  @Override
  public int rcap_wire_detect(Span bytes, long format, long err) {
    return routecap.rcap_wire_detect(bytes, format, err);
  }

  @Override
  public int rcap_record_encode(long self, int format, long options, Span buffer, long needed, long err) {
    return routecap.rcap_record_encode(self, format, options, buffer, needed, err);
  }

  @Override
  public int rcap_record_decode(int format, Span bytes, long hints, Span layerIds, long record, long consumed, long err) {
    return routecap.rcap_record_decode(format, bytes, hints, layerIds, record, consumed, err);
  }

  @Override
  public int rcap_capturer_encode(long self, long layout, Span slots, Span tags, int format, long options, Span buffer, long needed, long
      err) {
    return routecap.rcap_capturer_encode(self, layout, slots, tags, format, options, buffer, needed, err);
  }

  @Override
  public int rcap_backend_search(long name, Span text, long needed, long err) {
    return routecap.rcap_backend_search(name, text, needed, err);
  }

  @Override
  public void rcap_fill_layout_init(long value, long structSize) {
    routecap.rcap_fill_layout_init(value, structSize);
  }

  @Override
  public void rcap_partition_layout_init(long value, long structSize) {
    routecap.rcap_partition_layout_init(value, structSize);
  }

  @Override
  public int rcap_record_fill(long self, long layout, Span layerIds, Span positions, Span ids, Span rowMask, Span cellMask, long filled,
      long err) {
    return routecap.rcap_record_fill(self, layout, layerIds, positions, ids, rowMask, cellMask, filled, err);
  }

  @Override
  public int rcap_pack_offsets(Span lengths, long multiple, Span offsets, long err) {
    return routecap.rcap_pack_offsets(lengths, multiple, offsets, err);
  }

  @Override
  public int rcap_pack_pad(Span lengths, Span offsets, long itemBytes, Span pad, Span tokens, Span packed, long err) {
    return routecap.rcap_pack_pad(lengths, offsets, itemBytes, pad, tokens, packed, err);
  }

  @Override
  public int rcap_pack_strip(Span lengths, Span offsets, long itemBytes, Span packed, Span tokens, long err) {
    return routecap.rcap_pack_strip(lengths, offsets, itemBytes, packed, tokens, err);
  }

  @Override
  public int rcap_partition_multiple(long layout, long multiple, long err) {
    return routecap.rcap_partition_multiple(layout, multiple, err);
  }

  @Override
  public int rcap_partition_tokens(long layout, Span offsets, long tokens, long err) {
    return routecap.rcap_partition_tokens(layout, offsets, tokens, err);
  }

  @Override
  public int rcap_partition_indices(long layout, Span offsets, Span indices, long err) {
    return routecap.rcap_partition_indices(layout, offsets, indices, err);
  }

  @Override
  public int rcap_partition_split(long layout, Span offsets, long itemBytes, Span whole, Span part, long err) {
    return routecap.rcap_partition_split(layout, offsets, itemBytes, whole, part, err);
  }

  @Override
  public int rcap_partition_gather(long layout, Span offsets, long itemBytes, Span parts, Span whole, long err) {
    return routecap.rcap_partition_gather(layout, offsets, itemBytes, parts, whole, err);
  }

  @Override
  public int rcap_stage_layers(int numLayers, int ppSize, int ppRank, int vpSize, int vpRank, int firstLayers, int lastLayers, Span
      moeLayers, Span layerIds, long needed, long err) {
    return routecap.rcap_stage_layers(numLayers, ppSize, ppRank, vpSize, vpRank, firstLayers, lastLayers, moeLayers, layerIds, needed, err);
  }

  @Override
  public int rcap_layers_split(Span layerIds, Span selected, long tokens, long itemBytes, int order, Span whole, Span part, long err) {
    return routecap.rcap_layers_split(layerIds, selected, tokens, itemBytes, order, whole, part, err);
  }

  @Override
  public int rcap_layers_gather(Span layerIds, Span selected, long tokens, long itemBytes, int order, Span part, Span whole, long err) {
    return routecap.rcap_layers_gather(layerIds, selected, tokens, itemBytes, order, part, whole, err);
  }
}
