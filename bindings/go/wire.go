// SPDX-License-Identifier: Apache-2.0

package routecap

import (
	"slices"
	"unsafe"

	"github.com/routecap/routecap/bindings/go/internal/native"
)

// String is the form's name, for example frame-base64.
func (format Format) String() string { return native.Rcap_wire_format_name(int32(format)) }

// ParseFormat is the form of a name.
func ParseFormat(name string) (Format, error) {
	if err := nameOf("the form's name", name); err != nil {
		return 0, err
	}
	var format Format
	failed := wanted()
	status := native.Rcap_wire_format_of(name, unsafe.Pointer(&format), unsafe.Pointer(&failed))
	return format, failure(status, &failed)
}

// Detect is the form that bytes are in, told by their content alone. FormatSGLang has no mark and is never found.
func Detect(data []byte) (Format, error) {
	var format Format
	failed := wanted()
	status := native.Rcap_wire_detect(data, unsafe.Pointer(&format), unsafe.Pointer(&failed))
	return format, failure(status, &failed)
}

// EncodeOptions are options of an encoder. What a form has no use for stays as it is in the zero EncodeOptions.
type EncodeOptions struct {
	// DType of ids in FormatSGLang (int32, uint8, uint16), FormatVLLM and FormatNPY (uint8, uint16, int16, int32, int64); DTypeNone is the form's choice.
	DType DType
	// Missing is what becomes of a missing cell where the form cannot say so.
	Missing Missing
	// FillID is the first id of MissingFill.
	FillID int32
	// ZstdLevel of a frame's parts, 1 .. 19; 0 stores them as they are.
	ZstdLevel int32
	// Turn is the value of FormatCSV's turn column.
	Turn int64
	// DecodeStart is the first token position of the decode phase, for FormatCSV; nil is all prefill.
	DecodeStart *int64
}

func (options *EncodeOptions) layout() encodeOptionsLayout {
	var layout encodeOptionsLayout
	native.Rcap_encode_options_init(unsafe.Pointer(&layout), int64(unsafe.Sizeof(layout)))
	layout.dtype = options.DType
	layout.missing = options.Missing
	layout.fillID = options.FillID
	layout.zstdLevel = options.ZstdLevel
	layout.turn = options.Turn
	if options.DecodeStart != nil {
		layout.decodeStart = *options.DecodeStart
	}
	return layout
}

// DecodeHints are told a decoder where the bytes do not say it. A fact that the bytes carry may be left out; given, it must agree.
type DecodeHints struct {
	// Start is the token position of the first row; nil is not given.
	Start *int64
	// Rows is the number of rows; nil is not given.
	Rows *int64
	// NumExperts is E; 0 is not given.
	NumExperts int32
	// TopK is K; 0 is not given.
	TopK int32
	// NumLayers is the length of the layer axis, numbered from 0; 0 is not given, or given by LayerIDs.
	NumLayers int32
	// LayerIDs is the layer number of every column, ascending; nil is not given, and a slice without elements is refused.
	LayerIDs []int32
	// DType of the flat array; DTypeNone is the form's default.
	DType DType
	// Turn says which turn of FormatCSV to read; nil is the only one.
	Turn *int64
}

func (hints *DecodeHints) layout() decodeHintsLayout {
	var layout decodeHintsLayout
	native.Rcap_decode_hints_init(unsafe.Pointer(&layout), int64(unsafe.Sizeof(layout)))
	given := func(field *int64, value *int64) {
		if value != nil {
			*field = *value
		}
	}
	given(&layout.start, hints.Start)
	given(&layout.rows, hints.Rows)
	given(&layout.turn, hints.Turn)
	layout.numExperts = hints.NumExperts
	layout.topK = hints.TopK
	layout.numLayers = hints.NumLayers
	layout.dtype = hints.DType
	return layout
}

// Decode reads a record from a form. It never guesses: a fact that is neither in the bytes nor in the hints is an error that names the hint. Nothing
// may stand behind the record.
func Decode(format Format, data []byte, hints DecodeHints) (*Record, error) {
	record, rest, err := DecodePrefix(format, data, hints)
	if err == nil && len(rest) != 0 {
		record.Close()
		return nil, refused(ErrCorrupt, "%d bytes stand behind the %v of %d bytes", len(rest), format, len(data)-len(rest))
	}
	return record, err
}

// DecodePrefix is [Decode] of frames that stand one behind the other: it gives back what stands behind the first.
func DecodePrefix(format Format, data []byte, hints DecodeHints) (record *Record, rest []byte, err error) {
	own, rest, err := decode(format, data, &hints)
	if err != nil {
		return nil, data, err
	}
	record = new(Record)
	record.take(own)
	return record, rest, nil
}

func decode(format Format, data []byte, hints *DecodeHints) (*cell, []byte, error) {
	layout := hints.layout()
	var consumed int64
	own, err := makeRecordCell(func(handle, failed unsafe.Pointer) int32 {
		return native.Rcap_record_decode(int32(format), data, unsafe.Pointer(&layout), hints.LayerIDs, handle, unsafe.Pointer(&consumed), failed)
	})
	if err != nil {
		return nil, nil, err
	}
	return own, data[consumed:], nil
}

// Encode writes the record in a form.
func (r *Record) Encode(format Format, options EncodeOptions) ([]byte, error) {
	return r.AppendEncoded(nil, format, options)
}

// AppendEncoded appends the record in a form to a buffer. What a form cannot hold is lost, missing cells excepted: options.Missing decides.
func (r *Record) AppendEncoded(buffer []byte, format Format, options EncodeOptions) ([]byte, error) {
	own, err := r.enter()
	if err != nil {
		return buffer, err
	}
	defer own.release()
	layout := options.layout()
	return appendEncoded(buffer, func(free []byte, needed, failed unsafe.Pointer) int32 {
		return native.Rcap_record_encode(own.handle, int32(format), unsafe.Pointer(&layout), free, needed, failed)
	})
}

// appendEncoded asks for the size, makes room, and encodes.
func appendEncoded(buffer []byte, encode func(free []byte, needed, failed unsafe.Pointer) int32) ([]byte, error) {
	var needed int64
	failed := wanted()
	if err := failure(encode(nil, unsafe.Pointer(&needed), unsafe.Pointer(&failed)), &failed); err != nil {
		return buffer, err
	}
	room := slices.Grow(buffer, int(needed))
	free := room[len(room) : len(room)+int(needed)]
	if err := failure(encode(free, unsafe.Pointer(&needed), unsafe.Pointer(&failed)), &failed); err != nil {
		return buffer, err
	}
	return room[:len(room)+int(needed)], nil
}
