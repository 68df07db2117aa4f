// Generated from capi/abi/api.json by bindings/swig/java_types.py; do not edit.
// SPDX-License-Identifier: Apache-2.0
package io.github.routecap.internal;

/** Size and offsets of every struct of the C API, in bytes. */
public final class Layouts {
  private Layouts() {}

  /** {@code rcap_error}. */
  public static final class Error {
    private Error() {}

    /** Bytes of the struct. */
    public static final int SIZE = 256;

    /** {@code struct_size}. */
    public static final int STRUCT_SIZE = 0;

    /** {@code code}. */
    public static final int CODE = 8;

    /** {@code reserved}. */
    public static final int RESERVED = 12;

    /** {@code detail}. */
    public static final int DETAIL = 16;

    /** {@code text}. */
    public static final int TEXT = 24;
  }

  /** {@code rcap_build_info}. */
  public static final class BuildInfo {
    private BuildInfo() {}

    /** Bytes of the struct. */
    public static final int SIZE = 256;

    /** {@code struct_size}. */
    public static final int STRUCT_SIZE = 0;

    /** {@code abi_version}. */
    public static final int ABI_VERSION = 8;

    /** {@code reserved}. */
    public static final int RESERVED = 12;

    /** {@code version}. */
    public static final int VERSION = 16;

    /** {@code compiler}. */
    public static final int COMPILER = 48;

    /** {@code simd}. */
    public static final int SIMD = 112;

    /** {@code features}. */
    public static final int FEATURES = 128;
  }

  /** {@code rcap_backend_options}. */
  public static final class BackendOptions {
    private BackendOptions() {}

    /** Bytes of the struct. */
    public static final int SIZE = 16;

    /** {@code struct_size}. */
    public static final int STRUCT_SIZE = 0;

    /** {@code device_ordinal}. */
    public static final int DEVICE_ORDINAL = 8;

    /** {@code threads}. */
    public static final int THREADS = 12;
  }

  /** {@code rcap_backend_info}. */
  public static final class BackendInfo {
    private BackendInfo() {}

    /** Bytes of the struct. */
    public static final int SIZE = 240;

    /** {@code struct_size}. */
    public static final int STRUCT_SIZE = 0;

    /** {@code device_ordinal}. */
    public static final int DEVICE_ORDINAL = 8;

    /** {@code threads}. */
    public static final int THREADS = 12;

    /** {@code host_memory}. */
    public static final int HOST_MEMORY = 16;

    /** {@code reserved}. */
    public static final int RESERVED = 20;

    /** {@code name}. */
    public static final int NAME = 24;

    /** {@code description}. */
    public static final int DESCRIPTION = 56;

    /** {@code device_bytes}. */
    public static final int DEVICE_BYTES = 184;

    /** {@code pinned_bytes}. */
    public static final int PINNED_BYTES = 192;

    /** {@code captures}. */
    public static final int CAPTURES = 200;

    /** {@code snapshots}. */
    public static final int SNAPSHOTS = 208;

    /** {@code copies}. */
    public static final int COPIES = 216;

    /** {@code copied_bytes}. */
    public static final int COPIED_BYTES = 224;

    /** {@code lost}. */
    public static final int LOST = 232;

    /** {@code reserved2}. */
    public static final int RESERVED2 = 236;
  }

  /** {@code rcap_capturer_config}. */
  public static final class CapturerConfig {
    private CapturerConfig() {}

    /** Bytes of the struct. */
    public static final int SIZE = 136;

    /** {@code struct_size}. */
    public static final int STRUCT_SIZE = 0;

    /** {@code num_experts}. */
    public static final int NUM_EXPERTS = 8;

    /** {@code top_k}. */
    public static final int TOP_K = 12;

    /** {@code num_fused_shared_experts}. */
    public static final int NUM_FUSED_SHARED_EXPERTS = 16;

    /** {@code weights_dtype}. */
    public static final int WEIGHTS_DTYPE = 20;

    /** {@code weights_kind}. */
    public static final int WEIGHTS_KIND = 24;

    /** {@code check_level}. */
    public static final int CHECK_LEVEL = 28;

    /** {@code finalize_mode}. */
    public static final int FINALIZE_MODE = 32;

    /** {@code busy_policy}. */
    public static final int BUSY_POLICY = 36;

    /** {@code tags}. */
    public static final int TAGS = 40;

    /** {@code pipeline_depth}. */
    public static final int PIPELINE_DEPTH = 44;

    /** {@code chunked_prefill_size}. */
    public static final int CHUNKED_PREFILL_SIZE = 48;

    /** {@code max_forward_tokens}. */
    public static final int MAX_FORWARD_TOKENS = 56;

    /** {@code max_running_requests}. */
    public static final int MAX_RUNNING_REQUESTS = 64;

    /** {@code num_verify_tokens}. */
    public static final int NUM_VERIFY_TOKENS = 72;

    /** {@code max_graph_tokens}. */
    public static final int MAX_GRAPH_TOKENS = 80;

    /** {@code dp_size}. */
    public static final int DP_SIZE = 88;

    /** {@code attn_tp_size}. */
    public static final int ATTN_TP_SIZE = 96;

    /** {@code num_slots}. */
    public static final int NUM_SLOTS = 104;

    /** {@code page_size}. */
    public static final int PAGE_SIZE = 112;

    /** {@code reserved_slots}. */
    public static final int RESERVED_SLOTS = 120;

    /** {@code busy_timeout_ns}. */
    public static final int BUSY_TIMEOUT_NS = 128;
  }

  /** {@code rcap_capturer_plan}. */
  public static final class CapturerPlan {
    private CapturerPlan() {}

    /** Bytes of the struct. */
    public static final int SIZE = 80;

    /** {@code struct_size}. */
    public static final int STRUCT_SIZE = 0;

    /** {@code device_rows}. */
    public static final int DEVICE_ROWS = 8;

    /** {@code rows_term}. */
    public static final int ROWS_TERM = 16;

    /** {@code ids_dtype}. */
    public static final int IDS_DTYPE = 20;

    /** {@code num_layers}. */
    public static final int NUM_LAYERS = 24;

    /** {@code reserved}. */
    public static final int RESERVED = 28;

    /** {@code device_bytes}. */
    public static final int DEVICE_BYTES = 32;

    /** {@code pinned_bytes}. */
    public static final int PINNED_BYTES = 40;

    /** {@code store_bytes}. */
    public static final int STORE_BYTES = 48;

    /** {@code slot_ids_bytes}. */
    public static final int SLOT_IDS_BYTES = 56;

    /** {@code slot_payload_bytes}. */
    public static final int SLOT_PAYLOAD_BYTES = 64;

    /** {@code slot_bytes}. */
    public static final int SLOT_BYTES = 72;
  }

  /** {@code rcap_tap_options}. */
  public static final class TapOptions {
    private TapOptions() {}

    /** Bytes of the struct. */
    public static final int SIZE = 24;

    /** {@code struct_size}. */
    public static final int STRUCT_SIZE = 0;

    /** {@code flags}. */
    public static final int FLAGS = 8;

    /** {@code id_map_dtype}. */
    public static final int ID_MAP_DTYPE = 12;

    /** {@code id_map_memory}. */
    public static final int ID_MAP_MEMORY = 16;

    /** {@code reserved}. */
    public static final int RESERVED = 20;
  }

  /** {@code rcap_capture_layout}. */
  public static final class CaptureLayout {
    private CaptureLayout() {}

    /** Bytes of the struct. */
    public static final int SIZE = 56;

    /** {@code struct_size}. */
    public static final int STRUCT_SIZE = 0;

    /** {@code ids_dtype}. */
    public static final int IDS_DTYPE = 8;

    /** {@code weights_dtype}. */
    public static final int WEIGHTS_DTYPE = 12;

    /** {@code memory}. */
    public static final int MEMORY = 16;

    /** {@code columns}. */
    public static final int COLUMNS = 20;

    /** {@code tokens}. */
    public static final int TOKENS = 24;

    /** {@code first_row}. */
    public static final int FIRST_ROW = 32;

    /** {@code ids_row_stride}. */
    public static final int IDS_ROW_STRIDE = 40;

    /** {@code weights_row_stride}. */
    public static final int WEIGHTS_ROW_STRIDE = 48;
  }

  /** {@code rcap_capturer_stats}. */
  public static final class CapturerStats {
    private CapturerStats() {}

    /** Bytes of the struct. */
    public static final int SIZE = 144;

    /** {@code struct_size}. */
    public static final int STRUCT_SIZE = 0;

    /** {@code suppressed}. */
    public static final int SUPPRESSED = 8;

    /** {@code forwards}. */
    public static final int FORWARDS = 16;

    /** {@code discarded_forwards}. */
    public static final int DISCARDED_FORWARDS = 24;

    /** {@code busy}. */
    public static final int BUSY = 32;

    /** {@code finalized}. */
    public static final int FINALIZED = 40;

    /** {@code dropped}. */
    public static final int DROPPED = 48;

    /** {@code rows_stored}. */
    public static final int ROWS_STORED = 56;

    /** {@code rows_bad}. */
    public static final int ROWS_BAD = 64;

    /** {@code rows_outdated}. */
    public static final int ROWS_OUTDATED = 72;

    /** {@code rows_reserved}. */
    public static final int ROWS_RESERVED = 80;

    /** {@code rows_rejected}. */
    public static final int ROWS_REJECTED = 88;

    /** {@code slots_released}. */
    public static final int SLOTS_RELEASED = 96;

    /** {@code slots_copied}. */
    public static final int SLOTS_COPIED = 104;

    /** {@code copies_pending}. */
    public static final int COPIES_PENDING = 112;

    /** {@code in_flight}. */
    public static final int IN_FLIGHT = 120;

    /** {@code last_sequence}. */
    public static final int LAST_SEQUENCE = 128;

    /** {@code rows_stray}. */
    public static final int ROWS_STRAY = 136;
  }

  /** {@code rcap_forward_layout}. */
  public static final class ForwardLayout {
    private ForwardLayout() {}

    /** Bytes of the struct. */
    public static final int SIZE = 96;

    /** {@code struct_size}. */
    public static final int STRUCT_SIZE = 0;

    /** {@code first_row}. */
    public static final int FIRST_ROW = 8;

    /** {@code tokens}. */
    public static final int TOKENS = 16;

    /** {@code acceptance}. */
    public static final int ACCEPTANCE = 24;

    /** {@code slots_dtype}. */
    public static final int SLOTS_DTYPE = 28;

    /** {@code rows_dtype}. */
    public static final int ROWS_DTYPE = 32;

    /** {@code slots_memory}. */
    public static final int SLOTS_MEMORY = 36;

    /** {@code rows_memory}. */
    public static final int ROWS_MEMORY = 40;

    /** {@code tags_memory}. */
    public static final int TAGS_MEMORY = 44;

    /** {@code groups}. */
    public static final int GROUPS = 48;

    /** {@code group_width}. */
    public static final int GROUP_WIDTH = 56;

    /** {@code slots_group_stride}. */
    public static final int SLOTS_GROUP_STRIDE = 64;

    /** {@code rows_group_stride}. */
    public static final int ROWS_GROUP_STRIDE = 72;

    /** {@code step}. */
    public static final int STEP = 80;

    /** {@code weight_version}. */
    public static final int WEIGHT_VERSION = 88;
  }

  /** {@code rcap_accept_layout}. */
  public static final class AcceptLayout {
    private AcceptLayout() {}

    /** Bytes of the struct. */
    public static final int SIZE = 56;

    /** {@code struct_size}. */
    public static final int STRUCT_SIZE = 0;

    /** {@code slots_dtype}. */
    public static final int SLOTS_DTYPE = 8;

    /** {@code rows_dtype}. */
    public static final int ROWS_DTYPE = 12;

    /** {@code slots_memory}. */
    public static final int SLOTS_MEMORY = 16;

    /** {@code rows_memory}. */
    public static final int ROWS_MEMORY = 20;

    /** {@code groups}. */
    public static final int GROUPS = 24;

    /** {@code group_width}. */
    public static final int GROUP_WIDTH = 32;

    /** {@code slots_group_stride}. */
    public static final int SLOTS_GROUP_STRIDE = 40;

    /** {@code rows_group_stride}. */
    public static final int ROWS_GROUP_STRIDE = 48;
  }

  /** {@code rcap_summary}. */
  public static final class Summary {
    private Summary() {}

    /** Bytes of the struct. */
    public static final int SIZE = 136;

    /** {@code struct_size}. */
    public static final int STRUCT_SIZE = 0;

    /** {@code sequence}. */
    public static final int SEQUENCE = 8;

    /** {@code step}. */
    public static final int STEP = 16;

    /** {@code entries}. */
    public static final int ENTRIES = 24;

    /** {@code rows_stored}. */
    public static final int ROWS_STORED = 32;

    /** {@code rows_bad}. */
    public static final int ROWS_BAD = 40;

    /** {@code rows_outdated}. */
    public static final int ROWS_OUTDATED = 48;

    /** {@code rows_reserved}. */
    public static final int ROWS_RESERVED = 56;

    /** {@code rows_rejected}. */
    public static final int ROWS_REJECTED = 64;

    /** {@code first_bad_fault}. */
    public static final int FIRST_BAD_FAULT = 72;

    /** {@code first_bad_layer}. */
    public static final int FIRST_BAD_LAYER = 76;

    /** {@code first_bad_row}. */
    public static final int FIRST_BAD_ROW = 80;

    /** {@code first_bad_slot}. */
    public static final int FIRST_BAD_SLOT = 88;

    /** {@code layers_bad}. */
    public static final int LAYERS_BAD = 96;

    /** {@code first_bad_layer_number}. */
    public static final int FIRST_BAD_LAYER_NUMBER = 100;

    /** {@code layer_rows_captured}. */
    public static final int LAYER_ROWS_CAPTURED = 104;

    /** {@code layer_rows_expected}. */
    public static final int LAYER_ROWS_EXPECTED = 112;

    /** {@code rows_stray}. */
    public static final int ROWS_STRAY = 120;

    /** {@code first_stray_layer}. */
    public static final int FIRST_STRAY_LAYER = 128;

    /** {@code reserved}. */
    public static final int RESERVED = 132;
  }

  /** {@code rcap_slots_layout}. */
  public static final class SlotsLayout {
    private SlotsLayout() {}

    /** Bytes of the struct. */
    public static final int SIZE = 24;

    /** {@code struct_size}. */
    public static final int STRUCT_SIZE = 0;

    /** {@code slots_dtype}. */
    public static final int SLOTS_DTYPE = 8;

    /** {@code memory}. */
    public static final int MEMORY = 12;

    /** {@code unit}. */
    public static final int UNIT = 16;

    /** {@code reserved}. */
    public static final int RESERVED = 20;
  }

  /** {@code rcap_slot_info}. */
  public static final class SlotInfo {
    private SlotInfo() {}

    /** Bytes of the struct. */
    public static final int SIZE = 48;

    /** {@code struct_size}. */
    public static final int STRUCT_SIZE = 0;

    /** {@code sequence}. */
    public static final int SEQUENCE = 8;

    /** {@code row_sequence}. */
    public static final int ROW_SEQUENCE = 16;

    /** {@code weight_version}. */
    public static final int WEIGHT_VERSION = 24;

    /** {@code tag}. */
    public static final int TAG = 32;

    /** {@code valid}. */
    public static final int VALID = 40;

    /** {@code reserved_slot}. */
    public static final int RESERVED_SLOT = 44;
  }

  /** {@code rcap_read_layout}. */
  public static final class ReadLayout {
    private ReadLayout() {}

    /** Bytes of the struct. */
    public static final int SIZE = 56;

    /** {@code struct_size}. */
    public static final int STRUCT_SIZE = 0;

    /** {@code slots_dtype}. */
    public static final int SLOTS_DTYPE = 8;

    /** {@code unit}. */
    public static final int UNIT = 12;

    /** {@code flags}. */
    public static final int FLAGS = 16;

    /** {@code reserved}. */
    public static final int RESERVED = 20;

    /** {@code tokens}. */
    public static final int TOKENS = 24;

    /** {@code start}. */
    public static final int START = 32;

    /** {@code after_sequence}. */
    public static final int AFTER_SEQUENCE = 40;

    /** {@code timeout_ns}. */
    public static final int TIMEOUT_NS = 48;
  }

  /** {@code rcap_read_info}. */
  public static final class ReadInfo {
    private ReadInfo() {}

    /** Bytes of the struct. */
    public static final int SIZE = 96;

    /** {@code struct_size}. */
    public static final int STRUCT_SIZE = 0;

    /** {@code start}. */
    public static final int START = 8;

    /** {@code rows}. */
    public static final int ROWS = 16;

    /** {@code rows_valid}. */
    public static final int ROWS_VALID = 24;

    /** {@code num_layers}. */
    public static final int NUM_LAYERS = 32;

    /** {@code top_k}. */
    public static final int TOP_K = 36;

    /** {@code ids_dtype}. */
    public static final int IDS_DTYPE = 40;

    /** {@code weights_dtype}. */
    public static final int WEIGHTS_DTYPE = 44;

    /** {@code ids_bytes}. */
    public static final int IDS_BYTES = 48;

    /** {@code weights_bytes}. */
    public static final int WEIGHTS_BYTES = 56;

    /** {@code row_validity_bytes}. */
    public static final int ROW_VALIDITY_BYTES = 64;

    /** {@code cell_validity_bytes}. */
    public static final int CELL_VALIDITY_BYTES = 72;

    /** {@code weight_version_min}. */
    public static final int WEIGHT_VERSION_MIN = 80;

    /** {@code weight_version_max}. */
    public static final int WEIGHT_VERSION_MAX = 88;
  }

  /** {@code rcap_record_layout}. */
  public static final class RecordLayout {
    private RecordLayout() {}

    /** Bytes of the struct. */
    public static final int SIZE = 48;

    /** {@code struct_size}. */
    public static final int STRUCT_SIZE = 0;

    /** {@code start}. */
    public static final int START = 8;

    /** {@code rows}. */
    public static final int ROWS = 16;

    /** {@code num_experts}. */
    public static final int NUM_EXPERTS = 24;

    /** {@code top_k}. */
    public static final int TOP_K = 28;

    /** {@code weights_dtype}. */
    public static final int WEIGHTS_DTYPE = 32;

    /** {@code weights_kind}. */
    public static final int WEIGHTS_KIND = 36;

    /** {@code weight_version}. */
    public static final int WEIGHT_VERSION = 40;
  }

  /** {@code rcap_record_info}. */
  public static final class RecordInfo {
    private RecordInfo() {}

    /** Bytes of the struct. */
    public static final int SIZE = 72;

    /** {@code struct_size}. */
    public static final int STRUCT_SIZE = 0;

    /** {@code start}. */
    public static final int START = 8;

    /** {@code rows}. */
    public static final int ROWS = 16;

    /** {@code rows_valid}. */
    public static final int ROWS_VALID = 24;

    /** {@code num_layers}. */
    public static final int NUM_LAYERS = 32;

    /** {@code top_k}. */
    public static final int TOP_K = 36;

    /** {@code num_experts}. */
    public static final int NUM_EXPERTS = 40;

    /** {@code ids_dtype}. */
    public static final int IDS_DTYPE = 44;

    /** {@code weights_dtype}. */
    public static final int WEIGHTS_DTYPE = 48;

    /** {@code weights_kind}. */
    public static final int WEIGHTS_KIND = 52;

    /** {@code has_cell_validity}. */
    public static final int HAS_CELL_VALIDITY = 56;

    /** {@code reserved}. */
    public static final int RESERVED = 60;

    /** {@code version_spans}. */
    public static final int VERSION_SPANS = 64;
  }

  /** {@code rcap_compare_report}. */
  public static final class CompareReport {
    private CompareReport() {}

    /** Bytes of the struct. */
    public static final int SIZE = 120;

    /** {@code struct_size}. */
    public static final int STRUCT_SIZE = 0;

    /** {@code equal}. */
    public static final int EQUAL = 8;

    /** {@code same_shape}. */
    public static final int SAME_SHAPE = 12;

    /** {@code start}. */
    public static final int START = 16;

    /** {@code rows}. */
    public static final int ROWS = 24;

    /** {@code rows_only_first}. */
    public static final int ROWS_ONLY_FIRST = 32;

    /** {@code rows_only_second}. */
    public static final int ROWS_ONLY_SECOND = 40;

    /** {@code cells}. */
    public static final int CELLS = 48;

    /** {@code cells_only_first}. */
    public static final int CELLS_ONLY_FIRST = 56;

    /** {@code cells_only_second}. */
    public static final int CELLS_ONLY_SECOND = 64;

    /** {@code cells_differ}. */
    public static final int CELLS_DIFFER = 72;

    /** {@code cells_differ_as_sets}. */
    public static final int CELLS_DIFFER_AS_SETS = 80;

    /** {@code cells_differ_in_weights}. */
    public static final int CELLS_DIFFER_IN_WEIGHTS = 88;

    /** {@code rows_differ_in_version}. */
    public static final int ROWS_DIFFER_IN_VERSION = 96;

    /** {@code first_row}. */
    public static final int FIRST_ROW = 104;

    /** {@code first_layer}. */
    public static final int FIRST_LAYER = 112;

    /** {@code reserved}. */
    public static final int RESERVED = 116;
  }

  /** {@code rcap_fill_layout}. */
  public static final class FillLayout {
    private FillLayout() {}

    /** Bytes of the struct. */
    public static final int SIZE = 56;

    /** {@code struct_size}. */
    public static final int STRUCT_SIZE = 0;

    /** {@code start}. */
    public static final int START = 8;

    /** {@code tokens}. */
    public static final int TOKENS = 16;

    /** {@code length}. */
    public static final int LENGTH = 24;

    /** {@code first_fill}. */
    public static final int FIRST_FILL = 32;

    /** {@code dtype}. */
    public static final int DTYPE = 40;

    /** {@code order}. */
    public static final int ORDER = 44;

    /** {@code padding}. */
    public static final int PADDING = 48;

    /** {@code fill_value}. */
    public static final int FILL_VALUE = 52;
  }

  /** {@code rcap_partition_layout}. */
  public static final class PartitionLayout {
    private PartitionLayout() {}

    /** Bytes of the struct. */
    public static final int SIZE = 32;

    /** {@code struct_size}. */
    public static final int STRUCT_SIZE = 0;

    /** {@code split}. */
    public static final int SPLIT = 8;

    /** {@code cp_size}. */
    public static final int CP_SIZE = 12;

    /** {@code cp_rank}. */
    public static final int CP_RANK = 16;

    /** {@code sp_size}. */
    public static final int SP_SIZE = 20;

    /** {@code sp_rank}. */
    public static final int SP_RANK = 24;

    /** {@code reserved}. */
    public static final int RESERVED = 28;
  }

  /** {@code rcap_encode_options}. */
  public static final class EncodeOptions {
    private EncodeOptions() {}

    /** Bytes of the struct. */
    public static final int SIZE = 40;

    /** {@code struct_size}. */
    public static final int STRUCT_SIZE = 0;

    /** {@code dtype}. */
    public static final int DTYPE = 8;

    /** {@code missing}. */
    public static final int MISSING = 12;

    /** {@code fill_id}. */
    public static final int FILL_ID = 16;

    /** {@code zstd_level}. */
    public static final int ZSTD_LEVEL = 20;

    /** {@code turn}. */
    public static final int TURN = 24;

    /** {@code decode_start}. */
    public static final int DECODE_START = 32;
  }

  /** {@code rcap_decode_hints}. */
  public static final class DecodeHints {
    private DecodeHints() {}

    /** Bytes of the struct. */
    public static final int SIZE = 48;

    /** {@code struct_size}. */
    public static final int STRUCT_SIZE = 0;

    /** {@code start}. */
    public static final int START = 8;

    /** {@code rows}. */
    public static final int ROWS = 16;

    /** {@code num_experts}. */
    public static final int NUM_EXPERTS = 24;

    /** {@code top_k}. */
    public static final int TOP_K = 28;

    /** {@code num_layers}. */
    public static final int NUM_LAYERS = 32;

    /** {@code dtype}. */
    public static final int DTYPE = 36;

    /** {@code turn}. */
    public static final int TURN = 40;
  }
}
