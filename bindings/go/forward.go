// SPDX-License-Identifier: Apache-2.0

package routecap

import (
	"context"
	"errors"
	"time"
	"unsafe"

	"github.com/routecap/routecap/bindings/go/internal/native"
)

// Forward is what [Capturer.EndForward] stages.
//
// Commit entry (g, j), g < Groups, j < GroupWidth: forward row Rows[g*RowsGroupStride+j] goes to slot Slots[g*SlotsGroupStride+j]; -1 in either means
// nothing. Rows count from the forward's first row. What stands between two groups is not read.
type Forward struct {
	// FirstRow is the row of the device buffer where this rank's rows begin ([LayoutRows]).
	FirstRow int64
	// Tokens is this rank's rows; 0 is an idle rank and legal (R16).
	Tokens int64
	// Acceptance says which rows are committed.
	Acceptance Acceptance
	// Slots has the slot of every entry, int32 or int64. Not needed where the capturer stores nothing, with 0 tokens, or with AcceptLater.
	Slots Array
	// Rows has the forward row of every entry, int32 or int64, with AcceptGiven only.
	Rows Array
	// Tags has the tag of every row of the forward, int64, where tags are kept.
	Tags Array
	// Groups of entries; 0 is one.
	Groups int64
	// GroupWidth is the entries of a group; 0 with one group is all of them.
	GroupWidth int64
	// SlotsGroupStride is the elements between the starts of two groups of slots; 0 is GroupWidth.
	SlotsGroupStride int64
	// RowsGroupStride is the same for rows.
	RowsGroupStride int64
	// Step is the engine's step number, a label only (R10).
	Step int64
	// WeightVersion is the version of the model's weights in this forward, kept with every row.
	WeightVersion int64
	// Stream that the work is queued on.
	Stream Stream
}

// EndForward stages this rank's rows, gives the forward its sequence number, and the device cache back to the next forward (R30). A refused call,
// ErrBusy included, changes nothing and may be repeated.
func (c *Capturer) EndForward(forward Forward) (*Output, error) {
	output := new(Output)
	if err := c.EndForwardInto(output, forward); err != nil {
		return nil, err
	}
	return output, nil
}

// EndForwardInto is [Capturer.EndForward] into an output of the caller's, new or closed, which allocates nothing where the output is used again.
func (c *Capturer) EndForwardInto(output *Output, forward Forward) error {
	if output == nil {
		return refused(ErrInvalidArgument, "the output is nil")
	}
	own, err := c.enter()
	if err != nil {
		return err
	}
	defer own.release()
	tags, err := elements[int64](forward.Tags, "Tags")
	if err != nil {
		return err
	}
	layout := forwardLayout{
		structSize:       int64(unsafe.Sizeof(forwardLayout{})),
		firstRow:         forward.FirstRow,
		tokens:           forward.Tokens,
		acceptance:       forward.Acceptance,
		slotsDType:       forward.Slots.orInt64(),
		rowsDType:        forward.Rows.orInt64(),
		slotsMemory:      forward.Slots.memory,
		rowsMemory:       forward.Rows.memory,
		tagsMemory:       forward.Tags.memory,
		groups:           forward.Groups,
		groupWidth:       forward.GroupWidth,
		slotsGroupStride: forward.SlotsGroupStride,
		rowsGroupStride:  forward.RowsGroupStride,
		step:             forward.Step,
		weightVersion:    forward.WeightVersion,
	}
	output.calls.Lock()
	defer output.calls.Unlock()
	if own := output.cell.Load(); own != nil && !own.idle.Load() {
		return refused(ErrInvalidState, "the output still belongs to an earlier forward; close it first")
	}
	c.engine.Lock()
	defer c.engine.Unlock()
	var handle uintptr
	failed := wanted()
	status := native.Rcap_capturer_end_forward(own.handle, unsafe.Pointer(&layout), forward.Slots.raw(), forward.Rows.raw(), tags,
		uintptr(forward.Stream), unsafe.Pointer(&handle), unsafe.Pointer(&failed))
	if status < 0 {
		return newError(Code(status), &failed)
	}
	output.begin(c, handle)
	return nil
}

// EndForwardContext is [Capturer.EndForward], repeated while every staging block is in flight and until the context is done: for an engine whose
// outputs are finalized by other goroutines. With BusyWait each try may take BusyTimeout, and the context is looked at between two.
func (c *Capturer) EndForwardContext(ctx context.Context, forward Forward) (*Output, error) {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for wait := 20 * time.Microsecond; ; wait = min(2*wait, time.Millisecond) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		output, err := c.EndForward(forward)
		if !errors.Is(err, ErrBusy) {
			return output, err
		}
		pause.Reset(wait)
		select {
		case <-ctx.Done():
		case <-pause.C:
		}
	}
}

// DiscardForward forgets what was captured since the last EndForward: a warm-up, dummy or aborted forward (R27). It takes no number.
func (c *Capturer) DiscardForward(stream Stream) error {
	return c.asEngine(func(handle uintptr, failed *errorLayout) int32 {
		return native.Rcap_capturer_discard_forward(handle, uintptr(stream), unsafe.Pointer(failed))
	})
}
