// SPDX-License-Identifier: Apache-2.0

package routecap_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	routecap "github.com/routecap/routecap/bindings/go"
)

// The reference engine's schedule, which the core's tests write (tests/replay/README.md): the same calls must give the same answers here.
func TestReplayOfTheReferenceEngine(t *testing.T) {
	expectLive(t, 0)
	script := readScript(t, projectFile(t, filepath.Join("tests", "replay", "reference_engine.script")))
	if len(script.variants) != 3 || len(script.runs) != 2 {
		t.Fatalf("%d variants, %d runs", len(script.variants), len(script.runs))
	}
	for number := range script.variants {
		for index, run := range script.runs {
			t.Run(fmt.Sprintf("variant %d run %d", number, index), func(t *testing.T) {
				replay := newReplay(t, script.variants[number], number)
				replay.all(run)
				if replay.reads < 8 || replay.frames < 8 {
					t.Errorf("%d reads, %d frames", replay.reads, replay.frames)
				}
			})
			expectLive(t, 0)
		}
	}
}

// A replay that finds nothing must be one that could.
func TestReplayFindsWhatDiffers(t *testing.T) {
	script := readScript(t, projectFile(t, filepath.Join("tests", "replay", "reference_engine.script")))
	for _, change := range []struct{ verb, word, value, want string }{
		{"end_forward", "sequence", "77", "sequence 77"},
		{"finalize", "rows_stored", "1000", "rows_stored 1000"},
		{"stats", "suppressed", "1000", "suppressed 1000"},
		{"read", "frames", "00000000,00000000,00000000", "frame 00000000"},
		{"read", "row_validity", "0000", "row_validity 0000"},
		{"read_into", "cell_validity", "00", "cell_validity 00"},
		{"read_into", "ids", "00", "ids 00"},
		{"encode", "status", "BUSY", "status BUSY"},
	} {
		run := append([]call(nil), script.runs[0]...)
		changed := false
		for index, line := range run {
			if _, there := line.wanted[change.word]; there && line.verb == change.verb && !changed {
				wanted := make(map[string]string)
				for name, value := range line.wanted {
					wanted[name] = value
				}
				wanted[change.word] = change.value
				run[index].wanted = wanted
				changed = true
			}
		}
		faults := &faultList{TB: t}
		newReplay(faults, script.variants[0], 0).all(run)
		if !changed || len(faults.found) == 0 || !strings.Contains(faults.found[0], change.want) {
			t.Errorf("%s %s: %v", change.verb, change.word, faults.found)
		}
	}
}

// faultList keeps the errors that a replay reports.
type faultList struct {
	testing.TB
	found []string
}

func (l *faultList) Errorf(format string, arguments ...any) {
	l.found = append(l.found, fmt.Sprintf(format, arguments...))
}

// call is one line of the script.
type call struct {
	line          int
	verb          string
	given, wanted map[string]string
	data          map[string][]byte // of its run
}

type variant struct {
	experts int32
	factor  int64
	dtypes  []string
}

type script struct {
	variants []variant
	runs     [][]call
}

func readScript(t *testing.T, path string) script {
	file, err := os.Open(path)
	must(t, err)
	defer file.Close()
	var read script
	var data map[string][]byte
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for number := 1; lines.Scan(); number++ {
		words := strings.Fields(lines.Text())
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		line := call{number, words[0], make(map[string]string), make(map[string]string), data}
		into := line.given
		for _, word := range words[1:] {
			name, value, found := strings.Cut(word, "=")
			if word == "->" {
				into = line.wanted
			} else if found {
				into[name] = value
			} else {
				t.Fatalf("line %d: %q", number, word)
			}
		}
		switch line.verb {
		case "script":
			if line.given["version"] != "1" {
				t.Fatalf("line %d: version %s", number, line.given["version"])
			}
		case "variant":
			read.variants = append(read.variants, variant{int32(number64(line.given["experts"])), number64(line.given["factor"]), strings.Split(line.given["ids"], ",")})
		case "run":
			data = make(map[string][]byte)
			read.runs = append(read.runs, nil)
		case "data":
			data["@"+line.given["id"]] = unhex(line.given["bytes"])
		default:
			last := len(read.runs) - 1
			read.runs[last] = append(read.runs[last], line)
		}
	}
	must(t, lines.Err())
	return read
}

// The file is checked by the test that writes it: what is malformed here is a bug of this reader.
func number64(text string) int64 {
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic(err)
	}
	return number
}

func unhex(text string) []byte {
	data, err := hex.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return data
}

func numbers(text string) (list []int64) {
	if text != "" {
		for _, number := range strings.Split(text, ",") {
			list = append(list, number64(number))
		}
	}
	return list
}

func narrowed[T routecap.Element](list []int64) routecap.Array {
	elements := make([]T, len(list))
	for index, number := range list {
		elements[index] = T(number)
	}
	return routecap.ArrayOf(elements)
}

func arrayOf(dtype, memory string, list []int64) routecap.Array {
	var array routecap.Array
	switch dtype {
	case "uint8":
		array = narrowed[uint8](list)
	case "uint16":
		array = narrowed[uint16](list)
	case "int16":
		array = narrowed[int16](list)
	case "int32":
		array = narrowed[int32](list)
	default:
		array = narrowed[int64](list)
	}
	if memory == "device" {
		array = array.OnDevice()
	}
	return array
}

func (c *call) number(name string) int64 { return number64(c.given[name]) }

// list is not given where the word is absent.
func (c *call) list(name string) routecap.Array {
	text, there := c.given[name]
	if !there {
		return routecap.Array{}
	}
	parts := strings.SplitN(text, ":", 3)
	return arrayOf(parts[0], parts[1], numbers(parts[2]))
}

type replay struct {
	t             testing.TB
	variant       variant
	number        int
	capturers     map[string]*routecap.Capturer
	models        map[string]*routecap.Model
	taps          map[string]*routecap.Tap
	columns       map[string]int64 // of taps
	outputs       map[string]*routecap.Output
	topK          int
	reads, frames int
}

func newReplay(t testing.TB, variant variant, number int) *replay {
	return &replay{t: t, variant: variant, number: number, capturers: make(map[string]*routecap.Capturer), models: make(map[string]*routecap.Model),
		taps: make(map[string]*routecap.Tap), columns: make(map[string]int64), outputs: make(map[string]*routecap.Output)}
}

func (r *replay) all(run []call) {
	for index := range run {
		r.call(&run[index])
	}
}

func (r *replay) fault(c *call, what string, is, want any) {
	if fmt.Sprint(is) != fmt.Sprint(want) {
		r.t.Errorf("line %d: %s: %s %v, is %v", c.line, c.verb, what, want, is)
	}
}

// answered compares a status; true if it is OK in both.
func (r *replay) answered(c *call, err error) bool {
	status, detail := "OK", int64(0)
	var failure *routecap.Error
	if errors.As(err, &failure) {
		status, detail = strings.TrimPrefix(failure.Code.String(), "RCAP_STATUS_"), failure.Detail
	} else if err != nil {
		status = err.Error()
	}
	want, there := c.wanted["status"]
	if !there {
		want = "OK"
	}
	r.fault(c, "status", status, want)
	if want, there := c.wanted["detail"]; there {
		r.fault(c, "detail", detail, want)
	}
	return status == "OK" && want == "OK"
}

// fields compares a struct's fields with what the script says of them.
func (r *replay) fields(c *call, answer any) {
	value := reflect.ValueOf(answer)
	for name, want := range c.wanted {
		if name == "status" {
			continue
		}
		field := ""
		for _, part := range strings.Split(name, "_") {
			field += strings.ToUpper(part[:1]) + part[1:]
		}
		r.fault(c, name, value.FieldByName(field), want)
	}
}

func (r *replay) call(c *call) {
	capturer := r.capturers[c.given["capturer"]]
	output := r.outputs[c.given["output"]]
	var err error
	switch c.verb {
	case "capturer_create":
		r.create(c)
	case "add_model":
		role := routecap.RoleDraft
		if c.given["role"] == "target" {
			role = routecap.RoleTarget
		}
		r.models[c.given["model"]], err = capturer.AddModel(role, c.given["name"])
		r.answered(c, err)
	case "add_tap":
		r.taps[c.given["tap"]], err = r.models[c.given["model"]].AddTap(int32(c.number("layer")), routecap.TapOptions{Flags: routecap.TapFlags(c.number("flags"))})
		r.columns[c.given["tap"]] = c.number("column")
		r.answered(c, err)
	case "seal":
		r.answered(c, capturer.Seal())
	case "tap_capture":
		r.capture(c)
	case "discard_forward":
		r.answered(c, capturer.DiscardForward(0))
	case "end_forward":
		r.endForward(c, capturer)
	case "accept":
		r.answered(c, output.Accept(routecap.Accept{Rows: c.list("rows"), Slots: c.list("slots")}))
	case "copy_to_host":
		r.answered(c, output.CopyToHost(0))
	case "wait":
		r.answered(c, output.Wait(context.Background()))
	case "finalize":
		summary, err := output.Finalize()
		if r.answered(c, err) {
			r.fields(c, summary)
		}
	case "output_destroy":
		r.answered(c, output.Close())
	case "release_slots":
		r.answered(c, capturer.ReleaseSlots(routecap.UnitSlot, c.list("slots"), 0))
	case "copy_slots":
		r.answered(c, capturer.CopySlots(routecap.UnitSlot, c.list("from"), c.list("to"), 0))
	case "stats":
		stats, err := capturer.Stats()
		if r.answered(c, err) {
			r.fields(c, stats)
		}
	case "read":
		r.read(c, capturer)
	case "read_into":
		r.readInto(c, capturer)
	case "encode":
		frame, err := capturer.AppendEncoded(nil, r.readOf(c), routecap.FormatFrame, routecap.EncodeOptions{})
		if r.answered(c, err) {
			r.frame(c, frame)
		}
	case "capturer_destroy":
		r.answered(c, capturer.Close())
	default:
		r.t.Errorf("line %d: no call %q", c.line, c.verb)
	}
}

func (r *replay) create(c *call) {
	config := routecap.Config{
		NumExperts: r.variant.experts, TopK: int32(c.number("top_k")), NumFusedSharedExperts: int32(c.number("fused_shared_experts")),
		WeightsKind: routecap.WeightsKind(c.number("weights_kind")), CheckLevel: routecap.CheckLevel(c.number("check_level")),
		PipelineDepth: int32(c.number("pipeline_depth")), ChunkedPrefillSize: c.number("chunked_prefill_size"),
		MaxRunningRequests: c.number("max_running_requests"), NumVerifyTokens: c.number("num_verify_tokens"), MaxGraphTokens: c.number("max_graph_tokens"),
		DPSize: c.number("dp_size"), AttentionTPSize: c.number("attn_tp_size"), NumSlots: c.number("num_slots"), ReservedSlots: c.number("reserved_slots"),
	}
	if c.given["weights"] == "bfloat16" {
		config.WeightsDType = routecap.DTypeBFloat16
	}
	for _, layer := range numbers(c.given["layers"]) {
		config.LayerIDs = append(config.LayerIDs, int32(layer))
	}
	r.topK = int(config.TopK)
	capturer, err := routecap.NewCapturer(config)
	if !r.answered(c, err) {
		r.t.Fatal(err)
	}
	r.capturers[c.given["capturer"]] = capturer
}

func (r *replay) capture(c *call) {
	column := r.columns[c.given["tap"]]
	var ids []int64
	for _, id := range c.data[c.given["ids"]] {
		ids = append(ids, int64(id)*r.variant.factor)
	}
	capture := routecap.Capture{IDs: arrayOf(r.variant.dtypes[column], c.given["memory"], ids), Columns: int32(c.number("columns")),
		Tokens: c.number("tokens"), FirstRow: c.number("first_row")}
	if name, there := c.given["weights"]; there {
		bits := c.data[name]
		kept := make([]routecap.BFloat16, len(bits)/2)
		wide := make([]float32, len(kept))
		for index := range kept {
			kept[index] = routecap.BFloat16(binary.LittleEndian.Uint16(bits[2*index:]))
			wide[index] = math.Float32frombits(uint32(kept[index]) << 16)
		}
		capture.Weights = routecap.ArrayOf(kept)
		if column%2 == 1 {
			capture.Weights = routecap.ArrayOf(wide)
		}
		if c.given["memory"] == "device" {
			capture.Weights = capture.Weights.OnDevice()
		}
	}
	if rows, there := c.given["row_ids"]; there {
		capture.RowIDs = arrayOf("int32", c.given["memory"], numbers(rows))
	}
	r.answered(c, r.taps[c.given["tap"]].Capture(capture))
}

func (r *replay) endForward(c *call, capturer *routecap.Capturer) {
	acceptance := map[string]routecap.Acceptance{"all": routecap.AcceptAll, "given": routecap.AcceptGiven, "later": routecap.AcceptLater}
	output, err := capturer.EndForward(routecap.Forward{
		FirstRow: c.number("first_row"), Tokens: c.number("tokens"), Acceptance: acceptance[c.given["acceptance"]],
		Slots: c.list("slots"), Rows: c.list("rows"), Groups: c.number("groups"), GroupWidth: c.number("group_width"),
		SlotsGroupStride: c.number("slots_group_stride"), RowsGroupStride: c.number("rows_group_stride"),
	})
	if !r.answered(c, err) {
		return
	}
	sequence, err := output.Sequence()
	must(r.t, err)
	r.fault(c, "sequence", sequence, c.wanted["sequence"])
	r.outputs[c.given["output"]] = output
}

func (r *replay) readOf(c *call) routecap.Read {
	return routecap.Read{Slots: c.list("slots"), Flags: routecap.ReadFlags(c.number("flags")), Tokens: c.number("tokens"), AfterSequence: c.number("after")}
}

func (r *replay) read(c *call, capturer *routecap.Capturer) {
	record, err := capturer.Read(r.readOf(c))
	if !r.answered(c, err) {
		return
	}
	defer record.Close()
	frame, err := record.MarshalBinary()
	must(r.t, err)
	r.frame(c, frame)
	ids, err := routecap.AppendIDs([]int64(nil), record)
	must(r.t, err)
	must(r.t, record.View(func(view routecap.View) error {
		r.fault(c, "experts", view.Info.NumExperts, r.variant.experts)
		r.fault(c, "row_validity", hex.EncodeToString(view.RowValidity), c.wanted["row_validity"])
		r.fault(c, "cell_validity", hex.EncodeToString(view.CellValidity), c.wanted["cell_validity"])
		weights, err := routecap.Weights[routecap.BFloat16](view)
		r.rows(c, view.Info.Start, view.Info.Rows, view.Info.RowsValid, ids, weights)
		return err
	}))
}

func (r *replay) readInto(c *call, capturer *routecap.Capturer) {
	read := r.readOf(c)
	info, err := capturer.ReadInto(read, routecap.Array{}, routecap.Array{}, nil)
	must(r.t, err)
	elements := info.Rows * int64(info.NumLayers) * int64(info.TopK)
	weights := make([]routecap.BFloat16, info.WeightsBytes/2)
	validity := make([]byte, info.RowValidityBytes+info.CellValidityBytes)
	narrow, middle, wide := make([]uint8, elements), make([]uint16, elements), make([]int32, elements)
	into := map[routecap.DType]routecap.Array{routecap.DTypeUInt8: routecap.ArrayOf(narrow), routecap.DTypeUInt16: routecap.ArrayOf(middle),
		routecap.DTypeInt32: routecap.ArrayOf(wide)}[info.IDsDType]
	given := routecap.Array{}
	if len(weights) > 0 {
		given = routecap.ArrayOf(weights)
	}
	info, err = capturer.ReadInto(read, into, given, validity)
	if !r.answered(c, err) {
		return
	}
	ids := make([]int64, info.Rows*int64(info.NumLayers)*int64(info.TopK))
	cells := validity[info.RowValidityBytes:][:info.CellValidityBytes]
	for index := range ids {
		var missing bool
		switch info.IDsDType {
		case routecap.DTypeUInt8:
			ids[index], missing = int64(narrow[index]), narrow[index] == 0xff
		case routecap.DTypeUInt16:
			ids[index], missing = int64(middle[index]), middle[index] == 0xffff
		default:
			ids[index], missing = int64(wide[index]), wide[index] == -1
		}
		if cell := index / int(info.TopK); cells[cell/8]>>(cell%8)&1 == 0 {
			r.fault(c, "bytes of a missing cell are all ones:", missing, true)
			ids[index] = -1
		}
	}
	r.fault(c, "row_validity", hex.EncodeToString(validity[:info.RowValidityBytes]), c.wanted["row_validity"])
	r.fault(c, "cell_validity", hex.EncodeToString(cells), c.wanted["cell_validity"])
	r.rows(c, info.Start, info.Rows, info.RowsValid, ids, weights[:info.WeightsBytes/2])
}

// rows compares ids, -1 where a cell is missing, and weights.
func (r *replay) rows(c *call, start, rows, valid int64, ids []int64, weights []routecap.BFloat16) {
	r.reads++
	r.fault(c, "start", start, c.wanted["start"])
	r.fault(c, "rows", rows, c.wanted["rows"])
	r.fault(c, "valid", valid, c.wanted["valid"])
	cells := unhex(c.wanted["cell_validity"])
	var want []int64
	for index, id := range unhex(c.wanted["ids"]) {
		if cell := index / r.topK; cell/8 < len(cells) && cells[cell/8]>>(cell%8)&1 == 0 {
			want = append(want, -1)
		} else {
			want = append(want, int64(id)*r.variant.factor)
		}
	}
	if !slices.Equal(ids, want) {
		r.t.Errorf("line %d: %s: ids %s, is %v", c.line, c.verb, c.wanted["ids"], ids)
	}
	bits := make([]byte, 0, 2*len(weights))
	for _, weight := range weights {
		bits = binary.LittleEndian.AppendUint16(bits, uint16(weight))
	}
	r.fault(c, "weights", hex.EncodeToString(bits), c.wanted["weights"])
}

func (r *replay) frame(c *call, frame []byte) {
	r.frames++
	r.fault(c, "frame", fmt.Sprintf("%08x", crc32.ChecksumIEEE(frame)), strings.Split(c.wanted["frames"], ",")[r.number])
}
