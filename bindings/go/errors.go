// SPDX-License-Identifier: Apache-2.0

package routecap

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"github.com/routecap/routecap/bindings/go/internal/native"
)

// Error is a call that was refused or failed. errors.Is compares its code: errors.Is(err, routecap.ErrOutOfRange).
type Error struct {
	// Code says what kind of failure it is; never OK.
	Code Code
	// Text is one line: what was refused, with which value, against which limit. Empty for ErrBusy, ErrNotReady and ErrTimeout.
	Text string
	// Detail is the sequence that is lacking, with ErrNotReady of a read or of [Capturer.SlotInfo]; else 0.
	Detail int64
}

// Error gives code and text in one line.
func (e *Error) Error() string {
	switch {
	case e.Text != "":
		return "routecap: " + e.Code.name() + ": " + e.Text
	case e.Detail != 0:
		return fmt.Sprintf("routecap: %s: sequence %d is lacking", e.Code.name(), e.Detail)
	}
	return e.Code.Error()
}

// Is reports whether target is the error's code.
func (e *Error) Is(target error) bool {
	code, ok := target.(Code)
	return ok && code == e.Code
}

// Error makes a code an error, so that errors.Is can ask for it.
func (code Code) Error() string { return "routecap: " + code.name() }

// String is the name in C, for example RCAP_STATUS_BUSY.
func (code Code) String() string { return native.Rcap_status_name(int32(code)) }

func (code Code) name() string { return strings.TrimPrefix(code.String(), "RCAP_STATUS_") }

// ErrLibraryNotFound is what every call fails with where a program that loads the library at run time (built without cgo, or with the tag
// routecap_dlopen) does not find it. The error's text names every place that was tried: ROUTECAP_LIBRARY alone where it is set, else the library's
// SONAME, as the dynamic linker finds it.
var ErrLibraryNotFound = errors.New("routecap: library not found")

type libraryError struct{ error }

func (libraryError) Is(target error) bool { return target == ErrLibraryNotFound }

// Answers rather than faults: they come often and say nothing more, so they are made once.
var (
	errBusy     error = &Error{Code: ErrBusy}
	errTimeout  error = &Error{Code: ErrTimeout}
	errNotReady error = &Error{Code: ErrNotReady}
)

// closedError is what a method of a closed handle returns.
func closedError(what string) error {
	return &Error{Code: ErrClosed, Text: "the " + what + " was closed"}
}

// unmadeError is what a method returns of what was never made: of nil, or of a zero value.
func unmadeError(what string) error {
	return &Error{Code: ErrClosed, Text: "there is no " + what + ": it is nil or a zero value"}
}

func refused(code Code, format string, values ...any) error {
	return &Error{Code: code, Text: fmt.Sprintf(format, values...)}
}

// nameOf refuses a text that C would end before its end: at its first zero byte.
func nameOf(what, value string) error {
	if strings.IndexByte(value, 0) < 0 {
		return nil
	}
	return refused(ErrInvalidArgument, "%s has a zero byte: %q", what, value)
}

// wanted is an error struct that the library may fill. It stays on the stack of whoever calls C.
func wanted() errorLayout { return errorLayout{structSize: int64(unsafe.Sizeof(errorLayout{}))} }

// failure is the error of a call's answer; predicates answer 0 and above.
func failure(status int32, filled *errorLayout) error {
	if status >= 0 {
		return nil
	}
	return newError(Code(status), filled)
}

func newError(code Code, filled *errorLayout) error {
	switch {
	case code == native.NotLoaded:
		return libraryError{native.LoadError()}
	case code == ErrBusy:
		return errBusy
	case code == ErrTimeout:
		return errTimeout
	case code == ErrNotReady && filled.detail == 0:
		return errNotReady
	}
	text, _, _ := bytes.Cut(filled.text[:], []byte{0})
	return &Error{Code: code, Text: string(text), Detail: filled.detail}
}

func unknownName(kind string, value int32) string { return fmt.Sprintf("%s(%d)", kind, value) }
