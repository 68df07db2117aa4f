// SPDX-License-Identifier: Apache-2.0

package routecap

import (
	"unsafe"

	"github.com/routecap/routecap/bindings/go/internal/native"
)

// derive makes a record out of one.
func (r *Record) derive(call func(self uintptr, handle, failed unsafe.Pointer) int32) (*Record, error) {
	own, err := r.enter()
	if err != nil {
		return nil, err
	}
	defer own.release()
	return makeRecord(func(handle, failed unsafe.Pointer) int32 {
		return call(own.handle, handle, failed)
	})
}

// join makes a record out of two.
func (r *Record) join(other *Record, call func(self, other uintptr, handle, failed unsafe.Pointer) int32) (*Record, error) {
	second, err := other.enter()
	if err != nil {
		return nil, err
	}
	defer second.release()
	return r.derive(func(self uintptr, handle, failed unsafe.Pointer) int32 {
		return call(self, second.handle, handle, failed)
	})
}

// Slice is a new record of the token positions [start, end): byte for byte what a read from start would have given (R3, R4).
func (r *Record) Slice(start, end int64) (*Record, error) {
	return r.derive(func(self uintptr, handle, failed unsafe.Pointer) int32 {
		return native.Rcap_record_slice(self, start, end, handle, failed)
	})
}

// Append is a new record of this one's rows and then another's, which starts inside this one or right behind it (R5, R39). Where both hold a position,
// overlap decides.
func (r *Record) Append(next *Record, overlap Overlap) (*Record, error) {
	return r.join(next, func(self, other uintptr, handle, failed unsafe.Pointer) int32 {
		return native.Rcap_record_append(self, other, int32(overlap), handle, failed)
	})
}

// Merge is a new record of a request served by a prefill and a decode engine: positions below the boundary from this record, the others from decode
// (R40). The boundary is usually the number of prompt tokens.
func (r *Record) Merge(decode *Record, boundary int64) (*Record, error) {
	return r.join(decode, func(self, other uintptr, handle, failed unsafe.Pointer) int32 {
		return native.Rcap_record_merge(self, other, boundary, handle, failed)
	})
}

// Truncate is a new record for a request cut to fewer tokens: positions below tokens-1, with ReadIncludeLast below tokens (R4).
func (r *Record) Truncate(tokens int64, flags ReadFlags) (*Record, error) {
	return r.derive(func(self uintptr, handle, failed unsafe.Pointer) int32 {
		return native.Rcap_record_truncate(self, tokens, int32(flags), handle, failed)
	})
}

// Stack is a new record of the same tokens with the layers of both: stages of a pipeline (R44).
func (r *Record) Stack(other *Record) (*Record, error) {
	return r.join(other, func(self, other uintptr, handle, failed unsafe.Pointer) int32 {
		return native.Rcap_record_stack(self, other, handle, failed)
	})
}

// Interleave is a new record of token positions that context parallelism dealt out to two ranks (R45): positions has the token position of each of
// this record's rows, otherPositions of the other's; nil is start, start+1, and so on, and a slice of another length is refused. A position that nobody
// named is missing.
func (r *Record) Interleave(positions []int64, other *Record, otherPositions []int64) (*Record, error) {
	return r.join(other, func(self, second uintptr, handle, failed unsafe.Pointer) int32 {
		return native.Rcap_record_interleave(self, positions, second, otherPositions, handle, failed)
	})
}

// ToFullAxis is a new record with a column for every layer 0 .. layers-1 of the model (R26). With FillValue the added ones hold fillID K times.
func (r *Record) ToFullAxis(layers int32, fill Fill, fillID int32) (*Record, error) {
	return r.derive(func(self uintptr, handle, failed unsafe.Pointer) int32 {
		return native.Rcap_record_to_full_axis(self, layers, int32(fill), fillID, handle, failed)
	})
}

// ToCompact is a new record with some of this one's layers alone, named ascending.
func (r *Record) ToCompact(layerIDs []int32) (*Record, error) {
	return r.derive(func(self uintptr, handle, failed unsafe.Pointer) int32 {
		return native.Rcap_record_to_compact(self, layerIDs, handle, failed)
	})
}

// Compare compares two records on the positions that both hold.
func (r *Record) Compare(other *Record) (CompareReport, error) { return r.compare(other, nil) }

// CompareByLayer is [Record.Compare], and for each column the cells that differ in ids where the shapes are the same.
func (r *Record) CompareByLayer(other *Record) (CompareReport, []int64, error) {
	info, err := r.Info()
	if err != nil {
		return CompareReport{}, nil, err
	}
	byLayer := make([]int64, info.NumLayers)
	report, err := r.compare(other, byLayer)
	return report, byLayer, err
}

func (r *Record) compare(other *Record, byLayer []int64) (CompareReport, error) {
	first, err := r.enter()
	if err != nil {
		return CompareReport{}, err
	}
	defer first.release()
	second, err := other.enter()
	if err != nil {
		return CompareReport{}, err
	}
	defer second.release()
	report := CompareReport{structSize: int64(unsafe.Sizeof(CompareReport{}))}
	failed := wanted()
	status := native.Rcap_record_compare(first.handle, second.handle, unsafe.Pointer(&report), byLayer, unsafe.Pointer(&failed))
	return report, failure(status, &failed)
}
