// SPDX-License-Identifier: Apache-2.0

//go:build linux

package routecap_test

import (
	"bytes"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"testing"

	routecap "github.com/routecap/routecap/bindings/go"
)

// Threads with 256 KiB of stack that come and go: a goroutine that ends locked to its thread takes it along.
func TestThreadsWithSmallStacks(t *testing.T) {
	const role = "ROUTECAP_TEST_SMALL_STACKS"
	if os.Getenv(role) == "" {
		// A thread's stack is as large as the limit was when the process began.
		command := exec.Command("/bin/sh", "-c", `ulimit -S -s 256 && exec "$0" "$@"`, os.Args[0], "-test.run", "^TestThreadsWithSmallStacks$", "-test.v")
		command.Env = append(os.Environ(), role+"=1")
		said, err := command.CombinedOutput()
		if err != nil || !bytes.Contains(said, []byte("--- PASS: TestThreadsWithSmallStacks")) {
			t.Fatalf("%v\n%s", err, said)
		}
		return
	}
	expectLive(t, 0)
	before := threads(t)
	for range scale(1000) / 10 {
		var group sync.WaitGroup
		for range 10 {
			group.Add(1)
			go func() {
				defer group.Done()
				runtime.LockOSThread()
				lifeOfACapturer(t)
			}()
		}
		group.Wait()
	}
	if after := threads(t); after > before+20 {
		t.Errorf("%d threads, then %d", before, after)
	}
	expectLive(t, 0)
}

// lifeOfACapturer records, reads and converts once.
func lifeOfACapturer(t *testing.T) {
	fail := func(err error) bool {
		if err != nil {
			t.Error(err)
		}
		return err != nil
	}
	capturer, err := routecap.NewCapturer(routecap.Config{NumExperts: 256, TopK: 2, LayerIDs: []int32{1, 4}, MaxForwardTokens: 8, NumSlots: 64})
	if fail(err) {
		return
	}
	defer capturer.Close()
	target, err := capturer.AddModel(routecap.RoleTarget, "target")
	if fail(err) {
		return
	}
	var taps []*routecap.Tap
	for _, layer := range []int32{1, 4} {
		tap, err := target.AddTap(layer, routecap.TapOptions{})
		if fail(err) {
			return
		}
		taps = append(taps, tap)
	}
	if fail(capturer.Seal()) {
		return
	}
	for _, tap := range taps {
		if fail(tap.Capture(routecap.Capture{IDs: routecap.ArrayOf([]int32{7, 200, 3, 4}), Columns: 2, Tokens: 2})) {
			return
		}
	}
	slots := routecap.ArrayOf([]int64{9, 11})
	output, err := capturer.EndForward(routecap.Forward{Tokens: 2, Slots: slots})
	if fail(err) {
		return
	}
	defer output.Close()
	if fail(output.CopyToHost(0)) {
		return
	}
	if _, err := output.Finalize(); fail(err) {
		return
	}
	record, err := capturer.Read(routecap.Read{Slots: slots, Tokens: 3})
	if fail(err) {
		return
	}
	defer record.Close()
	// What the forms do not say themselves is told.
	var start int64
	hints := routecap.DecodeHints{Start: &start, NumExperts: 256, LayerIDs: []int32{1, 4}}
	for _, format := range []routecap.Format{routecap.FormatFrameBase64, routecap.FormatPrime, routecap.FormatNeMo, routecap.FormatCSV} {
		form, err := record.AppendEncoded(nil, format, routecap.EncodeOptions{})
		if fail(err) {
			return
		}
		again, err := routecap.Decode(format, form, hints)
		if fail(err) {
			return
		}
		ids, err := routecap.AppendIDs([]int(nil), again)
		if fail(err) {
			return
		}
		if len(ids) != 8 || ids[1] != 200 || ids[6] != 3 {
			t.Errorf("%v: ids %v", format, ids)
		}
		again.Close()
	}
}
