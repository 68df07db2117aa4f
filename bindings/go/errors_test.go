// SPDX-License-Identifier: Apache-2.0

package routecap_test

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	routecap "github.com/routecap/routecap/bindings/go"
)

// scale makes the long tests longer or shorter: ROUTECAP_GO_SCALE, a percentage.
func scale(calls int) int {
	if percent, err := strconv.Atoi(os.Getenv("ROUTECAP_GO_SCALE")); err == nil {
		return max(1, calls*percent/100)
	}
	return calls
}

func TestEachMistakeHasItsCode(t *testing.T) {
	s := newScene(t, nil)
	tap := s.taps[0]
	one := routecap.ArrayOf([]int32{1, 2, 3, 4})
	unsealed, err := routecap.NewCapturer(s.config)
	must(t, err)
	defer unsealed.Close()
	record, err := routecap.NewRecord(routecap.RecordConfig{NumExperts: 8, TopK: 1, LayerIDs: []int32{0}, Rows: 1, IDs: routecap.ArrayOf([]uint8{3})})
	must(t, err)
	defer record.Close()
	frame, err := record.MarshalBinary()
	must(t, err)
	cases := []struct {
		name string
		call func() error
		code routecap.Code
		text string
	}{
		{"columns", func() error { return tap.Capture(routecap.Capture{IDs: one, Columns: 3, Tokens: 1}) }, routecap.ErrInvalidArgument, "3"},
		{"row", func() error { return tap.Capture(routecap.Capture{IDs: one, Columns: 4, Tokens: 1, FirstRow: 64}) }, routecap.ErrOutOfRange, "64"},
		{"short", func() error { return tap.Capture(routecap.Capture{IDs: one, Columns: 4, Tokens: 2}) }, routecap.ErrInvalidArgument, "32"},
		{"row ids", func() error {
			return tap.Capture(routecap.Capture{IDs: one, RowIDs: routecap.ArrayOf([]int64{0}), Columns: 4, Tokens: 1})
		}, routecap.ErrInvalidArgument, "RowIDs is int64, not int32"},
		{"two memories", func() error {
			return tap.Capture(routecap.Capture{IDs: one.OnDevice(), RowIDs: one, Columns: 4, Tokens: 1})
		}, routecap.ErrInvalidArgument, "one kind of memory"},
		{"seal twice", s.capturer.Seal, routecap.ErrInvalidState, "sealed"},
		{"no target", unsealed.Seal, routecap.ErrInvalidState, "target"},
		{"tap number", func() error { _, err := s.capturer.Tap(99); return err }, routecap.ErrNotFound, "99"},
		{"allow a draft", func() error {
			draft, err := unsealed.AddModel(routecap.RoleDraft, "eagle")
			must(t, err)
			return draft.SetCapture(routecap.GateAllow)
		}, routecap.ErrInvalidArgument, "eagle"},
		{"slot", func() error { _, err := s.capturer.SlotInfo(1024); return err }, routecap.ErrOutOfRange, "1024"},
		{"release -1", func() error { return s.capturer.ReleaseSlots(routecap.UnitSlot, routecap.ArrayOf([]int64{-1}), 0) }, routecap.ErrOutOfRange, "-1"},
		{"experts", func() error {
			_, err := routecap.NewCapturer(routecap.Config{TopK: 1, LayerIDs: []int32{0}})
			return err
		}, routecap.ErrOutOfRange, "num_experts"},
		{"memory", func() error {
			// More than there are addresses; allocated at the seal.
			large, err := routecap.NewCapturer(routecap.Config{NumExperts: 256, TopK: 8, LayerIDs: []int32{0}, MaxForwardTokens: 1 << 46, NumSlots: 8})
			must(t, err)
			defer large.Close()
			target, err := large.AddModel(routecap.RoleTarget, "target")
			must(t, err)
			_, err = target.AddTap(0, routecap.TapOptions{})
			must(t, err)
			return large.Seal()
		}, routecap.ErrOutOfMemory, ""},
		{"backend", func() error { _, err := routecap.OpenBackend("toaster", routecap.BackendOptions{}); return err }, routecap.ErrNotFound, "toaster"},
		{"sequence", func() error {
			_, err := s.capturer.Read(routecap.Read{Slots: routecap.ArrayOf([]int64{1}), Tokens: 2, AfterSequence: 5})
			return err
		}, routecap.ErrOutOfRange, "5"},
		{"format", func() error { _, err := routecap.ParseFormat("xml"); return err }, routecap.ErrNotFound, "frame"},
		{"detect", func() error { _, err := routecap.Detect([]byte("hello")); return err }, routecap.ErrNotFound, ""},
		{"truncated", func() error {
			_, err := routecap.Decode(routecap.FormatFrame, frame[:60], routecap.DecodeHints{})
			return err
		}, routecap.ErrCorrupt, ""},
		{"behind", func() error {
			_, err := routecap.Decode(routecap.FormatFrame, append(frame, 0), routecap.DecodeHints{})
			return err
		}, routecap.ErrCorrupt, "1 bytes"},
		{"version", func() error {
			newer := append([]byte{}, frame...)
			newer[8] = 9
			_, err := routecap.Decode(routecap.FormatFrame, newer, routecap.DecodeHints{})
			return err
		}, routecap.ErrVersionMismatch, "9"},
		{"hint", func() error {
			_, err := routecap.Decode(routecap.FormatSGLang, []byte("AAAA"), routecap.DecodeHints{})
			return err
		}, routecap.ErrInvalidArgument, ""},
		{"dtype", func() error {
			return record.View(func(view routecap.View) error { _, err := routecap.IDs[int32](view); return err })
		}, routecap.ErrInvalidArgument, "uint8, not int32"},
		{"narrow", func() error {
			wide, err := routecap.NewRecord(routecap.RecordConfig{NumExperts: 200, TopK: 1, LayerIDs: []int32{0}, Rows: 1, IDs: routecap.ArrayOf([]uint8{3})})
			must(t, err)
			defer wide.Close()
			_, err = routecap.AppendIDs([]int8(nil), wide)
			return err
		}, routecap.ErrOutOfRange, "199"},
		{"ids of E", func() error {
			_, err := routecap.NewRecord(routecap.RecordConfig{NumExperts: 8, TopK: 1, LayerIDs: []int32{0}, Rows: 1, IDs: routecap.ArrayOf([]int32{3})})
			return err
		}, routecap.ErrInvalidArgument, "uint8, not int32"},
	}
	for _, c := range cases {
		err := c.call()
		var failure *routecap.Error
		if !errors.As(err, &failure) || failure.Code != c.code || !errors.Is(err, c.code) || errors.Is(err, routecap.OK) || !strings.Contains(failure.Text, c.text) {
			t.Errorf("%s: %v; want %v with %q", c.name, err, c.code, c.text)
		}
		if strings.ContainsAny(fmt.Sprint(err), "\n\x00") {
			t.Errorf("%s: not one line: %q", c.name, err)
		}
	}
}

func TestAnswersAreNoFaults(t *testing.T) {
	s := newScene(t, func(config *routecap.Config) { config.PipelineDepth = 1 })
	s.capture(1)
	forward := routecap.Forward{Tokens: 1, Slots: routecap.ArrayOf([]int64{3})}
	output, err := s.capturer.EndForward(forward)
	must(t, err)
	defer output.Close()
	s.capture(1)
	_, err = s.capturer.EndForward(forward)
	if !errors.Is(err, routecap.ErrBusy) || err.Error() != "routecap: BUSY" {
		t.Fatal(err)
	}
	_, err = s.capturer.Read(routecap.Read{Slots: routecap.ArrayOf([]int64{3}), Tokens: 2, AfterSequence: 1})
	var failure *routecap.Error
	if !errors.As(err, &failure) || failure.Code != routecap.ErrNotReady || failure.Detail != 1 || err.Error() != "routecap: NOT_READY: sequence 1 is lacking" {
		t.Fatal(err)
	}
	if code := routecap.Code(-6); code.String() != "RCAP_STATUS_BUSY" || routecap.Code(7).String() != "RCAP_STATUS_UNKNOWN" {
		t.Fatal(code)
	}
}

// A goroutine may move to another thread between two calls; the text comes out of the call that failed, so it is that call's all the same.
func TestEveryTextBelongsToItsCall(t *testing.T) {
	s := newScene(t, nil)
	var group sync.WaitGroup
	calls := scale(20000)
	for worker := range 64 {
		group.Add(1)
		go func() {
			defer group.Done()
			for index := range calls {
				number := int64(1024 + worker*1000000 + index)
				var err error
				var want string
				if (worker+index)%2 == 0 {
					_, err = s.capturer.SlotInfo(number)
					want = fmt.Sprintf("routecap: OUT_OF_RANGE: slot is %d,", number)
				} else {
					_, err = s.capturer.Tap(int32(number))
					want = fmt.Sprintf("routecap: NOT_FOUND: tap_id is %d,", number)
				}
				if err == nil || !strings.HasPrefix(err.Error(), want) {
					t.Errorf("worker %d, call %d: %v, want %s", worker, index, err, want)
					return
				}
			}
		}()
	}
	group.Wait()
}
