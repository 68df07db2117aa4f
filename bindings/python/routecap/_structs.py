# SPDX-License-Identifier: Apache-2.0
# Generated from capi/abi/api.json by bindings/swig/python_types.py; do not edit.
"""What the library fills: reports, counters, geometry. Each is a snapshot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from routecap._enums import DType, Fault, RowsTerm, WeightsKind
from routecap._native import text as _text


@dataclass(frozen=True)
class BuildInfo:
    """How the library was built and what it uses on this machine."""

    abi_version: int
    """ABI number, as `abi_version`."""

    version: str
    """Product version, zero-terminated."""

    compiler: str
    """Compiler and its version."""

    simd: str
    """Instruction set that the row loops use on this machine: `scalar`, `avx2`, `avx512` or `neon`."""

    features: str
    """Blank-separated list: `thrust=1.17.2 asserts=off`."""

    @classmethod
    def _read(cls, struct: Any) -> BuildInfo:
        made = object.__new__(cls)
        made.__dict__.update(
            abi_version=struct.abi_version,
            version=_text(struct.version),
            compiler=_text(struct.compiler),
            simd=_text(struct.simd),
            features=_text(struct.features),
        )
        return made


@dataclass(frozen=True)
class BackendInfo:
    """What a backend says of itself."""

    device_ordinal: int
    """Which device of its kind."""

    threads: int
    """Threads it uses at most."""

    host_memory: bool
    """Whether its memory can be read by the host without a copy."""

    name: str
    """Name, as for `Backend`."""

    description: str
    """Device and driver in words."""

    device_bytes: int
    """Bytes of device memory that capturers hold at the moment. This and the counters below are 0 where the backend
    does not count, as the host.
    """

    pinned_bytes: int
    """The same of pinned host memory."""

    captures: int
    """Captures since it was opened."""

    snapshots: int
    """Snapshots: one for each forward."""

    copies: int
    """Copies to the host."""

    copied_bytes: int
    """Bytes that these copies moved."""

    lost: bool
    """Whether the device has failed for good (R34): close everything and open it again, in a new process where its
    driver needs one.
    """

    @classmethod
    def _read(cls, struct: Any) -> BackendInfo:
        made = object.__new__(cls)
        made.__dict__.update(
            device_ordinal=struct.device_ordinal,
            threads=struct.threads,
            host_memory=struct.host_memory != 0,
            name=_text(struct.name),
            description=_text(struct.description),
            device_bytes=struct.device_bytes,
            pinned_bytes=struct.pinned_bytes,
            captures=struct.captures,
            snapshots=struct.snapshots,
            copies=struct.copies,
            copied_bytes=struct.copied_bytes,
            lost=struct.lost != 0,
        )
        return made


@dataclass(frozen=True)
class Plan:
    """What a capturer will need, before anything is allocated. Taps are not known yet: a capturer with PARTIAL ones
    keeps 8 bytes more per slot and staged row for every 64 layers, and per layer and staging block. Rows whose
    weight version is not 0, and copied rows, use 16 bytes more per slot.
    """

    device_rows: int
    """Rows of the device buffer (R13)."""

    rows_term: RowsTerm
    """The `RowsTerm` that decided."""

    ids_dtype: DType
    """The `DType` of stored ids (R28)."""

    num_layers: int
    """Captured layers L."""

    device_bytes: int
    """Bytes on the device: cache of every layer and staging blocks."""

    pinned_bytes: int
    """Bytes of pinned host memory: the staging blocks' host side; a backend whose memory is the host's (`host`, `tbb`)
    takes none.
    """

    store_bytes: int
    """Bytes of ordinary address space for the slot store; pages are touched when slots are first used."""

    slot_ids_bytes: int
    """Bytes of ids of one slot: L * K * size of an id."""

    slot_payload_bytes: int
    """Bytes of one staged row: ids, weights and partial-layer bits, each padded to 8 bytes."""

    slot_bytes: int
    """Bytes of one slot with everything kept beside the ids: stamp, padding, weights, tag, partial-layer bits."""

    @classmethod
    def _read(cls, struct: Any) -> Plan:
        made = object.__new__(cls)
        made.__dict__.update(
            device_rows=struct.device_rows,
            rows_term=RowsTerm(struct.rows_term),
            ids_dtype=DType(struct.ids_dtype),
            num_layers=struct.num_layers,
            device_bytes=struct.device_bytes,
            pinned_bytes=struct.pinned_bytes,
            store_bytes=struct.store_bytes,
            slot_ids_bytes=struct.slot_ids_bytes,
            slot_payload_bytes=struct.slot_payload_bytes,
            slot_bytes=struct.slot_bytes,
        )
        return made


@dataclass(frozen=True)
class Stats:
    """Counters of a capturer since its creation, and a few of its present state."""

    suppressed: int
    """Captures on taps of a denied model (R18)."""

    forwards: int
    """Forwards that were given a sequence number."""

    discarded_forwards: int
    """Forwards discarded by `Capturer.discard_forward`."""

    busy: int
    """`Capturer.end_forward` calls answered BUSY."""

    finalized: int
    """Outputs that settled OK or DEVICE."""

    dropped: int
    """Outputs destroyed unsettled while their capturer lived (R33)."""

    rows_stored: int
    """Rows now or once in a slot."""

    rows_bad: int
    """Committed rows that were not stored because they were bad (R14)."""

    rows_outdated: int
    """Committed rows not stored because their slot had a newer number (R9, R10)."""

    rows_reserved: int
    """Committed rows for reserved slots (R15)."""

    rows_rejected: int
    """Rows of verify forwards that were not accepted (R21)."""

    slots_released: int
    """Slots named in release calls."""

    slots_copied: int
    """Pairs named in copy calls."""

    copies_pending: int
    """Pairs of copies that wait for a forward (R12)."""

    in_flight: int
    """Outputs unsettled now."""

    last_sequence: int
    """The last number given to a forward, release or copy; 0 = none yet."""

    rows_stray: int
    """Entries of `row_ids` in DEVICE memory that named no row of the device buffer (R14)."""

    @classmethod
    def _read(cls, struct: Any) -> Stats:
        made = object.__new__(cls)
        made.__dict__.update(
            suppressed=struct.suppressed,
            forwards=struct.forwards,
            discarded_forwards=struct.discarded_forwards,
            busy=struct.busy,
            finalized=struct.finalized,
            dropped=struct.dropped,
            rows_stored=struct.rows_stored,
            rows_bad=struct.rows_bad,
            rows_outdated=struct.rows_outdated,
            rows_reserved=struct.rows_reserved,
            rows_rejected=struct.rows_rejected,
            slots_released=struct.slots_released,
            slots_copied=struct.slots_copied,
            copies_pending=struct.copies_pending,
            in_flight=struct.in_flight,
            last_sequence=struct.last_sequence,
            rows_stray=struct.rows_stray,
        )
        return made


@dataclass(frozen=True)
class Summary:
    """What became of a forward's rows. entries = rows_stored + rows_bad + rows_outdated + rows_reserved."""

    sequence: int
    """The forward's number."""

    step: int
    """The label given with it."""

    entries: int
    """Commit entries without -1."""

    rows_stored: int
    """Entries whose row is now in its slot."""

    rows_bad: int
    """Entries refused; their slots, where they have one, settled as missing (R14)."""

    rows_outdated: int
    """Entries whose slot already had a newer number (R9, R10)."""

    rows_reserved: int
    """Entries for reserved slots (R15)."""

    rows_rejected: int
    """Rows of the forward that no entry names, with GIVEN and LATER (R21)."""

    first_bad_fault: Fault
    """The `Fault` of the first bad entry, NONE if there is none."""

    first_bad_layer: int
    """Layer number in the model of the first bad entry's fault, -1 where no layer is to blame."""

    first_bad_row: int
    """Forward row of the first bad entry as given, -1 without one."""

    first_bad_slot: int
    """Slot of the first bad entry as given, -1 without one."""

    layers_bad: int
    """Layers that captured too few rows, or some row twice (R27)."""

    first_bad_layer_number: int
    """Layer number of the first of them, -1 without one."""

    layer_rows_captured: int
    """Rows of the forward that this layer captured."""

    layer_rows_expected: int
    """Rows that it should have captured: the forward's."""

    rows_stray: int
    """Entries of `row_ids` in DEVICE memory that named no row of the device buffer, over all PARTIAL taps; told with
    any acceptance (R14).
    """

    first_stray_layer: int
    """Layer number of the first layer that was given one, -1 without one."""

    @classmethod
    def _read(cls, struct: Any) -> Summary:
        made = object.__new__(cls)
        made.__dict__.update(
            sequence=struct.sequence,
            step=struct.step,
            entries=struct.entries,
            rows_stored=struct.rows_stored,
            rows_bad=struct.rows_bad,
            rows_outdated=struct.rows_outdated,
            rows_reserved=struct.rows_reserved,
            rows_rejected=struct.rows_rejected,
            first_bad_fault=Fault(struct.first_bad_fault),
            first_bad_layer=struct.first_bad_layer,
            first_bad_row=struct.first_bad_row,
            first_bad_slot=struct.first_bad_slot,
            layers_bad=struct.layers_bad,
            first_bad_layer_number=struct.first_bad_layer_number,
            layer_rows_captured=struct.layer_rows_captured,
            layer_rows_expected=struct.layer_rows_expected,
            rows_stray=struct.rows_stray,
            first_stray_layer=struct.first_stray_layer,
        )
        return made


@dataclass(frozen=True)
class SlotInfo:
    """State of one slot."""

    sequence: int
    """Number of the forward, release or copy that decided what the slot shows; 0 = never touched."""

    row_sequence: int
    """Number of the forward that captured the row (R12: a copied row keeps its age); 0 when missing."""

    weight_version: int
    """Weight version of the row; 0 when missing."""

    tag: int
    """Tag of the row where tags are kept; 0 when missing."""

    valid: bool
    """Whether the slot holds a row."""

    reserved_slot: bool
    """Whether the slot is reserved."""

    @classmethod
    def _read(cls, struct: Any) -> SlotInfo:
        made = object.__new__(cls)
        made.__dict__.update(
            sequence=struct.sequence,
            row_sequence=struct.row_sequence,
            weight_version=struct.weight_version,
            tag=struct.tag,
            valid=struct.valid != 0,
            reserved_slot=struct.reserved_slot != 0,
        )
        return made


@dataclass(frozen=True)
class ReadInfo:
    """Geometry of what was read."""

    start: int
    """Token position of the first row."""

    rows: int
    """Rows."""

    rows_valid: int
    """Rows whose validity bit is set."""

    num_layers: int
    """Captured layers L."""

    top_k: int
    """Experts per token and layer K."""

    ids_dtype: DType
    """`DType` of the ids."""

    weights_dtype: DType
    """`DType` of the weights, or NONE."""

    ids_bytes: int
    """Bytes of ids [rows, L, K]."""

    weights_bytes: int
    """Bytes of weights [rows, L, K]."""

    row_validity_bytes: int
    """Bytes of the row bitmap: ceil(rows / 8)."""

    cell_validity_bytes: int
    """Bytes of the cell bitmap: ceil(rows * L / 8) where the capturer has PARTIAL taps, else 0."""

    weight_version_min: int
    """Smallest weight version of the valid rows; 0 without any."""

    weight_version_max: int
    """Largest weight version of the valid rows; 0 without any."""

    @classmethod
    def _read(cls, struct: Any) -> ReadInfo:
        made = object.__new__(cls)
        made.__dict__.update(
            start=struct.start,
            rows=struct.rows,
            rows_valid=struct.rows_valid,
            num_layers=struct.num_layers,
            top_k=struct.top_k,
            ids_dtype=DType(struct.ids_dtype),
            weights_dtype=DType(struct.weights_dtype),
            ids_bytes=struct.ids_bytes,
            weights_bytes=struct.weights_bytes,
            row_validity_bytes=struct.row_validity_bytes,
            cell_validity_bytes=struct.cell_validity_bytes,
            weight_version_min=struct.weight_version_min,
            weight_version_max=struct.weight_version_max,
        )
        return made


@dataclass(frozen=True)
class RecordInfo:
    """Geometry of a record."""

    start: int
    """Token position of the first row."""

    rows: int
    """Rows."""

    rows_valid: int
    """Rows whose validity bit is set."""

    num_layers: int
    """Layers L."""

    top_k: int
    """Experts per token and layer K."""

    num_experts: int
    """Logical routed experts E."""

    ids_dtype: DType
    """`DType` of the ids."""

    weights_dtype: DType
    """`DType` of the weights, or NONE."""

    weights_kind: WeightsKind
    """A `WeightsKind`."""

    has_cell_validity: bool
    """Whether cells have a validity of their own (a column is PARTIAL, or a valid row lacks a cell)."""

    version_spans: int
    """Runs of rows with one weight version."""

    @classmethod
    def _read(cls, struct: Any) -> RecordInfo:
        made = object.__new__(cls)
        made.__dict__.update(
            start=struct.start,
            rows=struct.rows,
            rows_valid=struct.rows_valid,
            num_layers=struct.num_layers,
            top_k=struct.top_k,
            num_experts=struct.num_experts,
            ids_dtype=DType(struct.ids_dtype),
            weights_dtype=DType(struct.weights_dtype),
            weights_kind=WeightsKind(struct.weights_kind),
            has_cell_validity=struct.has_cell_validity != 0,
            version_spans=struct.version_spans,
        )
        return made


@dataclass(frozen=True)
class CompareReport:
    """Where two records differ."""

    equal: bool
    """Whether geometry, layer map, flags, validity, ids, weights and version spans are all the same."""

    same_shape: bool
    """Whether E, K, L, layer map, dtypes and kinds are the same: only then rows are compared."""

    start: int
    """First token position that both hold; without one the later start."""

    rows: int
    """Token positions that both hold."""

    rows_only_first: int
    """Positions that only the first holds."""

    rows_only_second: int
    """Positions that only the second holds."""

    cells: int
    """Cells (row and layer) valid in both."""

    cells_only_first: int
    """Cells valid in the first alone."""

    cells_only_second: int
    """Cells valid in the second alone."""

    cells_differ: int
    """Cells valid in both whose ids differ, order counted."""

    cells_differ_as_sets: int
    """Of these, cells whose ids differ also when their order is left out."""

    cells_differ_in_weights: int
    """Cells valid in both whose weights differ, bit by bit."""

    rows_differ_in_version: int
    """Rows with a different weight version, both valid."""

    first_row: int
    """Token position of the first cell that differs in ids or validity, -1 without one."""

    first_layer: int
    """Its layer number in the model, -1 without one."""

    @classmethod
    def _read(cls, struct: Any) -> CompareReport:
        made = object.__new__(cls)
        made.__dict__.update(
            equal=struct.equal != 0,
            same_shape=struct.same_shape != 0,
            start=struct.start,
            rows=struct.rows,
            rows_only_first=struct.rows_only_first,
            rows_only_second=struct.rows_only_second,
            cells=struct.cells,
            cells_only_first=struct.cells_only_first,
            cells_only_second=struct.cells_only_second,
            cells_differ=struct.cells_differ,
            cells_differ_as_sets=struct.cells_differ_as_sets,
            cells_differ_in_weights=struct.cells_differ_in_weights,
            rows_differ_in_version=struct.rows_differ_in_version,
            first_row=struct.first_row,
            first_layer=struct.first_layer,
        )
        return made
