// SPDX-License-Identifier: Apache-2.0

package routecap_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	routecap "github.com/routecap/routecap/bindings/go"
)

// expectLive waits for the collector to have closed what was dropped.
func expectLive(t *testing.T, want int64) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for routecap.LiveHandles() != want {
		if time.Now().After(deadline) {
			t.Fatalf("%d handles are alive, want %d", routecap.LiveHandles(), want)
		}
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
}

func TestDroppedHandlesAreClosed(t *testing.T) {
	expectLive(t, 0)
	config := routecap.RecordConfig{NumExperts: 8, TopK: 1, LayerIDs: []int32{0}, Rows: 1, IDs: routecap.ArrayOf([]uint8{3})}
	func() {
		for range 10000 {
			_, err := routecap.NewRecord(config)
			must(t, err)
		}
	}()
	// A capturer, its pinned map and its outputs, in whatever order they are found.
	for range 100 {
		capturer, err := routecap.NewCapturer(routecap.Config{NumExperts: 4, TopK: 1, LayerIDs: []int32{0}, MaxForwardTokens: 4, NumSlots: 4})
		must(t, err)
		target, err := capturer.AddModel(routecap.RoleTarget, "target")
		must(t, err)
		tap, err := target.AddTap(0, routecap.TapOptions{IDMap: routecap.ArrayOf([]int32{3, 2, 1, 0})})
		must(t, err)
		must(t, capturer.Seal())
		must(t, tap.Capture(routecap.Capture{IDs: routecap.ArrayOf([]uint8{1}), Columns: 1, Tokens: 1}))
		_, err = capturer.EndForward(routecap.Forward{Tokens: 1, Slots: routecap.ArrayOf([]int64{2})})
		must(t, err)
	}
	expectLive(t, 0)
}

func TestAfterCloseEverythingIsErrClosed(t *testing.T) {
	s := newScene(t, nil)
	s.forward([]int64{1, 2})
	record, err := s.capturer.Read(routecap.Read{Slots: routecap.ArrayOf([]int64{1, 2}), Tokens: 3})
	must(t, err)
	s.capture(1)
	output, err := s.capturer.EndForward(routecap.Forward{Tokens: 1, Slots: routecap.ArrayOf([]int64{3})})
	must(t, err)
	s.capture(1)
	closed, err := s.capturer.EndForward(routecap.Forward{Tokens: 1, Slots: routecap.ArrayOf([]int64{3})})
	must(t, err)
	must(t, closed.Close())
	must(t, closed.Close())
	target := s.taps[0]
	must(t, s.capturer.Close())
	must(t, s.capturer.Close())
	// R34: records live on.
	s.expect(record, []int64{1, 2})
	other, err := record.Slice(0, 1)
	must(t, err)
	must(t, record.Close())
	must(t, record.Close())
	ctx := context.Background()
	slots := routecap.ArrayOf([]int64{1})
	read := routecap.Read{Slots: slots, Tokens: 2}
	calls := map[string]func() error{
		"AddModel":       func() error { _, err := s.capturer.AddModel(routecap.RoleDraft, "x"); return err },
		"Seal":           s.capturer.Seal,
		"Tap":            func() error { _, err := s.capturer.Tap(0); return err },
		"Stats":          func() error { _, err := s.capturer.Stats(); return err },
		"EndForward":     func() error { _, err := s.capturer.EndForward(routecap.Forward{}); return err },
		"EndForwardCtx":  func() error { _, err := s.capturer.EndForwardContext(ctx, routecap.Forward{}); return err },
		"DiscardForward": func() error { return s.capturer.DiscardForward(0) },
		"WatchCompl":     s.capturer.WatchCompletions,
		"CompletionFile": func() error { _, err := s.capturer.CompletionFile(); return err },
		"NextCompleted":  func() error { _, err := s.capturer.NextCompleted(ctx); return err },
		"ReleaseSlots":   func() error { return s.capturer.ReleaseSlots(routecap.UnitSlot, slots, 0) },
		"ReleaseAll":     func() error { return s.capturer.ReleaseAll(0) },
		"CopySlots":      func() error { return s.capturer.CopySlots(routecap.UnitSlot, slots, slots, 0) },
		"SlotInfo":       func() error { _, err := s.capturer.SlotInfo(0); return err },
		"Read":           func() error { _, err := s.capturer.Read(read); return err },
		"ReadContext":    func() error { _, err := s.capturer.ReadContext(ctx, read); return err },
		"ReadInto":       func() error { _, err := s.capturer.ReadInto(read, routecap.Array{}, routecap.Array{}, nil); return err },
		"ReadIntoContext": func() error {
			_, err := s.capturer.ReadIntoContext(ctx, read, routecap.Array{}, routecap.Array{}, nil)
			return err
		},
		"AppendEncoded": func() error {
			_, err := s.capturer.AppendEncoded(nil, read, routecap.FormatFrame, routecap.EncodeOptions{})
			return err
		},
		"AppendEncodedC": func() error {
			_, err := s.capturer.AppendEncodedContext(ctx, nil, read, routecap.FormatFrame, routecap.EncodeOptions{})
			return err
		},
		"Capture":       func() error { return target.Capture(routecap.Capture{}) },
		"Enabled":       func() error { _, err := target.Enabled(); return err },
		"ID":            func() error { _, err := target.ID(); return err },
		"Accept":        func() error { return output.Accept(routecap.Accept{}) },
		"DeviceRows":    func() error { _, _, err := output.DeviceRows(); return err },
		"CopyToHost":    func() error { return output.CopyToHost(0) },
		"Ready":         func() error { _, err := output.Ready(); return err },
		"Wait":          func() error { return output.Wait(ctx) },
		"Finalize":      func() error { _, err := output.Finalize(); return err },
		"Sequence":      func() error { _, err := output.Sequence(); return err },
		"closed output": func() error { _, err := closed.Finalize(); return err },
		"Info":          func() error { _, err := record.Info(); return err },
		"View":          func() error { return record.View(func(routecap.View) error { return nil }) },
		"Rows": func() error {
			for _, err := range record.Rows() {
				return err
			}
			return nil
		},
		"AppendIDs":     func() error { _, err := routecap.AppendIDs([]int(nil), record); return err },
		"Slice":         func() error { _, err := record.Slice(0, 1); return err },
		"Append":        func() error { _, err := other.Append(record, routecap.OverlapRefuse); return err },
		"Merge":         func() error { _, err := other.Merge(record, 1); return err },
		"Compare":       func() error { _, err := other.Compare(record); return err },
		"CompareLayers": func() error { _, _, err := record.CompareByLayer(other); return err },
		"Marshal":       func() error { _, err := record.MarshalBinary(); return err },
		"WriteTo":       func() error { _, err := record.WriteTo(io.Discard); return err },
	}
	for name, call := range calls {
		if err := call(); !errors.Is(err, routecap.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, output.Close())
	must(t, other.Close())
	expectLive(t, 0)
}

// Close at any moment of any call: the call ends as it would have, or says ErrClosed; nothing crashes and nothing leaks.
func TestCloseDuringUse(t *testing.T) {
	expectLive(t, 0)
	allowed := func(err error) {
		var failure *routecap.Error
		if err != nil && (!errors.As(err, &failure) || failure.Code != routecap.ErrClosed && failure.Code != routecap.ErrBusy && failure.Code != routecap.ErrNotReady) {
			t.Errorf("during close: %v", err)
		}
	}
	for round := range scale(200) {
		s := newScene(t, func(config *routecap.Config) {
			if round%2 == 1 {
				config.FinalizeMode = routecap.FinalizeOwnThread
			}
		})
		s.forward2(t)
		var group sync.WaitGroup
		var began atomic.Int32
		run := func(call func() error) {
			group.Add(1)
			go func() {
				defer group.Done()
				began.Add(1)
				for range 50 {
					err := call()
					allowed(err)
					if errors.Is(err, routecap.ErrClosed) {
						return
					}
				}
			}()
		}
		slots := routecap.ArrayOf([]int64{1, 2})
		ids := routecap.ArrayOf([]int32{1, 2, 3, 4})
		outputs := make(chan *routecap.Output, 1000)
		run(func() error {
			for _, tap := range s.taps {
				if err := tap.Capture(routecap.Capture{IDs: ids, Columns: 4, Tokens: 1}); err != nil {
					return err
				}
			}
			output, err := s.capturer.EndForward(routecap.Forward{Tokens: 1, Slots: routecap.ArrayOf([]int64{5})})
			if err == nil {
				outputs <- output
			}
			return err
		})
		run(func() error {
			select {
			case output := <-outputs:
				go output.Close()
				if err := output.CopyToHost(0); err != nil {
					return nil
				}
				_, err := output.Finalize()
				if errors.Is(err, routecap.ErrClosed) {
					return nil
				}
				return err
			default:
				return nil
			}
		})
		record, err := s.capturer.Read(routecap.Read{Slots: slots, Tokens: 3})
		must(t, err)
		run(func() error { _, err := s.capturer.Stats(); return err })
		run(func() error {
			read, err := s.capturer.Read(routecap.Read{Slots: slots, Tokens: 3})
			if err == nil {
				read.Close()
			}
			return err
		})
		run(func() error {
			return record.View(func(view routecap.View) error {
				ids, err := routecap.IDs[uint8](view)
				if err == nil && len(ids) != 24 {
					t.Error(len(ids))
				}
				return err
			})
		})
		for began.Load() < 5 {
			runtime.Gosched()
		}
		if round%3 == 0 {
			time.Sleep(100 * time.Microsecond)
		}
		must(t, s.capturer.Close())
		must(t, record.Close())
		group.Wait()
		close(outputs)
		for output := range outputs {
			must(t, output.Close())
		}
	}
	expectLive(t, 0)
}

// forward2 stores slots 1 and 2, whoever finalizes.
func (s *scene) forward2(t *testing.T) {
	s.capture(2)
	output, err := s.capturer.EndForward(routecap.Forward{Tokens: 2, Slots: routecap.ArrayOf([]int64{1, 2})})
	must(t, err)
	defer output.Close()
	must(t, output.CopyToHost(0))
	must(t, output.Wait(context.Background()))
	_, err = output.Finalize()
	must(t, err)
}

func threads(t *testing.T) (count int) {
	status, err := os.ReadFile("/proc/self/status")
	must(t, err)
	_, after, _ := strings.Cut(string(status), "Threads:")
	_, err = fmt.Sscan(after, &count)
	must(t, err)
	return count
}

func TestWaitsEndWithTheirContext(t *testing.T) {
	s := newScene(t, func(config *routecap.Config) { config.PipelineDepth = 1 })
	s.capture(1)
	forward := routecap.Forward{Tokens: 1, Slots: routecap.ArrayOf([]int64{3})}
	output, err := s.capturer.EndForward(forward)
	must(t, err)
	defer output.Close()
	s.capture(1)
	read := routecap.Read{Slots: routecap.ArrayOf([]int64{3}), Tokens: 2, AfterSequence: 1}
	waits := map[string]func(context.Context) error{
		"Wait":       output.Wait,
		"EndForward": func(ctx context.Context) error { _, err := s.capturer.EndForwardContext(ctx, forward); return err },
		"Read":       func(ctx context.Context) error { _, err := s.capturer.ReadContext(ctx, read); return err },
		"ReadInto": func(ctx context.Context) error {
			_, err := s.capturer.ReadIntoContext(ctx, read, routecap.ArrayOf(make([]uint8, 12)), routecap.Array{}, nil)
			return err
		},
		"Encode": func(ctx context.Context) error {
			_, err := s.capturer.AppendEncodedContext(ctx, nil, read, routecap.FormatFrame, routecap.EncodeOptions{})
			return err
		},
	}
	goroutines := runtime.NumGoroutine()
	before := 0
	quickest := make(map[string]time.Duration)
	for round := range 3 {
		for name, wait := range waits {
			began := time.Now()
			ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
			err := wait(ctx)
			took := time.Since(began)
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) || took < 50*time.Millisecond {
				t.Errorf("%s: %v after %v", name, err, took)
			}
			if best, there := quickest[name]; !there || took < best {
				quickest[name] = took
			}
			ctx, cancel = context.WithCancel(context.Background())
			time.AfterFunc(5*time.Millisecond, cancel)
			if err := wait(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if round == 0 {
			before = threads(t)
		}
	}
	// The machine may be busy once, not every time.
	for name, took := range quickest {
		if took > 150*time.Millisecond {
			t.Errorf("%s: a deadline of 50 ms was noticed after %v at best", name, took)
		}
	}
	// The runtime starts a thread of its own now and then; a thread per wait would be ten times as many.
	if after := threads(t); after > before+3 {
		t.Errorf("%d threads, then %d", before, after)
	}
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > goroutines; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, then %d", goroutines, runtime.NumGoroutine())
		}
	}
	// And with what they waited for.
	must(t, output.CopyToHost(0))
	must(t, waits["Wait"](context.Background()))
	time.AfterFunc(5*time.Millisecond, func() { output.Finalize() })
	must(t, waits["Read"](context.Background()))
	must(t, waits["EndForward"](context.Background()))
}

// The profiler's signals land on threads that are inside the library.
func TestProfilerDuringCapture(t *testing.T) {
	var profile bytes.Buffer
	must(t, pprof.StartCPUProfile(&profile))
	// And the signal by which the runtime stops goroutines, far oftener than it does.
	storm, stormOver := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stormOver)
		for {
			select {
			case <-storm:
				return
			default:
				syscall.Kill(os.Getpid(), syscall.SIGURG)
				time.Sleep(50 * time.Microsecond)
			}
		}
	}()
	s := newScene(t, func(config *routecap.Config) {
		config.FinalizeMode = routecap.FinalizeOwnThread
		config.BusyPolicy = routecap.BusyWait
		config.BusyTimeout = time.Second
	})
	slots := make([]int64, 64)
	for index := range slots {
		slots[index] = int64(index)
	}
	var last *routecap.Output
	var rows [][]int32
	for began := time.Now(); time.Since(began) < 300*time.Millisecond; {
		rows = s.capture(64)
		output, err := s.capturer.EndForward(routecap.Forward{Tokens: 64, Slots: routecap.ArrayOf(slots)})
		must(t, err)
		if last != nil {
			last.Close()
		}
		last = output
	}
	must(t, last.Wait(context.Background()))
	close(storm)
	<-stormOver
	pprof.StopCPUProfile()
	if profile.Len() < 100 {
		t.Fatalf("the profile has %d bytes", profile.Len())
	}
	for token, slot := range slots {
		s.rows[slot] = rows[token]
	}
	record, err := s.capturer.Read(routecap.Read{Slots: routecap.ArrayOf(slots), Tokens: 65})
	must(t, err)
	defer record.Close()
	s.expect(record, slots)
	last.Close()
}
