// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"

	routecap "github.com/routecap/routecap/bindings/go"
)

type gateway struct {
	prefill, decode server
	times           times
	client          *http.Client
	counts          struct{ requests, streams, rows, badRequests, badUpstreams atomic.Int64 }
}

// stats are what GET /stats says.
type stats struct {
	Requests     int64 `json:"requests"`
	Streams      int64 `json:"streams"`
	Rows         int64 `json:"rows"`
	BadRequests  int64 `json:"bad_requests"`
	BadUpstreams int64 `json:"bad_upstreams"`
	LiveHandles  int64 `json:"live_handles"`
}

func newGateway(prefill, decode server, within times) http.Handler {
	g := &gateway{prefill: prefill, decode: decode, times: within, client: client()}
	routes := map[string]route{"/stats": {http.MethodGet, func(writer http.ResponseWriter, _ *http.Request) {
		sendJSON(writer, http.StatusOK, stats{g.counts.requests.Load(), g.counts.streams.Load(), g.counts.rows.Load(), g.counts.badRequests.Load(),
			g.counts.badUpstreams.Load(), routecap.LiveHandles()})
	}}}
	for _, f := range forms {
		routes[f.path()] = route{http.MethodPost, func(writer http.ResponseWriter, request *http.Request) { g.serve(writer, request, f) }}
	}
	return routed(routes, within)
}

func (g *gateway) upstream(name string, err error) error { return upstream(name, err, g.times.answer) }

func (g *gateway) serve(writer http.ResponseWriter, request *http.Request, f form) {
	g.counts.requests.Add(1)
	sent := false
	err := g.answer(writer, request, f, &sent)
	if err == nil {
		return
	}
	status := statusOf(err)
	if status < 500 {
		g.counts.badRequests.Add(1)
	} else {
		g.counts.badUpstreams.Add(1)
	}
	if sent {
		// The status line is gone: a stream says it in an event.
		sendEvent(writer, errorBody(status, err.Error()))
		return
	}
	sendJSON(writer, status, errorBody(status, err.Error()))
}

func (g *gateway) answer(writer http.ResponseWriter, request *http.Request, f form, sent *bool) error {
	body, err := readBody(writer, request, g.times)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(request.Context(), g.times.answer)
	defer cancel()
	c, err := f.readCall(body)
	if err != nil {
		return refusal{http.StatusBadRequest, err}
	}
	boundary := int64(len(c.prompt))
	if c.start != 0 {
		return refusal{http.StatusBadRequest, fmt.Errorf("%s is %d; this gateway gives all rows, from 0", f.fields().start, c.start)}
	}

	// The prefill server forwards the prompt: its rows are those of every choice. It is asked for one token, which the decode server repeats.
	first, err := g.ask(ctx, g.prefill, call{prompt: c.prompt, maxTokens: 1, choices: 1})
	if err != nil {
		return g.upstream("prefill", err)
	}
	prompt, err := decodeRows(g.prefill.form, first[0].routing, 0, boundary)
	if err != nil {
		return g.upstream("prefill", err)
	}
	defer prompt.Close()

	c.start = boundary
	if c.stream {
		return g.stream(ctx, writer, f, c, prompt, sent)
	}
	choices, err := g.ask(ctx, g.decode, c)
	if err != nil {
		return g.upstream("decode", err)
	}
	for at := range choices {
		if err := g.join(f, prompt, &choices[at], boundary); err != nil {
			return g.upstream("decode", err)
		}
	}
	sendJSON(writer, http.StatusOK, f.writeAnswer(choices, c))
	return nil
}

// join puts the prompt's rows before a choice's own and writes both in the client's form (R40).
func (g *gateway) join(f form, prompt *routecap.Record, one *choice, boundary int64) error {
	decode, err := decodeRows(g.decode.form, one.routing, boundary, int64(len(one.tokens)-1))
	if err != nil {
		return fmt.Errorf("choice %d: %w", one.index, err)
	}
	defer decode.Close()
	merged, err := prompt.Merge(decode, boundary)
	if err != nil {
		return fmt.Errorf("choice %d: %w", one.index, err)
	}
	defer merged.Close()
	return g.write(f, merged, one)
}

// write gives a choice a record's rows.
func (g *gateway) write(f form, record *routecap.Record, one *choice) error {
	info, err := record.Info()
	if err != nil {
		return err
	}
	if info.RowsValid != info.Rows {
		return fmt.Errorf("choice %d: %d of %d rows are missing", one.index, info.Rows-info.RowsValid, info.Rows)
	}
	one.start = info.Start
	one.routing, err = encodeRows(f, record)
	g.counts.rows.Add(info.Rows)
	return err
}

// growing is a streamed choice: its rows so far, and where the client has got to.
type growing struct {
	rows   *routecap.Record
	tokens int64
	sent   int64
}

// stream passes a streamed answer on: every delta is checked and appended (R5), and goes out with its rows, or all rows go out with the last part of
// each choice, as the client's form has it.
func (g *gateway) stream(ctx context.Context, writer http.ResponseWriter, f form, c call, prompt *routecap.Record, sent *bool) error {
	g.counts.streams.Add(1)
	response, err := g.post(ctx, g.decode, c)
	if err != nil {
		return g.upstream("decode", err)
	}
	defer response.Body.Close()
	open := make([]growing, c.choices)
	defer func() {
		for _, one := range open {
			if one.rows != nil {
				one.rows.Close()
			}
		}
	}()
	lines := bufio.NewScanner(&limited{response.Body, c, 0})
	lines.Buffer(make([]byte, 1<<12), int(c.longestAnswer())+1)
	// Behind a failure a Scanner gives what it has of a line.
	for lines.Scan() && lines.Err() == nil {
		data, found := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
		if !found {
			continue
		}
		if string(data) == "[DONE]" {
			for at, one := range open {
				if one.tokens != int64(c.maxTokens) || one.sent != c.start+one.tokens-1 {
					return g.upstream("decode", fmt.Errorf("choice %d ended after %d of %d tokens and row %d", at, one.tokens, c.maxTokens, one.sent))
				}
			}
			_, err := io.WriteString(writer, "data: [DONE]\n\n")
			return err
		}
		parts, err := g.decode.form.readAnswer(data)
		if err != nil {
			return g.upstream("decode", err)
		}
		// Such an event carries usage counts or keeps the connection open; a client's form may have no way to write it.
		if len(parts) == 0 {
			continue
		}
		for at := range parts {
			if err := g.grow(f, c, prompt, open, &parts[at]); err != nil {
				return g.upstream("decode", err)
			}
		}
		*sent = true
		if err := sendEvent(writer, f.writeAnswer(parts, c)); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return g.upstream("decode", err)
	}
	return g.upstream("decode", errors.New("the stream ended before its end"))
}

// grow appends a delta to its choice and replaces its rows by those that the client is to get with it.
func (g *gateway) grow(f form, c call, prompt *routecap.Record, open []growing, part *choice) error {
	if part.index >= len(open) {
		return fmt.Errorf("choice %d came, asked for were %d", part.index, len(open))
	}
	one := &open[part.index]
	one.tokens += int64(len(part.tokens))
	if one.tokens > int64(c.maxTokens) {
		return fmt.Errorf("choice %d has %d tokens, asked for were %d", part.index, one.tokens, c.maxTokens)
	}
	end := c.start + one.tokens - 1
	if len(part.routing) == 0 {
		if g.decode.form.streamsRows() || one.tokens == int64(c.maxTokens) {
			return fmt.Errorf("choice %d: the answer has no routed_experts", part.index)
		}
		part.start = 0
		return nil
	}
	rows := prompt
	begin := c.start
	if one.rows != nil {
		info, err := one.rows.Info()
		if err != nil {
			return err
		}
		rows, begin = one.rows, info.Start+info.Rows
	}
	delta, err := decodeRows(g.decode.form, part.routing, begin, end-begin)
	if err != nil {
		return fmt.Errorf("choice %d: %w", part.index, err)
	}
	defer delta.Close()
	appended, err := rows.Append(delta, routecap.OverlapRefuse)
	if err != nil {
		return fmt.Errorf("choice %d: %w", part.index, err)
	}
	if one.rows != nil {
		one.rows.Close()
	}
	one.rows = appended
	part.routing, part.start = nil, 0
	if !f.streamsRows() && one.tokens < int64(c.maxTokens) {
		return nil
	}
	fresh, err := appended.Slice(one.sent, end)
	if err != nil {
		return err
	}
	defer fresh.Close()
	one.sent = end
	return g.write(f, fresh, part)
}
