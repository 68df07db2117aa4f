# SPDX-License-Identifier: Apache-2.0
"""What enums and structs of the C API are called in Java and Python."""

# C enum: its name, prefix of its constants in C.
ENUMS = {
    "rcap_status": ("Code", "RCAP_STATUS_"),
    "rcap_dtype": ("DType", "RCAP_DTYPE_"),
    "rcap_memory": ("Memory", "RCAP_MEMORY_"),
    "rcap_rows_kind": ("RowsKind", "RCAP_ROWS_"),
    "rcap_weights_kind": ("WeightsKind", "RCAP_WEIGHTS_"),
    "rcap_check_level": ("CheckLevel", "RCAP_CHECK_"),
    "rcap_finalize_mode": ("FinalizeMode", "RCAP_FINALIZE_"),
    "rcap_busy_policy": ("BusyPolicy", "RCAP_BUSY_"),
    "rcap_rows_term": ("RowsTerm", "RCAP_TERM_"),
    "rcap_model_role": ("Role", "RCAP_ROLE_"),
    "rcap_capture_gate": ("Gate", "RCAP_CAPTURE_"),
    "rcap_tap_flag": ("TapFlag", "RCAP_TAP_"),
    "rcap_acceptance": ("Acceptance", "RCAP_ACCEPT_"),
    "rcap_fault": ("Fault", "RCAP_FAULT_"),
    "rcap_slot_unit": ("SlotUnit", "RCAP_UNIT_"),
    "rcap_read_flag": ("ReadFlag", "RCAP_READ_"),
    "rcap_overlap": ("Overlap", "RCAP_OVERLAP_"),
    "rcap_fill": ("Fill", "RCAP_FILL_"),
    "rcap_wire_format": ("Format", "RCAP_WIRE_"),
    "rcap_missing": ("Missing", "RCAP_MISSING_"),
    "rcap_padding": ("Padding", "RCAP_PADDING_"),
    "rcap_axis_order": ("AxisOrder", "RCAP_AXIS_ORDER_"),
    "rcap_split": ("Split", "RCAP_SPLIT_"),
}

# Structs that the library fills: C name, class.
FILLED = {
    "rcap_build_info": "BuildInfo",
    "rcap_backend_info": "BackendInfo",
    "rcap_capturer_plan": "Plan",
    "rcap_capturer_stats": "Stats",
    "rcap_summary": "Summary",
    "rcap_slot_info": "SlotInfo",
    "rcap_read_info": "ReadInfo",
    "rcap_record_info": "RecordInfo",
    "rcap_compare_report": "CompareReport",
}

# Fields that are 1 or 0.
FLAGS = {"host_memory", "lost", "valid", "reserved_slot", "has_cell_validity", "equal", "same_shape"}
