// SPDX-License-Identifier: Apache-2.0

//go:build !cgo || routecap_dlopen

package native

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// library is the function table of the library, loaded at the first call and kept until the process ends.
type library struct {
	once sync.Once
	// Address of struct rcap_api, whose functions begin behind struct_size, abi and reserved.
	api  uintptr
	size uintptr
	err  error
}

const tableHead = 16

var table library

// LoadError says why there is no library, nil if there is one.
func LoadError() error {
	table.once.Do(table.load)
	return table.err
}

// function is the address in a slot; 0 where the library is not there, or older than the slot.
func (l *library) function(slot uintptr) uintptr {
	l.once.Do(l.load)
	place := tableHead + slot*unsafe.Sizeof(slot)
	if l.err != nil || place+unsafe.Sizeof(slot) > l.size {
		return 0
	}
	return *(*uintptr)(pointer(l.api + place))
}

// absent is what a call answers that could not be made.
func absent() int64 {
	if table.err != nil {
		return NotLoaded
	}
	// RCAP_STATUS_UNSUPPORTED: the library is older than the function.
	return -9
}

func (l *library) load() {
	places := []string{soname}
	// A program that runs with more rights than its user has does not load what the user names.
	if named := os.Getenv("ROUTECAP_LIBRARY"); named != "" && os.Getuid() == os.Geteuid() && os.Getgid() == os.Getegid() {
		places = []string{named}
	}
	var tried []string
	for _, place := range places {
		if strings.Contains(place, "/") {
			if why := refusal(place); why != "" {
				tried = append(tried, place+": "+why)
				continue
			}
		}
		handle, err := purego.Dlopen(place, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err != nil {
			// The dynamic linker's words mostly begin with the path itself, which then stands once.
			tried = append(tried, place+": "+strings.TrimPrefix(err.Error(), place+": "))
			continue
		}
		get, err := purego.Dlsym(handle, "rcap_get_api")
		if err != nil {
			tried = append(tried, place+": is not routecap: it has no rcap_get_api")
			continue
		}
		api, _, _ := purego.SyscallN(get, abi)
		if api == 0 {
			tried = append(tried, fmt.Sprintf("%s: is too old: it has no ABI %d", place, abi))
			continue
		}
		l.api, l.size = api, uintptr(*(*int64)(pointer(api)))
		return
	}
	l.err = &LibraryError{tried}
}

// pointer is an address of C's as a pointer, which the garbage collector leaves alone.
func pointer(address uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&address)) }

// textAt copies a text of C's.
func textAt(address uintptr) string {
	if address == 0 {
		return ""
	}
	length := 0
	for *(*byte)(unsafe.Add(pointer(address), length)) != 0 {
		length++
	}
	return string(unsafe.Slice((*byte)(pointer(address)), length))
}
