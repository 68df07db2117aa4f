// SPDX-License-Identifier: Apache-2.0

package routecap_test

import (
	"errors"
	"strings"
	"testing"

	routecap "github.com/routecap/routecap/bindings/go"
)

// refusedWith checks that a call was refused in these words, which are C's.
func refusedWith(t *testing.T, name string, err error, code routecap.Code, want string) {
	t.Helper()
	if !errors.Is(err, code) || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: %v, want %v: %q", name, err, code, want)
	}
}

// An array that is given and empty is no array that is not given: what it would say of the rows is missing, not present (R7).
func TestEmptyArraysOfRecordsAreGiven(t *testing.T) {
	config := routecap.RecordConfig{Rows: 3, NumExperts: 8, TopK: 1, LayerIDs: []int32{0}, IDs: routecap.ArrayOf([]uint8{1, 2, 3})}
	first, second := recordOf(t, 0, 0, 1, 3), recordOf(t, 2, 0, 5)
	validity, flags, weights, none := config, config, config, config
	validity.Validity, flags.LayerFlags, weights.Weights = []byte{}, []routecap.TapFlags{}, routecap.ArrayOf([]float32{})
	none.Weights = routecap.ArrayOf([]float32(nil))
	frame, err := first.MarshalBinary()
	must(t, err)
	for _, c := range []struct {
		name, want string
		call       func() (*routecap.Record, error)
	}{
		{"validity", "validity_bytes is 0, the layout makes it 1", func() (*routecap.Record, error) { return routecap.NewRecord(validity) }},
		{"layer flags", "layer_flags_count is 0, layer_ids_count is 1", func() (*routecap.Record, error) { return routecap.NewRecord(flags) }},
		{"weights", "weights_bytes is 0, the layout makes it 12", func() (*routecap.Record, error) { return routecap.NewRecord(weights) }},
		{"nil weights", "weights_bytes is 0, the layout makes it 12", func() (*routecap.Record, error) { return routecap.NewRecord(none) }},
		{"positions", " positions_count is 0, the record has 2 rows", func() (*routecap.Record, error) { return first.Interleave([]int64{}, second, nil) }},
		{"other positions", "other_positions_count is 0, the record has 1 rows", func() (*routecap.Record, error) { return first.Interleave(nil, second, []int64{}) }},
		{"hint", "layer_ids_count is 0, allowed are 1 ..", func() (*routecap.Record, error) {
			return routecap.Decode(routecap.FormatFrame, frame, routecap.DecodeHints{LayerIDs: []int32{}})
		}},
	} {
		made, err := c.call()
		if made != nil {
			t.Errorf("%s: a record was made", c.name)
		}
		refusedWith(t, c.name, err, routecap.ErrInvalidArgument, c.want)
	}
	// Where there are no rows, nothing is what is needed; and what is not given is not.
	config.Rows, config.IDs, config.Validity = 0, routecap.ArrayOf([]uint8{}), []byte{}
	for _, ids := range []routecap.Array{config.IDs, routecap.ArrayOf([]uint8(nil)), {}} {
		config.IDs = ids
		made, err := routecap.NewRecord(config)
		must(t, err)
		must(t, made.Close())
	}
	decoded, err := routecap.Decode(routecap.FormatFrame, frame, routecap.DecodeHints{LayerIDs: nil})
	must(t, err)
	must(t, decoded.Close())
}

// The same of everything on the way of a row: an empty id map, list of slots, rows or tags is refused where there are rows, as C refuses it.
func TestEmptyArraysOfCallsAreGiven(t *testing.T) {
	invalid := routecap.ErrInvalidArgument
	capturer, err := routecap.NewCapturer(routecap.Config{NumExperts: 8, TopK: 1, LayerIDs: []int32{0}, MaxForwardTokens: 4, NumSlots: 4, PipelineDepth: 8,
		WeightsDType: routecap.DTypeFloat32, Tags: true})
	must(t, err)
	defer capturer.Close()
	target, err := capturer.AddModel(routecap.RoleTarget, "target")
	must(t, err)
	for _, empty := range []routecap.Array{routecap.ArrayOf([]int32{}), routecap.ArrayOf([]int32(nil)), routecap.DeviceArray(routecap.DTypeInt32, 0, 4)} {
		_, err = target.AddTap(0, routecap.TapOptions{IDMap: empty})
		refusedWith(t, "id map", err, invalid, "id_map_bytes is 0, it must be a positive multiple of 4")
	}
	tap, err := target.AddTap(0, routecap.TapOptions{})
	must(t, err)
	must(t, capturer.Seal())
	untagged := newScene(t, nil)

	slots, tags, none := routecap.ArrayOf([]int64{0, 1}), routecap.ArrayOf([]int64{7, 8}), routecap.ArrayOf([]int64{})
	capture := routecap.Capture{IDs: routecap.ArrayOf([]uint8{3, 5}), Weights: routecap.ArrayOf([]float32{1, 2}), Columns: 1, Tokens: 2}
	noWeights, noIDs := capture, capture
	noWeights.Weights, noIDs.IDs = routecap.ArrayOf([]float32{}), routecap.ArrayOf([]uint8{})
	refusedWith(t, "weights", tap.Capture(noWeights), invalid, "weights_bytes is 0, 2 tokens at a row stride of 4 bytes need 8")
	refusedWith(t, "ids", tap.Capture(noIDs), invalid, "ids_bytes is 0, 2 tokens at a row stride of 1 bytes need 2")
	must(t, tap.Capture(capture))
	end := func(forward routecap.Forward) error {
		output, err := capturer.EndForward(forward)
		if err == nil {
			output.Close()
		}
		return err
	}
	refusedWith(t, "slots", end(routecap.Forward{Tokens: 2, Slots: none, Tags: tags}), invalid, "slots_bytes is 0, the layout reads 16 bytes")
	refusedWith(t, "no slots", end(routecap.Forward{Tokens: 2, Tags: tags}), invalid, "slots is null, the layout has 2 entries")
	refusedWith(t, "rows", end(routecap.Forward{Tokens: 2, Slots: slots, Tags: tags, Rows: none}), invalid, "rows is given (0 bytes), acceptance is ALL")
	refusedWith(t, "tags", end(routecap.Forward{Tokens: 2, Slots: slots, Tags: none}), invalid, "tags_count is 0, the forward has 2 tokens")
	refusedWith(t, "no tags", end(routecap.Forward{Tokens: 2, Slots: slots}), invalid, "tags_count is 0 (null), the forward has 2 tokens")
	given := routecap.Forward{Tokens: 2, Acceptance: routecap.AcceptGiven, Slots: slots, Tags: tags}
	refusedWith(t, "no accepted rows", end(given), invalid, "rows is null, slots has 16 bytes of entries that need one each")
	// A list of no rows is an answer: nothing is accepted.
	given.Rows = none
	must(t, end(given))
	_, err = untagged.capturer.EndForward(routecap.Forward{Tokens: 0, Tags: none})
	refusedWith(t, "tags where none are kept", err, invalid, "tags is given (tags_count 0), the capturer keeps none")

	must(t, tap.Capture(capture))
	output, err := capturer.EndForward(routecap.Forward{Tokens: 2, Acceptance: routecap.AcceptLater, Slots: slots, Tags: tags})
	must(t, err)
	defer output.Close()
	row := routecap.ArrayOf([]int64{1})
	refusedWith(t, "accepted slots", output.Accept(routecap.Accept{Rows: row, Slots: none}), invalid, "slots_bytes is 0, the layout reads 8 bytes")
	must(t, output.Accept(routecap.Accept{Rows: row}))
	must(t, output.CopyToHost(0))
	_, err = output.Finalize()
	must(t, err)

	read := routecap.Read{Slots: slots, Tokens: 3}
	noTags, noSlots := read, read
	noTags.Tags, noSlots.Slots = []int64{}, none
	_, err = capturer.Read(noTags)
	refusedWith(t, "tags of a read", err, invalid, "tags_count is 0, 2 rows are compared")
	_, err = capturer.AppendEncoded(nil, noTags, routecap.FormatFrame, routecap.EncodeOptions{})
	refusedWith(t, "tags of an encode", err, invalid, "tags_count is 0, 2 rows are compared")
	_, err = capturer.Read(noSlots)
	refusedWith(t, "slots of a read", err, invalid, "slots has 0 elements, 3 tokens need 2")
	record, err := capturer.Read(read)
	must(t, err)
	ids, err := routecap.AppendIDs([]int(nil), record)
	must(t, err)
	must(t, record.Close())
	if len(ids) != 2 || ids[0] != -1 || ids[1] != 5 {
		t.Errorf("the rows hold %v, want -1 and 5", ids)
	}

	rows, empty := routecap.ArrayOf(make([]uint8, 2)), routecap.ArrayOf([]uint8{})
	info, err := capturer.ReadInto(read, routecap.Array{}, routecap.Array{}, nil)
	must(t, err)
	if info.IDsBytes != 2 {
		t.Errorf("2 rows need %d bytes of ids", info.IDsBytes)
	}
	_, err = capturer.ReadInto(read, empty, routecap.Array{}, nil)
	refusedWith(t, "ids to fill", err, routecap.ErrOutOfRange, "ids_bytes is 0, needed are 2")
	_, err = capturer.ReadInto(read, rows, routecap.ArrayOf([]float32{}), nil)
	refusedWith(t, "weights to fill", err, routecap.ErrOutOfRange, "weights_bytes is 0, needed are 8")
	_, err = capturer.ReadInto(read, rows, routecap.Array{}, []byte{})
	refusedWith(t, "validity to fill", err, routecap.ErrOutOfRange, "validity_bytes is 0, needed are 1")
	_, err = capturer.ReadInto(read, rows, routecap.Array{}, nil)
	must(t, err)
}
