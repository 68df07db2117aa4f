// SPDX-License-Identifier: Apache-2.0

package routecap

import (
	"runtime"
	"sync"
	"unsafe"

	"github.com/routecap/routecap/bindings/go/internal/native"
)

// Capturer records the routing of one engine rank. Any number live in one process, fully independent (R35).
type Capturer struct {
	cell *cell
	// One caller among models, seal, forwards and slots.
	engine sync.Mutex
	// Models and taps that were handed out, so that one handle is one object.
	taps map[uintptr]*Tap
	// Guards taps, which [Capturer.Tap] reads on any goroutine.
	tapsLock sync.Mutex
}

// NewCapturer creates a capturer. Next: add the models and their taps, then seal.
func NewCapturer(config Config) (*Capturer, error) {
	layout := config.layout()
	var backend uintptr
	if config.Backend != nil {
		own, err := config.Backend.enter()
		if err != nil {
			return nil, err
		}
		defer own.release()
		backend = own.handle
	}
	var handle uintptr
	failed := wanted()
	status := native.Rcap_capturer_create(unsafe.Pointer(&layout), config.LayerIDs, backend, unsafe.Pointer(&handle), unsafe.Pointer(&failed))
	if err := failure(status, &failed); err != nil {
		return nil, err
	}
	capturer := &Capturer{cell: &cell{destroy: destroyCapturer}, taps: make(map[uintptr]*Tap)}
	capturer.cell.open(handle)
	runtime.AddCleanup(capturer, closeCollected, capturer.cell)
	return capturer, nil
}

func destroyCapturer(c *cell) {
	c.destroying.Lock()
	defer c.destroying.Unlock()
	native.Rcap_capturer_destroy(c.handle)
	c.pins.Unpin()
}

// Close ends the capturer, its models and its taps. Outputs in flight are safe and say ErrClosed from then on (R34); records live on. It returns nil.
func (c *Capturer) Close() error {
	if c != nil && c.cell != nil {
		c.cell.close()
	}
	return nil
}

// enter begins a call: the capturer stays alive until the cell's release.
func (c *Capturer) enter() (*cell, error) {
	if c == nil || c.cell == nil {
		return nil, unmadeError("capturer")
	}
	if !c.cell.acquire() {
		return nil, closedError("capturer")
	}
	return c.cell, nil
}

// asEngine runs a call of the engine's side: one at a time.
func (c *Capturer) asEngine(call func(handle uintptr, failed *errorLayout) int32) error {
	own, err := c.enter()
	if err != nil {
		return err
	}
	defer own.release()
	c.engine.Lock()
	defer c.engine.Unlock()
	failed := wanted()
	return failure(call(own.handle, &failed), &failed)
}

// Model is the target model of a capturer or one of its drafts. It belongs to its capturer and ends with it.
type Model struct {
	capturer *Capturer
	handle   uintptr
}

// AddModel adds a model before the seal: one RoleTarget, any number of RoleDraft. Drafts start denied and stay so (R20). The name is used in errors.
func (c *Capturer) AddModel(role Role, name string) (*Model, error) {
	if err := nameOf("the model's name", name); err != nil {
		return nil, err
	}
	var model uintptr
	err := c.asEngine(func(handle uintptr, failed *errorLayout) int32 {
		return native.Rcap_capturer_add_model(handle, int32(role), name, unsafe.Pointer(&model), unsafe.Pointer(failed))
	})
	if err != nil {
		return nil, err
	}
	return &Model{c, model}, nil
}

// SetCapture sets the gate of the model's taps, before the seal. Allowing a draft is refused; denying the target makes the seal fail (R20).
func (m *Model) SetCapture(gate Gate) error {
	if m == nil || m.capturer == nil {
		return unmadeError("model")
	}
	return m.capturer.asEngine(func(_ uintptr, failed *errorLayout) int32 {
		return native.Rcap_model_set_capture(m.handle, int32(gate), unsafe.Pointer(failed))
	})
}

// TapOptions says how a tap's ids are to be read.
type TapOptions struct {
	// Flags travel with the records.
	Flags TapFlags
	// IDMap is the physical-to-logical map (R22): int32 or int64, entry p is the logical id of physical expert p. Not given, ids are logical already; one
	// without entries is refused.
	// The library keeps its address: a slice is pinned until the capturer ends, and the engine may rewrite its elements between forwards.
	IDMap Array
}

// AddTap adds the tap of one MoE layer, before the seal. A draft's layer number may equal a target's: the tap decides, not the number (R18).
func (m *Model) AddTap(layer int32, options TapOptions) (*Tap, error) {
	if m == nil || m.capturer == nil {
		return nil, unmadeError("model")
	}
	given := tapOptionsLayout{
		structSize:  int64(unsafe.Sizeof(tapOptionsLayout{})),
		flags:       options.Flags,
		idMapDType:  options.IDMap.dtype,
		idMapMemory: options.IDMap.memory,
	}
	var handle uintptr
	err := m.capturer.asEngine(func(_ uintptr, failed *errorLayout) int32 {
		status := native.Rcap_model_add_tap(m.handle, layer, unsafe.Pointer(&given), options.IDMap.raw(), unsafe.Pointer(&handle), unsafe.Pointer(failed))
		// The map was read only so far: what is kept from now on is pinned from now on.
		if status >= 0 && options.IDMap.memory == MemoryHost && options.IDMap.bytes > 0 {
			m.capturer.cell.pins.Pin(options.IDMap.data)
		}
		return status
	})
	if err != nil {
		return nil, err
	}
	return m.capturer.tapOf(handle), nil
}

// Seal ends the set-up. It fails closed (R20): no target, a denied target, a captured layer without a tap. After it nothing is loaded or added.
func (c *Capturer) Seal() error {
	return c.asEngine(func(handle uintptr, failed *errorLayout) int32 {
		return native.Rcap_capturer_seal(handle, unsafe.Pointer(failed))
	})
}

// Tap finds a tap by its number.
func (c *Capturer) Tap(id int32) (*Tap, error) {
	own, err := c.enter()
	if err != nil {
		return nil, err
	}
	defer own.release()
	var handle uintptr
	failed := wanted()
	if err := failure(native.Rcap_capturer_tap(own.handle, id, unsafe.Pointer(&handle), unsafe.Pointer(&failed)), &failed); err != nil {
		return nil, err
	}
	return c.tapOf(handle), nil
}

func (c *Capturer) tapOf(handle uintptr) *Tap {
	c.tapsLock.Lock()
	defer c.tapsLock.Unlock()
	tap := c.taps[handle]
	if tap == nil {
		tap = &Tap{c, handle}
		c.taps[handle] = tap
	}
	return tap
}

// Stats reads the capturer's counters.
func (c *Capturer) Stats() (Stats, error) {
	own, err := c.enter()
	if err != nil {
		return Stats{}, err
	}
	defer own.release()
	stats := Stats{structSize: int64(unsafe.Sizeof(Stats{}))}
	failed := wanted()
	status := native.Rcap_capturer_stats_get(own.handle, unsafe.Pointer(&stats), unsafe.Pointer(&failed))
	return stats, failure(status, &failed)
}
