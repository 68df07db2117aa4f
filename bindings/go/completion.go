// SPDX-License-Identifier: Apache-2.0

package routecap

import (
	"context"
	"iter"
	"os"
	"syscall"
	"unsafe"

	"github.com/routecap/routecap/bindings/go/internal/native"
)

// Completion is an output that settled.
type Completion struct {
	// Sequence is the forward's number.
	Sequence int64
	// Code is what its finalize says: OK or ErrDevice.
	Code Code
}

// WatchCompletions starts keeping completions for [Capturer.NextCompleted]; call it before the forwards that matter. FinalizeOwnThread only.
func (c *Capturer) WatchCompletions() error {
	_, err := c.completionDescriptor()
	return err
}

// CompletionFile is an eventfd that counts settled outputs, for poll and epoll: reading 8 bytes resets it, and waits in Go's poller until there is
// something to read. It is the caller's to close, and starts keeping completions as [Capturer.WatchCompletions] does. FinalizeOwnThread only.
func (c *Capturer) CompletionFile() (*os.File, error) {
	own, err := c.enter()
	if err != nil {
		return nil, err
	}
	defer own.release()
	descriptor, err := c.completionDescriptor()
	if err != nil {
		return nil, err
	}
	// The capturer closes its own when it ends, and a number that was closed may be something else's by then: the caller gets a duplicate.
	syscall.ForkLock.RLock()
	duplicate, err := syscall.Dup(int(descriptor))
	if err == nil {
		syscall.CloseOnExec(duplicate)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, os.NewSyscallError("dup", err)
	}
	return os.NewFile(uintptr(duplicate), "routecap completions"), nil
}

func (c *Capturer) completionDescriptor() (int32, error) {
	own, err := c.enter()
	if err != nil {
		return 0, err
	}
	defer own.release()
	var descriptor int32
	failed := wanted()
	status := native.Rcap_capturer_completion_fd(own.handle, unsafe.Pointer(&descriptor), unsafe.Pointer(&failed))
	return descriptor, failure(status, &failed)
}

// NextCompleted takes the next settled output, in the order in which they settled, or waits for one until the context is done. FinalizeOwnThread only.
func (c *Capturer) NextCompleted(ctx context.Context) (Completion, error) {
	var completion Completion
	err := waitContext(ctx, ErrTimeout, func(timeout int64) error {
		own, err := c.enter()
		if err != nil {
			return err
		}
		defer own.release()
		failed := wanted()
		status := native.Rcap_capturer_next_completed(own.handle, timeout, unsafe.Pointer(&completion.Sequence), unsafe.Pointer(&completion.Code), unsafe.Pointer(&failed))
		return failure(status, &failed)
	})
	return completion, err
}

// Completions gives one settled output after the other until the context is done or the capturer is closed; the last error says why it ended.
func (c *Capturer) Completions(ctx context.Context) iter.Seq2[Completion, error] {
	return func(yield func(Completion, error) bool) {
		for {
			completion, err := c.NextCompleted(ctx)
			if !yield(completion, err) || err != nil {
				return
			}
		}
	}
}
