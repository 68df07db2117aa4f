// SPDX-License-Identifier: Apache-2.0

package routecap

import (
	"runtime"
	"sync"
	"sync/atomic"
)

var live atomic.Int64

// LiveHandles is the number of capturers, outputs, records and backends of this package that are neither closed nor collected: a leak shows here.
func LiveHandles() int64 { return live.Load() }

// cell is a handle of the library and the calls that are using it. It is an object of its own, so that it outlives the public object in front of it:
// what collects that object still finds here what to destroy.
//
// Invariant: the handle is destroyed exactly once, when it was closed and no call uses it.
type cell struct {
	// Bits, and above them the calls in progress in units of cellCall.
	state atomic.Int64
	// Nothing is left of the handle: the cell may be opened again.
	idle    atomic.Bool
	handle  uintptr
	destroy func(*cell)
	// Of an output: its capturer's cell. A capturer is destroyed while no call on its outputs is in progress.
	parent *cell
	// Of a capturer: held while it is destroyed, and while an output is destroyed after the capturer was closed.
	destroying sync.Mutex
	// Of a capturer: memory of Go that the library keeps pointers to.
	pins runtime.Pinner
}

const (
	// Closed: no call begins any more.
	cellClosed = 1
	// Somebody destroys the handle, or has done so.
	cellEnded = 2
	cellCall  = 4
)

// open gives a cell that is new, or idle, its handle.
func (c *cell) open(handle uintptr) {
	c.handle = handle
	live.Add(1)
	if c.idle.CompareAndSwap(true, false) {
		// A call that came too late may still be on its way out.
		for !c.state.CompareAndSwap(cellClosed|cellEnded, 0) {
			runtime.Gosched()
		}
	}
}

// acquire keeps the handle alive until release; false when it is closed.
func (c *cell) acquire() bool {
	if c.state.Add(cellCall)&cellClosed == 0 {
		return true
	}
	c.release()
	return false
}

func (c *cell) release() {
	if c.state.Add(-cellCall) == cellClosed {
		c.end()
	}
}

func (c *cell) close() {
	for {
		old := c.state.Load()
		if old&cellClosed != 0 {
			return
		}
		if c.state.CompareAndSwap(old, old|cellClosed) {
			if old == 0 {
				c.end()
			}
			return
		}
	}
}

// end destroys the handle: called by each that sees it closed and unused; one of them wins.
func (c *cell) end() {
	if c.state.CompareAndSwap(cellClosed, cellClosed|cellEnded) {
		c.destroy(c)
		live.Add(-1)
		c.idle.Store(true)
	}
}

// closeCollected is the cleanup of a public object: it must not refer to it.
func closeCollected(c *cell) { c.close() }
