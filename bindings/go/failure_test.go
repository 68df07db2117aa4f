// SPDX-License-Identifier: Apache-2.0

package routecap_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"testing"

	routecap "github.com/routecap/routecap/bindings/go"
)

// Wherever the library runs out of memory, in any call: an error with that code, nothing leaks, nothing is half done, and the call may be repeated.
// FAILING_NEW is a library to preload under which allocations of routecap's fail now and then (tests/faults).
func TestOutOfMemoryInEveryCall(t *testing.T) {
	const role = "ROUTECAP_TEST_OUT_OF_MEMORY"
	failing := os.Getenv("FAILING_NEW")
	if failing == "" {
		t.Skip("skipped: FAILING_NEW is not set")
	}
	if os.Getenv(role) == "" {
		command := exec.Command(os.Args[0], "-test.run", "^TestOutOfMemoryInEveryCall$", "-test.v")
		command.Env = append(os.Environ(), role+"=1", "LD_PRELOAD="+failing)
		said, err := command.CombinedOutput()
		if err != nil || !bytes.Contains(said, []byte("--- PASS: TestOutOfMemoryInEveryCall")) {
			t.Fatalf("%v\n%s", err, said)
		}
		return
	}
	failures := make(map[string]int)
	// again repeats a call until it succeeds; nothing but a lack of memory may stop it.
	again := func(name string, call func() error) {
		t.Helper()
		for range 10000 {
			err := call()
			if err == nil {
				return
			}
			if !errors.Is(err, routecap.ErrOutOfMemory) {
				t.Fatalf("%s: %v", name, err)
			}
			failures[name]++
		}
		t.Fatalf("%s never succeeds", name)
	}
	for range 100 {
		outOfMemory(t, again)
	}
	expectLive(t, 0)
	for _, name := range []string{"NewCapturer", "AddModel", "AddTap", "Seal", "EndForward", "CopySlots", "Read", "NewRecord", "Slice", "Append", "Merge",
		"Truncate", "Interleave", "FullAxis", "Compact", "Encode", "Decode", "CapturerEncode", "OpenBackend"} {
		if failures[name] == 0 {
			t.Errorf("%s never failed; those that did: %v", name, failures)
		}
	}
}

func outOfMemory(t *testing.T, again func(name string, call func() error)) {
	closing := func(record *routecap.Record) { must(t, record.Close()) }
	made := func(name string, make func() (*routecap.Record, error)) *routecap.Record {
		var record *routecap.Record
		again(name, func() (err error) { record, err = make(); return err })
		return record
	}
	again("OpenBackend", func() error {
		backend, err := routecap.OpenBackend("host", routecap.BackendOptions{})
		if err == nil {
			err = backend.Close()
		}
		return err
	})
	var capturer *routecap.Capturer
	again("NewCapturer", func() (err error) {
		capturer, err = routecap.NewCapturer(routecap.Config{NumExperts: 64, TopK: 2, LayerIDs: []int32{1, 4}, MaxForwardTokens: 8, NumSlots: 64, CheckLevel: routecap.CheckFull})
		return err
	})
	defer capturer.Close()
	var target *routecap.Model
	again("AddModel", func() (err error) { target, err = capturer.AddModel(routecap.RoleTarget, "target"); return err })
	var taps []*routecap.Tap
	for _, layer := range []int32{1, 4} {
		again("AddTap", func() error {
			tap, err := target.AddTap(layer, routecap.TapOptions{})
			if err == nil {
				taps = append(taps, tap)
			}
			return err
		})
	}
	again("Seal", capturer.Seal)
	for _, tap := range taps {
		again("Capture", func() error {
			return tap.Capture(routecap.Capture{IDs: routecap.ArrayOf([]int32{7, 50, 3, 4}), Columns: 2, Tokens: 2})
		})
	}
	slots := routecap.ArrayOf([]int64{9, 11})
	var output *routecap.Output
	again("EndForward", func() (err error) {
		output, err = capturer.EndForward(routecap.Forward{Tokens: 2, Slots: slots, WeightVersion: 3})
		return err
	})
	again("CopyToHost", func() error { return output.CopyToHost(0) })
	again("Wait", func() error { return output.Wait(context.Background()) })
	again("Finalize", func() error { _, err := output.Finalize(); return err })
	must(t, output.Close())
	again("CopySlots", func() error {
		return capturer.CopySlots(routecap.UnitSlot, slots, routecap.ArrayOf([]int64{20, 21}), 0)
	})
	again("ReleaseSlots", func() error { return capturer.ReleaseSlots(routecap.UnitSlot, slots, 0) })
	read := routecap.Read{Slots: routecap.ArrayOf([]int64{20, 21}), Tokens: 3}
	record := made("Read", func() (*routecap.Record, error) { return capturer.Read(read) })
	defer closing(record)
	again("CapturerEncode", func() error {
		_, err := capturer.AppendEncoded(nil, read, routecap.FormatPrime, routecap.EncodeOptions{})
		return err
	})
	front := made("Slice", func() (*routecap.Record, error) { return record.Slice(0, 1) })
	defer closing(front)
	back := made("Slice", func() (*routecap.Record, error) { return record.Slice(1, 2) })
	defer closing(back)
	whole := made("Append", func() (*routecap.Record, error) { return front.Append(back, routecap.OverlapRefuse) })
	defer closing(whole)
	merged := made("Merge", func() (*routecap.Record, error) { return front.Merge(back, 1) })
	defer closing(merged)
	cut := made("Truncate", func() (*routecap.Record, error) { return record.Truncate(2, 0) })
	defer closing(cut)
	woven := made("Interleave", func() (*routecap.Record, error) { return front.Interleave([]int64{0}, back, []int64{1}) })
	defer closing(woven)
	full := made("FullAxis", func() (*routecap.Record, error) { return record.ToFullAxis(6, routecap.FillMissing, 0) })
	defer closing(full)
	compact := made("Compact", func() (*routecap.Record, error) { return full.ToCompact([]int32{1, 4}) })
	defer closing(compact)
	fresh := made("NewRecord", func() (*routecap.Record, error) {
		return routecap.NewRecord(routecap.RecordConfig{NumExperts: 64, TopK: 2, LayerIDs: []int32{1, 4}, Rows: 2, IDs: routecap.ArrayOf([]uint8{7, 50, 7, 50, 3, 4, 3, 4})})
	})
	defer closing(fresh)
	for _, format := range []routecap.Format{routecap.FormatFrame, routecap.FormatVLLM, routecap.FormatPrime, routecap.FormatLists, routecap.FormatCSV} {
		var form []byte
		again("Encode", func() (err error) {
			form, err = record.AppendEncoded(nil, format, routecap.EncodeOptions{})
			return err
		})
		var start int64
		hints := routecap.DecodeHints{Start: &start, NumExperts: 64, LayerIDs: []int32{1, 4}}
		decoded := made("Decode", func() (*routecap.Record, error) { return routecap.Decode(format, form, hints) })
		closing(decoded)
	}
	for name, other := range map[string]*routecap.Record{"Append": whole, "Merge": merged, "Interleave": woven, "Compact": compact} {
		var report routecap.CompareReport
		again("Compare", func() (err error) { report, err = record.Compare(other); return err })
		if report.Equal != 1 {
			t.Fatalf("%s: %+v", name, report)
		}
	}
	again("Compare", func() error {
		report, err := record.Compare(fresh)
		if err == nil && (report.Rows != 2 || report.Cells != 4 || report.CellsDiffer != 0) {
			t.Fatalf("compared with what was captured: %+v", report)
		}
		return err
	})
}
