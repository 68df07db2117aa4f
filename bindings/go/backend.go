// SPDX-License-Identifier: Apache-2.0

package routecap

import (
	"errors"
	"runtime"
	"unsafe"

	"github.com/routecap/routecap/bindings/go/internal/native"
)

// Backend is a place where rows are captured: the host (built in) or an accelerator (a plugin). Capturers keep theirs alive.
type Backend struct{ cell *cell }

// BackendOptions says how to open a backend.
type BackendOptions struct {
	// DeviceOrdinal says which device of its kind; the host has only 0.
	DeviceOrdinal int32
	// Threads that the backend may use for one call; 0 is its default.
	Threads int32
}

// BackendInfo is what a backend says of itself.
type BackendInfo struct {
	// DeviceOrdinal says which device of its kind.
	DeviceOrdinal int32
	// Threads it uses at most.
	Threads int32
	// HostMemory: the host reads its memory without a copy.
	HostMemory bool
	// Name as for [OpenBackend].
	Name string
	// Description is device and driver in words.
	Description string
	// DeviceBytes and PinnedBytes are what capturers hold at the moment, of device memory and of pinned host memory. These and the counters below are 0
	// where the backend does not count, as the host.
	DeviceBytes, PinnedBytes int64
	// Captures, Snapshots (one for each forward) and Copies to the host since it was opened; CopiedBytes is what the copies moved.
	Captures, Snapshots, Copies, CopiedBytes int64
	// Lost: the device has failed for good (R34).
	Lost bool
}

// SearchBackend tells where a backend of that name is looked for and what is there: one line a place, its path and "loads" or why not. It loads what
// can be loaded and opens nothing.
func SearchBackend(name string) (string, error) {
	if err := nameOf("the backend's name", name); err != nil {
		return "", err
	}
	var needed int64
	failed := wanted()
	// Without room it is out of range and says what it needs; what is found in between may be more.
	err := failure(native.Rcap_backend_search(name, nil, unsafe.Pointer(&needed), unsafe.Pointer(&failed)), &failed)
	for lines := []byte(nil); errors.Is(err, ErrOutOfRange) && int(needed) > len(lines); {
		lines = make([]byte, needed)
		err = failure(native.Rcap_backend_search(name, lines, unsafe.Pointer(&needed), unsafe.Pointer(&failed)), &failed)
		if err == nil {
			return text(lines), nil
		}
	}
	return "", err
}

// OpenBackend opens a backend by name; "host" is built in.
func OpenBackend(name string, options BackendOptions) (*Backend, error) {
	if err := nameOf("the backend's name", name); err != nil {
		return nil, err
	}
	var given backendOptionsLayout
	native.Rcap_backend_options_init(unsafe.Pointer(&given), int64(unsafe.Sizeof(given)))
	given.deviceOrdinal = options.DeviceOrdinal
	given.threads = options.Threads
	var handle uintptr
	failed := wanted()
	if err := failure(native.Rcap_backend_open(name, unsafe.Pointer(&given), unsafe.Pointer(&handle), unsafe.Pointer(&failed)), &failed); err != nil {
		return nil, err
	}
	backend := &Backend{&cell{destroy: func(c *cell) { native.Rcap_backend_destroy(c.handle) }}}
	backend.cell.open(handle)
	runtime.AddCleanup(backend, closeCollected, backend.cell)
	return backend, nil
}

// Describe asks the backend for its properties.
func (b *Backend) Describe() (BackendInfo, error) {
	own, err := b.enter()
	if err != nil {
		return BackendInfo{}, err
	}
	defer own.release()
	info := backendInfoLayout{structSize: int64(unsafe.Sizeof(backendInfoLayout{}))}
	failed := wanted()
	status := native.Rcap_backend_describe(own.handle, unsafe.Pointer(&info), unsafe.Pointer(&failed))
	return BackendInfo{info.deviceOrdinal, info.threads, info.hostMemory != 0, text(info.name[:]), text(info.description[:]), info.deviceBytes,
		info.pinnedBytes, info.captures, info.snapshots, info.copies, info.copiedBytes, info.lost != 0}, failure(status, &failed)
}

// Close gives the backend back; capturers made with it go on working. It returns nil.
func (b *Backend) Close() error {
	if b != nil && b.cell != nil {
		b.cell.close()
	}
	return nil
}

func (b *Backend) enter() (*cell, error) {
	if b == nil || b.cell == nil {
		return nil, unmadeError("backend")
	}
	if !b.cell.acquire() {
		return nil, closedError("backend")
	}
	return b.cell, nil
}
