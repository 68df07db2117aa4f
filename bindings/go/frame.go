// SPDX-License-Identifier: Apache-2.0

package routecap

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"iter"
)

// MarshalBinary is the record as a frame, the library's own form (encoding.BinaryMarshaler).
func (r *Record) MarshalBinary() ([]byte, error) { return r.AppendBinary(nil) }

// AppendBinary appends the record as a frame (encoding.BinaryAppender).
func (r *Record) AppendBinary(buffer []byte) ([]byte, error) {
	return r.AppendEncoded(buffer, FormatFrame, EncodeOptions{})
}

// MarshalText is the frame in base64 (encoding.TextMarshaler), and so the record's form in JSON.
func (r *Record) MarshalText() ([]byte, error) { return r.AppendText(nil) }

// AppendText appends the frame in base64 (encoding.TextAppender).
func (r *Record) AppendText(buffer []byte) ([]byte, error) {
	return r.AppendEncoded(buffer, FormatFrameBase64, EncodeOptions{})
}

// UnmarshalBinary reads one frame (encoding.BinaryUnmarshaler). What the record held before is closed.
func (r *Record) UnmarshalBinary(frame []byte) error { return r.unmarshal(FormatFrame, frame) }

// UnmarshalText reads one frame in base64 (encoding.TextUnmarshaler). What the record held before is closed.
func (r *Record) UnmarshalText(text []byte) error { return r.unmarshal(FormatFrameBase64, text) }

func (r *Record) unmarshal(format Format, data []byte) error {
	if r == nil {
		return unmadeError("record")
	}
	own, rest, err := decode(format, data, &DecodeHints{})
	if err != nil {
		return err
	}
	if len(rest) != 0 {
		own.close()
		return refused(ErrCorrupt, "%d bytes stand behind the %v of %d bytes", len(rest), format, len(data)-len(rest))
	}
	r.take(own)
	return nil
}

// WriteTo writes the record as a frame (io.WriterTo). A writer that takes less without an error makes it io.ErrShortWrite; one that says it took more than
// it was given, or less than nothing, is refused.
func (r *Record) WriteTo(writer io.Writer) (int64, error) {
	frame, err := r.MarshalBinary()
	if err != nil {
		return 0, err
	}
	written, err := writer.Write(frame)
	switch {
	case written < 0 || written > len(frame):
		// How much there is of it, nobody knows.
		return 0, errors.Join(refused(ErrInvalidArgument, "the writer took %d of %d bytes, says its Write", written, len(frame)), err)
	case written < len(frame) && err == nil:
		err = io.ErrShortWrite
	}
	return int64(written), err
}

// What every version of a frame begins with, and the frame's size behind it (capi/docs/frame.md).
var frameStart = []byte{0x89, 'R', 'C', 'A', 'P', '\r', '\n', 0x1a, 1, 0, 0, 0, 4, 3, 2, 1}

const frameHead = 24

// ReadRecord reads one frame, and not a byte more. At the end of the input it returns io.EOF, inside a frame io.ErrUnexpectedEOF. It takes no more
// memory than has been read, whatever size the frame claims.
func ReadRecord(reader io.Reader) (*Record, error) {
	var head [frameHead]byte
	if got, err := io.ReadFull(reader, head[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			if _, refusal := Decode(FormatFrame, head[:got], DecodeHints{}); refusal != nil && !bytes.HasPrefix(frameStart, head[:min(got, len(frameStart))]) {
				return nil, refusal
			}
		}
		return nil, err
	}
	if !bytes.HasPrefix(head[:], frameStart) {
		// Another version may have its size elsewhere; the library says what is wrong.
		return Decode(FormatFrame, head[:], DecodeHints{})
	}
	size := int64(binary.LittleEndian.Uint64(head[16:]))
	if size < frameHead {
		return Decode(FormatFrame, head[:], DecodeHints{})
	}
	var frame bytes.Buffer
	frame.Write(head[:])
	if _, err := io.CopyN(&frame, reader, size-frameHead); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return Decode(FormatFrame, frame.Bytes(), DecodeHints{})
}

// Frames gives the records of frames that stand one behind the other, each the caller's to close. It ends at the end of the input, or with an error.
func Frames(reader io.Reader) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		for {
			record, err := ReadRecord(reader)
			if errors.Is(err, io.EOF) {
				return
			}
			if !yield(record, err) || err != nil {
				return
			}
		}
	}
}
