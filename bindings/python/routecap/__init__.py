# SPDX-License-Identifier: Apache-2.0
"""Records which experts a Mixture-of-Experts model routed every token to, and reads, joins, converts and compares what was recorded.

A `Capturer` belongs to one rank of an inference engine. It gets its models and their taps once, is sealed, and then sees every forward: each layer
hands over its top-k ids with `Tap.capture`, and `Capturer.end_forward` names the KV slot of every row. The `Output` that it gives brings the rows
to the store, on whatever thread. When a request ends, `Capturer.read` gives its rows by its slots, as a `Record`. A row that nobody captured is
missing and says so; it is never zeros.
"""

from routecap._arrays import Array, ArrayLike, IntegersLike
from routecap._backend import Backend
from routecap._capturer import Capturer, Completion
from routecap._config import Config
from routecap._dlpack import Tensor
from routecap._enums import (
    Acceptance,
    AxisOrder,
    BusyPolicy,
    CheckLevel,
    Code,
    DType,
    Fault,
    Fill,
    FinalizeMode,
    Format,
    Gate,
    Memory,
    Missing,
    Overlap,
    Padding,
    ReadFlags,
    Role,
    RowsKind,
    RowsTerm,
    SlotUnit,
    Split,
    TapFlags,
    WeightsKind,
)
from routecap._errors import (
    BusyError,
    ClosedError,
    CorruptError,
    DeviceError,
    ForkedError,
    InternalError,
    InvalidArgumentError,
    InvalidStateError,
    LibraryNotFoundError,
    NoDeviceError,
    NotFoundError,
    NotReadyError,
    OutOfMemoryError,
    OutOfRangeError,
    RoutecapError,
    TimedOutError,
    UnsupportedError,
    VersionMismatchError,
)
from routecap._handle import live_handles
from routecap._library import LibraryInfo, Rows, abi_version, build_info, layout_rows, library_info, version
from routecap._output import DeviceRows, Output
from routecap._record import Record, VersionSpan
from routecap._structs import BackendInfo, BuildInfo, CompareReport, Plan, ReadInfo, RecordInfo, SlotInfo, Stats, Summary
from routecap._tap import Model, Tap
from routecap._wire import DecodeHints, EncodeOptions, detect

__version__ = "0.1.0"

__all__ = [
    "Acceptance",
    "Array",
    "ArrayLike",
    "AxisOrder",
    "Backend",
    "BackendInfo",
    "BuildInfo",
    "BusyError",
    "BusyPolicy",
    "Capturer",
    "CheckLevel",
    "ClosedError",
    "Code",
    "CompareReport",
    "Completion",
    "Config",
    "CorruptError",
    "DType",
    "DecodeHints",
    "DeviceError",
    "DeviceRows",
    "EncodeOptions",
    "Fault",
    "Fill",
    "FinalizeMode",
    "ForkedError",
    "Format",
    "Gate",
    "IntegersLike",
    "InternalError",
    "InvalidArgumentError",
    "InvalidStateError",
    "LibraryInfo",
    "LibraryNotFoundError",
    "Memory",
    "Missing",
    "Model",
    "NoDeviceError",
    "NotFoundError",
    "NotReadyError",
    "OutOfMemoryError",
    "OutOfRangeError",
    "Output",
    "Overlap",
    "Padding",
    "Plan",
    "ReadFlags",
    "ReadInfo",
    "Record",
    "RecordInfo",
    "Role",
    "RoutecapError",
    "Rows",
    "RowsKind",
    "RowsTerm",
    "SlotInfo",
    "SlotUnit",
    "Split",
    "Stats",
    "Summary",
    "Tap",
    "TapFlags",
    "Tensor",
    "TimedOutError",
    "UnsupportedError",
    "VersionMismatchError",
    "VersionSpan",
    "WeightsKind",
    "abi_version",
    "build_info",
    "detect",
    "layout_rows",
    "library_info",
    "live_handles",
    "version",
]
