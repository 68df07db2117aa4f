// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"

	routecap "github.com/routecap/routecap/bindings/go"
)

// engine stands in for an inference server: tokens and routes follow from the prompt, so that whoever asks can check the answer.
type engine struct{ form form }

func newEngine(f form) http.Handler {
	return routed(map[string]route{f.path(): {http.MethodPost, engine{f}.ServeHTTP}}, usualTimes)
}

// tokensOf are the output tokens of a choice.
func tokensOf(prompt []int64, index, count int) []int64 {
	tokens := make([]int64, count)
	previous := prompt[len(prompt)-1]
	for at := range tokens {
		previous = (previous*31 + int64(at) + int64(7*index) + 3) % 50000
		tokens[at] = previous
	}
	return tokens
}

// routesOf are the ids [len(tokens), numLayers, topK] of tokens that stand from a position on.
func routesOf(tokens []int64, position int64) []uint8 {
	ids := make([]uint8, 0, len(tokens)*numLayers*topK)
	for at, token := range tokens {
		for layer := range int64(numLayers) {
			for k := range int64(topK) {
				ids = append(ids, uint8((token*13+(position+int64(at))*5+layer*29+k*31)%numExperts))
			}
		}
	}
	return ids
}

func recordOf(tokens []int64, position int64) (*routecap.Record, error) {
	layers := make([]int32, numLayers)
	for layer := range layers {
		layers[layer] = int32(layer)
	}
	return routecap.NewRecord(routecap.RecordConfig{Start: position, Rows: int64(len(tokens)), NumExperts: numExperts, TopK: topK, LayerIDs: layers,
		IDs: routecap.ArrayOf(routesOf(tokens, position))})
}

func (e engine) ServeHTTP(writer http.ResponseWriter, request *http.Request) {
	if err := e.answer(writer, request); err != nil {
		sendJSON(writer, statusOf(err), errorBody(statusOf(err), err.Error()))
	}
}

func (e engine) answer(writer http.ResponseWriter, request *http.Request) error {
	body, err := readBody(writer, request, usualTimes)
	if err != nil {
		return err
	}
	c, err := e.form.readCall(body)
	if err != nil {
		return refusal{http.StatusBadRequest, err}
	}
	var parts [][]choice
	for index := range c.choices {
		output := tokensOf(c.prompt, index, c.maxTokens)
		// Every token but the last was an input.
		inputs := append(append([]int64{}, c.prompt...), output[:len(output)-1]...)
		first, step := c.start, len(output)
		if c.stream {
			step = 3
		}
		for at := 0; at < len(output); at += step {
			end := min(at+step, len(output))
			part := choice{index: index, tokens: output[at:end], start: first}
			last := int64(len(c.prompt) + end - 1)
			if e.form.streamsRows() || end == len(output) {
				if part.routing, err = e.rows(inputs[first:last], first); err != nil {
					return err
				}
				first = last
			}
			part.routing = spoil(c.fault, e.form, part.routing)
			parts = append(parts, []choice{part})
		}
	}
	if c.stream {
		for _, part := range parts {
			sendEvent(writer, e.form.writeAnswer(part, c))
		}
		io.WriteString(writer, "data: [DONE]\n\n")
		return nil
	}
	var whole []choice
	for _, part := range parts {
		whole = append(whole, part...)
	}
	text, _ := json.Marshal(e.form.writeAnswer(whole, c))
	if c.fault == "body" {
		text = text[:len(text)/2]
	}
	writer.Header().Set("Content-Type", "application/json")
	writer.Write(text)
	return nil
}

func (e engine) rows(tokens []int64, position int64) (json.RawMessage, error) {
	record, err := recordOf(tokens, position)
	if err != nil {
		return nil, err
	}
	defer record.Close()
	return encodeRows(e.form, record)
}

// spoil makes rows wrong in a way that has been seen.
func spoil(fault string, f form, routing json.RawMessage) json.RawMessage {
	if len(routing) == 0 {
		return routing
	}
	switch fault {
	case "truncated":
		half, _ := json.Marshal("AAAA")
		if f.wire() == routecap.FormatPrime {
			return json.RawMessage(`{"data":"AAAA","shape":[9,6,4],"start":0,"dtype":"uint8"}`)
		}
		return half
	case "base64":
		return bytes.Replace(routing, []byte("A"), []byte("!"), 1)
	case "huge":
		if f.wire() == routecap.FormatPrime {
			return json.RawMessage(`{"data":"AAAA","shape":[999999999999,6,4],"start":0,"dtype":"uint8"}`)
		}
		// A .npy that says it has a million million rows.
		return json.RawMessage(`"k05VTVBZAQB2AHsnZGVzY3InOiAnfHUxJywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDk5OTk5OTk5OTk5OSwgNiwgNCksIH0gICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAo="`)
	case "absent":
		return nil
	}
	return routing
}
