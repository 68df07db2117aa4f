// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// said is the message of an error body, which has nothing else in it.
func said(t *testing.T, status int, body []byte) string {
	t.Helper()
	var told map[string]map[string]any
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&told); err != nil || len(told) != 1 || len(told["error"]) != 2 || told["error"]["code"] != float64(status) {
		t.Errorf("%d has the body %s", status, body)
		return ""
	}
	message, _ := told["error"]["message"].(string)
	if message == "" || strings.ContainsAny(message, "\n\r") {
		t.Errorf("%d says %q", status, message)
	}
	return message
}

// repeated is what stands in place of %s in a case: a text, so many times.
type repeated struct {
	Repeat []any
}

func (r repeated) in(text string) string {
	if len(r.Repeat) == 0 {
		return text
	}
	return strings.Replace(text, "%s", strings.Repeat(r.Repeat[0].(string), int(r.Repeat[1].(float64))), 1)
}

// cases are the same for the gateways of all languages.
type cases struct {
	Requests []struct {
		repeated
		Form, Body, Says string
	}
	Answers []struct {
		Form, Body, Says string
		Streamed         json.RawMessage
	}
	Statuses []struct {
		repeated
		Status, Want int
		Body, Says   string
	}
	Paths []struct {
		repeated
		Method, Path, Allow, Says string
		Status                    int
	}
}

func readCases(t *testing.T) cases {
	t.Helper()
	text, err := os.ReadFile("../../../../tests/gateway/cases.json")
	must(t, err)
	var read cases
	must(t, json.Unmarshal(text, &read))
	if len(read.Requests) < 100 || len(read.Answers) < 200 || len(read.Statuses) < 10 || len(read.Paths) < 10 {
		t.Fatalf("%d, %d, %d and %d cases", len(read.Requests), len(read.Answers), len(read.Statuses), len(read.Paths))
	}
	return read
}

// The gateway judges a request itself, and so does a stand-in engine; nobody is asked.
func TestBadRequests(t *testing.T) {
	var asked atomic.Int64
	nobody := server{inProcess(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) })), forms["vllm"]}
	front := inProcess(t, newGateway(nobody, nobody, usualTimes))
	engines := map[string]string{}
	for name, f := range forms {
		engines[name] = inProcess(t, newEngine(f))
	}
	check := func(name, body, says string) {
		t.Helper()
		for who, url := range map[string]string{"gateway": front, "engine": engines[name]} {
			status, answer, err := post(url+forms[name].path(), []byte(body))
			must(t, err)
			if status != http.StatusBadRequest || !strings.HasPrefix(said(t, status, answer), says) {
				t.Errorf("%s of the %s, %.200q: %d %s, want %s", name, who, body, status, answer, says)
			}
		}
	}
	for _, bad := range readCases(t).Requests {
		check(bad.Form, bad.in(bad.Body), bad.Says)
		if bad.Form == "vllm" {
			check("prime", bad.in(bad.Body), bad.Says)
		}
	}
	for name, body := range map[string]string{"sglang": `{"input_ids":[1],"a":"%s"}`, "vllm": `{"prompt":[1],"abcd":"%s"}`} {
		// A byte that is none of UTF-8, half a surrogate pair, more bytes than a number needs, and a letter cut off.
		for _, letter := range []string{"\xff", "\xed\xa0\x80", "\xc0\x80", "\xe2\x82"} {
			check(name, strings.Replace(body, "%s", "\u20ac"+letter, 1), "the request is no UTF-8 at byte 25")
		}
	}
	for name, body := range map[string]string{"sglang": `{"input_ids":[1,2],"routed_experts_start_len":1}`, "vllm": `{"prompt":[1,2],"routed_experts_prompt_start":1}`} {
		status, answer, err := post(front+forms[name].path(), []byte(body))
		must(t, err)
		if want := forms[name].fields().start + " is 1; this gateway gives all rows, from 0"; status != http.StatusBadRequest || said(t, status, answer) != want {
			t.Errorf("%d %s", status, answer)
		}
	}
	if asked.Load() != 0 {
		t.Errorf("a server was asked %d times", asked.Load())
	}
}

// Where no number of tokens is asked for, the servers' own holds.
func TestTokensWhereNoneAreAskedFor(t *testing.T) {
	for name, bodies := range map[string][]string{
		"sglang": {`{"input_ids":[4]}`, `{"input_ids":[4],"sampling_params":null}`, `{"input_ids":[4],"sampling_params":{}}`, `{"input_ids":[4],"sampling_params":{"max_new_tokens":null}}`},
		"vllm":   {`{"prompt":[4]}`, `{"prompt":[4],"max_tokens":null}`},
	} {
		good := server{inProcess(t, newEngine(forms["sglang"])), forms["sglang"]}
		front := inProcess(t, newGateway(good, good, usualTimes))
		for _, body := range bodies {
			status, answer, err := post(front+forms[name].path(), []byte(body))
			must(t, err)
			c := call{prompt: []int64{4}, maxTokens: map[string]int{"sglang": 128, "vllm": 16}[name], choices: 1}
			if err := verify(forms[name], c, answer); status != http.StatusOK || err != nil {
				t.Errorf("%s: %d %.200s: %v", body, status, answer, err)
			}
		}
	}
}

// Paths and methods that are not served.
func TestOtherPathsAndMethods(t *testing.T) {
	good := server{inProcess(t, newEngine(forms["sglang"])), forms["sglang"]}
	for who, url := range map[string]string{"gateway": inProcess(t, newGateway(good, good, usualTimes)), "engine": good.url} {
		for _, c := range readCases(t).Paths {
			path := c.in(c.Path)
			if who == "engine" && path == "/stats" {
				c.Status, c.Allow, c.Says = http.StatusNotFound, "", "there is no /stats"
			}
			request, err := http.NewRequest(c.Method, url+path, nil)
			must(t, err)
			response, err := http.DefaultClient.Do(request)
			must(t, err)
			body, err := io.ReadAll(response.Body)
			must(t, err)
			if response.StatusCode != c.Status || response.Header.Get("Allow") != c.Allow || response.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%s: %s %s: %d, Allow %q, %s", who, c.Method, path, response.StatusCode, response.Header.Get("Allow"), response.Header.Get("Content-Type"))
			}
			if (c.Method == http.MethodHead) != (len(body) == 0) {
				t.Errorf("%s: %s %s has the body %q", who, c.Method, path, body)
			}
			if c.Method == http.MethodHead || c.Status == http.StatusOK {
				continue
			}
			if message := said(t, response.StatusCode, body); message != c.Says {
				t.Errorf("%s: %s %s: %q, want %q", who, c.Method, path, message, c.Says)
			}
		}
	}
}

// Whatever a server answers, and wherever, the client is told which server and what is wrong. Every answer is one to a request for one token behind [5,6,7].
func TestBadAnswers(t *testing.T) {
	good := server{inProcess(t, newEngine(forms["sglang"])), forms["sglang"]}
	var answer atomic.Pointer[string]
	bad := map[string]server{}
	fronts := map[string]string{}
	for name, f := range forms {
		bad[name] = server{inProcess(t, http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
			io.Copy(io.Discard, request.Body)
			io.WriteString(writer, *answer.Load())
		})), f}
		fronts["prefill "+name] = inProcess(t, newGateway(bad[name], good, usualTimes))
		fronts["decode "+name] = inProcess(t, newGateway(good, bad[name], usualTimes))
	}
	check := func(where, form, sent, says string, stream bool) {
		t.Helper()
		answer.Store(&sent)
		status, told, err := post(fronts[where+" "+form]+"/v1/completions", fmt.Appendf(nil, `{"prompt":[5,6,7],"max_tokens":1,"stream":%v}`, stream))
		must(t, err)
		message := said(t, status, told)
		if status != http.StatusBadGateway || !strings.HasPrefix(message, "the "+where+" server: ") || !strings.Contains(message, says) {
			t.Errorf("%s %s, stream %v, %q: %d %s, want %s", where, form, stream, sent, status, told, says)
		}
	}
	for _, c := range append(readCases(t).Answers, struct {
		Form, Body, Says string
		Streamed         json.RawMessage
	}{"sglang", "{\"index\":0,\"output_ids\":[3],\"text\":\"\xff\"}", "the answer is no UTF-8 at byte 36", nil}) {
		check("prefill", c.Form, c.Body, c.Says, false)
		check("decode", c.Form, c.Body, c.Says, false)
		if streamed := c.Says; string(c.Streamed) != "null" {
			if len(c.Streamed) > 0 {
				must(t, json.Unmarshal(c.Streamed, &streamed))
			}
			check("decode", c.Form, "data: "+c.Body+"\n\n", streamed, true)
		}
	}
	// Two choices, of which one comes twice.
	twice := `{"choices":[{"index":1,"token_ids":[3]},{"index":1,"token_ids":[3]}]}`
	answer.Store(&twice)
	status, told, err := post(fronts["decode vllm"]+"/prime", []byte(`{"prompt":[5],"n":2}`))
	must(t, err)
	if status != http.StatusBadGateway || said(t, status, told) != "the decode server: choice 1 came twice" {
		t.Errorf("%d %s", status, told)
	}
}

// A server's refusal is the client's to know; its failures are not.
func TestStatusesOfServers(t *testing.T) {
	good := server{inProcess(t, newEngine(forms["sglang"])), forms["sglang"]}
	for _, c := range readCases(t).Statuses {
		bad := server{inProcess(t, http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
			io.Copy(io.Discard, request.Body)
			writer.Header().Set("Location", good.url+"/generate")
			writer.WriteHeader(c.Status)
			if c.Status != http.StatusNoContent {
				io.WriteString(writer, c.in(c.Body))
			}
		})), forms["sglang"]}
		for _, where := range []struct {
			name, stream    string
			prefill, decode server
		}{{"prefill", "false", bad, good}, {"decode", "false", good, bad}, {"decode", "true", good, bad}} {
			front := inProcess(t, newGateway(where.prefill, where.decode, usualTimes))
			status, answer, err := post(front+"/generate", fmt.Appendf(nil, `{"input_ids":[1],"stream":%s}`, where.stream))
			must(t, err)
			if message := said(t, status, answer); status != c.Want || message != "the "+where.name+" server: "+c.Says {
				t.Errorf("%d of %s, stream %s: %d %q, want %d %q", c.Status, where.name, where.stream, status, message, c.Want, c.Says)
			}
		}
	}
	nobody := httptest.NewServer(nil)
	nobody.Close()
	status, answer, err := post(inProcess(t, newGateway(server{nobody.URL, forms["sglang"]}, good, usualTimes))+"/generate", []byte(`{"input_ids":[1]}`))
	must(t, err)
	if message := said(t, status, answer); status != http.StatusBadGateway || !strings.Contains(message, "the prefill server: ") || !strings.Contains(message, "refused") {
		t.Errorf("%d %s", status, answer)
	}
}

// What the program says of its options.
func TestOptions(t *testing.T) {
	const form = `, allowed are sglang, vllm, prime and routecap`
	for _, c := range []struct {
		arguments string
		code      int
		says      string
	}{
		{"", 2, "gateway: a gateway needs -prefill URL\nusage: gateway -role"},
		{"-role engine -form x", 2, `gateway: -form is "x"` + form},
		{"-role x", 2, `gateway: -role is "x", allowed are gateway and engine`},
		{"-nothing 1", 2, "gateway: flag provided but not defined: -nothing"},
		{"-role", 2, "gateway: flag needs an argument: -role"},
		{"engine", 2, `gateway: "engine" is no option`},
		{"-prefill http://a:1", 2, "gateway: a gateway needs -decode URL"},
		{"-prefill a:1 -decode http://b:1", 2, `gateway: -prefill is "a:1", allowed is http://HOST:PORT`},
		{"-prefill http://a:99999 -decode http://b:1", 2, `gateway: -prefill is "http://a:99999", allowed is http://HOST:PORT`},
		{"-prefill http://a:1 -decode http://", 2, `gateway: -decode is "http://", allowed is http://HOST:PORT`},
		{"-prefill http://a:1 -decode ftp://b:1", 2, `gateway: -decode is "ftp://b:1", allowed is http://HOST:PORT`},
		{"-prefill http://a:1 -decode http://b:1 -decode-form y", 2, `gateway: -decode-form is "y"` + form},
		{"-prefill http://a:1 -decode http://b:1 -form vllm", 2, "gateway: -form is no option of the role gateway"},
		{"-role engine -decode http://b:1", 2, "gateway: -decode is no option of the role engine"},
		{"-role engine -listen 1", 2, `gateway: -listen is "1", allowed is HOST:PORT with a port of 0 .. 65535`},
		{"-role engine -listen 127.0.0.1:70000", 2, `gateway: -listen is "127.0.0.1:70000", allowed is HOST:PORT`},
		{"-role engine -listen 127.0.0.1:-1", 2, `gateway: -listen is "127.0.0.1:-1", allowed is HOST:PORT`},
		{"-role engine -listen 192.0.2.1:1", 1, "gateway: -listen 192.0.2.1:1: "},
		{"-help", 0, "usage: gateway -role"},
		{"--help", 0, "usage: gateway -role"},
		{"-h", 0, "usage: gateway -role"},
	} {
		command := exec.Command(os.Args[0], strings.Fields(c.arguments)...)
		command.Env = append(os.Environ(), "ROUTECAP_GATEWAY_MAIN=1")
		var stdout, stderr strings.Builder
		command.Stdout, command.Stderr = &stdout, &stderr
		late := time.AfterFunc(20*time.Second, func() { command.Process.Kill() })
		command.Run()
		late.Stop()
		text, other := stderr.String(), stdout.String()
		if c.code == 0 {
			text, other = other, text
		}
		if command.ProcessState.ExitCode() != c.code || !strings.HasPrefix(text, c.says) || other != "" || (c.code == 2) != strings.Contains(text, "\nusage: ") {
			t.Errorf("%q: %d, %q, %q", c.arguments, command.ProcessState.ExitCode(), stdout.String(), stderr.String())
		}
		for _, needed := range []string{"-prefill", "-decode-form", "max_tokens is 16", "32768", "4096"} {
			if c.code == 0 && !strings.Contains(text, needed) {
				t.Errorf("%s does not tell %s", c.arguments, needed)
			}
		}
	}
}
