// Code generated from capi/abi/api.json by bindings/swig/go_types.py. DO NOT EDIT.
// SPDX-License-Identifier: Apache-2.0

package routecap

// Code: Result of a call. OK is 0, every other value is negative; values are pinned and never reused.
//
// Predicates return 1, 0 or one of the negative values. BUSY, NOT_READY and TIMEOUT are answers rather than faults:
// they format no text.
type Code int32

const (
	// Done.
	OK Code = 0
	// An argument is null, malformed, contradicts another one, or names something unknown. Nothing was changed.
	ErrInvalidArgument Code = -1
	// The call does not fit the state of its handle (before seal, after it, accepted twice). Nothing was changed.
	ErrInvalidState Code = -2
	// A count, slot, row, layer or position lies outside its range; the text names the value and the limit. Nothing was
	// changed.
	ErrOutOfRange Code = -3
	// Memory could not be had. Nothing was changed.
	ErrOutOfMemory Code = -4
	// What was asked for is not there yet; [Error].Detail names the sequence that is lacking where there is one.
	ErrNotReady Code = -5
	// Every staging block is in flight (R32). Finalize the oldest output and call again.
	ErrBusy Code = -6
	// The given time has passed.
	ErrTimeout Code = -7
	// The capturer of this output is gone (R34).
	ErrClosed Code = -8
	// The library knows what is meant and cannot do it: a newer struct's non-zero field, an unknown flag, a dtype pair
	// without a conversion.
	ErrUnsupported Code = -9
	// Another version of a format, a plugin or the interface is needed.
	ErrVersionMismatch Code = -10
	// Bytes do not hold what their header promises.
	ErrCorrupt Code = -11
	// No backend, tap or entry of that name or number.
	ErrNotFound Code = -12
	// A backend was found, its device was not.
	ErrNoDevice Code = -13
	// The device reported a fault; nothing of the output it touched was stored (R34).
	ErrDevice Code = -14
	// The handle was inherited through fork(); only records work in the child.
	ErrForked Code = -15
	// A bug in this library; please report the text.
	ErrInternal Code = -16
)

// DType: Type of one element. Values are pinned.
type DType int32

const (
	// No such array.
	DTypeNone DType = 0
	// Unsigned 8 bit.
	DTypeUInt8 DType = 1
	// Unsigned 16 bit.
	DTypeUInt16 DType = 2
	// Signed 16 bit.
	DTypeInt16 DType = 3
	// Signed 32 bit.
	DTypeInt32 DType = 4
	// Signed 64 bit.
	DTypeInt64 DType = 5
	// IEEE 754 binary16.
	DTypeFloat16 DType = 6
	// bfloat16: the upper half of a binary32.
	DTypeBFloat16 DType = 7
	// IEEE 754 binary32.
	DTypeFloat32 DType = 8
)

// String is the constant's name in C without its prefix, in lower case.
func (value DType) String() string {
	switch value {
	case 0:
		return "none"
	case 1:
		return "uint8"
	case 2:
		return "uint16"
	case 3:
		return "int16"
	case 4:
		return "int32"
	case 5:
		return "int64"
	case 6:
		return "float16"
	case 7:
		return "bfloat16"
	case 8:
		return "float32"
	}
	return unknownName("DType", int32(value))
}

// Memory: Where an array lives. The host backend reads both kinds at the call; what it finds in DEVICE memory it
// treats as an accelerator does: bad entries are found at finalize, row by row, instead of refusing the call (R14).
type Memory int32

const (
	// Ordinary memory, read before the call returns and checked before anything is written.
	MemoryHost Memory = 0
	// Memory of the backend's device, read in stream order; valid until the queued work has run.
	MemoryDevice Memory = 1
)

// String is the constant's name in C without its prefix, in lower case.
func (value Memory) String() string {
	switch value {
	case 0:
		return "host"
	case 1:
		return "device"
	}
	return unknownName("Memory", int32(value))
}

// RowsKind: How the rows of the data-parallel ranks stand in the device buffer (R16).
type RowsKind int32

const (
	// This rank's tokens alone, from row 0.
	RowsLocal RowsKind = 0
	// All ranks' tokens, one after the other.
	RowsConcatenated RowsKind = 1
	// Every rank's share padded to the same number of rows.
	RowsPadded RowsKind = 2
	// This attention-TP rank's shard alone, from row 0.
	RowsSharded RowsKind = 3
)

// String is the constant's name in C without its prefix, in lower case.
func (value RowsKind) String() string {
	switch value {
	case 0:
		return "local"
	case 1:
		return "concatenated"
	case 2:
		return "padded"
	case 3:
		return "sharded"
	}
	return unknownName("RowsKind", int32(value))
}

// WeightsKind: What the routing weights mean (R29).
type WeightsKind int32

const (
	// As the router gave them.
	WeightsAsRouted WeightsKind = 0
	// Divided by the sum of the chosen ones.
	WeightsRenormalized WeightsKind = 1
	// Multiplied by the model's routed scaling factor.
	WeightsScaled WeightsKind = 2
)

// String is the constant's name in C without its prefix, in lower case.
func (value WeightsKind) String() string {
	switch value {
	case 0:
		return "as_routed"
	case 1:
		return "renormalized"
	case 2:
		return "scaled"
	}
	return unknownName("WeightsKind", int32(value))
}

// CheckLevel: How closely rows are checked before they are stored.
type CheckLevel int32

const (
	// Ids in range, every layer captured, slots and rows in range and named once.
	CheckBasic CheckLevel = 0
	// As BASIC, and no id twice in one layer of a row (R25).
	CheckFull CheckLevel = 1
)

// String is the constant's name in C without its prefix, in lower case.
func (value CheckLevel) String() string {
	switch value {
	case 0:
		return "basic"
	case 1:
		return "full"
	}
	return unknownName("CheckLevel", int32(value))
}

// FinalizeMode: Who finalizes outputs.
type FinalizeMode int32

const (
	// The caller: [Output.CopyToHost], then [Output.Finalize], on any thread.
	FinalizeCaller FinalizeMode = 0
	// One thread of the capturer, started by the first [Capturer.EndForward]; all its signals are blocked.
	FinalizeOwnThread FinalizeMode = 1
)

// String is the constant's name in C without its prefix, in lower case.
func (value FinalizeMode) String() string {
	switch value {
	case 0:
		return "caller"
	case 1:
		return "own_thread"
	}
	return unknownName("FinalizeMode", int32(value))
}

// BusyPolicy: What [Capturer.EndForward] does when every staging block is in flight (R32).
type BusyPolicy int32

const (
	// Answers BUSY at once.
	BusyRefuse BusyPolicy = 0
	// Waits up to `busy_timeout_ns`, then answers BUSY. Only with OWN_THREAD: otherwise nobody would end the wait.
	BusyWait BusyPolicy = 1
)

// String is the constant's name in C without its prefix, in lower case.
func (value BusyPolicy) String() string {
	switch value {
	case 0:
		return "refuse"
	case 1:
		return "wait"
	}
	return unknownName("BusyPolicy", int32(value))
}

// RowsTerm: What decided the number of device rows (R13).
type RowsTerm int32

const (
	// chunked_prefill_size (or max_forward_tokens) * dp_size.
	TermPrefill RowsTerm = 0
	// max_running_requests * max(1, num_verify_tokens) * dp_size.
	TermRunning RowsTerm = 1
	// max_graph_tokens * dp_size.
	TermGraph RowsTerm = 2
)

// String is the constant's name in C without its prefix, in lower case.
func (value RowsTerm) String() string {
	switch value {
	case 0:
		return "prefill"
	case 1:
		return "running"
	case 2:
		return "graph"
	}
	return unknownName("RowsTerm", int32(value))
}

// Role: Part of a model in its capturer.
type Role int32

const (
	// The model whose output the client gets; one a capturer.
	RoleTarget Role = 0
	// A speculative proposer; any number, always denied (R18).
	RoleDraft Role = 1
)

// String is the constant's name in C without its prefix, in lower case.
func (value Role) String() string {
	switch value {
	case 0:
		return "target"
	case 1:
		return "draft"
	}
	return unknownName("Role", int32(value))
}

// Gate: Gate of a model's taps.
type Gate int32

const (
	// Captures are counted and not written.
	GateDeny Gate = 0
	// Captures are written.
	GateAllow Gate = 1
)

// String is the constant's name in C without its prefix, in lower case.
func (value Gate) String() string {
	switch value {
	case 0:
		return "deny"
	case 1:
		return "allow"
	}
	return unknownName("Gate", int32(value))
}

// TapFlags: Properties of a captured layer; they travel with the records.
type TapFlags int32

const (
	// The ids do not come from a learned router (R26).
	TapHashRouted TapFlags = 1
	// The order of the columns means nothing (R24).
	TapUnordered TapFlags = 2
	// The layer may run on some rows of a forward only; validity is kept cell by cell (R7).
	TapPartial TapFlags = 4
)

// Acceptance: Which rows of a forward are committed (R17, R21).
type Acceptance int32

const (
	// Every row; entry i is row i. `rows` is null.
	AcceptAll Acceptance = 0
	// The rows that `rows` names, for example the accept index of a verify forward.
	AcceptGiven Acceptance = 1
	// Told once by [Output.Accept], before finalize.
	AcceptLater Acceptance = 2
)

// String is the constant's name in C without its prefix, in lower case.
func (value Acceptance) String() string {
	switch value {
	case 0:
		return "all"
	case 1:
		return "given"
	case 2:
		return "later"
	}
	return unknownName("Acceptance", int32(value))
}

// Fault: Why a committed row was not stored; where several apply to one row, the first of this list is named.
type Fault int32

const (
	// Nothing is wrong.
	FaultNone Fault = 0
	// A layer captured fewer rows than the forward has: every row of it is missing (R27).
	FaultLayerIncomplete Fault = 1
	// A layer captured a row more than once: every row of the forward is missing, or with a PARTIAL layer only the row
	// it captured twice (R27).
	FaultLayerRepeated Fault = 2
	// A slot below -1 or past the last one, or with LATER one that is not among the slots given with the forward (R14).
	FaultSlotOutOfRange Fault = 3
	// A row below -1 or past the forward's last one (R14).
	FaultRowOutOfRange Fault = 4
	// A slot named twice: every entry that names it is bad (R15).
	FaultSlotRepeated Fault = 5
	// A row named twice: every slot involved is missing (R15).
	FaultRowRepeated Fault = 6
	// An id outside [0, E), or a physical id outside its map (R22).
	FaultIDOutOfRange Fault = 7
	// An id twice in one layer of a row; only under CHECK_FULL (R25).
	FaultIDRepeated Fault = 8
)

// String is the constant's name in C without its prefix, in lower case.
func (value Fault) String() string {
	switch value {
	case 0:
		return "none"
	case 1:
		return "layer_incomplete"
	case 2:
		return "layer_repeated"
	case 3:
		return "slot_out_of_range"
	case 4:
		return "row_out_of_range"
	case 5:
		return "slot_repeated"
	case 6:
		return "row_repeated"
	case 7:
		return "id_out_of_range"
	case 8:
		return "id_repeated"
	}
	return unknownName("Fault", int32(value))
}

// SlotUnit: How slots are named.
type SlotUnit int32

const (
	// Each number is a slot.
	UnitSlot SlotUnit = 0
	// Each number is a page: the slots page * page_size .. page * page_size + page_size - 1, in this order.
	UnitPage SlotUnit = 1
)

// String is the constant's name in C without its prefix, in lower case.
func (value SlotUnit) String() string {
	switch value {
	case 0:
		return "slot"
	case 1:
		return "page"
	}
	return unknownName("SlotUnit", int32(value))
}

// ReadFlags: Options of a read.
type ReadFlags int32

const (
	// Also the last token's row, if its slot is given and valid at the read; else the answer has n-1 rows and the call
	// succeeds (R2).
	ReadIncludeLast ReadFlags = 1
)

// Overlap: What happens where two records hold the same token position (R39).
type Overlap int32

const (
	// An overlap is an error that names both ranges.
	OverlapRefuse Overlap = 0
	// The first record's rows stay, missing ones too: its KV was kept.
	OverlapKeepOld Overlap = 1
	// The second record's rows replace them, missing ones too: the KV was recomputed.
	OverlapKeepNew Overlap = 2
)

// String is the constant's name in C without its prefix, in lower case.
func (value Overlap) String() string {
	switch value {
	case 0:
		return "refuse"
	case 1:
		return "keep_old"
	case 2:
		return "keep_new"
	}
	return unknownName("Overlap", int32(value))
}

// Fill: How a full-axis view fills the columns of layers that were not captured (R26).
type Fill int32

const (
	// As missing cells: bit clear, bytes 0xFF. The columns are marked PARTIAL.
	FillMissing Fill = 0
	// With one id K times and weights of 0, valid in valid rows.
	FillValue Fill = 1
)

// String is the constant's name in C without its prefix, in lower case.
func (value Fill) String() string {
	switch value {
	case 0:
		return "missing"
	case 1:
		return "value"
	}
	return unknownName("Fill", int32(value))
}

// Padding: What stands where a trainer needs ids and the engine captured none: missing rows, the last token of a
// sequence, padding (R42).
type Padding int32

const (
	// K distinct ids, spread over the experts: the n-th filled row of a layer gets (n + floor(j * E / K)) modulo E in
	// column j. Of one row's ids any two equal blocks of neighbouring experts (expert-parallel ranks) get the same
	// number, and of any rows' ids any two experts do, give or take one.
	PaddingSpread Padding = 0
	// `fill_value` in every column, for trainers that look at the mask instead, or for which -1 means missing.
	PaddingValue Padding = 1
)

// String is the constant's name in C without its prefix, in lower case.
func (value Padding) String() string {
	switch value {
	case 0:
		return "spread"
	case 1:
		return "value"
	}
	return unknownName("Padding", int32(value))
}

// AxisOrder: Order of the axes of a dense array of ids.
type AxisOrder int32

const (
	// [tokens, layers, K].
	AxisOrderTokensFirst AxisOrder = 0
	// [layers, tokens, K]: what one router needs is one piece.
	AxisOrderLayersFirst AxisOrder = 1
)

// String is the constant's name in C without its prefix, in lower case.
func (value AxisOrder) String() string {
	switch value {
	case 0:
		return "tokens_first"
	case 1:
		return "layers_first"
	}
	return unknownName("AxisOrder", int32(value))
}

// Split: How context parallelism deals out the tokens of a sequence (R43).
type Split int32

const (
	// cp_size equal chunks; rank r has chunk r.
	SplitContiguous Split = 0
	// 2 * cp_size equal chunks; rank r has chunk r and behind it chunk 2 * cp_size - 1 - r. One rank alone has the
	// sequence as it is.
	SplitZigzag Split = 1
)

// String is the constant's name in C without its prefix, in lower case.
func (value Split) String() string {
	switch value {
	case 0:
		return "contiguous"
	case 1:
		return "zigzag"
	}
	return unknownName("Split", int32(value))
}

// Format: Forms of a record outside the library (R37, R41). [Format.String] and [ParseFormat] know their names.
type Format int32

const (
	// `frame`: the library's own binary form, self-describing, checked; frames may stand one behind the other.
	FormatFrame Format = 1
	// `frame-base64`: the same as text.
	FormatFrameBase64 Format = 2
	// `sglang`: base64 of a flat little-endian array [rows, layers, K], int32 unless another dtype is asked for, without
	// any header.
	FormatSGLang Format = 3
	// `vllm`: base64 of a `.npy` [rows, layers, K].
	FormatVLLM Format = 4
	// `npy`: the `.npy` alone.
	FormatNPY Format = 5
	// `prime`: JSON object with data (base64), shape, start, dtype.
	FormatPrime Format = 6
	// `nemo`: `nrlre1:<dtype>:<S>x<L>x<K>:<base64>`, narrowest signed dtype, a row of -1 is missing.
	FormatNeMo Format = 7
	// `lists`: nested JSON lists [rows][layers][K].
	FormatLists Format = 8
	// `csv`: a moe-trace CSV, one line per row, layer and column.
	FormatCSV Format = 9
)

// Missing: What an encoder does with a missing cell where the form cannot say so.
type Missing int32

const (
	// Refuses the record, naming the first missing row.
	MissingRefuse Missing = 0
	// Writes -1; only into a signed dtype.
	MissingMinusOne Missing = 1
	// Writes fill_id, fill_id + 1, ... modulo E into the K columns.
	MissingFill Missing = 2
)

// String is the constant's name in C without its prefix, in lower case.
func (value Missing) String() string {
	switch value {
	case 0:
		return "refuse"
	case 1:
		return "minus_one"
	case 2:
		return "fill"
	}
	return unknownName("Missing", int32(value))
}
