// SPDX-License-Identifier: Apache-2.0

package routecap_test

import (
	"context"
	"testing"

	routecap "github.com/routecap/routecap/bindings/go"
)

// One row of one layer, DeepSeek-V3's 8 of 256: the price of a call rather than of its work.
// As an engine calls it: every row of every layer once, then the next forward. A row captured again and again would wait for its own last write.
func BenchmarkTapCapture(b *testing.B) {
	layers := make([]int32, 58)
	for index := range layers {
		layers[index] = int32(index + 3)
	}
	s := newScene(b, func(config *routecap.Config) { config.TopK, config.LayerIDs = 8, layers })
	rows := s.config.ChunkedPrefillSize
	capture := routecap.Capture{IDs: routecap.ArrayOf(s.ids(1)), Columns: 8, Tokens: 1}
	b.ReportAllocs()
	layer := 0
	for b.Loop() {
		if err := s.taps[layer].Capture(capture); err != nil {
			b.Fatal(err)
		}
		if layer++; layer < len(s.taps) {
			continue
		}
		layer = 0
		if capture.FirstRow++; capture.FirstRow == rows {
			capture.FirstRow = 0
			b.StopTimer()
			must(b, s.capturer.DiscardForward(0))
			b.StartTimer()
		}
	}
}

func BenchmarkForward(b *testing.B) {
	s := newScene(b, nil)
	capture := routecap.Capture{IDs: routecap.ArrayOf(s.ids(64)), Columns: 4, Tokens: 64}
	slots := make([]int64, 64)
	for index := range slots {
		slots[index] = int64(index)
	}
	forward := routecap.Forward{Tokens: 64, Slots: routecap.ArrayOf(slots)}
	var output routecap.Output
	b.ReportAllocs()
	for b.Loop() {
		for _, tap := range s.taps {
			if err := tap.Capture(capture); err != nil {
				b.Fatal(err)
			}
		}
		if err := s.capturer.EndForwardInto(&output, forward); err != nil {
			b.Fatal(err)
		}
		if err := output.CopyToHost(0); err != nil {
			b.Fatal(err)
		}
		if _, err := output.Finalize(); err != nil {
			b.Fatal(err)
		}
		output.Close()
	}
}

func BenchmarkRead(b *testing.B) {
	s := newScene(b, nil)
	slots := make([]int64, 64)
	for index := range slots {
		slots[index] = int64(index)
	}
	s.forward(slots)
	read := routecap.Read{Slots: routecap.ArrayOf(slots), Tokens: 64}
	into := make([]uint8, 64*3*4)
	b.Run("into", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := s.capturer.ReadInto(read, routecap.ArrayOf(into), routecap.Array{}, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("record", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			record, err := s.capturer.ReadContext(context.Background(), read)
			if err != nil {
				b.Fatal(err)
			}
			record.Close()
		}
	})
}
