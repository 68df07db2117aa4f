// SPDX-License-Identifier: Apache-2.0

package routecap

import (
	"unsafe"

	"github.com/routecap/routecap/bindings/go/internal/native"
)

func slotsLayoutOf(unit SlotUnit, slots Array) slotsLayout {
	return slotsLayout{structSize: int64(unsafe.Sizeof(slotsLayout{})), slotsDType: slots.orInt64(), memory: slots.memory, unit: unit}
}

// ReleaseSlots makes slots (int32 or int64, or pages) read as missing until they are written again (R8). Applied at the call; forwards numbered before
// it never leave a row there (R9). Releasing twice, or a reserved slot, is harmless.
func (c *Capturer) ReleaseSlots(unit SlotUnit, slots Array, stream Stream) error {
	layout := slotsLayoutOf(unit, slots)
	return c.asEngine(func(handle uintptr, failed *errorLayout) int32 {
		return native.Rcap_capturer_release_slots(handle, unsafe.Pointer(&layout), slots.raw(), uintptr(stream), unsafe.Pointer(failed))
	})
}

// ReleaseAll releases every slot, in constant time.
func (c *Capturer) ReleaseAll(stream Stream) error {
	return c.asEngine(func(handle uintptr, failed *errorLayout) int32 {
		return native.Rcap_capturer_release_all(handle, uintptr(stream), unsafe.Pointer(failed))
	})
}

// CopySlots copies rows from slots to other slots, as if all at once; sources stay (R12). Both arrays have one dtype and as many elements. Rows of
// forwards numbered before the copy and finalized after it go along: until those are done the target is ErrNotReady.
func (c *Capturer) CopySlots(unit SlotUnit, from, to Array, stream Stream) error {
	if from.given() && to.given() && (from.dtype != to.dtype || from.memory != to.memory) {
		return refused(ErrInvalidArgument, "the slots to copy from are %v in %v memory, those to copy to %v in %v memory", from.dtype, from.memory, to.dtype,
			to.memory)
	}
	layout := slotsLayoutOf(unit, from)
	return c.asEngine(func(handle uintptr, failed *errorLayout) int32 {
		return native.Rcap_capturer_copy_slots(handle, unsafe.Pointer(&layout), from.raw(), to.raw(), uintptr(stream), unsafe.Pointer(failed))
	})
}

// SlotInfo is the state of one slot. For the target of a copy that waits for a forward it is ErrNotReady.
func (c *Capturer) SlotInfo(slot int64) (SlotInfo, error) {
	own, err := c.enter()
	if err != nil {
		return SlotInfo{}, err
	}
	defer own.release()
	info := SlotInfo{structSize: int64(unsafe.Sizeof(SlotInfo{}))}
	failed := wanted()
	status := native.Rcap_capturer_slot_info_get(own.handle, slot, unsafe.Pointer(&info), unsafe.Pointer(&failed))
	return info, failure(status, &failed)
}
