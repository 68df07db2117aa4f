// SPDX-License-Identifier: Apache-2.0

package routecap

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/routecap/routecap/bindings/go/internal/native"
)

// Output is one ended forward on its way to the store. Closed or collected unsettled, it is dropped: its slots settle as missing (R33). With
// FinalizeOwnThread an accepted one is only detached and still stored. The zero Output is for [Capturer.EndForwardInto].
type Output struct {
	cell     atomic.Pointer[cell]
	capturer *Capturer
	// One caller at a time.
	calls sync.Mutex
}

// begin gives the output its handle. The caller holds o.calls.
func (o *Output) begin(capturer *Capturer, handle uintptr) {
	o.capturer = capturer
	own := o.cell.Load()
	if own == nil {
		own = &cell{destroy: destroyOutput, parent: capturer.cell}
		own.open(handle)
		o.cell.Store(own)
		runtime.AddCleanup(o, closeCollected, own)
		return
	}
	own.parent = capturer.cell
	own.open(handle)
}

// destroyOutput keeps the capturer from being destroyed at the same time.
func destroyOutput(c *cell) {
	if c.parent.acquire() {
		defer c.parent.release()
	} else {
		c.parent.destroying.Lock()
		defer c.parent.destroying.Unlock()
	}
	native.Rcap_output_destroy(c.handle)
}

// Close gives the output back. It returns nil.
func (o *Output) Close() error {
	if o == nil {
		return nil
	}
	if own := o.cell.Load(); own != nil {
		own.close()
	}
	return nil
}

// enter begins a call: the output and its capturer stay alive until leave.
func (o *Output) enter() (*cell, error) {
	if o == nil || o.cell.Load() == nil {
		return nil, unmadeError("output")
	}
	o.calls.Lock()
	own := o.cell.Load()
	if !own.acquire() {
		o.calls.Unlock()
		return nil, closedError("output")
	}
	if !own.parent.acquire() {
		own.release()
		o.calls.Unlock()
		return nil, closedError("capturer of the output")
	}
	return own, nil
}

func (o *Output) leave(own *cell) {
	own.parent.release()
	own.release()
	o.calls.Unlock()
}

// Sequence is the number of the forward, > 0. Forwards, releases and copies of a capturer count together (R9).
func (o *Output) Sequence() (int64, error) {
	own, err := o.enter()
	if err != nil {
		return 0, err
	}
	defer o.leave(own)
	failed := wanted()
	answer := native.Rcap_output_sequence(own.handle, unsafe.Pointer(&failed))
	return max(answer, 0), failure(int32(min(answer, 0)), &failed)
}

// Accept is what [Output.Accept] commits; entries are as in [Forward].
type Accept struct {
	// Rows has the forward row of every entry, int32 or int64.
	Rows Array
	// Slots has the slot of every entry; not given, each row's slot as it came with the forward.
	Slots Array
	// Groups, GroupWidth and the strides as in [Forward].
	Groups, GroupWidth, SlotsGroupStride, RowsGroupStride int64
	// Stream that the work is queued on.
	Stream Stream
}

// Accept tells which rows of an AcceptLater forward are committed; once, before finalize. A refused call may be repeated (R21).
func (o *Output) Accept(accept Accept) error {
	own, err := o.enter()
	if err != nil {
		return err
	}
	defer o.leave(own)
	layout := acceptLayout{
		structSize:       int64(unsafe.Sizeof(acceptLayout{})),
		slotsDType:       accept.Slots.orInt64(),
		rowsDType:        accept.Rows.orInt64(),
		slotsMemory:      accept.Slots.memory,
		rowsMemory:       accept.Rows.memory,
		groups:           accept.Groups,
		groupWidth:       accept.GroupWidth,
		slotsGroupStride: accept.SlotsGroupStride,
		rowsGroupStride:  accept.RowsGroupStride,
	}
	failed := wanted()
	status := native.Rcap_output_accept(own.handle, unsafe.Pointer(&layout), accept.Rows.raw(), accept.Slots.raw(), uintptr(accept.Stream),
		unsafe.Pointer(&failed))
	return failure(status, &failed)
}

// DeviceRows is the staged block on the device, for a collective where ranks hold parts: an address and its bytes, Plan.SlotPayloadBytes a row. Valid
// until the output settles.
func (o *Output) DeviceRows() (address uint64, bytes int64, err error) {
	own, err := o.enter()
	if err != nil {
		return 0, 0, err
	}
	defer o.leave(own)
	var data unsafe.Pointer
	failed := wanted()
	status := native.Rcap_output_device_rows(own.handle, unsafe.Pointer(&data), unsafe.Pointer(&bytes), unsafe.Pointer(&failed))
	return uint64(uintptr(data)), bytes, failure(status, &failed)
}

// CopyToHost starts the one copy of the staged block to the host, ordered behind the staging whatever the stream. A second call does nothing.
func (o *Output) CopyToHost(stream Stream) error {
	own, err := o.enter()
	if err != nil {
		return err
	}
	defer o.leave(own)
	failed := wanted()
	return failure(native.Rcap_output_copy_to_host(own.handle, uintptr(stream), unsafe.Pointer(&failed)), &failed)
}

// Ready reports whether the copy is complete; with FinalizeOwnThread, whether the output has settled. It never waits.
func (o *Output) Ready() (bool, error) {
	own, err := o.enter()
	if err != nil {
		return false, err
	}
	defer o.leave(own)
	failed := wanted()
	answer := native.Rcap_output_ready(own.handle, unsafe.Pointer(&failed))
	return answer > 0, failure(answer, &failed)
}

// Wait waits until [Output.Ready] would say true, or the context is done.
func (o *Output) Wait(ctx context.Context) error {
	return waitContext(ctx, ErrTimeout, func(timeout int64) error {
		own, err := o.enter()
		if err != nil {
			return err
		}
		defer o.leave(own)
		failed := wanted()
		return failure(native.Rcap_output_wait(own.handle, timeout, unsafe.Pointer(&failed)), &failed)
	})
}

// Finalize stores the committed rows and frees the block. Bad rows do not fail the call: they are missing and the summary names the first (R14). On a
// settled output it gives the same answer again. With FinalizeOwnThread it only reads the summary.
func (o *Output) Finalize() (Summary, error) {
	own, err := o.enter()
	if err != nil {
		return Summary{}, err
	}
	defer o.leave(own)
	summary := Summary{structSize: int64(unsafe.Sizeof(Summary{}))}
	failed := wanted()
	status := native.Rcap_output_finalize(own.handle, unsafe.Pointer(&summary), unsafe.Pointer(&failed))
	return summary, failure(status, &failed)
}
