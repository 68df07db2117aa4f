// SPDX-License-Identifier: Apache-2.0

package routecap

import (
	"unsafe"

	"github.com/routecap/routecap/bindings/go/internal/native"
)

// View is a record's arrays where they lie, in the library's memory. Nothing of it may be kept beyond the call that [Record.View] made, and nothing
// may be written to.
type View struct {
	// Info is the geometry.
	Info RecordInfo
	// LayerIDs is the model layer number of every column (R26).
	LayerIDs []int32
	// LayerFlags are the flags of every column (R24, R26).
	LayerFlags []TapFlags
	// RowValidity is the row bitmap: bit i of byte i/8, from the lowest, is 1 if row i was captured (R7).
	RowValidity []byte
	// CellValidity is the cell bitmap, bit row*L+column; empty where valid rows are valid in every column.
	CellValidity []byte
	// VersionStarts has the token position of the first row of each run of one weight version, and Versions its version.
	VersionStarts, Versions []int64

	ids, weights []byte
}

// View calls use with the record's arrays. The record stays alive until use returns, whoever closes it meanwhile.
func (r *Record) View(use func(view View) error) error {
	own, err := r.enter()
	if err != nil {
		return err
	}
	defer own.release()
	view, err := viewOf(own)
	if err != nil {
		return err
	}
	return use(view)
}

func viewOf(own *cell) (View, error) {
	var view View
	var err error
	view.Info, err = recordInfo(own)
	if err != nil {
		return View{}, err
	}
	failed := wanted()
	borrow := func(get func(self uintptr, data, count, failed unsafe.Pointer) int32) (unsafe.Pointer, int64) {
		var data unsafe.Pointer
		var count int64
		if err == nil {
			err = failure(get(own.handle, unsafe.Pointer(&data), unsafe.Pointer(&count), unsafe.Pointer(&failed)), &failed)
		}
		return data, count
	}
	view.ids = borrowed[byte](borrow(native.Rcap_record_ids))
	view.weights = borrowed[byte](borrow(native.Rcap_record_weights))
	view.RowValidity = borrowed[byte](borrow(native.Rcap_record_row_validity))
	view.CellValidity = borrowed[byte](borrow(native.Rcap_record_cell_validity))
	view.LayerIDs = borrowed[int32](borrow(native.Rcap_record_layer_ids))
	view.LayerFlags = borrowed[TapFlags](borrow(native.Rcap_record_layer_flags))
	if err != nil {
		return View{}, err
	}
	var starts, versions unsafe.Pointer
	var count int64
	if err := failure(native.Rcap_record_version_spans(own.handle, unsafe.Pointer(&starts), unsafe.Pointer(&versions), unsafe.Pointer(&count), unsafe.Pointer(&failed)), &failed); err != nil {
		return View{}, err
	}
	view.VersionStarts = borrowed[int64](starts, count)
	view.Versions = borrowed[int64](versions, count)
	return view, nil
}

// borrowed is C's memory as a slice that cannot grow into what lies behind it.
func borrowed[T any](data unsafe.Pointer, count int64) []T {
	if count <= 0 {
		return nil
	}
	return unsafe.Slice((*T)(data), count)
}

// IDs are the ids [rows, L, K] of a view, row-major, of the record's id dtype and of no other. Cells that are not valid are 0xFF in every byte.
//
// Warning: the slice is the library's memory, which the garbage collector does not know. It must not outlive the call that [Record.View] made: not be
// returned from it, kept, or handed to a goroutine that goes on. Read later it is memory that was given back, and nothing detects it. Copy what is to
// be kept ([AppendIDs], [slices.Clone]).
func IDs[T uint8 | uint16 | int32](view View) ([]T, error) {
	return viewed[T](view.ids, "ids", view.Info.IDsDType)
}

// Weights are the weights [rows, L, K] of a view, of the record's weights dtype and of no other; none where none are kept.
//
// Warning: the slice is the library's memory and must not outlive the call that [Record.View] made, as with [IDs].
func Weights[T Float16 | BFloat16 | float32](view View) ([]T, error) {
	if view.Info.WeightsDType == DTypeNone {
		return nil, nil
	}
	return viewed[T](view.weights, "weights", view.Info.WeightsDType)
}

func viewed[T Element](data []byte, what string, dtype DType) ([]T, error) {
	if want := dtypeOf[T](); want != dtype {
		return nil, refused(ErrInvalidArgument, "the record's %s are %v, not %v", what, dtype, want)
	}
	if len(data) == 0 {
		return nil, nil
	}
	var element T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(data))), len(data)/int(unsafe.Sizeof(element))), nil
}

// RowValid reports whether a row, counted from 0, was captured. A row that the record does not have was not.
func (v *View) RowValid(row int64) bool {
	return row >= 0 && row < v.Info.Rows && bit(v.RowValidity, row)
}

// CellValid reports whether a row has a column, both counted from 0. A row or column that the record does not have is not valid.
func (v *View) CellValid(row int64, column int) bool {
	if row < 0 || row >= v.Info.Rows || column < 0 || column >= int(v.Info.NumLayers) {
		return false
	}
	if len(v.CellValidity) == 0 {
		return v.RowValid(row)
	}
	return bit(v.CellValidity, row*int64(v.Info.NumLayers)+int64(column))
}

func bit(bitmap []byte, index int64) bool { return bitmap[index/8]>>(index%8)&1 != 0 }

// Integer is what ids can be copied into.
type Integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// AppendIDs appends a copy of a record's ids [rows, L, K] to a slice of any integer type. Cells that are not valid become all ones: -1, or the largest
// number of an unsigned type. A type that is too narrow for an id is refused.
func AppendIDs[T Integer](into []T, record *Record) ([]T, error) {
	err := record.View(func(view View) error {
		if limit := ^T(0); limit > 0 && uint64(limit) < uint64(view.Info.NumExperts-1) || limit < 0 && T(view.Info.NumExperts-1) < 0 ||
			int64(T(view.Info.NumExperts-1)) != int64(view.Info.NumExperts-1) {
			return refused(ErrOutOfRange, "ids go up to %d, which does not fit the elements of the slice", view.Info.NumExperts-1)
		}
		switch view.Info.IDsDType {
		case DTypeUInt8:
			into = appendCells(into, view, mustView[uint8](view.ids))
		case DTypeUInt16:
			into = appendCells(into, view, mustView[uint16](view.ids))
		default:
			into = appendCells(into, view, mustView[int32](view.ids))
		}
		return nil
	})
	return into, err
}

func mustView[T Element](data []byte) []T {
	ids, _ := viewed[T](data, "", dtypeOf[T]())
	return ids
}

func appendCells[T, S Integer](into []T, view View, ids []S) []T {
	k := int(view.Info.TopK)
	cell := 0
	for row := range view.Info.Rows {
		for column := range int(view.Info.NumLayers) {
			valid := view.CellValid(row, column)
			for _, id := range ids[cell*k : cell*k+k] {
				if valid {
					into = append(into, T(id))
				} else {
					into = append(into, ^T(0))
				}
			}
			cell++
		}
	}
	return into
}
