// SPDX-License-Identifier: Apache-2.0

package routecap_test

import (
	"context"
	"math/rand/v2"
	"testing"

	routecap "github.com/routecap/routecap/bindings/go"
)

// scene is a sealed capturer with a target and a draft whose layer numbers collide, and an oracle of what each slot holds.
type scene struct {
	t        testing.TB
	config   routecap.Config
	capturer *routecap.Capturer
	taps     []*routecap.Tap
	drafts   []*routecap.Tap
	random   *rand.Rand
	// Slot: ids of every layer, [L*K].
	rows map[int64][]int32
}

func newScene(t testing.TB, change func(config *routecap.Config)) *scene {
	t.Helper()
	config := routecap.Config{NumExperts: 256, TopK: 4, LayerIDs: []int32{3, 4, 9}, ChunkedPrefillSize: 64, NumSlots: 1024, PipelineDepth: 4}
	if change != nil {
		change(&config)
	}
	capturer, err := routecap.NewCapturer(config)
	must(t, err)
	t.Cleanup(func() { capturer.Close() })
	s := &scene{t: t, config: config, capturer: capturer, random: rand.New(rand.NewPCG(1, 2)), rows: make(map[int64][]int32)}
	target, err := capturer.AddModel(routecap.RoleTarget, "target")
	must(t, err)
	draft, err := capturer.AddModel(routecap.RoleDraft, "draft")
	must(t, err)
	for _, layer := range config.LayerIDs {
		tap, err := target.AddTap(layer, routecap.TapOptions{})
		must(t, err)
		s.taps = append(s.taps, tap)
		tap, err = draft.AddTap(layer, routecap.TapOptions{})
		must(t, err)
		s.drafts = append(s.drafts, tap)
	}
	must(t, capturer.Seal())
	return s
}

// ids are random rows [tokens, K] without an id twice in a row.
func (s *scene) ids(tokens int) []int32 {
	k := int(s.config.TopK)
	ids := make([]int32, 0, tokens*k)
	for range tokens {
		for _, id := range s.random.Perm(int(s.config.NumExperts))[:k] {
			ids = append(ids, int32(id))
		}
	}
	return ids
}

// capture hands a forward's rows over, the draft's in between, and returns them token by token.
func (s *scene) capture(tokens int) [][]int32 {
	s.t.Helper()
	rows := make([][]int32, tokens)
	k := int(s.config.TopK)
	for index, tap := range s.taps {
		ids := s.ids(tokens)
		must(s.t, tap.Capture(routecap.Capture{IDs: routecap.ArrayOf(ids), Columns: s.config.TopK, Tokens: int64(tokens)}))
		must(s.t, s.drafts[index].Capture(routecap.Capture{IDs: routecap.ArrayOf(s.ids(tokens)), Columns: s.config.TopK, Tokens: int64(tokens)}))
		for token := range rows {
			rows[token] = append(rows[token], ids[token*k:(token+1)*k]...)
		}
	}
	return rows
}

// forward captures, ends and stores a forward of all rows, and notes in the oracle what the slots hold from then on.
func (s *scene) forward(slots []int64) routecap.Summary {
	s.t.Helper()
	rows := s.capture(len(slots))
	output, err := s.capturer.EndForward(routecap.Forward{Tokens: int64(len(slots)), Slots: routecap.ArrayOf(slots)})
	must(s.t, err)
	defer output.Close()
	must(s.t, output.CopyToHost(0))
	must(s.t, output.Wait(context.Background()))
	summary, err := output.Finalize()
	must(s.t, err)
	for token, slot := range slots {
		s.rows[slot] = rows[token]
	}
	return summary
}

// expect compares a record with the oracle's rows of slots.
func (s *scene) expect(record *routecap.Record, slots []int64) {
	s.t.Helper()
	position := 0
	for row, err := range record.Rows() {
		must(s.t, err)
		want, there := s.rows[slots[position]]
		if row.Position != int64(position) || row.Valid != there {
			s.t.Fatalf("row %d is at position %d, valid %v; want valid %v", position, row.Position, row.Valid, there)
		}
		for column := range s.config.LayerIDs {
			got := row.Experts(column)
			if !there {
				if got != nil {
					s.t.Fatalf("row %d is missing and has experts %v", position, got)
				}
				continue
			}
			k := int(s.config.TopK)
			for index, id := range want[column*k : (column+1)*k] {
				if got[index] != id {
					s.t.Fatalf("row %d, column %d: experts %v, want %v", position, column, got, want[column*k:(column+1)*k])
				}
			}
		}
		position++
	}
	if position != len(slots) {
		s.t.Fatalf("the record has %d rows, want %d", position, len(slots))
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
