// SPDX-License-Identifier: Apache-2.0

package routecap_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	routecap "github.com/routecap/routecap/bindings/go"
)

// What the forms look like, written here by Go's own means: two rows, layers 0 and 1, K = 2, E = 300.
var formIDs = []int32{1, 299, 3, 4, 5, 6, 7, 258}

func formRecord(t testing.TB) *routecap.Record {
	ids := make([]uint16, len(formIDs))
	for index, id := range formIDs {
		ids[index] = uint16(id)
	}
	record, err := routecap.NewRecord(routecap.RecordConfig{Rows: 2, NumExperts: 300, TopK: 2, LayerIDs: []int32{0, 1}, IDs: routecap.ArrayOf(ids)})
	must(t, err)
	t.Cleanup(func() { record.Close() })
	return record
}

func little[T any](values []T) []byte {
	var buffer bytes.Buffer
	binary.Write(&buffer, binary.LittleEndian, values)
	return buffer.Bytes()
}

func TestFormsAsGoWritesThem(t *testing.T) {
	record := formRecord(t)
	flat := base64.StdEncoding.EncodeToString(little(formIDs))
	start := int64(0)
	hints := routecap.DecodeHints{Start: &start, NumExperts: 300, TopK: 2, NumLayers: 2}
	text, err := record.Encode(routecap.FormatSGLang, routecap.EncodeOptions{})
	must(t, err)
	if string(text) != flat {
		t.Fatalf("sglang %s, want %s", text, flat)
	}
	nested, err := record.Encode(routecap.FormatLists, routecap.EncodeOptions{})
	must(t, err)
	var lists [][][]int32
	must(t, json.Unmarshal(nested, &lists))
	if fmt.Sprint(lists) != "[[[1 299] [3 4]] [[5 6] [7 258]]]" {
		t.Fatal(lists)
	}
	array, err := record.Encode(routecap.FormatNPY, routecap.EncodeOptions{DType: routecap.DTypeInt64})
	must(t, err)
	header := string(array[10 : 10+binary.LittleEndian.Uint16(array[8:])])
	wide := make([]int64, 8)
	for index, id := range formIDs {
		wide[index] = int64(id)
	}
	if string(array[:6]) != "\x93NUMPY" || !strings.Contains(header, "'<i8'") || !strings.Contains(header, "(2, 2, 2)") || !bytes.Equal(array[10+len(header):], little(wide)) {
		t.Fatalf("npy %q", array)
	}
	primed, err := record.Encode(routecap.FormatPrime, routecap.EncodeOptions{})
	must(t, err)
	var prime struct {
		Data  string
		Shape []int
		Start int
		DType string
	}
	must(t, json.Unmarshal(primed, &prime))
	data, err := base64.StdEncoding.DecodeString(prime.Data)
	must(t, err)
	if fmt.Sprint(prime.Shape, prime.Start, " ", prime.DType) != "[2 2 2] 0 uint16" || !bytes.Equal(data, little([]uint16{1, 299, 3, 4, 5, 6, 7, 258})) {
		t.Fatalf("prime %s", primed)
	}
	for _, form := range []routecap.Format{routecap.FormatFrame, routecap.FormatFrameBase64, routecap.FormatSGLang, routecap.FormatVLLM, routecap.FormatNPY,
		routecap.FormatPrime, routecap.FormatNeMo, routecap.FormatLists, routecap.FormatCSV} {
		encoded, err := record.AppendEncoded([]byte("before"), form, routecap.EncodeOptions{})
		must(t, err)
		if string(encoded[:6]) != "before" {
			t.Fatalf("%v overwrote the buffer", form)
		}
		encoded = encoded[6:]
		found, err := routecap.Detect(encoded)
		if form == routecap.FormatSGLang {
			if !errors.Is(err, routecap.ErrNotFound) {
				t.Fatal(found, err)
			}
		} else if found != form || err != nil {
			t.Fatalf("%v is taken for %v: %v", form, found, err)
		}
		named, err := routecap.ParseFormat(form.String())
		if named != form || err != nil {
			t.Fatal(named, err)
		}
		decoded, err := routecap.Decode(form, encoded, hints)
		if err != nil {
			t.Fatalf("%v: %v", form, err)
		}
		ids, err := routecap.AppendIDs([]int32(nil), decoded)
		must(t, err)
		if fmt.Sprint(ids) != fmt.Sprint(formIDs) {
			t.Fatalf("%v reads back %v", form, ids)
		}
		decoded.Close()
	}
}

func TestHintsAndOptions(t *testing.T) {
	start, rows := int64(7), int64(2)
	flat := []byte(base64.StdEncoding.EncodeToString([]byte{1, 2, 3, 4}))
	record, err := routecap.Decode(routecap.FormatSGLang, flat, routecap.DecodeHints{Start: &start, Rows: &rows, NumExperts: 8, TopK: 2, LayerIDs: []int32{6}, DType: routecap.DTypeUInt8})
	must(t, err)
	defer record.Close()
	info, err := record.Info()
	must(t, err)
	if info.Start != 7 || info.Rows != 2 || info.NumLayers != 1 || info.TopK != 2 {
		t.Fatalf("%+v", info)
	}
	rows = 3
	if _, err := routecap.Decode(routecap.FormatSGLang, flat, routecap.DecodeHints{Rows: &rows, NumExperts: 8, TopK: 2, LayerIDs: []int32{6}, DType: routecap.DTypeUInt8}); err == nil {
		t.Fatal("a hint that contradicts was taken")
	}
	holes := recordOf(t, 0, 5, 1, -1, 3)
	if _, err := holes.Encode(routecap.FormatLists, routecap.EncodeOptions{}); !errors.Is(err, routecap.ErrOutOfRange) {
		t.Fatal(err)
	}
	minus, err := holes.Encode(routecap.FormatLists, routecap.EncodeOptions{Missing: routecap.MissingMinusOne})
	must(t, err)
	filled, err := holes.Encode(routecap.FormatLists, routecap.EncodeOptions{Missing: routecap.MissingFill, FillID: 9})
	must(t, err)
	var one, two [][][]int
	must(t, json.Unmarshal(minus, &one))
	must(t, json.Unmarshal(filled, &two))
	if fmt.Sprint(one, two) != "[[[1]] [[-1]] [[3]]] [[[1]] [[9]] [[3]]]" {
		t.Fatal(one, two)
	}
	decode := int64(2)
	csv, err := holes.Encode(routecap.FormatCSV, routecap.EncodeOptions{Turn: 4, DecodeStart: &decode})
	must(t, err)
	turn := int64(4)
	again, err := routecap.Decode(routecap.FormatCSV, csv, routecap.DecodeHints{NumExperts: 64, Turn: &turn})
	must(t, err)
	defer again.Close()
	if show(t, again) != "0: 1 _ 3" {
		t.Fatalf("%s\n%s", show(t, again), csv)
	}
	turn = 5
	if _, err := routecap.Decode(routecap.FormatCSV, csv, routecap.DecodeHints{NumExperts: 64, Turn: &turn}); err == nil {
		t.Fatal("another turn was read")
	}
	many := make([]int, 4000)
	large := recordOf(t, 0, 5, many...)
	plain, err := large.Encode(routecap.FormatFrame, routecap.EncodeOptions{})
	must(t, err)
	packed, err := large.Encode(routecap.FormatFrame, routecap.EncodeOptions{ZstdLevel: 3})
	must(t, err)
	if len(packed) > len(plain)/4 {
		t.Fatal(len(packed), len(plain))
	}
}

func TestMarshalers(t *testing.T) {
	record := formRecord(t)
	frame, err := record.MarshalBinary()
	must(t, err)
	var again routecap.Record
	must(t, again.UnmarshalBinary(frame))
	// A second time: what it held is closed.
	must(t, again.UnmarshalBinary(frame))
	defer again.Close()
	report, err := record.Compare(&again)
	must(t, err)
	if report.Equal != 1 {
		t.Fatalf("%+v", report)
	}
	if err := again.UnmarshalBinary(frame[:10]); !errors.Is(err, routecap.ErrCorrupt) {
		t.Fatal(err)
	}
	if err := again.UnmarshalBinary(append(frame, frame...)); !errors.Is(err, routecap.ErrCorrupt) {
		t.Fatal(err)
	}
	// A refused frame leaves what was there.
	if show(t, &again) != show(t, record) {
		t.Fatal(show(t, &again))
	}
	type answer struct {
		Routing *routecap.Record `json:"routing"`
	}
	text, err := json.Marshal(answer{record})
	must(t, err)
	if want := `{"routing":"` + base64.StdEncoding.EncodeToString(frame) + `"}`; string(text) != want {
		t.Fatalf("%s, want %s", text, want)
	}
	var read answer
	must(t, json.Unmarshal(text, &read))
	defer read.Routing.Close()
	if report, err := record.Compare(read.Routing); err != nil || report.Equal != 1 {
		t.Fatal(report, err)
	}
}

func TestFramesInAStream(t *testing.T) {
	var stream bytes.Buffer
	var want []string
	for index := range 5 {
		record := recordOf(t, int64(index), 5, index, -1, index+1)
		written, err := record.WriteTo(&stream)
		must(t, err)
		if written != int64(stream.Len())/int64(index+1) {
			t.Fatal(written, stream.Len())
		}
		want = append(want, show(t, record))
	}
	all := stream.Bytes()
	for name, reader := range map[string]io.Reader{"whole": bytes.NewReader(all), "byte by byte": iotest.OneByteReader(bytes.NewReader(all)), "halves": iotest.HalfReader(bytes.NewReader(all))} {
		var got []string
		for record, err := range routecap.Frames(reader) {
			must(t, err)
			got = append(got, show(t, record))
			record.Close()
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if _, err := routecap.ReadRecord(bytes.NewReader(nil)); err != io.EOF {
		t.Fatal(err)
	}
	size := len(all) / 5
	for cut := 1; cut < size; cut++ {
		if _, err := routecap.ReadRecord(bytes.NewReader(all[:cut])); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("cut at %d: %v", cut, err)
		}
	}
	if _, err := routecap.ReadRecord(strings.NewReader("this is no frame at all, whatever it may be")); !errors.Is(err, routecap.ErrCorrupt) {
		t.Fatal(err)
	}
	newer := append([]byte{}, all[:size]...)
	newer[8] = 2
	if _, err := routecap.ReadRecord(bytes.NewReader(newer)); !errors.Is(err, routecap.ErrVersionMismatch) {
		t.Fatal(err)
	}
	// A frame that claims an exabyte costs what has come of it.
	huge := append([]byte{}, all[:size]...)
	binary.LittleEndian.PutUint64(huge[16:], 1<<60)
	if _, err := routecap.ReadRecord(bytes.NewReader(huge)); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint64(huge[16:], 1<<63)
	if _, err := routecap.ReadRecord(bytes.NewReader(huge)); !errors.Is(err, routecap.ErrCorrupt) {
		t.Fatal(err)
	}
	record, rest, err := routecap.DecodePrefix(routecap.FormatFrame, all, routecap.DecodeHints{})
	must(t, err)
	record.Close()
	if len(rest) != 4*size {
		t.Fatal(len(rest))
	}
	broken := errors.New("broken")
	if _, err := routecap.ReadRecord(io.MultiReader(bytes.NewReader(all[:40]), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Fatal(err)
	}
}

// Files that numpy and Python's own reader of frames made and know.
func TestGoldenFiles(t *testing.T) {
	golden := func(name string) []byte {
		data, err := os.ReadFile(projectFile(t, "tests/wire/golden/"+name))
		must(t, err)
		return data
	}
	frame, err := routecap.Decode(routecap.FormatFrame, golden("plain.frame"), routecap.DecodeHints{})
	must(t, err)
	defer frame.Close()
	info, err := frame.Info()
	must(t, err)
	hints := routecap.DecodeHints{Start: &info.Start, NumExperts: info.NumExperts, TopK: info.TopK, NumLayers: info.NumLayers}
	want, err := routecap.AppendIDs([]int32(nil), frame)
	must(t, err)
	for _, form := range []routecap.Format{routecap.FormatNPY, routecap.FormatVLLM, routecap.FormatSGLang, routecap.FormatPrime, routecap.FormatNeMo, routecap.FormatLists} {
		record, err := routecap.Decode(form, golden("plain."+form.String()), hints)
		if err != nil {
			t.Errorf("%v: %v", form, err)
			continue
		}
		ids, err := routecap.AppendIDs([]int32(nil), record)
		must(t, err)
		if fmt.Sprint(ids) != fmt.Sprint(want) || len(ids) == 0 {
			t.Errorf("%v: %v, want %v", form, ids, want)
		}
		record.Close()
	}
}

func TestSlotsToTextInOnePass(t *testing.T) {
	s := newScene(t, nil)
	s.forward([]int64{3, 4, 5})
	read := routecap.Read{Slots: routecap.ArrayOf([]int64{3, 4, 5}), Tokens: 4}
	record, err := s.capturer.Read(read)
	must(t, err)
	defer record.Close()
	for _, form := range []routecap.Format{routecap.FormatFrame, routecap.FormatSGLang, routecap.FormatVLLM} {
		two, err := record.Encode(form, routecap.EncodeOptions{})
		must(t, err)
		one, err := s.capturer.AppendEncoded([]byte("x"), read, form, routecap.EncodeOptions{})
		must(t, err)
		if string(one) != "x"+string(two) {
			t.Errorf("%v differs", form)
		}
	}
}
