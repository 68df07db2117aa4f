// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"log"

	routecap "github.com/routecap/routecap/bindings/go"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	// Once, at start-up: two captured layers of 256 experts, 2 chosen per token, and a store of 1024 KV slots.
	layers := []int32{3, 4}
	capturer, err := routecap.NewCapturer(routecap.Config{NumExperts: 256, TopK: 2, LayerIDs: layers, ChunkedPrefillSize: 128, NumSlots: 1024})
	if err != nil {
		return err
	}
	defer capturer.Close()
	target, err := capturer.AddModel(routecap.RoleTarget, "target")
	if err != nil {
		return err
	}
	var taps [2]*routecap.Tap
	for i, layer := range layers {
		if taps[i], err = target.AddTap(layer, routecap.TapOptions{}); err != nil {
			return err
		}
	}
	if err := capturer.Seal(); err != nil {
		return err
	}

	// Every forward: each layer hands over its router's top-k ids [tokens, K]; then the rows go to the tokens' KV slots.
	topk := [2][]int32{{17, 4, 255, 0, 9, 30}, {1, 2, 3, 4, 5, 6}}
	slots := []int64{40, 41, 7}
	for i, tap := range taps {
		if err := tap.Capture(routecap.Capture{IDs: routecap.ArrayOf(topk[i]), Columns: 2, Tokens: 3}); err != nil {
			return err
		}
	}
	output, err := capturer.EndForward(routecap.Forward{Tokens: 3, Slots: routecap.ArrayOf(slots)})
	if err != nil {
		return err
	}
	defer output.Close()

	// Later, on any goroutine: the rows reach the store.
	if err := output.CopyToHost(0); err != nil {
		return err
	}
	if err := output.Wait(ctx); err != nil {
		return err
	}
	if _, err := output.Finalize(); err != nil {
		return err
	}

	// When the request ends: a request of 4 tokens has 3 rows, its last token was never an input.
	record, err := capturer.Read(routecap.Read{Slots: routecap.ArrayOf(slots), Tokens: 4})
	if err != nil {
		return err
	}
	defer record.Close()
	for row, err := range record.Rows() {
		if err != nil {
			return err
		}
		first, second := row.Experts(0), row.Experts(1)
		fmt.Printf("token %d: layer 3 -> %d %d, layer 4 -> %d %d\n", row.Position, first[0], first[1], second[0], second[1])
	}
	return nil
}
