// SPDX-License-Identifier: Apache-2.0

package routecap_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	routecap "github.com/routecap/routecap/bindings/go"
)

// refusedBy fails unless the error is of that kind and says the words.
func refusedBy(t *testing.T, err error, kind routecap.Code, words string) {
	t.Helper()
	if !errors.Is(err, kind) || !strings.Contains(err.Error(), words) {
		t.Errorf("%v, want %v: %s", err, kind, words)
	}
}

func TestFillFillsWhatTheRecordLacksAndMasksIt(t *testing.T) {
	record, err := routecap.NewRecord(routecap.RecordConfig{Rows: 3, NumExperts: 8, TopK: 2, LayerIDs: []int32{2, 6},
		IDs: routecap.ArrayOf([]uint8{7, 1, 2, 3, 0, 0, 0, 0, 5, 4, 0, 6}), Validity: []byte{5}})
	must(t, err)
	defer record.Close()
	ids, rows, cells := make([]int64, 20), make([]byte, 5), make([]byte, 10)
	filled, err := record.Fill(routecap.Dense{Tokens: 5, Length: 4}, routecap.ArrayOf(ids), rows, cells)
	must(t, err)
	if want := []int64{7, 1, 2, 3, 0, 4, 0, 4, 5, 4, 0, 6, 1, 5, 1, 5, 2, 6, 2, 6}; !reflect.DeepEqual(ids, want) || filled != 3 {
		t.Errorf("%v, %d filled", ids, filled)
	}
	if fmt.Sprint(rows) != "[1 0 1 0 0]" || fmt.Sprint(cells) != "[1 1 0 0 1 1 0 0 0 0]" {
		t.Errorf("masks %v, %v", rows, cells)
	}
	small := make([]int16, 8)
	filled, err = record.Fill(routecap.Dense{Tokens: 2, Length: 4, LayerIDs: []int32{6, 2}, Positions: []int64{2, -1}, Order: routecap.AxisOrderLayersFirst,
		Padding: routecap.PaddingValue, FillValue: -1}, routecap.ArrayOf(small), nil, nil)
	must(t, err)
	if fmt.Sprint(small, filled) != "[0 6 -1 -1 5 4 -1 -1] 1" {
		t.Errorf("%v, %d filled", small, filled)
	}
	_, err = record.Fill(routecap.Dense{Tokens: 1, Length: 4, FirstFill: 7, Start: 3}, routecap.ArrayOf(ids[:4]), nil, nil)
	must(t, err)
	if fmt.Sprint(ids[:4]) != "[7 3 7 3]" {
		t.Errorf("%v", ids[:4])
	}
	fill := func(dense routecap.Dense, rows, cells []byte) error {
		_, err := record.Fill(dense, routecap.ArrayOf(ids), rows, cells)
		return err
	}
	whole := routecap.Dense{Tokens: 5, Length: 4}
	refusedBy(t, fill(routecap.Dense{Tokens: 5, Length: 2}, nil, nil), routecap.ErrOutOfRange, "the record has the positions [0, 3), layout->length is 2")
	refusedBy(t, fill(routecap.Dense{Tokens: 5, Length: 4, LayerIDs: []int32{}}, nil, nil), routecap.ErrInvalidArgument, "layer_ids_count is 0")
	refusedBy(t, fill(routecap.Dense{Tokens: 5, Length: 4, Positions: []int64{}}, nil, nil), routecap.ErrInvalidArgument, "positions_count is 0")
	refusedBy(t, fill(whole, []byte{}, nil), routecap.ErrInvalidArgument, "row_mask_bytes is 0")
	refusedBy(t, fill(whole, nil, []byte{}), routecap.ErrInvalidArgument, "cell_mask_bytes is 0")
	_, err = record.Fill(whole, routecap.ArrayOf(ids).OnDevice(), nil, nil)
	refusedBy(t, err, routecap.ErrInvalidArgument, "host memory")
	record.Close()
	refusedBy(t, fill(whole, nil, nil), routecap.ErrClosed, "record")
}

func TestPadTakeGatherAndStripGiveBackEveryToken(t *testing.T) {
	for _, split := range []routecap.Split{routecap.SplitContiguous, routecap.SplitZigzag} {
		for cp := int32(0); cp < 5; cp++ { // 0 is 1
			for sp := int32(0); sp < 4; sp++ {
				world := routecap.Partition{Split: split, CPSize: cp, SPSize: sp}
				multiple, err := world.Multiple()
				must(t, err)
				lengths := []int64{5, 0, 17, 24}
				offsets, err := routecap.PackOffsets(lengths, multiple)
				must(t, err)
				tokens := make([]byte, 46*2)
				for index := range tokens {
					tokens[index] = byte(index + 1)
				}
				total := offsets[4]
				packed, whole, back := make([]byte, 2*total), make([]byte, 2*total), make([]byte, len(tokens))
				must(t, routecap.PackPad(lengths, offsets, 2, []byte{0xEE, 0xFF}, tokens, packed))
				var parts []byte
				for rank := world; rank.CPRank < max(1, cp); rank.CPRank++ {
					for rank.SPRank = 0; rank.SPRank < max(1, sp); rank.SPRank++ {
						indices, err := rank.Indices(offsets)
						must(t, err)
						part := make([]byte, 2*len(indices))
						must(t, rank.Take(offsets, 2, packed, part))
						for place, index := range indices {
							if part[2*place] != packed[2*index] || part[2*place+1] != packed[2*index+1] {
								t.Fatalf("%+v: item %d is not that of %d", rank, place, index)
							}
						}
						parts = append(parts, part...)
					}
				}
				must(t, world.Gather(offsets, 2, parts, whole))
				must(t, routecap.PackStrip(lengths, offsets, 2, whole, back))
				if !reflect.DeepEqual(whole, packed) || !reflect.DeepEqual(back, tokens) {
					t.Errorf("%+v: not what was padded", world)
				}
			}
		}
	}
	indices, err := routecap.Partition{Split: routecap.SplitZigzag, CPSize: 2}.Indices([]int64{0, 8})
	must(t, err)
	if fmt.Sprint(indices) != "[0 1 6 7]" {
		t.Errorf("%v", indices)
	}
	_, err = routecap.Partition{Split: routecap.SplitZigzag, CPSize: 2}.Indices([]int64{0, 6})
	refusedBy(t, err, routecap.ErrOutOfRange, "sequence 0 has 6 tokens in the pack, ZIGZAG over 2 ranks needs a multiple of 4")
	_, err = routecap.PackOffsets([]int64{-1}, 1)
	refusedBy(t, err, routecap.ErrOutOfRange, "lengths[0] is -1")
}

func TestStagesHaveTheirLayersAndColumnsComeBack(t *testing.T) {
	moe := []int32{1, 2, 3, 4, 5, 6, 7}
	stage := routecap.Stage{NumLayers: 8, PPSize: 2, VPSize: 2, PPRank: 1, VPRank: routecap.AllChunks}
	late, err := stage.Layers(moe)
	must(t, err)
	stage.PPRank = 0
	early, err := stage.Layers(moe)
	must(t, err)
	stage.VPRank = 1
	chunk, err := stage.Layers(moe)
	must(t, err)
	if fmt.Sprint(early, late, chunk) != "[1 4 5] [2 3 6 7] [4 5]" {
		t.Errorf("%v %v %v", early, late, chunk)
	}
	uneven, err := routecap.Stage{NumLayers: 10, PPSize: 3, PPRank: 1, FirstLayers: 1, LastLayers: 3}.Layers(moe)
	must(t, err)
	if fmt.Sprint(uneven) != "[1 2 3 4 5 6]" {
		t.Errorf("%v", uneven)
	}
	whole := []byte("aAbBcCdDeEfFgGhHiIjJkKlLmMnN") // two tokens, seven layers, two bytes
	part, made := make([]byte, 2*len(early)*2), make([]byte, len(whole))
	must(t, routecap.SplitLayers(moe, early, 2, 2, routecap.AxisOrderLayersFirst, whole, part))
	if string(part) != "aAhHdDkKeElL" {
		t.Errorf("%s", part)
	}
	must(t, routecap.GatherLayers(moe, early, 2, 2, routecap.AxisOrderLayersFirst, part, made))
	part = make([]byte, 2*len(late)*2)
	must(t, routecap.SplitLayers(moe, late, 2, 2, routecap.AxisOrderTokensFirst, whole, part))
	must(t, routecap.GatherLayers(moe, late, 2, 2, routecap.AxisOrderTokensFirst, part, made))
	if string(made) != string(whole) {
		t.Errorf("%s", made)
	}
	refusedBy(t, routecap.SplitLayers(moe, []int32{9}, 2, 2, routecap.AxisOrderTokensFirst, whole, part), routecap.ErrOutOfRange,
		"layer 9 is none of the 7 layers there are (1 .. 7)")
	_, err = routecap.Stage{NumLayers: 9, PPSize: 2}.Layers(moe)
	refusedBy(t, err, routecap.ErrOutOfRange, "9 layers are left for 2 stages")
}
