# SPDX-License-Identifier: Apache-2.0
# Generated from capi/abi/api.json by bindings/swig/python_types.py; do not edit.
"""The numbers of the C API by name."""

from __future__ import annotations

import enum


class _Enum(enum.IntEnum):
    @classmethod
    def _missing_(cls, value: object) -> None:
        from routecap._errors import UnsupportedError

        raise UnsupportedError(f"{cls.__name__} {value} is unknown to this version of the package")


class Code(_Enum):
    """Result of a call. OK is 0, every other value is negative; values are pinned and never reused.

    Predicates return 1, 0 or one of the negative values. BUSY, NOT_READY and TIMEOUT are answers rather than faults:
    they format no text.
    """

    OK = 0
    """Done."""

    INVALID_ARGUMENT = -1
    """An argument is null, malformed, contradicts another one, or names something unknown. Nothing was changed."""

    INVALID_STATE = -2
    """The call does not fit the state of its handle (before seal, after it, accepted twice). Nothing was changed."""

    OUT_OF_RANGE = -3
    """A count, slot, row, layer or position lies outside its range; the text names the value and the limit. Nothing was
    changed.
    """

    OUT_OF_MEMORY = -4
    """Memory could not be had. Nothing was changed."""

    NOT_READY = -5
    """What was asked for is not there yet; `RoutecapError.detail` names the sequence that is lacking where there is
    one.
    """

    BUSY = -6
    """Every staging block is in flight (R32). Finalize the oldest output and call again."""

    TIMEOUT = -7
    """The given time has passed."""

    CLOSED = -8
    """The capturer of this output is gone (R34)."""

    UNSUPPORTED = -9
    """The library knows what is meant and cannot do it: a newer struct's non-zero field, an unknown flag, a dtype pair
    without a conversion.
    """

    VERSION_MISMATCH = -10
    """Another version of a format, a plugin or the interface is needed."""

    CORRUPT = -11
    """Bytes do not hold what their header promises."""

    NOT_FOUND = -12
    """No backend, tap or entry of that name or number."""

    NO_DEVICE = -13
    """A backend was found, its device was not."""

    DEVICE = -14
    """The device reported a fault; nothing of the output it touched was stored (R34)."""

    FORKED = -15
    """The handle was inherited through fork(); only records work in the child."""

    INTERNAL = -16
    """A bug in this library; please report the text."""


class DType(_Enum):
    """Type of one element. Values are pinned."""

    NONE = 0
    """No such array."""

    UINT8 = 1
    """Unsigned 8 bit."""

    UINT16 = 2
    """Unsigned 16 bit."""

    INT16 = 3
    """Signed 16 bit."""

    INT32 = 4
    """Signed 32 bit."""

    INT64 = 5
    """Signed 64 bit."""

    FLOAT16 = 6
    """IEEE 754 binary16."""

    BFLOAT16 = 7
    """bfloat16: the upper half of a binary32."""

    FLOAT32 = 8
    """IEEE 754 binary32."""


class Memory(_Enum):
    """Where an array lives. The host backend reads both kinds at the call; what it finds in DEVICE memory it treats as
    an accelerator does: bad entries are found at finalize, row by row, instead of refusing the call (R14).
    """

    HOST = 0
    """Ordinary memory, read before the call returns and checked before anything is written."""

    DEVICE = 1
    """Memory of the backend's device, read in stream order; valid until the queued work has run."""


class RowsKind(_Enum):
    """How the rows of the data-parallel ranks stand in the device buffer (R16)."""

    LOCAL = 0
    """This rank's tokens alone, from row 0."""

    CONCATENATED = 1
    """All ranks' tokens, one after the other."""

    PADDED = 2
    """Every rank's share padded to the same number of rows."""

    SHARDED = 3
    """This attention-TP rank's shard alone, from row 0."""


class WeightsKind(_Enum):
    """What the routing weights mean (R29)."""

    AS_ROUTED = 0
    """As the router gave them."""

    RENORMALIZED = 1
    """Divided by the sum of the chosen ones."""

    SCALED = 2
    """Multiplied by the model's routed scaling factor."""


class CheckLevel(_Enum):
    """How closely rows are checked before they are stored."""

    BASIC = 0
    """Ids in range, every layer captured, slots and rows in range and named once."""

    FULL = 1
    """As BASIC, and no id twice in one layer of a row (R25)."""


class FinalizeMode(_Enum):
    """Who finalizes outputs."""

    CALLER = 0
    """The caller: `Output.copy_to_host`, then `Output.finalize`, on any thread."""

    OWN_THREAD = 1
    """One thread of the capturer, started by the first `Capturer.end_forward`; all its signals are blocked."""


class BusyPolicy(_Enum):
    """What `Capturer.end_forward` does when every staging block is in flight (R32)."""

    REFUSE = 0
    """Answers BUSY at once."""

    WAIT = 1
    """Waits up to `busy_timeout_ns`, then answers BUSY. Only with OWN_THREAD: otherwise nobody would end the wait."""


class RowsTerm(_Enum):
    """What decided the number of device rows (R13)."""

    PREFILL = 0
    """chunked_prefill_size (or max_forward_tokens) * dp_size."""

    RUNNING = 1
    """max_running_requests * max(1, num_verify_tokens) * dp_size."""

    GRAPH = 2
    """max_graph_tokens * dp_size."""


class Role(_Enum):
    """Part of a model in its capturer."""

    TARGET = 0
    """The model whose output the client gets; one a capturer."""

    DRAFT = 1
    """A speculative proposer; any number, always denied (R18)."""


class Gate(_Enum):
    """Gate of a model's taps."""

    DENY = 0
    """Captures are counted and not written."""

    ALLOW = 1
    """Captures are written."""


class TapFlags(enum.IntFlag):
    """Properties of a captured layer; they travel with the records."""

    HASH_ROUTED = 1
    """The ids do not come from a learned router (R26)."""

    UNORDERED = 2
    """The order of the columns means nothing (R24)."""

    PARTIAL = 4
    """The layer may run on some rows of a forward only; validity is kept cell by cell (R7)."""


class Acceptance(_Enum):
    """Which rows of a forward are committed (R17, R21)."""

    ALL = 0
    """Every row; entry i is row i. `rows` is null."""

    GIVEN = 1
    """The rows that `rows` names, for example the accept index of a verify forward."""

    LATER = 2
    """Told once by `Output.accept`, before finalize."""


class Fault(_Enum):
    """Why a committed row was not stored; where several apply to one row, the first of this list is named."""

    NONE = 0
    """Nothing is wrong."""

    LAYER_INCOMPLETE = 1
    """A layer captured fewer rows than the forward has: every row of it is missing (R27)."""

    LAYER_REPEATED = 2
    """A layer captured a row more than once: every row of the forward is missing, or with a PARTIAL layer only the row
    it captured twice (R27).
    """

    SLOT_OUT_OF_RANGE = 3
    """A slot below -1 or past the last one, or with LATER one that is not among the slots given with the forward (R14).
    """

    ROW_OUT_OF_RANGE = 4
    """A row below -1 or past the forward's last one (R14)."""

    SLOT_REPEATED = 5
    """A slot named twice: every entry that names it is bad (R15)."""

    ROW_REPEATED = 6
    """A row named twice: every slot involved is missing (R15)."""

    ID_OUT_OF_RANGE = 7
    """An id outside [0, E), or a physical id outside its map (R22)."""

    ID_REPEATED = 8
    """An id twice in one layer of a row; only under CHECK_FULL (R25)."""


class SlotUnit(_Enum):
    """How slots are named."""

    SLOT = 0
    """Each number is a slot."""

    PAGE = 1
    """Each number is a page: the slots page * page_size .. page * page_size + page_size - 1, in this order."""


class ReadFlags(enum.IntFlag):
    """Options of a read."""

    INCLUDE_LAST = 1
    """Also the last token's row, if its slot is given and valid at the read; else the answer has n-1 rows and the call
    succeeds (R2).
    """


class Overlap(_Enum):
    """What happens where two records hold the same token position (R39)."""

    REFUSE = 0
    """An overlap is an error that names both ranges."""

    KEEP_OLD = 1
    """The first record's rows stay, missing ones too: its KV was kept."""

    KEEP_NEW = 2
    """The second record's rows replace them, missing ones too: the KV was recomputed."""


class Fill(_Enum):
    """How a full-axis view fills the columns of layers that were not captured (R26)."""

    MISSING = 0
    """As missing cells: bit clear, bytes 0xFF. The columns are marked PARTIAL."""

    VALUE = 1
    """With one id K times and weights of 0, valid in valid rows."""


class Padding(_Enum):
    """What stands where a trainer needs ids and the engine captured none: missing rows, the last token of a sequence,
    padding (R42).
    """

    SPREAD = 0
    """K distinct ids, spread over the experts: the n-th filled row of a layer gets (n + floor(j * E / K)) modulo E in
    column j. Of one row's ids any two equal blocks of neighbouring experts (expert-parallel ranks) get the same
    number, and of any rows' ids any two experts do, give or take one.
    """

    VALUE = 1
    """`fill_value` in every column, for trainers that look at the mask instead, or for which -1 means missing."""


class AxisOrder(_Enum):
    """Order of the axes of a dense array of ids."""

    TOKENS_FIRST = 0
    """[tokens, layers, K]."""

    LAYERS_FIRST = 1
    """[layers, tokens, K]: what one router needs is one piece."""


class Split(_Enum):
    """How context parallelism deals out the tokens of a sequence (R43)."""

    CONTIGUOUS = 0
    """cp_size equal chunks; rank r has chunk r."""

    ZIGZAG = 1
    """2 * cp_size equal chunks; rank r has chunk r and behind it chunk 2 * cp_size - 1 - r. One rank alone has the
    sequence as it is.
    """


class Format(_Enum):
    """Forms of a record outside the library (R37, R41). `Format.form` and `Format.of` know their names."""

    FRAME = 1
    """`frame`: the library's own binary form, self-describing, checked; frames may stand one behind the other."""

    FRAME_BASE64 = 2
    """`frame-base64`: the same as text."""

    SGLANG = 3
    """`sglang`: base64 of a flat little-endian array [rows, layers, K], int32 unless another dtype is asked for,
    without any header.
    """

    VLLM = 4
    """`vllm`: base64 of a `.npy` [rows, layers, K]."""

    NPY = 5
    """`npy`: the `.npy` alone."""

    PRIME = 6
    """`prime`: JSON object with data (base64), shape, start, dtype."""

    NEMO = 7
    """`nemo`: `nrlre1:<dtype>:<S>x<L>x<K>:<base64>`, narrowest signed dtype, a row of -1 is missing."""

    LISTS = 8
    """`lists`: nested JSON lists [rows][layers][K]."""

    CSV = 9
    """`csv`: a moe-trace CSV, one line per row, layer and column."""

    @property
    def form(self) -> str:
        """The form's name as the library and the `routecap` command have it, for example `frame-base64`."""
        return _FORMS[self]

    @classmethod
    def of(cls, name: str) -> Format:
        """The form of a name, as `Format.form` gives it. Another name is NOT_FOUND, and the text lists those that there are."""
        from routecap._wire import format_of

        return format_of(name)


class Missing(_Enum):
    """What an encoder does with a missing cell where the form cannot say so."""

    REFUSE = 0
    """Refuses the record, naming the first missing row."""

    MINUS_ONE = 1
    """Writes -1; only into a signed dtype."""

    FILL = 2
    """Writes fill_id, fill_id + 1, ... modulo E into the K columns."""


_FORMS = {
    Format.FRAME: "frame",
    Format.FRAME_BASE64: "frame-base64",
    Format.SGLANG: "sglang",
    Format.VLLM: "vllm",
    Format.NPY: "npy",
    Format.PRIME: "prime",
    Format.NEMO: "nemo",
    Format.LISTS: "lists",
    Format.CSV: "csv",
}

# What C's names for these numbers begin with.
PREFIXES = {
    "RCAP_STATUS_": "Code",
    "RCAP_DTYPE_": "DType",
    "RCAP_MEMORY_": "Memory",
    "RCAP_ROWS_": "RowsKind",
    "RCAP_WEIGHTS_": "WeightsKind",
    "RCAP_CHECK_": "CheckLevel",
    "RCAP_FINALIZE_": "FinalizeMode",
    "RCAP_BUSY_": "BusyPolicy",
    "RCAP_TERM_": "RowsTerm",
    "RCAP_ROLE_": "Role",
    "RCAP_CAPTURE_": "Gate",
    "RCAP_TAP_": "TapFlags",
    "RCAP_ACCEPT_": "Acceptance",
    "RCAP_FAULT_": "Fault",
    "RCAP_UNIT_": "SlotUnit",
    "RCAP_READ_": "ReadFlags",
    "RCAP_OVERLAP_": "Overlap",
    "RCAP_FILL_": "Fill",
    "RCAP_PADDING_": "Padding",
    "RCAP_AXIS_ORDER_": "AxisOrder",
    "RCAP_SPLIT_": "Split",
    "RCAP_WIRE_": "Format",
    "RCAP_MISSING_": "Missing",
}
