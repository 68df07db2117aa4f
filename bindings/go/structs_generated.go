// Code generated from capi/abi/api.json by bindings/swig/go_types.py. DO NOT EDIT.
// SPDX-License-Identifier: Apache-2.0

package routecap

// errorLayout: What went wrong, in the caller's memory. A null pointer, or a `struct_size` below the 256 bytes of
// this struct, means that the caller does not want it: nothing is written then. A larger one is a newer caller's, and
// only the first 256 bytes are written.
//
// `text` is one line: what was refused, with which value, against which limit. It is empty for OK, BUSY, NOT_READY
// and TIMEOUT.
type errorLayout struct {
	structSize int64
	code       int32
	reserved   int32
	detail     int64
	text       [232]byte
}

// buildInfoLayout: How the library was built and what it uses on this machine.
type buildInfoLayout struct {
	structSize int64
	abiVersion int32
	reserved   int32
	version    [32]byte
	compiler   [64]byte
	simd       [16]byte
	features   [128]byte
}

// backendOptionsLayout: How to open a backend.
type backendOptionsLayout struct {
	structSize    int64
	deviceOrdinal int32
	threads       int32
}

// backendInfoLayout: What a backend says of itself.
type backendInfoLayout struct {
	structSize    int64
	deviceOrdinal int32
	threads       int32
	hostMemory    int32
	reserved      int32
	name          [32]byte
	description   [128]byte
	deviceBytes   int64
	pinnedBytes   int64
	captures      int64
	snapshots     int64
	copies        int64
	copiedBytes   int64
	lost          int32
	reserved2     int32
}

// capturerConfigLayout: Geometry of a capturer. Tokens, requests and slots are counts; every product is checked for
// overflow.
type capturerConfigLayout struct {
	structSize             int64
	numExperts             int32
	topK                   int32
	numFusedSharedExperts  int32
	weightsDType           DType
	weightsKind            WeightsKind
	checkLevel             CheckLevel
	finalizeMode           FinalizeMode
	busyPolicy             BusyPolicy
	tags                   int32
	pipelineDepth          int32
	chunkedPrefillSize     int64
	maxForwardTokens       int64
	maxRunningRequests     int64
	numVerifyTokens        int64
	maxGraphTokens         int64
	dpSize                 int64
	attnTPSize             int64
	numSlots               int64
	pageSize               int64
	reservedSlots          int64
	busyTimeoutNanoseconds int64
}

// Plan: What a capturer will need, before anything is allocated. Taps are not known yet: a capturer with PARTIAL ones
// keeps 8 bytes more per slot and staged row for every 64 layers, and per layer and staging block. Rows whose weight
// version is not 0, and copied rows, use 16 bytes more per slot.
type Plan struct {
	structSize int64
	// Rows of the device buffer (R13).
	DeviceRows int64
	// The RowsTerm that decided.
	RowsTerm RowsTerm
	// The DType of stored ids (R28).
	IDsDType DType
	// Captured layers L.
	NumLayers int32
	reserved  int32
	// Bytes on the device: cache of every layer and staging blocks.
	DeviceBytes int64
	// Bytes of pinned host memory: the staging blocks' host side; a backend whose memory is the host's (`host`, `tbb`)
	// takes none.
	PinnedBytes int64
	// Bytes of ordinary address space for the slot store; pages are touched when slots are first used.
	StoreBytes int64
	// Bytes of ids of one slot: L * K * size of an id.
	SlotIDsBytes int64
	// Bytes of one staged row: ids, weights and partial-layer bits, each padded to 8 bytes.
	SlotPayloadBytes int64
	// Bytes of one slot with everything kept beside the ids: stamp, padding, weights, tag, partial-layer bits.
	SlotBytes int64
}

// tapOptionsLayout: How a tap's ids are to be read.
type tapOptionsLayout struct {
	structSize  int64
	flags       TapFlags
	idMapDType  DType
	idMapMemory Memory
	reserved    int32
}

// captureLayout: One batch of top-k ids: [tokens, columns], columns adjacent, rows `ids_row_stride` bytes apart.
type captureLayout struct {
	structSize       int64
	idsDType         DType
	weightsDType     DType
	memory           Memory
	columns          int32
	tokens           int64
	firstRow         int64
	idsRowStride     int64
	weightsRowStride int64
}

// Stats: Counters of a capturer since its creation, and a few of its present state.
type Stats struct {
	structSize int64
	// Captures on taps of a denied model (R18).
	Suppressed int64
	// Forwards that were given a sequence number.
	Forwards int64
	// Forwards discarded by [Capturer.DiscardForward].
	DiscardedForwards int64
	// [Capturer.EndForward] calls answered BUSY.
	Busy int64
	// Outputs that settled OK or DEVICE.
	Finalized int64
	// Outputs destroyed unsettled while their capturer lived (R33).
	Dropped int64
	// Rows now or once in a slot.
	RowsStored int64
	// Committed rows that were not stored because they were bad (R14).
	RowsBad int64
	// Committed rows not stored because their slot had a newer number (R9, R10).
	RowsOutdated int64
	// Committed rows for reserved slots (R15).
	RowsReserved int64
	// Rows of verify forwards that were not accepted (R21).
	RowsRejected int64
	// Slots named in release calls.
	SlotsReleased int64
	// Pairs named in copy calls.
	SlotsCopied int64
	// Pairs of copies that wait for a forward (R12).
	CopiesPending int64
	// Outputs unsettled now.
	InFlight int64
	// The last number given to a forward, release or copy; 0 = none yet.
	LastSequence int64
	// Entries of `row_ids` in DEVICE memory that named no row of the device buffer (R14).
	RowsStray int64
}

// forwardLayout: What [Capturer.EndForward] stages.
//
// Commit entry (g, j), g < groups, j < group_width: forward row rows[g * rows_group_stride + j] goes to slot slots[g
// * slots_group_stride + j]; -1 in either means nothing. Rows count from the forward's first row. What stands between
// two groups is not read. More entries than the device buffer has rows are refused, those with -1 included.
type forwardLayout struct {
	structSize       int64
	firstRow         int64
	tokens           int64
	acceptance       Acceptance
	slotsDType       DType
	rowsDType        DType
	slotsMemory      Memory
	rowsMemory       Memory
	tagsMemory       Memory
	groups           int64
	groupWidth       int64
	slotsGroupStride int64
	rowsGroupStride  int64
	step             int64
	weightVersion    int64
}

// acceptLayout: What [Output.Accept] commits. Entries are as in `rcap_forward_layout`.
type acceptLayout struct {
	structSize       int64
	slotsDType       DType
	rowsDType        DType
	slotsMemory      Memory
	rowsMemory       Memory
	groups           int64
	groupWidth       int64
	slotsGroupStride int64
	rowsGroupStride  int64
}

// Summary: What became of a forward's rows. entries = rows_stored + rows_bad + rows_outdated + rows_reserved.
type Summary struct {
	structSize int64
	// The forward's number.
	Sequence int64
	// The label given with it.
	Step int64
	// Commit entries without -1.
	Entries int64
	// Entries whose row is now in its slot.
	RowsStored int64
	// Entries refused; their slots, where they have one, settled as missing (R14).
	RowsBad int64
	// Entries whose slot already had a newer number (R9, R10).
	RowsOutdated int64
	// Entries for reserved slots (R15).
	RowsReserved int64
	// Rows of the forward that no entry names, with GIVEN and LATER (R21).
	RowsRejected int64
	// The Fault of the first bad entry, NONE if there is none.
	FirstBadFault Fault
	// Layer number in the model of the first bad entry's fault, -1 where no layer is to blame.
	FirstBadLayer int32
	// Forward row of the first bad entry as given, -1 without one.
	FirstBadRow int64
	// Slot of the first bad entry as given, -1 without one.
	FirstBadSlot int64
	// Layers that captured too few rows, or some row twice (R27).
	LayersBad int32
	// Layer number of the first of them, -1 without one.
	FirstBadLayerNumber int32
	// Rows of the forward that this layer captured.
	LayerRowsCaptured int64
	// Rows that it should have captured: the forward's.
	LayerRowsExpected int64
	// Entries of `row_ids` in DEVICE memory that named no row of the device buffer, over all PARTIAL taps; told with any
	// acceptance (R14).
	RowsStray int64
	// Layer number of the first layer that was given one, -1 without one.
	FirstStrayLayer int32
	reserved        int32
}

// slotsLayout: A list of slots for [Capturer.ReleaseSlots] and [Capturer.CopySlots].
type slotsLayout struct {
	structSize int64
	slotsDType DType
	memory     Memory
	unit       SlotUnit
	reserved   int32
}

// SlotInfo: State of one slot.
type SlotInfo struct {
	structSize int64
	// Number of the forward, release or copy that decided what the slot shows; 0 = never touched.
	Sequence int64
	// Number of the forward that captured the row (R12: a copied row keeps its age); 0 when missing.
	RowSequence int64
	// Weight version of the row; 0 when missing.
	WeightVersion int64
	// Tag of the row where tags are kept; 0 when missing.
	Tag int64
	// 1 if the slot holds a row, else 0.
	Valid int32
	// 1 if the slot is reserved, else 0.
	ReservedSlot int32
}

// readLayout: Which rows of a request are wanted.
type readLayout struct {
	structSize         int64
	slotsDType         DType
	unit               SlotUnit
	flags              ReadFlags
	reserved           int32
	tokens             int64
	start              int64
	afterSequence      int64
	timeoutNanoseconds int64
}

// ReadInfo: Geometry of what was read.
type ReadInfo struct {
	structSize int64
	// Token position of the first row.
	Start int64
	// Rows.
	Rows int64
	// Rows whose validity bit is set.
	RowsValid int64
	// Captured layers L.
	NumLayers int32
	// Experts per token and layer K.
	TopK int32
	// DType of the ids.
	IDsDType DType
	// DType of the weights, or NONE.
	WeightsDType DType
	// Bytes of ids [rows, L, K].
	IDsBytes int64
	// Bytes of weights [rows, L, K].
	WeightsBytes int64
	// Bytes of the row bitmap: ceil(rows / 8).
	RowValidityBytes int64
	// Bytes of the cell bitmap: ceil(rows * L / 8) where the capturer has PARTIAL taps, else 0.
	CellValidityBytes int64
	// Smallest weight version of the valid rows; 0 without any.
	WeightVersionMin int64
	// Largest weight version of the valid rows; 0 without any.
	WeightVersionMax int64
}

// recordLayout: Geometry for `rcap_record_create`.
type recordLayout struct {
	structSize    int64
	start         int64
	rows          int64
	numExperts    int32
	topK          int32
	weightsDType  DType
	weightsKind   WeightsKind
	weightVersion int64
}

// RecordInfo: Geometry of a record.
type RecordInfo struct {
	structSize int64
	// Token position of the first row.
	Start int64
	// Rows.
	Rows int64
	// Rows whose validity bit is set.
	RowsValid int64
	// Layers L.
	NumLayers int32
	// Experts per token and layer K.
	TopK int32
	// Logical routed experts E.
	NumExperts int32
	// DType of the ids.
	IDsDType DType
	// DType of the weights, or NONE.
	WeightsDType DType
	// A WeightsKind.
	WeightsKind WeightsKind
	// 1 if cells have a validity of their own (a column is PARTIAL, or a valid row lacks a cell), else 0.
	HasCellValidity int32
	reserved        int32
	// Runs of rows with one weight version.
	VersionSpans int64
}

// CompareReport: Where two records differ.
type CompareReport struct {
	structSize int64
	// 1 if geometry, layer map, flags, validity, ids, weights and version spans are all the same, else 0.
	Equal int32
	// 1 if E, K, L, layer map, dtypes and kinds are the same: only then rows are compared.
	SameShape int32
	// First token position that both hold; without one the later start.
	Start int64
	// Token positions that both hold.
	Rows int64
	// Positions that only the first holds.
	RowsOnlyFirst int64
	// Positions that only the second holds.
	RowsOnlySecond int64
	// Cells (row and layer) valid in both.
	Cells int64
	// Cells valid in the first alone.
	CellsOnlyFirst int64
	// Cells valid in the second alone.
	CellsOnlySecond int64
	// Cells valid in both whose ids differ, order counted.
	CellsDiffer int64
	// Of these, cells whose ids differ also when their order is left out.
	CellsDifferAsSets int64
	// Cells valid in both whose weights differ, bit by bit.
	CellsDifferInWeights int64
	// Rows with a different weight version, both valid.
	RowsDifferInVersion int64
	// Token position of the first cell that differs in ids or validity, -1 without one.
	FirstRow int64
	// Its layer number in the model, -1 without one.
	FirstLayer int32
	reserved   int32
}

// fillLayout: What [Record.Fill] writes.
type fillLayout struct {
	structSize int64
	start      int64
	tokens     int64
	length     int64
	firstFill  int64
	dtype      DType
	order      AxisOrder
	padding    Padding
	fillValue  int32
}

// partitionLayout: How a pack of sequences is dealt out: every sequence over context parallelism, and each rank's
// tokens, one after the other, over sequence parallelism in equal contiguous slices (R43).
type partitionLayout struct {
	structSize int64
	split      Split
	cpSize     int32
	cpRank     int32
	spSize     int32
	spRank     int32
	reserved   int32
}

// encodeOptionsLayout: Options of an encoder. What a form has no use for must stay as `rcap_encode_options_init`
// leaves it.
type encodeOptionsLayout struct {
	structSize  int64
	dtype       DType
	missing     Missing
	fillID      int32
	zstdLevel   int32
	turn        int64
	decodeStart int64
}

// decodeHintsLayout: What a decoder is told where the bytes do not say it. A fact that the bytes carry may be left
// out; given, it must agree.
type decodeHintsLayout struct {
	structSize int64
	start      int64
	rows       int64
	numExperts int32
	topK       int32
	numLayers  int32
	dtype      DType
	turn       int64
}
