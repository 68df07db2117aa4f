// SPDX-License-Identifier: Apache-2.0

package routecap

import (
	"unsafe"

	"github.com/routecap/routecap/bindings/go/internal/native"
)

// Tap is the place of one MoE layer of one model where ids are handed over. It belongs to its capturer and ends with it.
type Tap struct {
	capturer *Capturer
	handle   uintptr
}

// Capture is one batch of top-k ids of one layer.
type Capture struct {
	// IDs are [Tokens, Columns], columns adjacent: int64, int32, int16, uint16 or uint8.
	IDs Array
	// Weights are [Tokens, Columns] where the capturer keeps weights: float32, or the dtype that it keeps.
	Weights Array
	// RowIDs are int32, and only for a TapPartial tap: the forward's rows that this layer ran on, as many as Tokens. Not given, they are
	// the rows from FirstRow on.
	RowIDs Array
	// Columns is K, or K plus the fused shared experts.
	Columns int32
	// Tokens is the number of rows handed over.
	Tokens int64
	// FirstRow is the row of the device buffer that the first of them belongs to.
	FirstRow int64
	// IDsRowStride is the bytes between the starts of two rows of ids; 0 where they are adjacent.
	IDsRowStride int64
	// WeightsRowStride is the same for weights.
	WeightsRowStride int64
	// Stream that the work is queued on.
	Stream Stream
}

// Capture hands one layer's ids (and weights) over: narrowed, mapped, counted, written to the device cache. It allocates nothing and waits for
// nothing. On a denied tap nothing is looked at and the call is counted (R18). Arrays in device memory stay valid until the stream has passed the call.
func (t *Tap) Capture(capture Capture) error {
	if t == nil || t.capturer == nil {
		return unmadeError("tap")
	}
	cell := t.capturer.cell
	if !cell.acquire() {
		return closedError("capturer of the tap")
	}
	if capture.Weights.given() && capture.Weights.memory != capture.IDs.memory || capture.RowIDs.given() && capture.RowIDs.memory != capture.IDs.memory {
		cell.release()
		return refused(ErrInvalidArgument, "ids, weights and row ids of one capture lie in one kind of memory")
	}
	rows, err := elements[int32](capture.RowIDs, "RowIDs")
	if err != nil {
		cell.release()
		return err
	}
	// Field by field and in place: a literal would be built elsewhere and copied here, and the copy waits for what was just written.
	var layout captureLayout
	layout.structSize = int64(unsafe.Sizeof(captureLayout{}))
	layout.idsDType = capture.IDs.dtype
	layout.weightsDType = capture.Weights.dtype
	layout.memory = capture.IDs.memory
	layout.columns = capture.Columns
	layout.tokens = capture.Tokens
	layout.firstRow = capture.FirstRow
	layout.idsRowStride = capture.IDsRowStride
	layout.weightsRowStride = capture.WeightsRowStride
	var failed errorLayout
	failed.structSize = int64(unsafe.Sizeof(errorLayout{}))
	status := native.Rcap_tap_capture(t.handle, unsafe.Pointer(&layout), capture.IDs.raw(), capture.Weights.raw(), rows, uintptr(capture.Stream),
		unsafe.Pointer(&failed))
	cell.release()
	if status >= 0 {
		return nil
	}
	return newError(Code(status), &failed)
}

// Enabled reports whether captures on this tap are written: not when its model is denied.
func (t *Tap) Enabled() (bool, error) {
	answer, err := t.ask(native.Rcap_tap_is_enabled)
	return answer > 0, err
}

// ID is the small stable number of the tap: the taps of a capturer count from 0 in the order they were added.
func (t *Tap) ID() (int32, error) { return t.ask(native.Rcap_tap_id) }

func (t *Tap) ask(predicate func(uintptr, unsafe.Pointer) int32) (int32, error) {
	if t == nil || t.capturer == nil {
		return 0, unmadeError("tap")
	}
	if !t.capturer.cell.acquire() {
		return 0, closedError("capturer of the tap")
	}
	defer t.capturer.cell.release()
	failed := wanted()
	answer := predicate(t.handle, unsafe.Pointer(&failed))
	return max(answer, 0), failure(answer, &failed)
}
