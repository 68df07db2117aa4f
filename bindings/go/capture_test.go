// SPDX-License-Identifier: Apache-2.0

package routecap_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	routecap "github.com/routecap/routecap/bindings/go"
)

func TestRowsOfATargetBesideADraft(t *testing.T) {
	s := newScene(t, nil)
	slots := []int64{40, 41, 7, 1023, 0}
	summary := s.forward(slots)
	if summary.RowsStored != 5 || summary.RowsBad != 0 || summary.Sequence != 1 || summary.FirstBadFault != routecap.FaultNone {
		t.Fatalf("summary %+v", summary)
	}
	s.forward([]int64{8, 9})
	// Slot 100 was never written: R7.
	asked := []int64{40, 41, 7, 8, 100, 9}
	record, err := s.capturer.Read(routecap.Read{Slots: routecap.ArrayOf(asked), Tokens: 7})
	must(t, err)
	defer record.Close()
	s.expect(record, asked)
	stats, err := s.capturer.Stats()
	must(t, err)
	// R18: every call of the draft was counted, and wrote nothing.
	if stats.Suppressed != 6 || stats.Forwards != 2 || stats.RowsStored != 7 || stats.LastSequence != 2 {
		t.Fatalf("stats %+v", stats)
	}
	for index, tap := range s.drafts {
		enabled, err := tap.Enabled()
		must(t, err)
		id, err := tap.ID()
		must(t, err)
		same, err := s.capturer.Tap(id)
		must(t, err)
		if enabled || id != int32(2*index+1) || same != tap {
			t.Fatalf("draft tap %d: enabled %v, id %d, found again %v", index, enabled, id, same == tap)
		}
	}
}

func captureAs[T routecap.Element](ids []int32) routecap.Array {
	converted := make([]T, len(ids))
	for index, id := range ids {
		converted[index] = T(id)
	}
	return routecap.ArrayOf(converted)
}

func TestEveryDTypeOfIDs(t *testing.T) {
	for name, convert := range map[string]func([]int32) routecap.Array{
		"uint8": captureAs[uint8], "uint16": captureAs[uint16], "int16": captureAs[int16], "int32": captureAs[int32], "int64": captureAs[int64],
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, nil)
			slots := []int32{5, 6, 900}
			ids := s.ids(3)
			array := convert(ids)
			if array.DType().String() != name {
				t.Fatalf("the array is %v", array.DType())
			}
			for _, tap := range s.taps {
				must(t, tap.Capture(routecap.Capture{IDs: array, Columns: 4, Tokens: 3}))
			}
			output, err := s.capturer.EndForward(routecap.Forward{Tokens: 3, Slots: routecap.ArrayOf(slots), Step: 17, WeightVersion: 8})
			must(t, err)
			defer output.Close()
			must(t, output.CopyToHost(0))
			summary, err := output.Finalize()
			must(t, err)
			if summary.Step != 17 || summary.RowsStored != 3 {
				t.Fatalf("summary %+v", summary)
			}
			for token, slot := range slots {
				s.rows[int64(slot)] = append(append(append([]int32{}, ids[token*4:token*4+4]...), ids[token*4:token*4+4]...), ids[token*4:token*4+4]...)
			}
			record, err := s.capturer.Read(routecap.Read{Slots: routecap.ArrayOf(slots), Tokens: 4})
			must(t, err)
			defer record.Close()
			s.expect(record, []int64{5, 6, 900})
			info, err := s.capturer.SlotInfo(900)
			must(t, err)
			if info.Valid != 1 || info.WeightVersion != 8 || info.RowSequence != 1 || info.Sequence != 1 {
				t.Fatalf("slot info %+v", info)
			}
		})
	}
}

func TestAcceptanceOfAVerifyForward(t *testing.T) {
	s := newScene(t, nil)
	// Two requests of 3 verify tokens; the accept index is [requests, 3] with -1 behind what was accepted, the cache locations are [requests, 3].
	slots := []int64{10, 11, 12, 20, 21, 22}
	given := []int32{0, 1, -1, 3, -1, -1}
	for _, later := range []bool{false, true} {
		rows := s.capture(6)
		forward := routecap.Forward{Tokens: 6, Acceptance: routecap.AcceptGiven, Slots: routecap.ArrayOf(slots), Rows: routecap.ArrayOf(given), Groups: 2, GroupWidth: 3}
		if later {
			forward = routecap.Forward{Tokens: 6, Acceptance: routecap.AcceptLater, Slots: routecap.ArrayOf(slots)}
		}
		output, err := s.capturer.EndForward(forward)
		must(t, err)
		must(t, output.CopyToHost(0))
		if later {
			if _, err := output.Finalize(); !errors.Is(err, routecap.ErrNotReady) {
				t.Fatalf("finalize before accept: %v", err)
			}
			must(t, output.Accept(routecap.Accept{Rows: routecap.ArrayOf(given), Slots: routecap.ArrayOf(slots), Groups: 2, GroupWidth: 3}))
			if err := output.Accept(routecap.Accept{Rows: routecap.ArrayOf(given)}); !errors.Is(err, routecap.ErrInvalidState) {
				t.Fatalf("accepted twice: %v", err)
			}
		}
		summary, err := output.Finalize()
		must(t, err)
		must(t, output.Close())
		if summary.Entries != 3 || summary.RowsStored != 3 || summary.RowsRejected != 3 {
			t.Fatalf("later %v: summary %+v", later, summary)
		}
		s.rows = map[int64][]int32{10: rows[0], 11: rows[1], 20: rows[3]}
		record, err := s.capturer.Read(routecap.Read{Slots: routecap.ArrayOf(slots), Tokens: 7})
		must(t, err)
		s.expect(record, slots)
		record.Close()
		must(t, s.capturer.ReleaseAll(0))
	}
}

func TestSlotsReleasedAndCopied(t *testing.T) {
	s := newScene(t, func(config *routecap.Config) { config.PageSize = 4 })
	s.forward([]int64{0, 1, 2, 3, 4, 5})
	must(t, s.capturer.CopySlots(routecap.UnitPage, routecap.ArrayOf([]int32{0}), routecap.ArrayOf([]int32{5}), 0))
	must(t, s.capturer.ReleaseSlots(routecap.UnitSlot, routecap.ArrayOf([]int64{1, 4}), 0))
	for slot := range int64(4) {
		s.rows[20+slot] = s.rows[slot]
	}
	delete(s.rows, 1)
	delete(s.rows, 4)
	slots := []int64{0, 1, 2, 3, 4, 5, 20, 21, 22, 23, -1}
	record, err := s.capturer.Read(routecap.Read{Slots: routecap.ArrayOf(slots), Tokens: 12})
	must(t, err)
	defer record.Close()
	s.expect(record, slots)
	if err := s.capturer.CopySlots(routecap.UnitSlot, routecap.ArrayOf([]int32{0}), routecap.ArrayOf([]int64{5}), 0); !errors.Is(err, routecap.ErrInvalidArgument) {
		t.Fatalf("two dtypes: %v", err)
	}
	stats, err := s.capturer.Stats()
	must(t, err)
	if stats.SlotsReleased != 2 || stats.SlotsCopied != 4 {
		t.Fatalf("stats %+v", stats)
	}
}

func TestDeviceMemoryIsCheckedRowByRow(t *testing.T) {
	s := newScene(t, nil)
	s.capture(3)
	// The second slot is out of range: in host memory it would refuse the call, in device memory it spoils its row.
	slots := routecap.ArrayOf([]int64{1, 5000, 2})
	if _, err := s.capturer.EndForward(routecap.Forward{Tokens: 3, Slots: slots}); !errors.Is(err, routecap.ErrOutOfRange) {
		t.Fatalf("host: %v", err)
	}
	output, err := s.capturer.EndForward(routecap.Forward{Tokens: 3, Slots: slots.OnDevice()})
	must(t, err)
	defer output.Close()
	must(t, output.CopyToHost(0))
	summary, err := output.Finalize()
	must(t, err)
	if summary.RowsStored != 2 || summary.RowsBad != 1 || summary.FirstBadFault != routecap.FaultSlotOutOfRange || summary.FirstBadRow != 1 || summary.FirstBadSlot != 5000 {
		t.Fatalf("summary %+v", summary)
	}
	if summary.FirstBadFault.String() != "slot_out_of_range" || routecap.Fault(99).String() != "Fault(99)" {
		t.Fatal(summary.FirstBadFault, routecap.Fault(99))
	}
}

func TestWeightsTagsAndStrides(t *testing.T) {
	capturer, err := routecap.NewCapturer(routecap.Config{NumExperts: 300, TopK: 2, LayerIDs: []int32{1}, MaxForwardTokens: 8, NumSlots: 8, Tags: true,
		WeightsDType: routecap.DTypeFloat16, WeightsKind: routecap.WeightsScaled, NumFusedSharedExperts: 1})
	must(t, err)
	defer capturer.Close()
	target, err := capturer.AddModel(routecap.RoleTarget, "target")
	must(t, err)
	// Physical expert p is logical 299-p; the map is rewritten in place before the capture, as an engine does between forwards (R22).
	physical := make([]int32, 300)
	tap, err := target.AddTap(1, routecap.TapOptions{Flags: routecap.TapUnordered, IDMap: routecap.ArrayOf(physical)})
	must(t, err)
	must(t, capturer.Seal())
	for index := range physical {
		physical[index] = int32(299 - index)
	}
	// Two rows of K=2 and one shared column, 5 elements apart.
	ids := []int64{299, 0, 7, -5, -5, 1, 2, 7}
	weights := []float32{0.5, 0.25, 9, -1, -1, 2, 65504, 9}
	must(t, tap.Capture(routecap.Capture{IDs: routecap.ArrayOf(ids), Weights: routecap.ArrayOf(weights), Columns: 3, Tokens: 2, IDsRowStride: 40, WeightsRowStride: 20}))
	output, err := capturer.EndForward(routecap.Forward{Tokens: 2, Slots: routecap.ArrayOf([]int64{3, 4}), Tags: routecap.ArrayOf([]int64{77, 78})})
	must(t, err)
	defer output.Close()
	must(t, output.CopyToHost(0))
	_, err = output.Finalize()
	must(t, err)
	read := routecap.Read{Slots: routecap.ArrayOf([]int64{3, 4}), Tokens: 3, Tags: []int64{77, 1}}
	record, err := capturer.Read(read)
	must(t, err)
	defer record.Close()
	got := ""
	for row, err := range record.Rows() {
		must(t, err)
		got += fmt.Sprint(row.Position, row.Valid, row.LayerIDs, row.Experts(0), row.Weights(0), ";")
	}
	// The second row's tag differs from the one that the reader gives: missing (R8).
	if want := "0 true [1] [0 299] [0.5 0.25];1 false [1] [] [];"; got != want {
		t.Fatalf("rows %s, want %s", got, want)
	}
	into, halves, validity := make([]uint16, 4), make([]routecap.Float16, 4), make([]byte, 1)
	info, err := capturer.ReadInto(routecap.Read{Slots: read.Slots, Tokens: 3}, routecap.ArrayOf(into), routecap.ArrayOf(halves), validity)
	must(t, err)
	if fmt.Sprint(into, halves[:4], validity, info.Rows, info.RowsValid, info.IDsDType) != "[0 299 298 297] [14336 13312 16384 31743] [3] 2 2 uint16" {
		t.Fatal(into, halves, validity, info)
	}
	err = record.View(func(view routecap.View) error {
		if view.LayerFlags[0] != routecap.TapUnordered || view.Info.WeightsKind != routecap.WeightsScaled {
			t.Errorf("flags %v, kind %v", view.LayerFlags, view.Info.WeightsKind)
		}
		return nil
	})
	must(t, err)
}

// What lies at an address that Go knows nothing of: a device's, or here a mapping.
func TestArraysByAddress(t *testing.T) {
	mapped, err := syscall.Mmap(-1, 0, 4096, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	must(t, err)
	defer syscall.Munmap(mapped)
	s := newScene(t, nil)
	ids := s.ids(2)
	copy(unsafe.Slice((*int32)(unsafe.Pointer(&mapped[0])), 8), ids)
	slots := unsafe.Slice((*int64)(unsafe.Pointer(&mapped[1024])), 2)
	slots[0], slots[1] = 11, 12
	address := uint64(uintptr(unsafe.Pointer(&mapped[0])))
	for _, tap := range s.taps {
		must(t, tap.Capture(routecap.Capture{IDs: routecap.DeviceArray(routecap.DTypeInt32, address, 32), Columns: 4, Tokens: 2}))
	}
	output, err := s.capturer.EndForward(routecap.Forward{Tokens: 2, Slots: routecap.DeviceArray(routecap.DTypeInt64, address+1024, 16)})
	must(t, err)
	defer output.Close()
	must(t, output.CopyToHost(0))
	_, err = output.Finalize()
	must(t, err)
	for token, slot := range slots {
		row := ids[token*4 : token*4+4]
		s.rows[slot] = append(append(append([]int32{}, row...), row...), row...)
	}
	record, err := s.capturer.Read(routecap.Read{Slots: routecap.ArrayOf(slots), Tokens: 3})
	must(t, err)
	defer record.Close()
	s.expect(record, slots)
}

// A map in memory that is not Go's: of a global, and of a mapping that an engine shares with others.
func TestIDMapsOutsideGosHeap(t *testing.T) {
	mapped, err := syscall.Mmap(-1, 0, 4096, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED|syscall.MAP_ANON)
	must(t, err)
	shared := unsafe.Slice((*int32)(unsafe.Pointer(&mapped[0])), 4)
	for name, physical := range map[string][]int32{"mapped": shared, "global": globalMap[:]} {
		func() {
			capturer, err := routecap.NewCapturer(routecap.Config{NumExperts: 4, TopK: 1, LayerIDs: []int32{0}, MaxForwardTokens: 4, NumSlots: 4})
			must(t, err)
			defer capturer.Close()
			target, err := capturer.AddModel(routecap.RoleTarget, "target")
			must(t, err)
			tap, err := target.AddTap(0, routecap.TapOptions{IDMap: routecap.ArrayOf(physical)})
			must(t, err)
			must(t, capturer.Seal())
			copy(physical, []int32{3, 2, 1, 0})
			must(t, tap.Capture(routecap.Capture{IDs: routecap.ArrayOf([]uint8{0, 1}), Columns: 1, Tokens: 2}))
			output, err := capturer.EndForward(routecap.Forward{Tokens: 2, Slots: routecap.ArrayOf([]int64{0, 1})})
			must(t, err)
			defer output.Close()
			must(t, output.CopyToHost(0))
			_, err = output.Finalize()
			must(t, err)
			record, err := capturer.Read(routecap.Read{Slots: routecap.ArrayOf([]int64{0, 1}), Tokens: 3})
			must(t, err)
			defer record.Close()
			ids, err := routecap.AppendIDs([]int(nil), record)
			must(t, err)
			if fmt.Sprint(ids) != "[3 2]" {
				t.Errorf("%s: %v", name, ids)
			}
		}()
	}
	must(t, syscall.Munmap(mapped))
}

var globalMap [4]int32

func TestPartialLayersHaveCells(t *testing.T) {
	capturer, err := routecap.NewCapturer(routecap.Config{NumExperts: 16, TopK: 1, LayerIDs: []int32{0, 1}, MaxForwardTokens: 4, NumSlots: 4})
	must(t, err)
	defer capturer.Close()
	target, err := capturer.AddModel(routecap.RoleTarget, "target")
	must(t, err)
	first, err := target.AddTap(0, routecap.TapOptions{})
	must(t, err)
	second, err := target.AddTap(1, routecap.TapOptions{Flags: routecap.TapPartial})
	must(t, err)
	must(t, capturer.Seal())
	must(t, first.Capture(routecap.Capture{IDs: routecap.ArrayOf([]uint8{1, 2, 3}), Columns: 1, Tokens: 3}))
	// A list of no rows names none; taken for no list it would name row 0.
	var none []int32
	for _, empty := range [][]int32{none, {}} {
		err = second.Capture(routecap.Capture{IDs: routecap.ArrayOf([]uint8{9}), RowIDs: routecap.ArrayOf(empty), Columns: 1, Tokens: 1})
		if !errors.Is(err, routecap.ErrInvalidArgument) || !strings.Contains(err.Error(), "row_ids_count is 0, the layout has 1 tokens") {
			t.Error(err)
		}
	}
	must(t, second.Capture(routecap.Capture{IDs: routecap.ArrayOf([]uint8{}), RowIDs: routecap.ArrayOf(none), Columns: 1}))
	must(t, second.Capture(routecap.Capture{IDs: routecap.ArrayOf([]uint8{9}), RowIDs: routecap.ArrayOf([]int32{2}), Columns: 1, Tokens: 1}))
	output, err := capturer.EndForward(routecap.Forward{Tokens: 3, Slots: routecap.ArrayOf([]int64{0, 1, 2})})
	must(t, err)
	defer output.Close()
	must(t, output.CopyToHost(0))
	_, err = output.Finalize()
	must(t, err)
	record, err := capturer.Read(routecap.Read{Slots: routecap.ArrayOf([]int64{0, 1, 2}), Tokens: 4})
	must(t, err)
	defer record.Close()
	got := ""
	for row, err := range record.Rows() {
		must(t, err)
		got += fmt.Sprint(row.Experts(0), row.Experts(1))
	}
	if got != "[1] [][2] [][3] [9]" {
		t.Fatal(got)
	}
	ids, err := routecap.AppendIDs([]int16{-7}, record)
	must(t, err)
	if fmt.Sprint(ids) != "[-7 1 -1 2 -1 3 9]" {
		t.Fatal(ids)
	}
}

func TestOwnThreadCompletes(t *testing.T) {
	s := newScene(t, func(config *routecap.Config) {
		config.FinalizeMode = routecap.FinalizeOwnThread
		config.BusyPolicy = routecap.BusyWait
		config.BusyTimeout = time.Second
	})
	file, err := s.capturer.CompletionFile()
	must(t, err)
	defer file.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var expected []int64
	for step := range int64(20) {
		rows := s.capture(2)
		slots := []int64{2 * step, 2*step + 1}
		output, err := s.capturer.EndForwardContext(ctx, routecap.Forward{Tokens: 2, Slots: routecap.ArrayOf(slots)})
		must(t, err)
		// Only detached: the thread stores it all the same (R33).
		must(t, output.Close())
		s.rows[slots[0]], s.rows[slots[1]] = rows[0], rows[1]
		expected = append(expected, slots...)
	}
	next := int64(1)
	for completion, err := range s.capturer.Completions(ctx) {
		must(t, err)
		if completion.Sequence != next || completion.Code != routecap.OK {
			t.Fatalf("completion %+v, want sequence %d", completion, next)
		}
		if next++; next > 20 {
			break
		}
	}
	counted := make([]byte, 8)
	_, err = io.ReadFull(file, counted)
	must(t, err)
	if counted[0] != 20 {
		t.Fatalf("the eventfd counted %v", counted)
	}
	record, err := s.capturer.ReadContext(ctx, routecap.Read{Slots: routecap.ArrayOf(expected), Tokens: 41, AfterSequence: 20})
	must(t, err)
	defer record.Close()
	s.expect(record, expected)
	// Nothing is left to complete: the wait ends with its context.
	short, stop := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer stop()
	if _, err := s.capturer.NextCompleted(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
}

func TestPlanAndLayoutAndLibrary(t *testing.T) {
	plan, err := routecap.Config{NumExperts: 256, TopK: 8, LayerIDs: []int32{0, 1}, ChunkedPrefillSize: 100, MaxRunningRequests: 64, NumVerifyTokens: 4,
		MaxGraphTokens: 250, AttentionTPSize: 8, DPSize: 2, NumSlots: 10}.Plan()
	must(t, err)
	// R13: align_up(max(100, 64*4, 250), 8) * 2.
	if plan.DeviceRows != 512 || plan.RowsTerm != routecap.TermRunning || plan.IDsDType != routecap.DTypeUInt8 || plan.SlotIDsBytes != 16 {
		t.Fatalf("plan %+v", plan)
	}
	first, tokens, err := routecap.LayoutRows(routecap.RowsQuery{Kind: routecap.RowsConcatenated, TokensPerRank: []int64{5, 3, 9}, Rank: 2, AttentionTP: 4})
	must(t, err)
	if first != 12 || tokens != 9 {
		t.Fatal(first, tokens)
	}
	build, err := routecap.Build()
	must(t, err)
	if build.Version != routecap.Version() || build.ABIVersion != routecap.ABIVersion() || build.Compiler == "" || build.SIMD == "" {
		t.Fatalf("build %+v, version %s", build, routecap.Version())
	}
	backend, err := routecap.OpenBackend("host", routecap.BackendOptions{})
	must(t, err)
	info, err := backend.Describe()
	must(t, err)
	if info.Name != "host" || !info.HostMemory {
		t.Fatalf("backend %+v", info)
	}
	places, err := routecap.SearchBackend("toaster")
	must(t, err)
	if !strings.Contains(places, "libroutecap_backend_toaster.so") || strings.ContainsRune(places, 0) {
		t.Fatalf("%q", places)
	}
	capturer, err := routecap.NewCapturer(routecap.Config{NumExperts: 2, TopK: 1, LayerIDs: []int32{0}, MaxForwardTokens: 1, Backend: backend})
	must(t, err)
	must(t, backend.Close())
	must(t, backend.Close())
	if _, err := backend.Describe(); !errors.Is(err, routecap.ErrClosed) {
		t.Fatal(err)
	}
	_, err = capturer.Stats()
	must(t, err)
	must(t, capturer.Close())
}

func TestStagedRowsHaveAnAddress(t *testing.T) {
	s := newScene(t, nil)
	s.capture(3)
	plan, err := s.config.Plan()
	must(t, err)
	output, err := s.capturer.EndForward(routecap.Forward{Tokens: 3, Slots: routecap.ArrayOf([]int64{0, 1, 2})})
	must(t, err)
	address, bytes, err := output.DeviceRows()
	must(t, err)
	if address == 0 || bytes != 3*plan.SlotPayloadBytes {
		t.Fatalf("%d bytes at %#x", bytes, address)
	}
	ready, err := output.Ready()
	must(t, err)
	if ready {
		t.Fatal("ready before the copy")
	}
	sequence, err := output.Sequence()
	must(t, err)
	must(t, output.Close())
	stats, err := s.capturer.Stats()
	must(t, err)
	if sequence != 1 || stats.Dropped != 1 {
		t.Fatalf("sequence %d, stats %+v", sequence, stats)
	}
	s.capture(1)
	must(t, s.capturer.DiscardForward(0))
	stats, err = s.capturer.Stats()
	must(t, err)
	if stats.DiscardedForwards != 1 || stats.Forwards != 1 {
		t.Fatalf("stats %+v", stats)
	}
}

// An array that stands beside pointers in a struct of the user's crosses like any other: cgo must not look at its neighbours.
func TestArraysBesidePointers(t *testing.T) {
	s := newScene(t, nil)
	type request struct {
		name  *string
		slots [2]int64
		ids   [8]int32
	}
	name := "a"
	r := &request{name: &name, slots: [2]int64{1, 2}}
	copy(r.ids[:], s.ids(2))
	for _, tap := range s.taps {
		must(t, tap.Capture(routecap.Capture{IDs: routecap.ArrayOf(r.ids[:]), Columns: 4, Tokens: 2}))
	}
	output, err := s.capturer.EndForward(routecap.Forward{Tokens: 2, Slots: routecap.ArrayOf(r.slots[:])})
	must(t, err)
	must(t, output.CopyToHost(0))
	summary, err := output.Finalize()
	must(t, err)
	if summary.RowsStored != 2 {
		t.Fatalf("summary %+v", summary)
	}
}
