// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	routecap "github.com/routecap/routecap/bindings/go"
)

// What a request may ask for.
const (
	longestPrompt = 1 << 15
	mostTokens    = 1 << 12
	mostChoices   = 16
)

// What a stand-in engine can be asked to do wrong; "" is nothing.
var faults = []string{"", "truncated", "base64", "huge", "absent", "body"}

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

// What an answer may have in bytes follows from what was asked for: an id is at most an int64 in base64, a token has its number and what stands around it,
// and an envelope is short.
const (
	bytesPerID    = 11
	bytesPerToken = 512
	bytesAround   = 64 << 10
)

// rows is how many rows a choice's answer has.
func (c call) rows() int64 { return int64(len(c.prompt)) - c.start + int64(c.maxTokens) - 1 }

// longestAnswer is the most bytes that an answer to the call can have, whole or as a stream. No server makes the gateway hold more.
func (c call) longestAnswer() int64 {
	return bytesAround + int64(c.choices)*(c.rows()*numLayers*topK*bytesPerID+int64(c.maxTokens)*bytesPerToken)
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
	fields() fields
	// Whether a stream carries each delta's rows with it; otherwise all rows of a choice come with its last part.
	streamsRows() bool
}

// fields are the names that a form has for what a request asks; sampling is the object that some of them lie in, or "".
type fields struct {
	prompt, sampling, maxTokens, start string
	// Output tokens where none are asked for, as the server has it.
	otherwise int64
}

var forms = map[string]form{"sglang": sglang{}, "vllm": openAI{"/v1/completions", routecap.FormatVLLM}, "prime": openAI{"/prime", routecap.FormatPrime}}

// upstreams are the forms of servers behind the gateway: the clients' forms, and one that no client asks for.
var upstreams = map[string]form{"routecap": records{openAI{"/v1/completions", routecap.FormatFrameBase64}}}

func init() {
	maps.Copy(upstreams, forms)
}

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
	if len(field) == 0 {
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

// readCall reads a request and refuses what no server would do. Fields that it does not know are the servers' business.
func readCall(body []byte, names fields) (call, error) {
	value, wrong := parsed("request", body)
	if wrong != nil {
		return call{}, wrong
	}
	read := membersOf("the request", "", value, &wrong)
	sampling := read
	if names.sampling != "" {
		sampling = read.object(names.sampling)
	}
	c := call{prompt: read.tokens(names.prompt, 1, longestPrompt)}
	c.maxTokens = int(sampling.whole(names.maxTokens, 1, mostTokens, names.otherwise))
	c.choices = int(sampling.whole("n", 1, mostChoices, 1))
	c.stream = read.flag("stream")
	c.start = read.whole(names.start, 0, int64(len(c.prompt)), 0)
	read.flag("return_routed_experts")
	if c.fault = read.text("fault"); !slices.Contains(faults, c.fault) {
		read.refuse("fault is %q, allowed are %s", clipped(c.fault), strings.Join(faults[1:], ", "))
	}
	return c, wrong
}

// readChoices reads an answer's choices: of a list, or of one.
func readChoices(list []json.RawMessage, before string, wrong *error, one func(at int64, read members) choice) []choice {
	choices := make([]choice, len(list))
	for at, value := range list {
		if *wrong != nil {
			break
		}
		name := fmt.Sprintf("%s[%d]", before, at)
		choices[at] = one(int64(at), membersOf(name, name+".", value, wrong))
	}
	return choices
}

// SGLang's /generate.
type sglang struct{}

type sglangCall struct {
	InputIDs []int64 `json:"input_ids"`
	Sampling struct {
		MaxNewTokens int  `json:"max_new_tokens"`
		N            *int `json:"n,omitempty"`
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
func (sglang) fields() fields {
	return fields{"input_ids", "sampling_params", "max_new_tokens", "routed_experts_start_len", 128}
}

func (s sglang) readCall(body []byte) (call, error) { return readCall(body, s.fields()) }

func (sglang) writeCall(c call) any {
	write := sglangCall{InputIDs: c.prompt, Stream: c.stream, Return: true, Start: c.start, Fault: c.fault}
	write.Sampling.MaxNewTokens, write.Sampling.N = c.maxTokens, &c.choices
	return write
}

// readAnswer takes one choice or a list of them. A choice that does not say which one it is has its place in the list.
func (s sglang) readAnswer(body []byte) ([]choice, error) {
	value, wrong := parsed("answer", body)
	if wrong != nil {
		return nil, wrong
	}
	one := func(at int64, read members) choice {
		meta := read.object("meta_info")
		return choice{int(read.whole("index", 0, mostChoices-1, at)), read.tokens("output_ids", 0, mostTokens), meta.rows("routed_experts", false),
			meta.whole(s.fields().start, 0, largest, 0)}
	}
	var choices []choice
	if value[0] == '[' {
		var list []json.RawMessage
		wrong = json.Unmarshal(value, &list)
		choices = readChoices(list, "", &wrong, one)
	} else if value[0] != '{' {
		wrong = fmt.Errorf("the answer is %s, not an object or a list", shown(value))
	} else {
		choices = []choice{one(0, membersOf("the answer", "", value, &wrong))}
	}
	return choices, wrong
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
	N         *int    `json:"n,omitempty"`
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

func (o openAI) fields() fields {
	return fields{"prompt", "", "max_tokens", "routed_experts_prompt_start", 16}
}

func (o openAI) readCall(body []byte) (call, error) { return readCall(body, o.fields()) }

func (o openAI) writeCall(c call) any {
	return openAICall{c.prompt, c.maxTokens, &c.choices, c.stream, c.start, c.fault}
}

func (o openAI) readAnswer(body []byte) ([]choice, error) {
	value, wrong := parsed("answer", body)
	if wrong != nil {
		return nil, wrong
	}
	read := membersOf("the answer", "", value, &wrong)
	return readChoices(read.list("choices"), "choices", &wrong, func(at int64, read members) choice {
		return choice{int(read.whole("index", 0, mostChoices-1, at)), read.tokens("token_ids", 0, mostTokens),
			read.rows("routed_experts", o.rows == routecap.FormatPrime), read.whole(o.fields().start, 0, largest, 0)}
	}), wrong
}

func (o openAI) writeAnswer(choices []choice, _ call) any {
	write := openAIAnswer{make([]openAIChoice, len(choices))}
	for at, one := range choices {
		write.Choices[at] = openAIChoice{one.index, one.tokens, one.routing, one.start}
	}
	return write
}

// records is vLLM's completions endpoint with routecap attached to its engine: a request opts in, and a choice's rows come as a frame, which says itself
// what they are and which of them are missing.
type records struct{ openAI }

type recordsCall struct {
	openAICall
	ReturnTokenIDs bool           `json:"return_token_ids"`
	Arguments      map[string]int `json:"vllm_xargs"`
}

func (r records) writeCall(c call) any {
	return recordsCall{r.openAI.writeCall(c).(openAICall), true, map[string]int{"routecap": 1}}
}
