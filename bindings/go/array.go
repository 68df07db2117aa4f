// SPDX-License-Identifier: Apache-2.0

package routecap

import "unsafe"

// Float16 holds the bits of an IEEE 754 binary16 number.
type Float16 uint16

// BFloat16 holds the bits of a bfloat16 number, the upper half of a float32.
type BFloat16 uint16

// Element is what arrays consist of; each has its [DType].
type Element interface {
	uint8 | uint16 | int16 | int32 | int64 | Float16 | BFloat16 | float32
}

// Array is elements of one dtype, in a Go slice or in the memory of a backend's device. The zero Array is "not given". One of a slice without elements, also
// of a nil one, is given and has length 0: it names no rows, where "not given" would name all, and is refused where elements are due.
type Array struct {
	data   unsafe.Pointer
	bytes  int64
	dtype  DType
	memory Memory
}

// ArrayOf is the memory of a slice: nothing is copied, and a call that fills an array fills the slice.
func ArrayOf[T Element](elements []T) Array {
	var element T
	data := unsafe.Pointer(unsafe.SliceData(elements))
	if data == nil {
		data = unsafe.Pointer(&nothing)
	}
	return Array{data, int64(len(elements)) * int64(unsafe.Sizeof(element)), dtypeOf[T](), MemoryHost}
}

// nothing is where an array lies that is given and has no memory: C tells by the pointer what is given.
var nothing [8]byte

// DeviceArray is memory of the backend's device at an address, valid as long as the call it is given to demands. At address 0 it has length 0.
func DeviceArray(dtype DType, address uint64, bytes int64) Array {
	if address == 0 {
		return Array{unsafe.Pointer(&nothing), 0, dtype, MemoryDevice}
	}
	place := uintptr(address)
	return Array{*(*unsafe.Pointer)(unsafe.Pointer(&place)), bytes, dtype, MemoryDevice}
}

// OnDevice is the same memory, to be treated as a device's: with the host backend, bad entries are then found row by row at [Output.Finalize], as
// they would be on an accelerator.
func (a Array) OnDevice() Array {
	a.memory = MemoryDevice
	return a
}

// DType is the type of the elements, DTypeNone of an array that is not given.
func (a Array) DType() DType { return a.dtype }

// Bytes is the size of the whole array.
func (a Array) Bytes() int64 { return a.bytes }

// Memory says where the array lives.
func (a Array) Memory() Memory { return a.memory }

func (a Array) given() bool { return a.dtype != DTypeNone }

// raw is nil where the array is not given, and only there.
func (a Array) raw() []byte {
	if !a.given() {
		return nil
	}
	return unsafe.Slice((*byte)(a.data), max(a.bytes, 0))
}

// elements is the array as C counts it where the dtype is fixed.
func elements[T Element](a Array, what string) ([]T, error) {
	if !a.given() {
		return nil, nil
	}
	if a.dtype != dtypeOf[T]() {
		return nil, refused(ErrInvalidArgument, "%s is %v, not %v", what, a.dtype, dtypeOf[T]())
	}
	var element T
	return unsafe.Slice((*T)(a.data), max(a.bytes, 0)/int64(unsafe.Sizeof(element))), nil
}

// orInt64 is the dtype for a layout: the library wants one also where no array is given.
func (a Array) orInt64() DType {
	if a.given() {
		return a.dtype
	}
	return DTypeInt64
}

func dtypeOf[T Element]() DType {
	var element T
	switch any(element).(type) {
	case uint8:
		return DTypeUInt8
	case uint16:
		return DTypeUInt16
	case int16:
		return DTypeInt16
	case int32:
		return DTypeInt32
	case int64:
		return DTypeInt64
	case Float16:
		return DTypeFloat16
	case BFloat16:
		return DTypeBFloat16
	}
	return DTypeFloat32
}

// Stream is a backend's stream handle as a number; 0 is the backend's default stream. The host backend has no other.
type Stream uint64
