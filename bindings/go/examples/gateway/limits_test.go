// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestNumberOfChoices(t *testing.T) {
	for name, body := range map[string]string{
		"sglang": `{"input_ids":[1,2],"sampling_params":{"max_new_tokens":3%s}}`,
		"vllm":   `{"prompt":[1,2],"max_tokens":3%s}`,
		"prime":  `{"prompt":[1,2],"max_tokens":3%s}`,
	} {
		for n, want := range map[string]int{``: 1, `,"n":null`: 1, `,"n":1`: 1, `,"n":16`: 16} {
			if c, err := forms[name].readCall(fmt.Appendf(nil, body, n)); err != nil || c.choices != want {
				t.Errorf("%s with %q: %d choices, %v, want %d", name, n, c.choices, err, want)
			}
		}
		for _, n := range []int{0, -1, 17} {
			want := fmt.Sprintf("n is %d, allowed are whole numbers 1 .. 16", n)
			if _, err := forms[name].readCall(fmt.Appendf(nil, body, fmt.Sprintf(`,"n":%d`, n))); err == nil || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("%s: %v, want %s", name, err, want)
			}
		}
	}
}

// endless is an engine that repeats something until nobody reads it any more. It counts its bytes.
type endless struct {
	begin, repeated string
	wrote           atomic.Int64
	over            chan struct{}
}

func newEndless(begin, repeated string) *endless {
	return &endless{begin: begin, repeated: strings.Repeat(repeated, 1+4096/len(repeated)), over: make(chan struct{})}
}

func (e *endless) ServeHTTP(writer http.ResponseWriter, request *http.Request) {
	defer close(e.over)
	io.Copy(io.Discard, request.Body)
	io.WriteString(writer, e.begin)
	for {
		wrote, err := io.WriteString(writer, e.repeated)
		e.wrote.Add(int64(wrote))
		if err != nil || request.Context().Err() != nil {
			return
		}
	}
}

// What loopback holds between two processes that nobody has read.
const inFlight = 16 << 20

func TestEndlessAnswersAreCutOff(t *testing.T) {
	sglang, vllm := forms["sglang"], forms["vllm"]
	good := server{inProcess(t, engine{sglang}), sglang}
	// 3 rows of the prompt, or 7 of the output, of 6 * 4 ids.
	const prefill, decode = 65536 + 3*24*11 + 512, 65536 + 2*(7*24*11+8*512)
	for _, c := range []struct {
		name   string
		engine *endless
		stream bool
		limit  int
		rest   string
	}{
		{"prefill", newEndless(`{"index":0,"text":"`, "x"), false, prefill, "1 choices of 3 rows and 1 tokens take"},
		{"whole", newEndless(`{"choices":[`, " "), false, decode, "2 choices of 7 rows and 8 tokens take"},
		{"a line", newEndless("data: ", "x"), true, decode, "2 choices of 7 rows and 8 tokens take"},
		{"signs of life", newEndless("", ": \n\n"), true, decode, "2 choices of 7 rows and 8 tokens take"},
		{"events without choices", newEndless("", "data: {\"choices\":[]}\n\n"), true, decode, "2 choices of 7 rows and 8 tokens take"},
		{"events without tokens", newEndless("", "data: {\"choices\":[{\"index\":1,\"token_ids\":[]}]}\n\n"), true, decode, "2 choices of 7 rows and 8 tokens take"},
	} {
		first, second := good, server{inProcess(t, c.engine), vllm}
		if c.name == "prefill" {
			first, second = server{second.url, sglang}, good
		}
		front := httptest.NewServer(newGateway(first, second, usualTimes))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		body := fmt.Sprintf(`{"prompt":[5,6,7],"max_tokens":8,"n":2,"stream":%v}`, c.stream)
		status, answer, err := post(front.URL+vllm.path(), []byte(body))
		must(t, err)
		runtime.ReadMemStats(&after)
		want := fmt.Sprintf("the answer is longer than the %d bytes that %s", c.limit, c.rest)
		passedOn := c.name == "events without tokens"
		if !strings.Contains(string(answer), want) || (status == http.StatusOK) != passedOn || !passedOn && status != http.StatusBadGateway {
			t.Errorf("%s: %d %.300s, want %q", c.name, status, answer[max(0, len(answer)-300):], want)
		}
		select {
		case <-c.engine.over:
		case <-time.After(10 * time.Second):
			t.Errorf("%s: the engine is still read", c.name)
		}
		if wrote := c.engine.wrote.Load(); wrote > int64(c.limit)+inFlight {
			t.Errorf("%s: %d bytes were taken", c.name, wrote)
		}
		// Everything that was allocated meanwhile, the engine's and the client's part too.
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 24<<20 {
			t.Errorf("%s: %d bytes were allocated", c.name, grown)
		}
		front.Close()
	}
}

// What a client is slow with ends its own request, and nobody else's.
func TestSlowClients(t *testing.T) {
	sglang, vllm := forms["sglang"], forms["vllm"]
	good := server{inProcess(t, engine{sglang}), sglang}
	within := times{request: 300 * time.Millisecond, answer: 1500 * time.Millisecond}
	events := newEndless("", "data: {\"choices\":[{\"index\":1,\"token_ids\":[]}]}\n\n")
	slow := httptest.NewUnstartedServer(newGateway(good, server{inProcess(t, events), vllm}, within))
	var ended atomic.Int32
	slow.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			ended.Add(1)
		}
	}
	slow.Start()
	defer slow.Close()
	connect := func(head string) net.Conn {
		connection, err := net.Dial("tcp", slow.Listener.Addr().String())
		must(t, err)
		must(t, connection.(*net.TCPConn).SetReadBuffer(4096))
		must(t, connection.SetDeadline(time.Now().Add(20*time.Second)))
		_, err = io.WriteString(connection, head)
		must(t, err)
		return connection
	}
	// A body that does not come, or comes in drops.
	for _, drops := range []int{0, 100} {
		connection := connect("POST /generate HTTP/1.1\r\nHost: gateway\r\nContent-Length: 1000\r\n\r\n{")
		go func() {
			for range drops {
				time.Sleep(20 * time.Millisecond)
				if _, err := io.WriteString(connection, " "); err != nil {
					return
				}
			}
		}()
		response, err := http.ReadResponse(bufio.NewReader(connection), nil)
		must(t, err)
		text, err := io.ReadAll(response.Body)
		must(t, err)
		if response.StatusCode != http.StatusRequestTimeout || !strings.Contains(string(text), "the request did not come in 300ms") {
			t.Errorf("%d drops: %d %s", drops, response.StatusCode, text)
		}
		connection.Close()
	}
	// One that says that it is too large is not waited for.
	connection := connect("POST /generate HTTP/1.1\r\nHost: gateway\r\nContent-Length: 99999999999999\r\n\r\n{}")
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	must(t, err)
	text, err := io.ReadAll(response.Body)
	must(t, err)
	if response.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(string(text), "more than 1048576 bytes") {
		t.Errorf("%d %s", response.StatusCode, text)
	}
	connection.Close()
	// One that takes its time behind its request, and one that does not read what it gets: 16 choices may take more than the network holds. On a machine
	// that is too busy to send as much, all of it lies in the network by then, and the connection is over because it is for one request.
	body := `{"prompt":[5,6,7],"max_tokens":4096,"n":16,"stream":true}`
	connection = connect(fmt.Sprintf("POST /v1/completions HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(body), body))
	defer connection.Close()
	began := time.Now()
	select {
	case <-events.over:
	case <-time.After(15 * time.Second):
		t.Error("a client that does not read holds the server")
	}
	if took := time.Since(began); took < within.request {
		t.Errorf("it ended after %v", took)
	}
	// Its connection is cut, although it never read to an end.
	for wait := 0; ended.Load() < 3 && wait < 100; wait++ {
		time.Sleep(100 * time.Millisecond)
	}
	if ended.Load() != 3 {
		t.Errorf("%d of 3 connections have ended", ended.Load())
	}
}

// A server that is slow with its answer is given up, and the client is told.
func TestSlowServers(t *testing.T) {
	sglang := forms["sglang"]
	silent := inProcess(t, http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		io.Copy(io.Discard, request.Body)
		<-request.Context().Done()
	}))
	front := httptest.NewServer(newGateway(server{silent, sglang}, server{silent, sglang}, times{request: 100 * time.Millisecond, answer: 400 * time.Millisecond}))
	defer front.Close()
	// Longer than a client may take for its request, which has come.
	status, answer, err := post(front.URL+sglang.path(), []byte(`{"input_ids":[1],"sampling_params":{"max_new_tokens":1}}`))
	must(t, err)
	if status != http.StatusGatewayTimeout || !strings.Contains(string(answer), "the prefill server: its answer took longer than 400ms") {
		t.Errorf("%d %s", status, answer)
	}
}
