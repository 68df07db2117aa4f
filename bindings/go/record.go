// SPDX-License-Identifier: Apache-2.0

package routecap

import (
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/routecap/routecap/bindings/go/internal/native"
)

// Record is rows that left the library: it owns its bytes, knows its geometry, and never changes. Any number of goroutines may use it at once. The
// zero Record is for [Record.UnmarshalBinary] and [Record.UnmarshalText].
type Record struct{ cell atomic.Pointer[cell] }

// makeRecord runs a call that makes a record.
func makeRecord(call func(handle, failed unsafe.Pointer) int32) (*Record, error) {
	own, err := makeRecordCell(call)
	if err != nil {
		return nil, err
	}
	record := new(Record)
	record.cell.Store(own)
	runtime.AddCleanup(record, closeCollected, own)
	return record, nil
}

func makeRecordCell(call func(handle, failed unsafe.Pointer) int32) (*cell, error) {
	var handle uintptr
	failed := wanted()
	if err := failure(call(unsafe.Pointer(&handle), unsafe.Pointer(&failed)), &failed); err != nil {
		return nil, err
	}
	own := &cell{destroy: func(c *cell) { native.Rcap_record_destroy(c.handle) }}
	own.open(handle)
	return own, nil
}

// take puts what was decoded into a record that may hold something already.
func (r *Record) take(own *cell) {
	if old := r.cell.Swap(own); old != nil {
		old.close()
	}
	runtime.AddCleanup(r, closeCollected, own)
}

func (r *Record) enter() (*cell, error) {
	if r == nil {
		return nil, unmadeError("record")
	}
	own := r.cell.Load()
	if own == nil {
		return nil, unmadeError("record")
	}
	if !own.acquire() {
		return nil, closedError("record")
	}
	return own, nil
}

// Close gives the record's memory back. It returns nil.
func (r *Record) Close() error {
	if r == nil {
		return nil
	}
	if own := r.cell.Load(); own != nil {
		own.close()
	}
	return nil
}

// RecordConfig is what [NewRecord] makes a record of.
type RecordConfig struct {
	// Start is the token position of the first row.
	Start int64
	// Rows is the number of rows.
	Rows int64
	// NumExperts is E: ids lie in [0, E).
	NumExperts int32
	// TopK is K.
	TopK int32
	// LayerIDs are the model layer numbers of the columns, ascending.
	LayerIDs []int32
	// LayerFlags are the flags of every column; nil is none, and a slice without elements is refused. TapPartial anywhere means that cells have a validity of their own.
	LayerFlags []TapFlags
	// IDs are [Rows, L, K] of the dtype that E gives: uint8 up to 256, uint16 up to 65536, else int32 (R28).
	IDs Array
	// Weights are [Rows, L, K], Float16, BFloat16 or float32, or not given.
	Weights Array
	// WeightsKind is what the weights mean.
	WeightsKind WeightsKind
	// Validity is the row bitmap, and behind it the cell bitmap where a column is TapPartial; nil is all valid, and empty
	// is refused where there are rows.
	Validity []byte
	// WeightVersion of all rows.
	WeightVersion int64
}

// NewRecord makes a record from the caller's arrays; they are copied.
func NewRecord(config RecordConfig) (*Record, error) {
	if want := idDType(config.NumExperts); config.IDs.given() && config.IDs.dtype != want {
		return nil, refused(ErrInvalidArgument, "ids of %d experts are %v, not %v", config.NumExperts, want, config.IDs.dtype)
	}
	layout := recordLayout{
		structSize:    int64(unsafe.Sizeof(recordLayout{})),
		start:         config.Start,
		rows:          config.Rows,
		numExperts:    config.NumExperts,
		topK:          config.TopK,
		weightsDType:  config.Weights.dtype,
		weightsKind:   config.WeightsKind,
		weightVersion: config.WeightVersion,
	}
	if config.IDs.memory != MemoryHost || config.Weights.memory != MemoryHost {
		return nil, refused(ErrInvalidArgument, "a record is made from host memory")
	}
	flags := unsafe.Slice((*int32)(unsafe.SliceData(config.LayerFlags)), len(config.LayerFlags))
	return makeRecord(func(handle, failed unsafe.Pointer) int32 {
		return native.Rcap_record_create(unsafe.Pointer(&layout), config.LayerIDs, flags, config.IDs.raw(), config.Weights.raw(), config.Validity, handle,
			failed)
	})
}

// idDType is the dtype of stored ids (R28).
func idDType(experts int32) DType {
	switch {
	case experts <= 256:
		return DTypeUInt8
	case experts <= 65536:
		return DTypeUInt16
	}
	return DTypeInt32
}

// Info is the geometry of the record.
func (r *Record) Info() (RecordInfo, error) {
	own, err := r.enter()
	if err != nil {
		return RecordInfo{}, err
	}
	defer own.release()
	return recordInfo(own)
}

func recordInfo(own *cell) (RecordInfo, error) {
	info := RecordInfo{structSize: int64(unsafe.Sizeof(RecordInfo{}))}
	failed := wanted()
	status := native.Rcap_record_info_get(own.handle, unsafe.Pointer(&info), unsafe.Pointer(&failed))
	return info, failure(status, &failed)
}
