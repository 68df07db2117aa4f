// SPDX-License-Identifier: Apache-2.0

//go:build cgo && !routecap_dlopen

package routecap_test

import (
	"errors"
	"testing"

	routecap "github.com/routecap/routecap/bindings/go"
)

// Through cgo; where the library is loaded at run time every call allocates its arguments.
func TestNothingIsAllocatedPerForward(t *testing.T) {
	s := newScene(t, nil)
	capture := routecap.Capture{IDs: routecap.ArrayOf(s.ids(64)), Columns: 4, Tokens: 64}
	slots := make([]int64, 64)
	for index := range slots {
		slots[index] = int64(index)
	}
	forward := routecap.Forward{Tokens: 64, Slots: routecap.ArrayOf(slots)}
	var output routecap.Output
	run := func() {
		for _, tap := range s.taps {
			must(t, tap.Capture(capture))
		}
		must(t, s.capturer.EndForwardInto(&output, forward))
		must(t, output.CopyToHost(0))
		if summary, err := output.Finalize(); err != nil || summary.RowsStored != 64 {
			t.Fatal(summary, err)
		}
		if err := s.capturer.EndForwardInto(&output, forward); !errors.Is(err, routecap.ErrInvalidState) {
			t.Fatal("an output was taken that still belongs to a forward")
		}
		must(t, output.Close())
	}
	run()
	allocated := testing.AllocsPerRun(100, func() {
		for _, tap := range s.taps {
			must(t, tap.Capture(capture))
		}
		must(t, s.capturer.EndForwardInto(&output, forward))
		must(t, output.CopyToHost(0))
		_, err := output.Finalize()
		must(t, err)
		must(t, output.Close())
	})
	if allocated != 0 {
		t.Fatalf("%v allocations per forward", allocated)
	}
	// A million ids cross without a copy.
	million := make([]int32, 1<<20)
	every := make([]int64, len(million))
	for index := range million {
		million[index] = int32(index*2654435761>>7) & 7
		every[index] = int64(index)
	}
	wide := routecap.Config{NumExperts: 8, TopK: 1, LayerIDs: []int32{0}, MaxForwardTokens: 1 << 20, NumSlots: 1 << 20}
	capturer, err := routecap.NewCapturer(wide)
	must(t, err)
	defer capturer.Close()
	target, err := capturer.AddModel(routecap.RoleTarget, "target")
	must(t, err)
	tap, err := target.AddTap(0, routecap.TapOptions{})
	must(t, err)
	must(t, capturer.Seal())
	if allocated := testing.AllocsPerRun(5, func() {
		must(t, tap.Capture(routecap.Capture{IDs: routecap.ArrayOf(million), Columns: 1, Tokens: 1 << 20}))
	}); allocated != 0 {
		t.Fatalf("%v allocations for a million ids", allocated)
	}
	// And are the same on the other side; nothing at all is fine too.
	must(t, capturer.DiscardForward(0))
	must(t, tap.Capture(routecap.Capture{IDs: routecap.ArrayOf(million), Columns: 1, Tokens: 1 << 20}))
	must(t, tap.Capture(routecap.Capture{IDs: routecap.ArrayOf([]int32(nil)), Columns: 1}))
	must(t, tap.Capture(routecap.Capture{IDs: routecap.ArrayOf(million[:0]), Columns: 1}))
	if err := tap.Capture(routecap.Capture{IDs: routecap.ArrayOf([]int32(nil)), Columns: 1, Tokens: 1}); !errors.Is(err, routecap.ErrInvalidArgument) {
		t.Fatal(err)
	}
	must(t, capturer.EndForwardInto(&output, routecap.Forward{Tokens: 1 << 20, Slots: routecap.ArrayOf(every)}))
	must(t, output.CopyToHost(0))
	_, err = output.Finalize()
	must(t, err)
	must(t, output.Close())
	stored := make([]uint8, len(million))
	info, err := capturer.ReadInto(routecap.Read{Slots: routecap.ArrayOf(every), Tokens: 1<<20 + 1}, routecap.ArrayOf(stored), routecap.Array{}, nil)
	must(t, err)
	for index, id := range million {
		if int32(stored[index]) != id {
			t.Fatalf("id %d is %d, stored %d", index, id, stored[index])
		}
	}
	if info.RowsValid != 1<<20 {
		t.Fatalf("%d rows are valid", info.RowsValid)
	}
}
