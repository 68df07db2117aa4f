// SPDX-License-Identifier: Apache-2.0

package routecap_test

import (
	"bytes"
	"errors"
	"fmt"
	"log"

	routecap "github.com/routecap/routecap/bindings/go"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// From start-up to the rows of a request.
func Example() {
	capturer, err := routecap.NewCapturer(routecap.Config{NumExperts: 256, TopK: 2, LayerIDs: []int32{3, 4}, ChunkedPrefillSize: 128, NumSlots: 1024})
	check(err)
	defer capturer.Close()
	target, err := capturer.AddModel(routecap.RoleTarget, "target")
	check(err)
	var taps []*routecap.Tap
	for _, layer := range []int32{3, 4} {
		tap, err := target.AddTap(layer, routecap.TapOptions{})
		check(err)
		taps = append(taps, tap)
	}
	check(capturer.Seal())

	// A forward of three tokens: each layer hands over its ids [tokens, K]; then the rows go to the tokens' KV slots.
	topk := [][]int32{{17, 4, 255, 0, 9, 30}, {1, 2, 3, 4, 5, 6}}
	slots := []int64{40, 41, 7}
	for layer, tap := range taps {
		check(tap.Capture(routecap.Capture{IDs: routecap.ArrayOf(topk[layer]), Columns: 2, Tokens: 3}))
	}
	output, err := capturer.EndForward(routecap.Forward{Tokens: 3, Slots: routecap.ArrayOf(slots)})
	check(err)
	check(output.CopyToHost(0))
	_, err = output.Finalize()
	check(err)
	check(output.Close())

	// A request of 4 tokens has 3 rows: its last token was never an input.
	record, err := capturer.Read(routecap.Read{Slots: routecap.ArrayOf(slots), Tokens: 4})
	check(err)
	defer record.Close()
	for row, err := range record.Rows() {
		check(err)
		fmt.Println("token", row.Position, "layer 3 ->", row.Experts(0), "layer 4 ->", row.Experts(1))
	}
	// Output:
	// token 0 layer 3 -> [17 4] layer 4 -> [1 2]
	// token 1 layer 3 -> [255 0] layer 4 -> [3 4]
	// token 2 layer 3 -> [9 30] layer 4 -> [5 6]
}

// A gateway in front of a prefill and a decode engine joins what the two recorded at the prompt's boundary (R40).
func ExampleRecord_Merge() {
	record := func(start int64, ids ...uint8) *routecap.Record {
		made, err := routecap.NewRecord(routecap.RecordConfig{Start: start, Rows: int64(len(ids)), NumExperts: 64, TopK: 1, LayerIDs: []int32{0}, IDs: routecap.ArrayOf(ids)})
		check(err)
		return made
	}
	prefill, decode := record(0, 10, 11, 12), record(3, 20, 21)
	defer prefill.Close()
	defer decode.Close()
	merged, err := prefill.Merge(decode, 3)
	check(err)
	defer merged.Close()
	ids, err := routecap.AppendIDs([]int(nil), merged)
	check(err)
	fmt.Println(ids)
	// Output: [10 11 12 20 21]
}

// What an SGLang server returned, as a frame in a file.
func ExampleDecode() {
	start := int64(0)
	record, err := routecap.Decode(routecap.FormatSGLang, []byte("AQAAAAIAAAADAAAABAAAAA=="), routecap.DecodeHints{Start: &start, NumExperts: 64, TopK: 2, NumLayers: 1})
	check(err)
	defer record.Close()
	var file bytes.Buffer
	_, err = record.WriteTo(&file)
	check(err)
	again, err := routecap.ReadRecord(&file)
	check(err)
	defer again.Close()
	for row, err := range again.Rows() {
		check(err)
		fmt.Println(row.Position, row.Experts(0))
	}
	// Output:
	// 0 [1 2]
	// 1 [3 4]
}

func ExampleError() {
	_, err := routecap.ParseFormat("xml")
	var failure *routecap.Error
	fmt.Println(errors.Is(err, routecap.ErrNotFound), errors.As(err, &failure) && failure.Code == routecap.ErrNotFound)
	// Output: true true
}

// Ids where they lie, without a copy.
func ExampleRecord_View() {
	record, err := routecap.NewRecord(routecap.RecordConfig{Rows: 2, NumExperts: 64, TopK: 2, LayerIDs: []int32{5}, IDs: routecap.ArrayOf([]uint8{1, 2, 3, 4})})
	check(err)
	defer record.Close()
	check(record.View(func(view routecap.View) error {
		ids, err := routecap.IDs[uint8](view)
		fmt.Println(view.LayerIDs, ids)
		return err
	}))
	// Output: [5] [1 2 3 4]
}
