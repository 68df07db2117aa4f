// SPDX-License-Identifier: Apache-2.0

package routecap

import (
	"unsafe"

	"github.com/routecap/routecap/bindings/go/internal/native"
)

// Dense says what [Record.Fill] writes.
type Dense struct {
	// Start is the token position of the first row, 0 where Positions are given.
	Start int64
	// Tokens is the number of rows; those behind the sequence are padding.
	Tokens int64
	// Length is the tokens of the sequence, the last one included. The record may not reach behind it.
	Length int64
	// FirstFill is the number of the first filled row in the formula of PaddingSpread: what earlier calls for the same batch filled, so that they do not
	// load the same experts.
	FirstFill int64
	// Order of the axes.
	Order AxisOrder
	// Padding says what stands in rows for which the record has no ids.
	Padding Padding
	// FillValue is the value of PaddingValue.
	FillValue int32
	// LayerIDs are the model layer numbers of the columns, in this order; nil is all of the record's, and empty is refused.
	LayerIDs []int32
	// Positions has the token position of every row, -1 for padding; nil is Start, Start+1, and so on.
	Positions []int64
}

// Fill writes a record's ids as a trainer replays them: [Tokens, layers, K] in the dtype of ids, every row filled (R42). Masks have a byte for every
// row, and for every row and layer: 1 where the ids are the engine's; nil is not wanted. It gives the number of rows that were filled in some layer.
func (r *Record) Fill(dense Dense, ids Array, rowMask, cellMask []byte) (int64, error) {
	own, err := r.enter()
	if err != nil {
		return 0, err
	}
	defer own.release()
	if ids.memory != MemoryHost {
		return 0, refused(ErrInvalidArgument, "a trainer's ids are filled in host memory")
	}
	layout := fillLayout{
		structSize: int64(unsafe.Sizeof(fillLayout{})),
		start:      dense.Start,
		tokens:     dense.Tokens,
		length:     dense.Length,
		firstFill:  dense.FirstFill,
		dtype:      ids.orInt64(),
		order:      dense.Order,
		padding:    dense.Padding,
		fillValue:  dense.FillValue,
	}
	var filled int64
	failed := wanted()
	status := native.Rcap_record_fill(own.handle, unsafe.Pointer(&layout), dense.LayerIDs, dense.Positions, ids.raw(), rowMask, cellMask,
		unsafe.Pointer(&filled), unsafe.Pointer(&failed))
	return filled, failure(status, &failed)
}

// PackOffsets is where each sequence begins when each is padded to a multiple, and last the pack's tokens: a trainer's cu_seqlens (R43).
func PackOffsets(lengths []int64, multiple int64) ([]int64, error) {
	offsets := make([]int64, len(lengths)+1)
	failed := wanted()
	status := native.Rcap_pack_offsets(lengths, multiple, offsets, unsafe.Pointer(&failed))
	if err := failure(status, &failed); err != nil {
		return nil, err
	}
	return offsets, nil
}

// PackPad copies sequences that stand one behind the other to their places in a pack and writes pad, one item, behind each; nil is zero bytes. It works on
// anything that has an item for every token.
func PackPad(lengths, offsets []int64, itemBytes int64, pad, tokens, packed []byte) error {
	failed := wanted()
	return failure(native.Rcap_pack_pad(lengths, offsets, itemBytes, pad, tokens, packed, unsafe.Pointer(&failed)), &failed)
}

// PackStrip copies the sequences out of a pack, one behind the other, without their padding: the inverse of [PackPad].
func PackStrip(lengths, offsets []int64, itemBytes int64, packed, tokens []byte) error {
	failed := wanted()
	return failure(native.Rcap_pack_strip(lengths, offsets, itemBytes, packed, tokens, unsafe.Pointer(&failed)), &failed)
}

// Partition says how a pack of sequences is dealt out, and which rank this is: every sequence over context parallelism, and each rank's tokens, one after
// the other, over sequence parallelism in equal contiguous slices (R43). A size of 0 is 1.
type Partition struct {
	// Split is how context parallelism deals out a sequence.
	Split Split
	// CPSize is the number of context-parallel ranks, and CPRank this one.
	CPSize, CPRank int32
	// SPSize is the number of sequence-parallel (tensor-parallel) ranks, and SPRank this one.
	SPSize, SPRank int32
}

func (p Partition) layout() partitionLayout {
	layout := partitionLayout{
		structSize: int64(unsafe.Sizeof(partitionLayout{})),
		split:      p.Split,
		cpSize:     p.CPSize,
		cpRank:     p.CPRank,
		spSize:     p.SPSize,
		spRank:     p.SPRank,
	}
	if layout.cpSize == 0 {
		layout.cpSize = 1
	}
	if layout.spSize == 0 {
		layout.spSize = 1
	}
	return layout
}

// Multiple is what every sequence of a pack must be a multiple of. Ranks are not looked at.
func (p Partition) Multiple() (int64, error) {
	var multiple int64
	layout, failed := p.layout(), wanted()
	status := native.Rcap_partition_multiple(unsafe.Pointer(&layout), unsafe.Pointer(&multiple), unsafe.Pointer(&failed))
	return multiple, failure(status, &failed)
}

// Tokens is the number of a rank's tokens, the same for all. Offsets are where each sequence begins in the pack, and last the pack's tokens.
func (p Partition) Tokens(offsets []int64) (int64, error) {
	var tokens int64
	layout, failed := p.layout(), wanted()
	status := native.Rcap_partition_tokens(unsafe.Pointer(&layout), offsets, unsafe.Pointer(&tokens), unsafe.Pointer(&failed))
	return tokens, failure(status, &failed)
}

// Indices is where in the pack each of this rank's tokens stands, in the rank's order.
func (p Partition) Indices(offsets []int64) ([]int64, error) {
	tokens, err := p.Tokens(offsets)
	if err != nil {
		return nil, err
	}
	indices := make([]int64, tokens)
	layout, failed := p.layout(), wanted()
	status := native.Rcap_partition_indices(unsafe.Pointer(&layout), offsets, indices, unsafe.Pointer(&failed))
	return indices, failure(status, &failed)
}

// Take copies this rank's part out of a pack of items.
func (p Partition) Take(offsets []int64, itemBytes int64, whole, part []byte) error {
	layout, failed := p.layout(), wanted()
	status := native.Rcap_partition_split(unsafe.Pointer(&layout), offsets, itemBytes, whole, part, unsafe.Pointer(&failed))
	return failure(status, &failed)
}

// Gather puts the parts of all ranks, one behind the other as all-gathers over context and sequence parallelism give them, together again: the inverse of
// [Partition.Take]. Ranks are not looked at.
func (p Partition) Gather(offsets []int64, itemBytes int64, parts, whole []byte) error {
	layout, failed := p.layout(), wanted()
	status := native.Rcap_partition_gather(unsafe.Pointer(&layout), offsets, itemBytes, parts, whole, unsafe.Pointer(&failed))
	return failure(status, &failed)
}

// AllChunks is the virtual rank of a [Stage] that stands for all of its chunks.
const AllChunks int32 = -1

// Stage is a pipeline stage. The model's layers are dealt out in VPSize rounds; in each, stage after stage takes its share, which is the same for all but
// a first or last stage whose layers are given. A size of 0 is 1.
type Stage struct {
	// NumLayers is the layers of the model, dense ones too.
	NumLayers int32
	// PPSize is the number of stages, and PPRank this one.
	PPSize, PPRank int32
	// VPSize is the number of virtual stages (model chunks) of each stage, and VPRank this chunk, or [AllChunks].
	VPSize, VPRank int32
	// FirstLayers is the layers of the first stage over all its chunks, and LastLayers of the last; 0 is as many as the others have.
	FirstLayers, LastLayers int32
}

// Layers gives those of the model's MoE layers, ascending, that the stage has, in the order in which it makes their routers (R43).
func (s Stage) Layers(moeLayers []int32) ([]int32, error) {
	layers := make([]int32, max(1, len(moeLayers)))
	var needed int64
	failed := wanted()
	status := native.Rcap_stage_layers(s.NumLayers, max(1, s.PPSize), s.PPRank, max(1, s.VPSize), s.VPRank, s.FirstLayers, s.LastLayers, moeLayers, layers,
		unsafe.Pointer(&needed), unsafe.Pointer(&failed))
	if err := failure(status, &failed); err != nil {
		return nil, err
	}
	return layers[:needed], nil
}

// SplitLayers copies some layers' columns out of an array [tokens, layers] of items, in the order of selected; order is part's.
func SplitLayers(layerIDs, selected []int32, tokens, itemBytes int64, order AxisOrder, whole, part []byte) error {
	failed := wanted()
	return failure(native.Rcap_layers_split(layerIDs, selected, tokens, itemBytes, int32(order), whole, part, unsafe.Pointer(&failed)), &failed)
}

// GatherLayers copies some layers' columns to their places in an array [tokens, layers] of items and leaves the others alone: called for every stage, it is
// the inverse of [SplitLayers].
func GatherLayers(layerIDs, selected []int32, tokens, itemBytes int64, order AxisOrder, part, whole []byte) error {
	failed := wanted()
	return failure(native.Rcap_layers_gather(layerIDs, selected, tokens, itemBytes, int32(order), part, whole, unsafe.Pointer(&failed)), &failed)
}
