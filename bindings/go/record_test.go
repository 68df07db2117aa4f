// SPDX-License-Identifier: Apache-2.0

package routecap_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	routecap "github.com/routecap/routecap/bindings/go"
)

// recordOf is a record of one layer and K = 1 at a start: an id per row, negative for a missing row.
func recordOf(t testing.TB, start int64, layer int32, ids ...int) *routecap.Record {
	t.Helper()
	bytes, validity := make([]uint8, len(ids)), make([]byte, (len(ids)+7)/8)
	for index, id := range ids {
		if id >= 0 {
			bytes[index] = uint8(id)
			validity[index/8] |= 1 << (index % 8)
		}
	}
	record, err := routecap.NewRecord(routecap.RecordConfig{Start: start, Rows: int64(len(ids)), NumExperts: 64, TopK: 1, LayerIDs: []int32{layer},
		IDs: routecap.ArrayOf(bytes), Validity: validity, WeightVersion: 3})
	must(t, err)
	t.Cleanup(func() { record.Close() })
	return record
}

// show is a record in words: start, then a row's ids, layer by layer; _ is missing.
func show(t testing.TB, record *routecap.Record) string {
	t.Helper()
	info, err := record.Info()
	must(t, err)
	var text strings.Builder
	fmt.Fprint(&text, info.Start, ":")
	for row, err := range record.Rows() {
		must(t, err)
		var cells []string
		for column := range row.LayerIDs {
			if experts := row.Experts(column); experts == nil {
				cells = append(cells, "_")
			} else {
				cells = append(cells, fmt.Sprint(experts[0]))
			}
		}
		text.WriteString(" " + strings.Join(cells, "/"))
	}
	return text.String()
}

func TestAlgebra(t *testing.T) {
	whole := recordOf(t, 0, 5, 1, 2, -1, 4, 5)
	cases := []struct {
		name string
		make func() (*routecap.Record, error)
		want string
	}{
		{"slice", func() (*routecap.Record, error) { return whole.Slice(1, 4) }, "1: 2 _ 4"},
		{"empty slice", func() (*routecap.Record, error) { return whole.Slice(2, 2) }, "2:"},
		{"truncate", func() (*routecap.Record, error) { return whole.Truncate(3, 0) }, "0: 1 2"},
		{"truncate with last", func() (*routecap.Record, error) { return whole.Truncate(3, routecap.ReadIncludeLast) }, "0: 1 2 _"},
		{"append", func() (*routecap.Record, error) { return whole.Append(recordOf(t, 5, 5, 6), routecap.OverlapRefuse) }, "0: 1 2 _ 4 5 6"},
		{"append old", func() (*routecap.Record, error) {
			return whole.Append(recordOf(t, 4, 5, 9, 6), routecap.OverlapKeepOld)
		}, "0: 1 2 _ 4 5 6"},
		{"append new", func() (*routecap.Record, error) {
			return whole.Append(recordOf(t, 4, 5, 9, 6), routecap.OverlapKeepNew)
		}, "0: 1 2 _ 4 9 6"},
		{"merge", func() (*routecap.Record, error) { return whole.Merge(recordOf(t, 2, 5, 30, 31, 32, 33), 3) }, "0: 1 2 _ 31 32 33"},
		{"stack", func() (*routecap.Record, error) { return whole.Stack(recordOf(t, 0, 2, 11, 12, 13, 14, 15)) }, "0: 11/1 12/2 13/_ 14/4 15/5"},
		{"interleave", func() (*routecap.Record, error) {
			return recordOf(t, 0, 5, 1, 2).Interleave([]int64{3, 0}, recordOf(t, 1, 5, 8), nil)
		}, "0: 2 8 _ 1"},
		{"full axis", func() (*routecap.Record, error) {
			return recordOf(t, 0, 1, 7, -1).ToFullAxis(3, routecap.FillMissing, 0)
		}, "0: _/7/_ _/_/_"},
		{"full axis filled", func() (*routecap.Record, error) { return recordOf(t, 0, 1, 7, -1).ToFullAxis(3, routecap.FillValue, 9) }, "0: 9/7/9 _/_/_"},
		{"compact", func() (*routecap.Record, error) {
			stacked, err := recordOf(t, 0, 1, 7, 8).Stack(recordOf(t, 0, 4, 9, 10))
			must(t, err)
			defer stacked.Close()
			return stacked.ToCompact([]int32{4})
		}, "0: 9 10"},
	}
	for _, c := range cases {
		made, err := c.make()
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := show(t, made); got != c.want {
			t.Errorf("%s gives %q, want %q", c.name, got, c.want)
		}
		must(t, made.Close())
	}
	for name, refuse := range map[string]func() (*routecap.Record, error){
		"gap":     func() (*routecap.Record, error) { return whole.Append(recordOf(t, 6, 5, 6), routecap.OverlapKeepNew) },
		"overlap": func() (*routecap.Record, error) { return whole.Append(recordOf(t, 4, 5, 6), routecap.OverlapRefuse) },
		"slice":   func() (*routecap.Record, error) { return whole.Slice(0, 6) },
		"layer":   func() (*routecap.Record, error) { return whole.ToCompact([]int32{6}) },
		"merge":   func() (*routecap.Record, error) { return whole.Merge(recordOf(t, 7, 5, 30), 7) },
	} {
		if _, err := refuse(); !errors.Is(err, routecap.ErrOutOfRange) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestValidityOfWhatIsNotThere(t *testing.T) {
	record := recordOf(t, 0, 0, 1, 2, 3)
	must(t, record.View(func(view routecap.View) error {
		for _, row := range []int64{math.MinInt64, -1, 3, 7, 8, math.MaxInt64} {
			if view.RowValid(row) || view.CellValid(row, 0) {
				t.Errorf("row %d of 3 is valid", row)
			}
		}
		for _, column := range []int{math.MinInt, -1, 1, math.MaxInt} {
			if view.CellValid(0, column) {
				t.Errorf("column %d of 1 is valid", column)
			}
		}
		if !view.RowValid(2) || !view.CellValid(2, 0) {
			t.Error("row 2 is not valid")
		}
		return nil
	}))
}

func TestCompare(t *testing.T) {
	first, second := recordOf(t, 0, 5, 1, 2, -1, 4, 5), recordOf(t, 1, 5, 2, 3, 9, -1, 6)
	report, byLayer, err := first.CompareByLayer(second)
	must(t, err)
	// Both hold positions 1 .. 4: equal, only in the second, different, only in the first.
	if report.Equal != 0 || report.SameShape != 1 || report.Start != 1 || report.Rows != 4 || report.Cells != 2 || report.CellsOnlyFirst != 1 ||
		report.CellsOnlySecond != 1 || report.CellsDiffer != 1 || report.RowsOnlyFirst != 1 || report.RowsOnlySecond != 1 || report.FirstRow != 2 ||
		report.FirstLayer != 5 || byLayer[0] != 1 {
		t.Fatalf("%+v, by layer %v", report, byLayer)
	}
	report, err = first.Compare(first)
	must(t, err)
	if report.Equal != 1 {
		t.Fatalf("%+v", report)
	}
}

func TestViewsLieInTheRecord(t *testing.T) {
	record := recordOf(t, 10, 5, 1, 2, -1, 4)
	var kept []uint8
	must(t, record.View(func(view routecap.View) error {
		ids, err := routecap.IDs[uint8](view)
		must(t, err)
		if fmt.Sprint(ids, view.RowValidity, view.CellValidity, view.LayerIDs, view.VersionStarts, view.Versions) != "[1 2 255 4] [11] [] [5] [10] [3]" {
			t.Errorf("%v %v", ids, view)
		}
		weights, err := routecap.Weights[float32](view)
		if len(weights) != 0 || err != nil || view.RowValid(2) || !view.CellValid(3, 0) {
			t.Error(weights, err)
		}
		kept = append(kept, ids...)
		// Closed meanwhile: what the callback holds stays where it is.
		must(t, record.Close())
		if fmt.Sprint(ids) != "[1 2 255 4]" {
			t.Error(ids)
		}
		return nil
	}))
	if err := record.View(func(routecap.View) error { return nil }); !errors.Is(err, routecap.ErrClosed) {
		t.Fatal(err)
	}
	other := recordOf(t, 0, 5, 63, -1)
	unsigned, err := routecap.AppendIDs([]uint64(nil), other)
	must(t, err)
	small, err := routecap.AppendIDs([]int8(nil), other)
	must(t, err)
	if fmt.Sprint(unsigned, small) != "[63 18446744073709551615] [63 -1]" {
		t.Fatal(unsigned, small)
	}
	sentinel := errors.New("mine")
	if err := other.View(func(routecap.View) error { return sentinel }); err != sentinel {
		t.Fatal(err)
	}
	var first routecap.Row
	for row := range other.Rows() {
		first = row.Clone()
		break
	}
	if first.Position != 0 || first.Experts(0)[0] != 63 {
		t.Fatal(first)
	}
}

func TestWideIDs(t *testing.T) {
	for _, experts := range []int32{256, 257, 65536, 65537} {
		var ids routecap.Array
		top := experts - 1
		switch {
		case experts <= 256:
			ids = routecap.ArrayOf([]uint8{uint8(top), 0})
		case experts <= 65536:
			ids = routecap.ArrayOf([]uint16{uint16(top), 0})
		default:
			ids = routecap.ArrayOf([]int32{top, 0})
		}
		record, err := routecap.NewRecord(routecap.RecordConfig{Rows: 1, NumExperts: experts, TopK: 2, LayerIDs: []int32{0}, IDs: ids})
		must(t, err)
		got, err := routecap.AppendIDs([]int64(nil), record)
		must(t, err)
		if fmt.Sprint(got) != fmt.Sprint([]int32{top, 0}) {
			t.Errorf("E = %d: %v", experts, got)
		}
		for row, err := range record.Rows() {
			must(t, err)
			if row.Experts(0)[0] != top {
				t.Errorf("E = %d: %v", experts, row.Experts(0))
			}
		}
		record.Close()
	}
}

func TestHalfNumbers(t *testing.T) {
	// Bits and values from the definitions of the formats.
	for bits, want := range map[routecap.Float16]float32{0x0000: 0, 0x3c00: 1, 0xc000: -2, 0x7bff: 65504, 0x0001: 0x1p-24, 0x8001: -0x1p-24, 0x03ff: 1023 * 0x1p-24, 0x0400: 0x1p-14, 0x3555: 1365 * 0x1p-12} {
		if got := bits.Float32(); got != want {
			t.Errorf("%#04x is %v, want %v", uint16(bits), got, want)
		}
	}
	if !math.IsInf(float64(routecap.Float16(0xfc00).Float32()), -1) || !math.IsNaN(float64(routecap.Float16(0x7e00).Float32())) || math.Float32bits(routecap.Float16(0x8000).Float32()) != 1<<31 {
		t.Error("infinity, NaN or negative zero")
	}
	for bits, want := range map[routecap.BFloat16]float32{0x3f80: 1, 0xc000: -2, 0x4049: 3.140625} {
		if got := bits.Float32(); got != want {
			t.Errorf("%#04x is %v, want %v", uint16(bits), got, want)
		}
	}
	record, err := routecap.NewRecord(routecap.RecordConfig{Rows: 2, NumExperts: 4, TopK: 1, LayerIDs: []int32{0}, IDs: routecap.ArrayOf([]uint8{1, 2}),
		Weights: routecap.ArrayOf([]routecap.BFloat16{0x3f80, 0xc000}), WeightsKind: routecap.WeightsRenormalized})
	must(t, err)
	defer record.Close()
	var got []float32
	for row, err := range record.Rows() {
		must(t, err)
		got = append(got, row.Weights(0)...)
	}
	must(t, record.View(func(view routecap.View) error {
		weights, err := routecap.Weights[routecap.BFloat16](view)
		if fmt.Sprint(got, weights, err, view.Info.WeightsKind) != "[1 -2] [16256 49152] <nil> renormalized" {
			t.Error(got, weights, err, view.Info.WeightsKind)
		}
		return nil
	}))
}
