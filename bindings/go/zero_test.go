// SPDX-License-Identifier: Apache-2.0

package routecap_test

import (
	"context"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	routecap "github.com/routecap/routecap/bindings/go"
)

// Every method of nil, and of a zero value that was never made, says so and does not panic; whoever adds a method has it tested here.
func TestNilAndZeroValuesAreErrClosed(t *testing.T) {
	arguments := map[reflect.Type]reflect.Value{
		reflect.TypeFor[context.Context]():           reflect.ValueOf(context.Background()),
		reflect.TypeFor[io.Writer]():                 reflect.ValueOf(io.Discard),
		reflect.TypeFor[func(routecap.View) error](): reflect.ValueOf(func(routecap.View) error { t.Error("there was something to view"); return nil }),
		reflect.TypeFor[*routecap.Output]():          reflect.ValueOf(new(routecap.Output)),
		reflect.TypeFor[*routecap.Record]():          reflect.ValueOf((*routecap.Record)(nil)),
	}
	methods := 0
	for _, value := range []any{
		(*routecap.Backend)(nil), new(routecap.Backend),
		(*routecap.Capturer)(nil), new(routecap.Capturer),
		(*routecap.Model)(nil), new(routecap.Model),
		(*routecap.Tap)(nil), new(routecap.Tap),
		(*routecap.Output)(nil), new(routecap.Output),
		(*routecap.Record)(nil), new(routecap.Record),
	} {
		receiver := reflect.ValueOf(value)
		for index := range receiver.NumMethod() {
			method, name := receiver.Method(index), receiver.Type().Method(index).Name
			if receiver.IsNil() {
				name = "nil " + receiver.Type().String() + "." + name
			} else {
				name = "zero " + receiver.Type().String() + "." + name
			}
			if strings.HasPrefix(name, "zero *routecap.Record.Unmarshal") {
				continue // These are what a zero record is for.
			}
			methods++
			var given []reflect.Value
			for at := range method.Type().NumIn() {
				argument, known := arguments[method.Type().In(at)]
				if !known {
					argument = reflect.Zero(method.Type().In(at))
				}
				given = append(given, argument)
			}
			results := method.Call(given)
			last := results[len(results)-1]
			if last.Kind() == reflect.Func {
				pairs := 0
				for _, last = range last.Seq2() {
					pairs++
				}
				if pairs != 1 {
					t.Errorf("%s gives %d pairs", name, pairs)
				}
			}
			err, _ := last.Interface().(error)
			if strings.HasSuffix(name, ".Close") {
				must(t, err)
			} else if !errors.Is(err, routecap.ErrClosed) || !strings.Contains(err.Error(), "it is nil or a zero value") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if methods < 100 {
		t.Errorf("%d methods", methods)
	}
}

func TestNilAndZeroValuesAsArguments(t *testing.T) {
	s := newScene(t, nil)
	record := recordOf(t, 0, 0, 1)
	config := s.config
	config.Backend = new(routecap.Backend)
	for name, call := range map[string]func() error{
		"NewCapturer": func() error { _, err := routecap.NewCapturer(config); return err },
		"Append":      func() error { _, err := record.Append(nil, routecap.OverlapRefuse); return err },
		"Merge":       func() error { _, err := record.Merge(new(routecap.Record), 1); return err },
		"Stack":       func() error { _, err := record.Stack(nil); return err },
		"Interleave":  func() error { _, err := record.Interleave(nil, nil, nil); return err },
		"Compare":     func() error { _, err := record.Compare(new(routecap.Record)); return err },
		"AppendIDs":   func() error { _, err := routecap.AppendIDs([]int(nil), nil); return err },
	} {
		if err := call(); !errors.Is(err, routecap.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := s.capturer.EndForwardInto(nil, routecap.Forward{}); !errors.Is(err, routecap.ErrInvalidArgument) {
		t.Error(err)
	}
}

// lyingWriter says that it took more, or fewer, bytes than it was given.
type lyingWriter struct {
	more int
	err  error
}

func (w lyingWriter) Write(data []byte) (int, error) {
	if w.more < -len(data) {
		return w.more, w.err
	}
	return len(data) + w.more, w.err
}

func TestWriteToTrustsNoCount(t *testing.T) {
	record := recordOf(t, 0, 0, 1, 2, 3)
	frame, err := record.MarshalBinary()
	must(t, err)
	full := errors.New("the disk is full")
	for _, c := range []struct {
		writer  lyingWriter
		written int64
		want    []error
	}{
		{lyingWriter{}, int64(len(frame)), nil},
		{lyingWriter{-5, nil}, int64(len(frame) - 5), []error{io.ErrShortWrite}},
		{lyingWriter{-5, full}, int64(len(frame) - 5), []error{full}},
		{lyingWriter{7, nil}, 0, []error{routecap.ErrInvalidArgument}},
		{lyingWriter{7, full}, 0, []error{routecap.ErrInvalidArgument, full}},
		{lyingWriter{-1 << 20, nil}, 0, []error{routecap.ErrInvalidArgument}},
	} {
		written, err := record.WriteTo(c.writer)
		if written != c.written || (err == nil) != (c.want == nil) {
			t.Errorf("%+v: %d bytes, %v; want %d, %v", c.writer, written, err, c.written, c.want)
		}
		for _, want := range c.want {
			if !errors.Is(err, want) {
				t.Errorf("%+v: %v is not %v", c.writer, err, want)
			}
		}
	}
}
