// SPDX-License-Identifier: Apache-2.0

package routecap

import (
	"iter"
	"math"
	"slices"
)

// Row is one token's experts, copied out of its record.
type Row struct {
	// Position of the token.
	Position int64
	// Valid: the row was captured (R7).
	Valid bool
	// LayerIDs is the model layer number of every column.
	LayerIDs []int32

	ids     []int32
	weights []float32
	cells   []bool
	topK    int
}

// Experts are the K ids of a column, in the kernel's order; nil where the cell is missing.
func (r Row) Experts(column int) []int32 {
	if !r.cells[column] {
		return nil
	}
	return r.ids[column*r.topK : (column+1)*r.topK : (column+1)*r.topK]
}

// Weights are the K weights of a column; nil where the cell is missing or no weights are kept.
func (r Row) Weights(column int) []float32 {
	if !r.cells[column] || r.weights == nil {
		return nil
	}
	return r.weights[column*r.topK : (column+1)*r.topK : (column+1)*r.topK]
}

// Clone is a row that may be kept.
func (r Row) Clone() Row {
	r.LayerIDs, r.ids, r.weights, r.cells = slices.Clone(r.LayerIDs), slices.Clone(r.ids), slices.Clone(r.weights), slices.Clone(r.cells)
	return r
}

// Rows gives the record's rows, ascending by position. A row's memory is used again for the next one; [Row.Clone] keeps it. Of a closed record there is
// one pair, with the error.
func (r *Record) Rows() iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		err := r.View(func(view View) error {
			layers, k := int(view.Info.NumLayers), int(view.Info.TopK)
			row := Row{LayerIDs: slices.Clone(view.LayerIDs), ids: make([]int32, layers*k), cells: make([]bool, layers), topK: k}
			if view.Info.WeightsDType != DTypeNone {
				row.weights = make([]float32, layers*k)
			}
			for index := range view.Info.Rows {
				row.Position = view.Info.Start + index
				row.Valid = view.RowValid(index)
				for column := range layers {
					row.cells[column] = view.CellValid(index, column)
				}
				copyRow(row, view, int(index)*layers*k)
				if !yield(row, nil) {
					return nil
				}
			}
			return nil
		})
		if err != nil {
			yield(Row{}, err)
		}
	}
}

func copyRow(row Row, view View, first int) {
	switch view.Info.IDsDType {
	case DTypeUInt8:
		convert(row.ids, mustView[uint8](view.ids)[first:])
	case DTypeUInt16:
		convert(row.ids, mustView[uint16](view.ids)[first:])
	default:
		copy(row.ids, mustView[int32](view.ids)[first:])
	}
	switch view.Info.WeightsDType {
	case DTypeNone:
	case DTypeFloat16:
		for index, bits := range mustView[Float16](view.weights)[first : first+len(row.weights)] {
			row.weights[index] = bits.Float32()
		}
	case DTypeBFloat16:
		for index, bits := range mustView[BFloat16](view.weights)[first : first+len(row.weights)] {
			row.weights[index] = bits.Float32()
		}
	default:
		copy(row.weights, mustView[float32](view.weights)[first:])
	}
}

func convert[T uint8 | uint16](into []int32, from []T) {
	for index := range into {
		into[index] = int32(from[index])
	}
}

// Float32 is the number exactly.
func (f BFloat16) Float32() float32 { return math.Float32frombits(uint32(f) << 16) }

// Float32 is the number exactly.
func (f Float16) Float32() float32 {
	sign, exponent, fraction := uint32(f)>>15, uint32(f)>>10&0x1f, uint32(f)&0x3ff
	switch exponent {
	case 0:
		// Zero, or a multiple of 2^-24.
		return math.Float32frombits(math.Float32bits(float32(fraction)*0x1p-24) | sign<<31)
	case 0x1f:
		return math.Float32frombits(sign<<31 | 0xff<<23 | fraction<<13)
	}
	return math.Float32frombits(sign<<31 | (exponent+127-15)<<23 | fraction<<13)
}
