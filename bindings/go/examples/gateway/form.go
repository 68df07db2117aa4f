// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"

	routecap "github.com/routecap/routecap/bindings/go"
)

// The model that all of this is about.
const (
	numExperts = 128
	topK       = 4
	numLayers  = 6
)

// call is a request in nobody's form.
type call struct {
	prompt    []int64
	maxTokens int
	choices   int
	stream    bool
	// Token position of the first row that is wanted.
	start int64
	// Asks a stand-in engine to answer wrongly; a real one knows no such thing.
	fault string
}

// choice is a part of an answer: output tokens and the rows that came with them.
type choice struct {
	index   int
	tokens  []int64
	routing json.RawMessage
	start   int64
}

// form is one server's way of writing requests, answers and rows.
type form interface {
	path() string
	readCall(body []byte) (call, error)
	writeCall(call) any
	readAnswer(body []byte) ([]choice, error)
	writeAnswer(choices []choice, c call) any
	wire() routecap.Format
	// Whether a stream carries each delta's rows with it; otherwise all rows of a choice come with its last part.
	streamsRows() bool
}

var forms = map[string]form{"sglang": sglang{}, "vllm": openAI{"/v1/completions", routecap.FormatVLLM}, "prime": openAI{"/prime", routecap.FormatPrime}}

// encodeRows is a record as the value of a form's JSON field.
func encodeRows(f form, record *routecap.Record) (json.RawMessage, error) {
	text, err := record.Encode(f.wire(), routecap.EncodeOptions{})
	if err != nil || f.wire() == routecap.FormatPrime {
		return text, err
	}
	return json.Marshal(string(text))
}

// decodeRows reads a form's JSON field, and refuses what is not rows [start, start+rows) of this model.
func decodeRows(f form, field json.RawMessage, start, rows int64) (*routecap.Record, error) {
	if len(field) == 0 || string(field) == "null" {
		return nil, errors.New("the answer has no routed_experts")
	}
	data := []byte(field)
	if f.wire() != routecap.FormatPrime {
		var text string
		if err := json.Unmarshal(field, &text); err != nil {
			return nil, fmt.Errorf("routed_experts: %w", err)
		}
		data = []byte(text)
	}
	return routecap.Decode(f.wire(), data, routecap.DecodeHints{Start: &start, Rows: &rows, NumExperts: numExperts, TopK: topK, NumLayers: numLayers})
}

func checked(c call, err error) (call, error) {
	switch {
	case err != nil:
		return c, err
	case len(c.prompt) == 0 || len(c.prompt) > 1<<15:
		return c, fmt.Errorf("the prompt has %d tokens, allowed are 1 .. %d", len(c.prompt), 1<<15)
	case c.maxTokens < 1 || c.maxTokens > 1<<12:
		return c, fmt.Errorf("%d tokens are asked for, allowed are 1 .. %d", c.maxTokens, 1<<12)
	case c.choices < 0 || c.choices > 16:
		return c, fmt.Errorf("%d choices are asked for, allowed are 1 .. 16", c.choices)
	case c.start < 0 || c.start > int64(len(c.prompt)):
		return c, fmt.Errorf("rows are asked for from %d, allowed are 0 .. %d", c.start, len(c.prompt))
	}
	c.choices = max(1, c.choices)
	return c, nil
}

// SGLang's /generate.
type sglang struct{}

type sglangCall struct {
	InputIDs []int64 `json:"input_ids"`
	Sampling struct {
		MaxNewTokens int `json:"max_new_tokens"`
		N            int `json:"n,omitempty"`
	} `json:"sampling_params"`
	Stream bool   `json:"stream,omitempty"`
	Return bool   `json:"return_routed_experts"`
	Start  int64  `json:"routed_experts_start_len,omitempty"`
	Fault  string `json:"fault,omitempty"`
}

type sglangChoice struct {
	Index     int     `json:"index"`
	OutputIDs []int64 `json:"output_ids"`
	Meta      struct {
		PromptTokens     int             `json:"prompt_tokens"`
		CompletionTokens int             `json:"completion_tokens"`
		RoutedExperts    json.RawMessage `json:"routed_experts,omitempty"`
		Start            int64           `json:"routed_experts_start_len"`
	} `json:"meta_info"`
}

func (sglang) path() string          { return "/generate" }
func (sglang) wire() routecap.Format { return routecap.FormatSGLang }
func (sglang) streamsRows() bool     { return true }

func (sglang) readCall(body []byte) (call, error) {
	var read sglangCall
	err := json.Unmarshal(body, &read)
	return checked(call{read.InputIDs, read.Sampling.MaxNewTokens, read.Sampling.N, read.Stream, read.Start, read.Fault}, err)
}

func (sglang) writeCall(c call) any {
	write := sglangCall{InputIDs: c.prompt, Stream: c.stream, Return: true, Start: c.start, Fault: c.fault}
	write.Sampling.MaxNewTokens, write.Sampling.N = c.maxTokens, c.choices
	return write
}

func (sglang) readAnswer(body []byte) ([]choice, error) {
	var read []sglangChoice
	if len(body) > 0 && body[0] != '[' {
		read = make([]sglangChoice, 1)
		if err := json.Unmarshal(body, &read[0]); err != nil {
			return nil, err
		}
	} else if err := json.Unmarshal(body, &read); err != nil {
		return nil, err
	}
	choices := make([]choice, len(read))
	for at, one := range read {
		choices[at] = choice{one.Index, one.OutputIDs, one.Meta.RoutedExperts, one.Meta.Start}
	}
	return choices, nil
}

func (sglang) writeAnswer(choices []choice, c call) any {
	write := make([]sglangChoice, len(choices))
	for at, one := range choices {
		write[at].Index, write[at].OutputIDs = one.index, one.tokens
		write[at].Meta.PromptTokens, write[at].Meta.CompletionTokens = len(c.prompt), len(one.tokens)
		write[at].Meta.RoutedExperts, write[at].Meta.Start = one.routing, one.start
	}
	if len(write) == 1 && (c.choices == 1 || c.stream) {
		return write[0]
	}
	return write
}

// The OpenAI-like endpoints of vLLM and prime, which differ in how rows are written.
type openAI struct {
	endpoint string
	rows     routecap.Format
}

type openAICall struct {
	Prompt    []int64 `json:"prompt"`
	MaxTokens int     `json:"max_tokens"`
	N         int     `json:"n,omitempty"`
	Stream    bool    `json:"stream,omitempty"`
	Start     int64   `json:"routed_experts_prompt_start,omitempty"`
	Fault     string  `json:"fault,omitempty"`
}

type openAIAnswer struct {
	Choices []openAIChoice `json:"choices"`
}

type openAIChoice struct {
	Index         int             `json:"index"`
	TokenIDs      []int64         `json:"token_ids"`
	RoutedExperts json.RawMessage `json:"routed_experts,omitempty"`
	Start         int64           `json:"routed_experts_prompt_start"`
}

func (o openAI) path() string          { return o.endpoint }
func (o openAI) wire() routecap.Format { return o.rows }
func (o openAI) streamsRows() bool     { return o.rows == routecap.FormatPrime }

func (o openAI) readCall(body []byte) (call, error) {
	var read openAICall
	err := json.Unmarshal(body, &read)
	return checked(call{read.Prompt, read.MaxTokens, read.N, read.Stream, read.Start, read.Fault}, err)
}

func (o openAI) writeCall(c call) any {
	return openAICall{c.prompt, c.maxTokens, c.choices, c.stream, c.start, c.fault}
}

func (o openAI) readAnswer(body []byte) ([]choice, error) {
	var read openAIAnswer
	if err := json.Unmarshal(body, &read); err != nil {
		return nil, err
	}
	choices := make([]choice, len(read.Choices))
	for at, one := range read.Choices {
		choices[at] = choice{one.Index, one.TokenIDs, one.RoutedExperts, one.Start}
	}
	return choices, nil
}

func (o openAI) writeAnswer(choices []choice, _ call) any {
	write := openAIAnswer{make([]openAIChoice, len(choices))}
	for at, one := range choices {
		write.Choices[at] = openAIChoice{one.index, one.tokens, one.routing, one.start}
	}
	return write
}
