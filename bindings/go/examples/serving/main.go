// SPDX-License-Identifier: Apache-2.0

// A serving process in small: serving FILE captures a request with a draft model present, finalizes in the background, and writes the request's rows as
// a frame. It prints what the router chose, so that whoever reads the file can compare.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	routecap "github.com/routecap/routecap/bindings/go"
)

var layers = []int32{3, 4, 9}

const topK = 4

// route stands in for a router: K of 64 experts for a token in a layer.
func route(layer int32, token int64) [topK]int32 {
	var experts [topK]int32
	for k := range experts {
		experts[k] = (17*layer + 5*int32(token) + 11*int32(k)) % 64
	}
	return experts
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: serving FILE")
	}
	if err := serve(context.Background(), os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func serve(ctx context.Context, path string) error {
	// At start-up: a target, and a draft whose layer numbers collide with the target's.
	capturer, err := routecap.NewCapturer(routecap.Config{NumExperts: 64, TopK: topK, LayerIDs: layers, ChunkedPrefillSize: 16, NumSlots: 256})
	if err != nil {
		return err
	}
	defer capturer.Close()
	var taps [2][]*routecap.Tap
	for role, name := range []string{"target", "draft"} {
		model, err := capturer.AddModel(routecap.Role(role), name)
		if err != nil {
			return err
		}
		for _, layer := range layers {
			tap, err := model.AddTap(layer, routecap.TapOptions{})
			if err != nil {
				return err
			}
			taps[role] = append(taps[role], tap)
		}
	}
	if err := capturer.Seal(); err != nil {
		return err
	}

	// In the background: outputs go to the store, away from the engine's goroutine.
	outputs, settled := make(chan *routecap.Output, 2), make(chan error, 1)
	go func() { settled <- finalize(ctx, outputs) }()

	// The engine: a prompt of 6 tokens in one forward, then one token at a time. Token i has KV slot 100 + 3i.
	const prompt, tokens = 6, 12
	var slots []int64
	for first, count := int64(0), int64(prompt); first < tokens-1; first, count = first+count, 1 {
		for layer, number := range layers {
			ids := make([]int32, 0, count*topK)
			for token := first; token < first+count; token++ {
				experts := route(number, token)
				ids = append(ids, experts[:]...)
			}
			capture := routecap.Capture{IDs: routecap.ArrayOf(ids), Columns: topK, Tokens: count}
			if err := taps[routecap.RoleTarget][layer].Capture(capture); err != nil {
				return err
			}
			// The draft runs too; its calls are counted and write nothing.
			if err := taps[routecap.RoleDraft][layer].Capture(routecap.Capture{IDs: routecap.ArrayOf(make([]int32, topK)), Columns: topK, Tokens: 1}); err != nil {
				return err
			}
		}
		for token := first; token < first+count; token++ {
			slots = append(slots, 100+3*token)
		}
		output, err := capturer.EndForwardContext(ctx, routecap.Forward{Tokens: count, Slots: routecap.ArrayOf(slots[first:])})
		if err != nil {
			return err
		}
		select {
		case outputs <- output:
		case err := <-settled:
			return err
		}
	}
	close(outputs)
	if err := <-settled; err != nil {
		return err
	}

	// The request is over: its rows, by its slots. The last token was never an input and has none.
	record, err := capturer.ReadContext(ctx, routecap.Read{Slots: routecap.ArrayOf(slots), Tokens: tokens})
	if err != nil {
		return err
	}
	defer record.Close()
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if _, err := record.WriteTo(file); err != nil {
		return err
	}
	for token := range int64(tokens - 1) {
		for _, layer := range layers {
			fmt.Printf("token %d, layer %d: %v\n", token, layer, route(layer, token))
		}
	}
	return file.Close()
}

func finalize(ctx context.Context, outputs <-chan *routecap.Output) error {
	for output := range outputs {
		if err := output.CopyToHost(0); err != nil {
			return err
		}
		if err := output.Wait(ctx); err != nil {
			return err
		}
		summary, err := output.Finalize()
		if err != nil {
			return err
		}
		if summary.RowsBad > 0 {
			return fmt.Errorf("forward %d: %d bad rows, the first %v in layer %d", summary.Sequence, summary.RowsBad, summary.FirstBadFault, summary.FirstBadLayer)
		}
		output.Close()
	}
	return nil
}
