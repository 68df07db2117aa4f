// SPDX-License-Identifier: Apache-2.0

//go:build linux && !race

package routecap_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	routecap "github.com/routecap/routecap/bindings/go"
)

const forkRole = "ROUTECAP_TEST_FORK_ROLE"

// again runs a test of this program in a process of its own, in a role.
func again(test, role string) *exec.Cmd {
	command := exec.Command(os.Args[0], "-test.run", "^"+test+"$", "-test.v")
	command.Env = append(os.Environ(), forkRole+"="+role)
	return command
}

// A child that was started with exec, which is how Go starts all of its own, has a library of its own; the parent, which captures meanwhile with a thread
// of the library's, notices nothing.
func TestChildProcessWhileCapturing(t *testing.T) {
	if os.Getenv(forkRole) == "child" {
		s := newScene(t, nil)
		s.forward([]int64{3, 4})
		record, err := s.capturer.Read(routecap.Read{Slots: routecap.ArrayOf([]int64{3, 4}), Tokens: 3})
		must(t, err)
		defer record.Close()
		s.expect(record, []int64{3, 4})
		return
	}
	s := newScene(t, func(config *routecap.Config) {
		config.FinalizeMode = routecap.FinalizeOwnThread
		config.BusyPolicy = routecap.BusyWait
		config.BusyTimeout = 10 * time.Second
	})
	var children sync.WaitGroup
	var running atomic.Int32
	for range 4 {
		children.Add(1)
		running.Add(1)
		go func() {
			defer children.Done()
			defer running.Add(-1)
			said, err := again("TestChildProcessWhileCapturing", "child").CombinedOutput()
			if err != nil || !bytes.Contains(said, []byte("--- PASS: TestChildProcessWhileCapturing")) {
				t.Errorf("%v\n%s", err, said)
			}
		}()
	}
	forwards := 0
	for slot := int64(0); running.Load() > 0 || forwards < 10; slot, forwards = (slot+2)%1000, forwards+1 {
		s.forward([]int64{slot, slot + 1})
	}
	children.Wait()
	last := []int64{0, 1, 2, 3}
	record, err := s.capturer.Read(routecap.Read{Slots: routecap.ArrayOf(last), Tokens: 5})
	must(t, err)
	defer record.Close()
	s.expect(record, last)
}

// What a process that forked without exec may do: nothing that Go's scheduler is needed for. Its calls on what it inherited say so at once, records work,
// and the parent goes on. This needs a quiet process, so it is one of its own.
func TestForkWithoutExec(t *testing.T) {
	if os.Getenv(forkRole) == "parent" {
		forkWithoutExec(t)
		return
	}
	command := again("TestForkWithoutExec", "parent")
	command.Env = append(command.Env, "GOGC=off", "GOMAXPROCS=1")
	said, err := command.CombinedOutput()
	if err != nil || !bytes.Contains(said, []byte("--- PASS: TestForkWithoutExec")) {
		t.Fatalf("%v\n%s", err, said)
	}
}

func forkWithoutExec(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	debug.SetGCPercent(-1)
	s := newScene(t, nil)
	slots := []int64{1, 2}
	s.forward(slots)
	read := routecap.Read{Slots: routecap.ArrayOf(slots), Tokens: 3}
	record, err := s.capturer.Read(read)
	must(t, err)
	s.capture(1)
	output, err := s.capturer.EndForward(routecap.Forward{Tokens: 1, Slots: routecap.ArrayOf([]int64{3})})
	must(t, err)
	into := make([]uint8, 2*len(s.taps)*int(s.config.TopK))
	ids := routecap.Capture{IDs: routecap.ArrayOf(s.ids(1)), Columns: s.config.TopK, Tokens: 1}
	forked := func(err error) bool { return errors.Is(err, routecap.ErrForked) }
	calls := []func() bool{
		func() bool { return forked(s.taps[0].Capture(ids)) },
		func() bool { _, err := s.capturer.Stats(); return forked(err) },
		func() bool {
			_, err := s.capturer.ReadInto(read, routecap.ArrayOf(into), routecap.Array{}, nil)
			return forked(err)
		},
		func() bool { return forked(s.capturer.ReleaseAll(0)) },
		func() bool { return forked(s.capturer.DiscardForward(0)) },
		func() bool { return forked(output.CopyToHost(0)) },
		func() bool { _, err := output.Finalize(); return forked(err) },
		func() bool { info, err := record.Info(); return err == nil && info.Rows == 2 && info.RowsValid == 2 },
		func() bool { return output.Close() == nil && s.capturer.Close() == nil && record.Close() == nil },
	}
	// Errors are made once before, so that nothing has to be set up on the way.
	must(t, s.taps[0].Capture(ids))
	must(t, s.capturer.DiscardForward(0))

	child, _, failed := syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
	if failed != 0 {
		t.Fatal(failed)
	}
	if child == 0 {
		status := 0
		for index, call := range calls {
			if status == 0 && !call() {
				status = index + 1
			}
		}
		for {
			syscall.RawSyscall(syscall.SYS_EXIT_GROUP, uintptr(status), 0, 0)
		}
	}
	var status syscall.WaitStatus
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		done, err := syscall.Wait4(int(child), &status, syscall.WNOHANG, nil)
		must(t, err)
		if done == int(child) {
			break
		}
		if time.Now().After(deadline) {
			syscall.Kill(int(child), syscall.SIGKILL)
			t.Fatal("the child hangs")
		}
	}
	if !status.Exited() || status.ExitStatus() != 0 {
		t.Fatalf("the child ended with %v: the call of that number", status)
	}
	// The parent's handles are what they were.
	must(t, output.CopyToHost(0))
	_, err = output.Finalize()
	must(t, err)
	must(t, output.Close())
	s.forward([]int64{5, 6})
	s.expect(record, slots)
	must(t, record.Close())
}
