// Code generated from capi/abi/api.json by bindings/swig/go_types.py. DO NOT EDIT.
// SPDX-License-Identifier: Apache-2.0

//go:build !cgo || routecap_dlopen

package native

import (
	"unsafe"

	"github.com/ebitengine/purego"
)

// What the library must be and is asked for.
const (
	soname = "libroutecap.so.0"
	abi    = 1
)

func Rcap_error_init(value unsafe.Pointer, structSize int64) {
	function := table.function(0)
	if function == 0 {
		return
	}
	purego.SyscallN(function, uintptr(value), uintptr(structSize))
}

func Rcap_build_info_init(value unsafe.Pointer, structSize int64) {
	function := table.function(1)
	if function == 0 {
		return
	}
	purego.SyscallN(function, uintptr(value), uintptr(structSize))
}

func Rcap_version_string() string {
	function := table.function(2)
	if function == 0 {
		return ""
	}
	result, _, _ := purego.SyscallN(function)
	return textAt(result)
}

func Rcap_abi_version() int32 {
	function := table.function(3)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function)
	return int32(result)
}

func Rcap_status_name(status int32) string {
	function := table.function(4)
	if function == 0 {
		return ""
	}
	result, _, _ := purego.SyscallN(function, uintptr(status))
	return textAt(result)
}

func Rcap_build_info_get(info unsafe.Pointer, err unsafe.Pointer) int32 {
	function := table.function(5)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, uintptr(info), uintptr(err))
	return int32(result)
}

func Rcap_layout_rows(kind int32, tokensPerRank []int64, dpRank int64, attnTPSize int64, attnTPRank int64, paddedTokensPerRank int64, firstRow unsafe.Pointer, tokens unsafe.Pointer, err unsafe.Pointer) int32 {
	function := table.function(6)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, uintptr(kind), uintptr(unsafe.Pointer(unsafe.SliceData(tokensPerRank))), uintptr(len(tokensPerRank)), uintptr(dpRank), uintptr(attnTPSize), uintptr(attnTPRank), uintptr(paddedTokensPerRank), uintptr(firstRow), uintptr(tokens), uintptr(err))
	return int32(result)
}

func Rcap_backend_options_init(value unsafe.Pointer, structSize int64) {
	function := table.function(7)
	if function == 0 {
		return
	}
	purego.SyscallN(function, uintptr(value), uintptr(structSize))
}

func Rcap_backend_info_init(value unsafe.Pointer, structSize int64) {
	function := table.function(8)
	if function == 0 {
		return
	}
	purego.SyscallN(function, uintptr(value), uintptr(structSize))
}

func Rcap_backend_open(name string, options unsafe.Pointer, backend unsafe.Pointer, err unsafe.Pointer) int32 {
	nameText := append([]byte(name), 0)
	function := table.function(9)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, uintptr(unsafe.Pointer(&nameText[0])), uintptr(options), uintptr(backend), uintptr(err))
	return int32(result)
}

func Rcap_backend_describe(self uintptr, info unsafe.Pointer, err unsafe.Pointer) int32 {
	function := table.function(10)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, uintptr(info), uintptr(err))
	return int32(result)
}

func Rcap_backend_destroy(self uintptr) {
	function := table.function(11)
	if function == 0 {
		return
	}
	purego.SyscallN(function, self)
}

func Rcap_capturer_config_init(value unsafe.Pointer, structSize int64) {
	function := table.function(12)
	if function == 0 {
		return
	}
	purego.SyscallN(function, uintptr(value), uintptr(structSize))
}

func Rcap_capturer_plan_init(value unsafe.Pointer, structSize int64) {
	function := table.function(13)
	if function == 0 {
		return
	}
	purego.SyscallN(function, uintptr(value), uintptr(structSize))
}

func Rcap_tap_options_init(value unsafe.Pointer, structSize int64) {
	function := table.function(14)
	if function == 0 {
		return
	}
	purego.SyscallN(function, uintptr(value), uintptr(structSize))
}

func Rcap_capture_layout_init(value unsafe.Pointer, structSize int64) {
	function := table.function(15)
	if function == 0 {
		return
	}
	purego.SyscallN(function, uintptr(value), uintptr(structSize))
}

func Rcap_capturer_stats_init(value unsafe.Pointer, structSize int64) {
	function := table.function(16)
	if function == 0 {
		return
	}
	purego.SyscallN(function, uintptr(value), uintptr(structSize))
}

func Rcap_capturer_plan_get(config unsafe.Pointer, layerIDs []int32, plan unsafe.Pointer, err unsafe.Pointer) int32 {
	function := table.function(17)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, uintptr(config), uintptr(unsafe.Pointer(unsafe.SliceData(layerIDs))), uintptr(len(layerIDs)), uintptr(plan), uintptr(err))
	return int32(result)
}

func Rcap_capturer_create(config unsafe.Pointer, layerIDs []int32, backend uintptr, capturer unsafe.Pointer, err unsafe.Pointer) int32 {
	function := table.function(18)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, uintptr(config), uintptr(unsafe.Pointer(unsafe.SliceData(layerIDs))), uintptr(len(layerIDs)), backend, uintptr(capturer), uintptr(err))
	return int32(result)
}

func Rcap_capturer_destroy(self uintptr) {
	function := table.function(19)
	if function == 0 {
		return
	}
	purego.SyscallN(function, self)
}

func Rcap_capturer_add_model(self uintptr, role int32, name string, model unsafe.Pointer, err unsafe.Pointer) int32 {
	nameText := append([]byte(name), 0)
	function := table.function(20)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, uintptr(role), uintptr(unsafe.Pointer(&nameText[0])), uintptr(model), uintptr(err))
	return int32(result)
}

func Rcap_model_set_capture(self uintptr, gate int32, err unsafe.Pointer) int32 {
	function := table.function(21)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, uintptr(gate), uintptr(err))
	return int32(result)
}

func Rcap_model_add_tap(self uintptr, layerNumber int32, options unsafe.Pointer, idMap []byte, tap unsafe.Pointer, err unsafe.Pointer) int32 {
	function := table.function(22)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, uintptr(layerNumber), uintptr(options), uintptr(unsafe.Pointer(unsafe.SliceData(idMap))), uintptr(len(idMap)), uintptr(tap), uintptr(err))
	return int32(result)
}

func Rcap_capturer_seal(self uintptr, err unsafe.Pointer) int32 {
	function := table.function(23)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, uintptr(err))
	return int32(result)
}

func Rcap_tap_capture(self uintptr, layout unsafe.Pointer, ids []byte, weights []byte, rowIDs []int32, stream uintptr, err unsafe.Pointer) int32 {
	function := table.function(24)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, uintptr(layout), uintptr(unsafe.Pointer(unsafe.SliceData(ids))), uintptr(len(ids)), uintptr(unsafe.Pointer(unsafe.SliceData(weights))), uintptr(len(weights)), uintptr(unsafe.Pointer(unsafe.SliceData(rowIDs))), uintptr(len(rowIDs)), stream, uintptr(err))
	return int32(result)
}

func Rcap_tap_is_enabled(self uintptr, err unsafe.Pointer) int32 {
	function := table.function(25)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, uintptr(err))
	return int32(result)
}

func Rcap_tap_id(self uintptr, err unsafe.Pointer) int32 {
	function := table.function(26)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, uintptr(err))
	return int32(result)
}

func Rcap_capturer_tap(self uintptr, tapID int32, tap unsafe.Pointer, err unsafe.Pointer) int32 {
	function := table.function(27)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, uintptr(tapID), uintptr(tap), uintptr(err))
	return int32(result)
}

func Rcap_capturer_stats_get(self uintptr, stats unsafe.Pointer, err unsafe.Pointer) int32 {
	function := table.function(28)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, uintptr(stats), uintptr(err))
	return int32(result)
}

func Rcap_forward_layout_init(value unsafe.Pointer, structSize int64) {
	function := table.function(29)
	if function == 0 {
		return
	}
	purego.SyscallN(function, uintptr(value), uintptr(structSize))
}

func Rcap_accept_layout_init(value unsafe.Pointer, structSize int64) {
	function := table.function(30)
	if function == 0 {
		return
	}
	purego.SyscallN(function, uintptr(value), uintptr(structSize))
}

func Rcap_summary_init(value unsafe.Pointer, structSize int64) {
	function := table.function(31)
	if function == 0 {
		return
	}
	purego.SyscallN(function, uintptr(value), uintptr(structSize))
}

func Rcap_capturer_end_forward(self uintptr, layout unsafe.Pointer, slots []byte, rows []byte, tags []int64, stream uintptr, output unsafe.Pointer, err unsafe.Pointer) int32 {
	function := table.function(32)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, uintptr(layout), uintptr(unsafe.Pointer(unsafe.SliceData(slots))), uintptr(len(slots)), uintptr(unsafe.Pointer(unsafe.SliceData(rows))), uintptr(len(rows)), uintptr(unsafe.Pointer(unsafe.SliceData(tags))), uintptr(len(tags)), stream, uintptr(output), uintptr(err))
	return int32(result)
}

func Rcap_capturer_discard_forward(self uintptr, stream uintptr, err unsafe.Pointer) int32 {
	function := table.function(33)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, stream, uintptr(err))
	return int32(result)
}

func Rcap_output_sequence(self uintptr, err unsafe.Pointer) int64 {
	function := table.function(34)
	if function == 0 {
		return int64(absent())
	}
	result, _, _ := purego.SyscallN(function, self, uintptr(err))
	return int64(result)
}

func Rcap_output_accept(self uintptr, layout unsafe.Pointer, rows []byte, slots []byte, stream uintptr, err unsafe.Pointer) int32 {
	function := table.function(35)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, uintptr(layout), uintptr(unsafe.Pointer(unsafe.SliceData(rows))), uintptr(len(rows)), uintptr(unsafe.Pointer(unsafe.SliceData(slots))), uintptr(len(slots)), stream, uintptr(err))
	return int32(result)
}

func Rcap_output_device_rows(self uintptr, data unsafe.Pointer, bytes unsafe.Pointer, err unsafe.Pointer) int32 {
	function := table.function(36)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, uintptr(data), uintptr(bytes), uintptr(err))
	return int32(result)
}

func Rcap_output_copy_to_host(self uintptr, stream uintptr, err unsafe.Pointer) int32 {
	function := table.function(37)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, stream, uintptr(err))
	return int32(result)
}

func Rcap_output_ready(self uintptr, err unsafe.Pointer) int32 {
	function := table.function(38)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, uintptr(err))
	return int32(result)
}

func Rcap_output_wait(self uintptr, timeoutNanoseconds int64, err unsafe.Pointer) int32 {
	function := table.function(39)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, uintptr(timeoutNanoseconds), uintptr(err))
	return int32(result)
}

func Rcap_output_finalize(self uintptr, summary unsafe.Pointer, err unsafe.Pointer) int32 {
	function := table.function(40)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, uintptr(summary), uintptr(err))
	return int32(result)
}

func Rcap_output_destroy(self uintptr) {
	function := table.function(41)
	if function == 0 {
		return
	}
	purego.SyscallN(function, self)
}

func Rcap_capturer_completion_fd(self uintptr, fd unsafe.Pointer, err unsafe.Pointer) int32 {
	function := table.function(42)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, uintptr(fd), uintptr(err))
	return int32(result)
}

func Rcap_capturer_next_completed(self uintptr, timeoutNanoseconds int64, sequence unsafe.Pointer, status unsafe.Pointer, err unsafe.Pointer) int32 {
	function := table.function(43)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, uintptr(timeoutNanoseconds), uintptr(sequence), uintptr(status), uintptr(err))
	return int32(result)
}

func Rcap_slots_layout_init(value unsafe.Pointer, structSize int64) {
	function := table.function(44)
	if function == 0 {
		return
	}
	purego.SyscallN(function, uintptr(value), uintptr(structSize))
}

func Rcap_slot_info_init(value unsafe.Pointer, structSize int64) {
	function := table.function(45)
	if function == 0 {
		return
	}
	purego.SyscallN(function, uintptr(value), uintptr(structSize))
}

func Rcap_capturer_release_slots(self uintptr, layout unsafe.Pointer, slots []byte, stream uintptr, err unsafe.Pointer) int32 {
	function := table.function(46)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, uintptr(layout), uintptr(unsafe.Pointer(unsafe.SliceData(slots))), uintptr(len(slots)), stream, uintptr(err))
	return int32(result)
}

func Rcap_capturer_release_all(self uintptr, stream uintptr, err unsafe.Pointer) int32 {
	function := table.function(47)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, stream, uintptr(err))
	return int32(result)
}

func Rcap_capturer_copy_slots(self uintptr, layout unsafe.Pointer, from []byte, to []byte, stream uintptr, err unsafe.Pointer) int32 {
	function := table.function(48)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, uintptr(layout), uintptr(unsafe.Pointer(unsafe.SliceData(from))), uintptr(len(from)), uintptr(unsafe.Pointer(unsafe.SliceData(to))), uintptr(len(to)), stream, uintptr(err))
	return int32(result)
}

func Rcap_capturer_slot_info_get(self uintptr, slot int64, info unsafe.Pointer, err unsafe.Pointer) int32 {
	function := table.function(49)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, uintptr(slot), uintptr(info), uintptr(err))
	return int32(result)
}

func Rcap_read_layout_init(value unsafe.Pointer, structSize int64) {
	function := table.function(50)
	if function == 0 {
		return
	}
	purego.SyscallN(function, uintptr(value), uintptr(structSize))
}

func Rcap_read_info_init(value unsafe.Pointer, structSize int64) {
	function := table.function(51)
	if function == 0 {
		return
	}
	purego.SyscallN(function, uintptr(value), uintptr(structSize))
}

func Rcap_capturer_read(self uintptr, layout unsafe.Pointer, slots []byte, tags []int64, record unsafe.Pointer, err unsafe.Pointer) int32 {
	function := table.function(52)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, uintptr(layout), uintptr(unsafe.Pointer(unsafe.SliceData(slots))), uintptr(len(slots)), uintptr(unsafe.Pointer(unsafe.SliceData(tags))), uintptr(len(tags)), uintptr(record), uintptr(err))
	return int32(result)
}

func Rcap_capturer_read_into(self uintptr, layout unsafe.Pointer, slots []byte, tags []int64, ids []byte, weights []byte, validity []byte, info unsafe.Pointer, err unsafe.Pointer) int32 {
	function := table.function(53)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, uintptr(layout), uintptr(unsafe.Pointer(unsafe.SliceData(slots))), uintptr(len(slots)), uintptr(unsafe.Pointer(unsafe.SliceData(tags))), uintptr(len(tags)), uintptr(unsafe.Pointer(unsafe.SliceData(ids))), uintptr(len(ids)), uintptr(unsafe.Pointer(unsafe.SliceData(weights))), uintptr(len(weights)), uintptr(unsafe.Pointer(unsafe.SliceData(validity))), uintptr(len(validity)), uintptr(info), uintptr(err))
	return int32(result)
}

func Rcap_record_layout_init(value unsafe.Pointer, structSize int64) {
	function := table.function(54)
	if function == 0 {
		return
	}
	purego.SyscallN(function, uintptr(value), uintptr(structSize))
}

func Rcap_record_info_init(value unsafe.Pointer, structSize int64) {
	function := table.function(55)
	if function == 0 {
		return
	}
	purego.SyscallN(function, uintptr(value), uintptr(structSize))
}

func Rcap_record_create(layout unsafe.Pointer, layerIDs []int32, layerFlags []int32, ids []byte, weights []byte, validity []byte, record unsafe.Pointer, err unsafe.Pointer) int32 {
	function := table.function(56)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, uintptr(layout), uintptr(unsafe.Pointer(unsafe.SliceData(layerIDs))), uintptr(len(layerIDs)), uintptr(unsafe.Pointer(unsafe.SliceData(layerFlags))), uintptr(len(layerFlags)), uintptr(unsafe.Pointer(unsafe.SliceData(ids))), uintptr(len(ids)), uintptr(unsafe.Pointer(unsafe.SliceData(weights))), uintptr(len(weights)), uintptr(unsafe.Pointer(unsafe.SliceData(validity))), uintptr(len(validity)), uintptr(record), uintptr(err))
	return int32(result)
}

func Rcap_record_destroy(self uintptr) {
	function := table.function(57)
	if function == 0 {
		return
	}
	purego.SyscallN(function, self)
}

func Rcap_record_info_get(self uintptr, info unsafe.Pointer, err unsafe.Pointer) int32 {
	function := table.function(58)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, uintptr(info), uintptr(err))
	return int32(result)
}

func Rcap_record_ids(self uintptr, data unsafe.Pointer, bytes unsafe.Pointer, err unsafe.Pointer) int32 {
	function := table.function(59)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, uintptr(data), uintptr(bytes), uintptr(err))
	return int32(result)
}

func Rcap_record_weights(self uintptr, data unsafe.Pointer, bytes unsafe.Pointer, err unsafe.Pointer) int32 {
	function := table.function(60)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, uintptr(data), uintptr(bytes), uintptr(err))
	return int32(result)
}

func Rcap_record_row_validity(self uintptr, data unsafe.Pointer, bytes unsafe.Pointer, err unsafe.Pointer) int32 {
	function := table.function(61)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, uintptr(data), uintptr(bytes), uintptr(err))
	return int32(result)
}

func Rcap_record_cell_validity(self uintptr, data unsafe.Pointer, bytes unsafe.Pointer, err unsafe.Pointer) int32 {
	function := table.function(62)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, uintptr(data), uintptr(bytes), uintptr(err))
	return int32(result)
}

func Rcap_record_layer_ids(self uintptr, data unsafe.Pointer, count unsafe.Pointer, err unsafe.Pointer) int32 {
	function := table.function(63)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, uintptr(data), uintptr(count), uintptr(err))
	return int32(result)
}

func Rcap_record_layer_flags(self uintptr, data unsafe.Pointer, count unsafe.Pointer, err unsafe.Pointer) int32 {
	function := table.function(64)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, uintptr(data), uintptr(count), uintptr(err))
	return int32(result)
}

func Rcap_record_version_spans(self uintptr, starts unsafe.Pointer, versions unsafe.Pointer, count unsafe.Pointer, err unsafe.Pointer) int32 {
	function := table.function(65)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, uintptr(starts), uintptr(versions), uintptr(count), uintptr(err))
	return int32(result)
}

func Rcap_record_slice(self uintptr, start int64, end int64, record unsafe.Pointer, err unsafe.Pointer) int32 {
	function := table.function(66)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, uintptr(start), uintptr(end), uintptr(record), uintptr(err))
	return int32(result)
}

func Rcap_compare_report_init(value unsafe.Pointer, structSize int64) {
	function := table.function(67)
	if function == 0 {
		return
	}
	purego.SyscallN(function, uintptr(value), uintptr(structSize))
}

func Rcap_record_append(self uintptr, next uintptr, overlap int32, record unsafe.Pointer, err unsafe.Pointer) int32 {
	function := table.function(68)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, next, uintptr(overlap), uintptr(record), uintptr(err))
	return int32(result)
}

func Rcap_record_merge(self uintptr, decode uintptr, boundary int64, record unsafe.Pointer, err unsafe.Pointer) int32 {
	function := table.function(69)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, decode, uintptr(boundary), uintptr(record), uintptr(err))
	return int32(result)
}

func Rcap_record_truncate(self uintptr, tokens int64, flags int32, record unsafe.Pointer, err unsafe.Pointer) int32 {
	function := table.function(70)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, uintptr(tokens), uintptr(flags), uintptr(record), uintptr(err))
	return int32(result)
}

func Rcap_record_stack(self uintptr, other uintptr, record unsafe.Pointer, err unsafe.Pointer) int32 {
	function := table.function(71)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, other, uintptr(record), uintptr(err))
	return int32(result)
}

func Rcap_record_interleave(self uintptr, positions []int64, other uintptr, otherPositions []int64, record unsafe.Pointer, err unsafe.Pointer) int32 {
	function := table.function(72)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, uintptr(unsafe.Pointer(unsafe.SliceData(positions))), uintptr(len(positions)), other, uintptr(unsafe.Pointer(unsafe.SliceData(otherPositions))), uintptr(len(otherPositions)), uintptr(record), uintptr(err))
	return int32(result)
}

func Rcap_record_to_full_axis(self uintptr, numLayers int32, fill int32, fillID int32, record unsafe.Pointer, err unsafe.Pointer) int32 {
	function := table.function(73)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, uintptr(numLayers), uintptr(fill), uintptr(fillID), uintptr(record), uintptr(err))
	return int32(result)
}

func Rcap_record_to_compact(self uintptr, layerIDs []int32, record unsafe.Pointer, err unsafe.Pointer) int32 {
	function := table.function(74)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, uintptr(unsafe.Pointer(unsafe.SliceData(layerIDs))), uintptr(len(layerIDs)), uintptr(record), uintptr(err))
	return int32(result)
}

func Rcap_record_compare(self uintptr, other uintptr, report unsafe.Pointer, byLayer []int64, err unsafe.Pointer) int32 {
	function := table.function(75)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, other, uintptr(report), uintptr(unsafe.Pointer(unsafe.SliceData(byLayer))), uintptr(len(byLayer)), uintptr(err))
	return int32(result)
}

func Rcap_encode_options_init(value unsafe.Pointer, structSize int64) {
	function := table.function(76)
	if function == 0 {
		return
	}
	purego.SyscallN(function, uintptr(value), uintptr(structSize))
}

func Rcap_decode_hints_init(value unsafe.Pointer, structSize int64) {
	function := table.function(77)
	if function == 0 {
		return
	}
	purego.SyscallN(function, uintptr(value), uintptr(structSize))
}

func Rcap_wire_format_name(format int32) string {
	function := table.function(78)
	if function == 0 {
		return ""
	}
	result, _, _ := purego.SyscallN(function, uintptr(format))
	return textAt(result)
}

func Rcap_wire_format_of(name string, format unsafe.Pointer, err unsafe.Pointer) int32 {
	nameText := append([]byte(name), 0)
	function := table.function(79)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, uintptr(unsafe.Pointer(&nameText[0])), uintptr(format), uintptr(err))
	return int32(result)
}

func Rcap_wire_detect(bytes []byte, format unsafe.Pointer, err unsafe.Pointer) int32 {
	function := table.function(80)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, uintptr(unsafe.Pointer(unsafe.SliceData(bytes))), uintptr(len(bytes)), uintptr(format), uintptr(err))
	return int32(result)
}

func Rcap_record_encode(self uintptr, format int32, options unsafe.Pointer, buffer []byte, needed unsafe.Pointer, err unsafe.Pointer) int32 {
	function := table.function(81)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, uintptr(format), uintptr(options), uintptr(unsafe.Pointer(unsafe.SliceData(buffer))), uintptr(len(buffer)), uintptr(needed), uintptr(err))
	return int32(result)
}

func Rcap_record_decode(format int32, bytes []byte, hints unsafe.Pointer, layerIDs []int32, record unsafe.Pointer, consumed unsafe.Pointer, err unsafe.Pointer) int32 {
	function := table.function(82)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, uintptr(format), uintptr(unsafe.Pointer(unsafe.SliceData(bytes))), uintptr(len(bytes)), uintptr(hints), uintptr(unsafe.Pointer(unsafe.SliceData(layerIDs))), uintptr(len(layerIDs)), uintptr(record), uintptr(consumed), uintptr(err))
	return int32(result)
}

func Rcap_capturer_encode(self uintptr, layout unsafe.Pointer, slots []byte, tags []int64, format int32, options unsafe.Pointer, buffer []byte, needed unsafe.Pointer, err unsafe.Pointer) int32 {
	function := table.function(83)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, uintptr(layout), uintptr(unsafe.Pointer(unsafe.SliceData(slots))), uintptr(len(slots)), uintptr(unsafe.Pointer(unsafe.SliceData(tags))), uintptr(len(tags)), uintptr(format), uintptr(options), uintptr(unsafe.Pointer(unsafe.SliceData(buffer))), uintptr(len(buffer)), uintptr(needed), uintptr(err))
	return int32(result)
}

func Rcap_backend_search(name string, text []byte, needed unsafe.Pointer, err unsafe.Pointer) int32 {
	nameText := append([]byte(name), 0)
	function := table.function(84)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, uintptr(unsafe.Pointer(&nameText[0])), uintptr(unsafe.Pointer(unsafe.SliceData(text))), uintptr(len(text)), uintptr(needed), uintptr(err))
	return int32(result)
}

func Rcap_fill_layout_init(value unsafe.Pointer, structSize int64) {
	function := table.function(85)
	if function == 0 {
		return
	}
	purego.SyscallN(function, uintptr(value), uintptr(structSize))
}

func Rcap_partition_layout_init(value unsafe.Pointer, structSize int64) {
	function := table.function(86)
	if function == 0 {
		return
	}
	purego.SyscallN(function, uintptr(value), uintptr(structSize))
}

func Rcap_record_fill(self uintptr, layout unsafe.Pointer, layerIDs []int32, positions []int64, ids []byte, rowMask []byte, cellMask []byte, filled unsafe.Pointer, err unsafe.Pointer) int32 {
	function := table.function(87)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, self, uintptr(layout), uintptr(unsafe.Pointer(unsafe.SliceData(layerIDs))), uintptr(len(layerIDs)), uintptr(unsafe.Pointer(unsafe.SliceData(positions))), uintptr(len(positions)), uintptr(unsafe.Pointer(unsafe.SliceData(ids))), uintptr(len(ids)), uintptr(unsafe.Pointer(unsafe.SliceData(rowMask))), uintptr(len(rowMask)), uintptr(unsafe.Pointer(unsafe.SliceData(cellMask))), uintptr(len(cellMask)), uintptr(filled), uintptr(err))
	return int32(result)
}

func Rcap_pack_offsets(lengths []int64, multiple int64, offsets []int64, err unsafe.Pointer) int32 {
	function := table.function(88)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, uintptr(unsafe.Pointer(unsafe.SliceData(lengths))), uintptr(len(lengths)), uintptr(multiple), uintptr(unsafe.Pointer(unsafe.SliceData(offsets))), uintptr(len(offsets)), uintptr(err))
	return int32(result)
}

func Rcap_pack_pad(lengths []int64, offsets []int64, itemBytes int64, pad []byte, tokens []byte, packed []byte, err unsafe.Pointer) int32 {
	function := table.function(89)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, uintptr(unsafe.Pointer(unsafe.SliceData(lengths))), uintptr(len(lengths)), uintptr(unsafe.Pointer(unsafe.SliceData(offsets))), uintptr(len(offsets)), uintptr(itemBytes), uintptr(unsafe.Pointer(unsafe.SliceData(pad))), uintptr(len(pad)), uintptr(unsafe.Pointer(unsafe.SliceData(tokens))), uintptr(len(tokens)), uintptr(unsafe.Pointer(unsafe.SliceData(packed))), uintptr(len(packed)), uintptr(err))
	return int32(result)
}

func Rcap_pack_strip(lengths []int64, offsets []int64, itemBytes int64, packed []byte, tokens []byte, err unsafe.Pointer) int32 {
	function := table.function(90)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, uintptr(unsafe.Pointer(unsafe.SliceData(lengths))), uintptr(len(lengths)), uintptr(unsafe.Pointer(unsafe.SliceData(offsets))), uintptr(len(offsets)), uintptr(itemBytes), uintptr(unsafe.Pointer(unsafe.SliceData(packed))), uintptr(len(packed)), uintptr(unsafe.Pointer(unsafe.SliceData(tokens))), uintptr(len(tokens)), uintptr(err))
	return int32(result)
}

func Rcap_partition_multiple(layout unsafe.Pointer, multiple unsafe.Pointer, err unsafe.Pointer) int32 {
	function := table.function(91)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, uintptr(layout), uintptr(multiple), uintptr(err))
	return int32(result)
}

func Rcap_partition_tokens(layout unsafe.Pointer, offsets []int64, tokens unsafe.Pointer, err unsafe.Pointer) int32 {
	function := table.function(92)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, uintptr(layout), uintptr(unsafe.Pointer(unsafe.SliceData(offsets))), uintptr(len(offsets)), uintptr(tokens), uintptr(err))
	return int32(result)
}

func Rcap_partition_indices(layout unsafe.Pointer, offsets []int64, indices []int64, err unsafe.Pointer) int32 {
	function := table.function(93)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, uintptr(layout), uintptr(unsafe.Pointer(unsafe.SliceData(offsets))), uintptr(len(offsets)), uintptr(unsafe.Pointer(unsafe.SliceData(indices))), uintptr(len(indices)), uintptr(err))
	return int32(result)
}

func Rcap_partition_split(layout unsafe.Pointer, offsets []int64, itemBytes int64, whole []byte, part []byte, err unsafe.Pointer) int32 {
	function := table.function(94)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, uintptr(layout), uintptr(unsafe.Pointer(unsafe.SliceData(offsets))), uintptr(len(offsets)), uintptr(itemBytes), uintptr(unsafe.Pointer(unsafe.SliceData(whole))), uintptr(len(whole)), uintptr(unsafe.Pointer(unsafe.SliceData(part))), uintptr(len(part)), uintptr(err))
	return int32(result)
}

func Rcap_partition_gather(layout unsafe.Pointer, offsets []int64, itemBytes int64, parts []byte, whole []byte, err unsafe.Pointer) int32 {
	function := table.function(95)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, uintptr(layout), uintptr(unsafe.Pointer(unsafe.SliceData(offsets))), uintptr(len(offsets)), uintptr(itemBytes), uintptr(unsafe.Pointer(unsafe.SliceData(parts))), uintptr(len(parts)), uintptr(unsafe.Pointer(unsafe.SliceData(whole))), uintptr(len(whole)), uintptr(err))
	return int32(result)
}

func Rcap_stage_layers(numLayers int32, ppSize int32, ppRank int32, vpSize int32, vpRank int32, firstLayers int32, lastLayers int32, moeLayers []int32, layerIDs []int32, needed unsafe.Pointer, err unsafe.Pointer) int32 {
	function := table.function(96)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, uintptr(numLayers), uintptr(ppSize), uintptr(ppRank), uintptr(vpSize), uintptr(vpRank), uintptr(firstLayers), uintptr(lastLayers), uintptr(unsafe.Pointer(unsafe.SliceData(moeLayers))), uintptr(len(moeLayers)), uintptr(unsafe.Pointer(unsafe.SliceData(layerIDs))), uintptr(len(layerIDs)), uintptr(needed), uintptr(err))
	return int32(result)
}

func Rcap_layers_split(layerIDs []int32, selected []int32, tokens int64, itemBytes int64, order int32, whole []byte, part []byte, err unsafe.Pointer) int32 {
	function := table.function(97)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, uintptr(unsafe.Pointer(unsafe.SliceData(layerIDs))), uintptr(len(layerIDs)), uintptr(unsafe.Pointer(unsafe.SliceData(selected))), uintptr(len(selected)), uintptr(tokens), uintptr(itemBytes), uintptr(order), uintptr(unsafe.Pointer(unsafe.SliceData(whole))), uintptr(len(whole)), uintptr(unsafe.Pointer(unsafe.SliceData(part))), uintptr(len(part)), uintptr(err))
	return int32(result)
}

func Rcap_layers_gather(layerIDs []int32, selected []int32, tokens int64, itemBytes int64, order int32, part []byte, whole []byte, err unsafe.Pointer) int32 {
	function := table.function(98)
	if function == 0 {
		return int32(absent())
	}
	result, _, _ := purego.SyscallN(function, uintptr(unsafe.Pointer(unsafe.SliceData(layerIDs))), uintptr(len(layerIDs)), uintptr(unsafe.Pointer(unsafe.SliceData(selected))), uintptr(len(selected)), uintptr(tokens), uintptr(itemBytes), uintptr(order), uintptr(unsafe.Pointer(unsafe.SliceData(part))), uintptr(len(part)), uintptr(unsafe.Pointer(unsafe.SliceData(whole))), uintptr(len(whole)), uintptr(err))
	return int32(result)
}
