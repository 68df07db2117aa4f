// SPDX-License-Identifier: Apache-2.0

package routecap

import (
	"context"
	"unsafe"

	"github.com/routecap/routecap/bindings/go/internal/native"
)

// Read says which rows of a request are wanted.
type Read struct {
	// Slots has the slot of token 0 .. Tokens-2, and of token Tokens-1 if wanted, int32 or int64; -1 reads as missing (R3). With UnitPage, the
	// request's pages. Host memory.
	Slots Array
	// Unit says how slots are named.
	Unit SlotUnit
	// Flags of the read.
	Flags ReadFlags
	// Tokens of the request, prompt and generated: rows 0 .. Tokens-2 exist (R1).
	Tokens int64
	// Start is the first token wanted, 0 .. Tokens (R3).
	Start int64
	// AfterSequence is the number of the request's last forward: the read needs it, and earlier ones that may change these slots, to be settled (R36).
	AfterSequence int64
	// Tags, where tags are kept: the tag that each token's row must have; nil does not compare, and a slice without elements is refused where there are
	// rows (R8).
	Tags []int64
}

func (r *Read) layout(timeout int64) (readLayout, error) {
	if r.Slots.memory != MemoryHost {
		return readLayout{}, refused(ErrInvalidArgument, "the slots of a read lie in host memory")
	}
	return readLayout{
		structSize:         int64(unsafe.Sizeof(readLayout{})),
		slotsDType:         r.Slots.orInt64(),
		unit:               r.Unit,
		flags:              r.Flags,
		tokens:             r.Tokens,
		start:              r.Start,
		afterSequence:      r.AfterSequence,
		timeoutNanoseconds: timeout,
	}, nil
}

// Read reads a request's rows by its slots into a new record, which the caller closes. Rows that nobody captured are missing (R7). A read never
// finalizes: what it would have to wait for is ErrNotReady, with the lacking sequence in [Error].Detail.
func (c *Capturer) Read(read Read) (*Record, error) { return c.read(read, 0) }

// ReadContext is [Capturer.Read] that waits for what is lacking until the context is done.
func (c *Capturer) ReadContext(ctx context.Context, read Read) (*Record, error) {
	var record *Record
	err := waitContext(ctx, ErrNotReady, func(timeout int64) (err error) {
		record, err = c.read(read, timeout)
		return err
	})
	return record, err
}

func (c *Capturer) read(read Read, timeout int64) (*Record, error) {
	own, err := c.enter()
	if err != nil {
		return nil, err
	}
	defer own.release()
	layout, err := read.layout(timeout)
	if err != nil {
		return nil, err
	}
	return makeRecord(func(handle, failed unsafe.Pointer) int32 {
		return native.Rcap_capturer_read(own.handle, unsafe.Pointer(&layout), read.Slots.raw(), read.Tags, handle, failed)
	})
}

// ReadInto is [Capturer.Read] into the caller's memory and without allocating: ids [rows, L, K], weights of the same shape where they are kept, and
// validity, the row bitmap with the cell bitmap behind it where there are TapPartial taps. Weights and validity may be left out; with all three left
// out only the needs are told. What lies behind the needed part of an array is left alone; too small is ErrOutOfRange, and the info has the needs.
func (c *Capturer) ReadInto(read Read, ids, weights Array, validity []byte) (ReadInfo, error) {
	return c.readInto(read, ids, weights, validity, 0)
}

// ReadIntoContext is [Capturer.ReadInto] that waits for what is lacking until the context is done.
func (c *Capturer) ReadIntoContext(ctx context.Context, read Read, ids, weights Array, validity []byte) (ReadInfo, error) {
	var info ReadInfo
	err := waitContext(ctx, ErrNotReady, func(timeout int64) (err error) {
		info, err = c.readInto(read, ids, weights, validity, timeout)
		return err
	})
	return info, err
}

func (c *Capturer) readInto(read Read, ids, weights Array, validity []byte, timeout int64) (ReadInfo, error) {
	own, err := c.enter()
	if err != nil {
		return ReadInfo{}, err
	}
	defer own.release()
	layout, err := read.layout(timeout)
	if err != nil {
		return ReadInfo{}, err
	}
	if ids.memory != MemoryHost || weights.memory != MemoryHost {
		return ReadInfo{}, refused(ErrInvalidArgument, "a read fills host memory")
	}
	info := ReadInfo{structSize: int64(unsafe.Sizeof(ReadInfo{}))}
	failed := wanted()
	status := native.Rcap_capturer_read_into(own.handle, unsafe.Pointer(&layout), read.Slots.raw(), read.Tags, ids.raw(), weights.raw(), validity,
		unsafe.Pointer(&info), unsafe.Pointer(&failed))
	return info, failure(status, &failed)
}

// AppendEncoded reads a request's rows by its slots and appends them to a buffer in a form, in one pass and without a record between.
func (c *Capturer) AppendEncoded(buffer []byte, read Read, format Format, options EncodeOptions) ([]byte, error) {
	return c.appendEncoded(buffer, read, format, options, 0)
}

// AppendEncodedContext is [Capturer.AppendEncoded] that waits for what is lacking until the context is done.
func (c *Capturer) AppendEncodedContext(ctx context.Context, buffer []byte, read Read, format Format, options EncodeOptions) ([]byte, error) {
	err := waitContext(ctx, ErrNotReady, func(timeout int64) (err error) {
		buffer, err = c.appendEncoded(buffer, read, format, options, timeout)
		return err
	})
	return buffer, err
}

func (c *Capturer) appendEncoded(buffer []byte, read Read, format Format, options EncodeOptions, timeout int64) ([]byte, error) {
	own, err := c.enter()
	if err != nil {
		return buffer, err
	}
	defer own.release()
	layout, err := read.layout(timeout)
	if err != nil {
		return buffer, err
	}
	given := options.layout()
	return appendEncoded(buffer, func(free []byte, needed, failed unsafe.Pointer) int32 {
		return native.Rcap_capturer_encode(own.handle, unsafe.Pointer(&layout), read.Slots.raw(), read.Tags, int32(format), unsafe.Pointer(&given),
			free, needed, failed)
	})
}
