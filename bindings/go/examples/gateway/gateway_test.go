// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	routecap "github.com/routecap/routecap/bindings/go"
)

// The engines are this program again, in processes of their own.
func TestMain(m *testing.M) {
	if os.Getenv("ROUTECAP_GATEWAY_MAIN") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func startEngine(t *testing.T, f string) server {
	t.Helper()
	return server{startProcess(t, "-role", "engine", "-form", f), upstreams[f]}
}

// startProcess runs the example and gives its URL.
func startProcess(t *testing.T, arguments ...string) string {
	t.Helper()
	command := exec.Command(os.Args[0], arguments...)
	command.Env = append(os.Environ(), "ROUTECAP_GATEWAY_MAIN=1")
	command.Stderr = os.Stderr
	output, err := command.StdoutPipe()
	must(t, err)
	must(t, command.Start())
	t.Cleanup(func() {
		command.Process.Kill()
		command.Wait()
	})
	address, err := bufio.NewReader(output).ReadString('\n')
	must(t, err)
	return "http://" + strings.TrimSpace(address)
}

// The three processes of the example, started as its documentation says.
func TestAsItsDocumentationSays(t *testing.T) {
	prefill, decode := startEngine(t, "sglang"), startEngine(t, "vllm")
	front := startProcess(t, "-role", "gateway", "-listen", "127.0.0.1:0", "-prefill", prefill.url, "-prefill-form", "sglang", "-decode", decode.url,
		"-decode-form", "vllm")
	c := call{prompt: []int64{1, 2, 3}, maxTokens: 4, choices: 2, stream: true}
	body, err := json.Marshal(forms["prime"].writeCall(c))
	must(t, err)
	status, answer, err := post(front+"/prime", body)
	must(t, err)
	if status != http.StatusOK {
		t.Fatalf("%d %s", status, answer)
	}
	must(t, verify(forms["prime"], c, answer))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// post sends a body and gives status and answer.
func post(url string, body []byte) (int, []byte, error) {
	response, err := http.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	return response.StatusCode, answer, err
}

// parts are an answer's choices in the order they came: of a stream, its events'.
func parts(f form, c call, answer []byte) ([]choice, error) {
	if !c.stream {
		return f.readAnswer(answer)
	}
	var all []choice
	for _, event := range strings.Split(strings.TrimSpace(string(answer)), "\n\n") {
		data := strings.TrimPrefix(event, "data: ")
		if data == "[DONE]" {
			return all, nil
		}
		some, err := f.readAnswer([]byte(data))
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return nil, fmt.Errorf("no end: %s", answer)
}

// verify compares every choice's tokens and rows with what the engines must have computed.
func verify(f form, c call, answer []byte) error {
	came, err := parts(f, c, answer)
	if err != nil {
		return err
	}
	for index := range c.choices {
		output := tokensOf(c.prompt, index, c.maxTokens)
		inputs := append(slices.Clone(c.prompt), output[:len(output)-1]...)
		want := routesOf(inputs, 0)
		var tokens []int64
		var ids []uint8
		for _, part := range came {
			if part.index != index {
				continue
			}
			tokens = append(tokens, part.tokens...)
			if len(part.routing) == 0 {
				continue
			}
			rows := int64(len(c.prompt)+len(tokens)-1) - part.start
			if part.start != int64(len(ids)/(numLayers*topK)) {
				return fmt.Errorf("choice %d: a part starts at %d behind %d rows", index, part.start, len(ids)/(numLayers*topK))
			}
			record, err := decodeRows(f, part.routing, part.start, rows)
			if err != nil {
				return err
			}
			ids, err = routecap.AppendIDs(ids, record)
			record.Close()
			if err != nil {
				return err
			}
		}
		if !slices.Equal(tokens, output) || !bytes.Equal(ids, want) {
			return fmt.Errorf("choice %d: %d tokens and %d ids, want %d and %d; or others", index, len(tokens), len(ids), len(output), len(want))
		}
	}
	return nil
}

func randomCall(random *rand.Rand) call {
	c := call{prompt: make([]int64, 1+random.IntN(60)), maxTokens: 1 + random.IntN(20), choices: 1 + random.IntN(3), stream: random.IntN(2) == 1}
	for at := range c.prompt {
		c.prompt[at] = random.Int64N(50000)
	}
	return c
}

func TestEveryPairOfForms(t *testing.T) {
	engines := map[string]server{}
	for name := range upstreams {
		engines[name] = startEngine(t, name)
	}
	random := rand.New(rand.NewPCG(3, 4))
	for prefillName, prefill := range engines {
		for decodeName, decode := range engines {
			front := httptest.NewServer(newGateway(prefill, decode, usualTimes))
			for clientName, f := range forms {
				for range 8 {
					c := randomCall(random)
					body, err := json.Marshal(f.writeCall(c))
					must(t, err)
					status, answer, err := post(front.URL+f.path(), body)
					must(t, err)
					if status != http.StatusOK {
						t.Fatalf("%s, %s to %s: %d %s", prefillName, decodeName, clientName, status, answer)
					}
					if err := verify(f, c, answer); err != nil {
						t.Fatalf("%s, %s to %s, stream %v: %v", prefillName, decodeName, clientName, c.stream, err)
					}
				}
			}
			front.Close()
		}
	}
	if live := routecap.LiveHandles(); live != 0 {
		t.Errorf("%d handles are alive", live)
	}
}

// What a bad answer of an engine must say, and never what a neighbour's does.
var faultTexts = map[string]string{"truncated": "routecap: ", "base64": "routecap: ", "huge": "routecap: ", "absent": "no routed_experts", "body": "unexpected end of JSON input"}

func TestLoad(t *testing.T) {
	prefill, decode := startEngine(t, "sglang"), startEngine(t, "vllm")
	front := httptest.NewServer(newGateway(prefill, decode, usualTimes))
	defer front.Close()
	requests := 40
	if percent, err := strconv.Atoi(os.Getenv("ROUTECAP_GO_SCALE")); err == nil {
		requests = max(1, requests*percent/100)
	}
	var group sync.WaitGroup
	var slowest sync.Map
	run := func(workers int) {
		for worker := range workers {
			group.Add(1)
			go func() {
				defer group.Done()
				random := rand.New(rand.NewPCG(uint64(worker), 9))
				for range requests {
					began := time.Now()
					if err := oneRequest(front.URL, random); err != nil {
						t.Error(err)
						return
					}
					slowest.Store(worker, time.Since(began))
				}
			}()
		}
		group.Wait()
	}
	// The same load twice: what the first leaves behind is warmth, what the second adds is a leak.
	run(64)
	before := resident(t)
	run(64)
	after := resident(t)
	if !raceEnabled && after > before+32<<20 {
		t.Errorf("%d MiB before, %d MiB after", before>>20, after>>20)
	}
	slowest.Range(func(_, took any) bool {
		if took.(time.Duration) > usualTimes.answer/2 {
			t.Errorf("a request took %v", took)
		}
		return true
	})
	response, err := http.Get(front.URL + "/stats")
	must(t, err)
	defer response.Body.Close()
	var said stats
	must(t, json.NewDecoder(response.Body).Decode(&said))
	if said.LiveHandles != 0 || said.Requests != int64(128*requests) || requests > 5 && (said.Streams == 0 || said.Rows == 0 || said.BadRequests == 0 || said.BadUpstreams == 0) {
		t.Errorf("stats %+v", said)
	}
}

// oneRequest sends a good or a bad request and checks what comes back.
func oneRequest(url string, random *rand.Rand) error {
	names := []string{"sglang", "vllm", "prime"}
	f := forms[names[random.IntN(3)]]
	c := randomCall(random)
	want, text := http.StatusOK, ""
	bad := random.IntN(10)
	if bad == 0 {
		kinds := []string{"truncated", "base64", "huge", "absent", "body"}
		c.fault = kinds[random.IntN(len(kinds))]
		c.stream = false
		want, text = http.StatusBadGateway, faultTexts[c.fault]
	}
	body, err := json.Marshal(f.writeCall(c))
	if err != nil {
		return err
	}
	switch bad {
	case 1:
		body = body[:len(body)/2]
		want, text = http.StatusBadRequest, "unexpected end of JSON input"
	case 2:
		body = bytes.Repeat([]byte("["), maxBody+1)
		want, text = http.StatusRequestEntityTooLarge, "too large"
	case 3:
		c.maxTokens = 1 << 30
		if body, err = json.Marshal(f.writeCall(c)); err != nil {
			return err
		}
		want, text = http.StatusBadRequest, "tokens is 1073741824, allowed are whole numbers 1 .. 4096"
	}
	status, answer, err := post(url+f.path(), body)
	if err != nil {
		return err
	}
	if status != want || !strings.Contains(string(answer), text) {
		return fmt.Errorf("fault %q, kind %d: status %d, want %d with %q: %.200s", c.fault, bad, status, want, text, answer)
	}
	if want == http.StatusOK {
		return verify(f, c, answer)
	}
	return nil
}

// resident is the process's memory when nothing is going on.
func resident(t *testing.T) int64 {
	t.Helper()
	runtime.GC()
	debug.FreeOSMemory()
	status, err := os.ReadFile("/proc/self/status")
	must(t, err)
	_, after, _ := strings.Cut(string(status), "VmRSS:")
	var kibibytes int64
	_, err = fmt.Sscan(after, &kibibytes)
	must(t, err)
	return kibibytes << 10
}

// Engines send events without a choice: usage counts at a stream's end, or to keep a connection open. A client gets what it would get without them.
func TestEventsWithoutChoices(t *testing.T) {
	without := map[string]string{"sglang": "[]", "vllm": `{"choices":[],"usage":{"total_tokens":7}}`, "prime": `{"choices":[]}`}
	for decodeName, decode := range forms {
		front := httptest.NewServer(newGateway(server{inProcess(t, engine{forms["sglang"]}), forms["sglang"]}, server{inProcess(t, engine{decode}), decode}, usualTimes))
		padded := http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
			plain := httptest.NewRecorder()
			engine{decode}.ServeHTTP(plain, request)
			empty := "data: " + without[decodeName] + "\n\n"
			io.WriteString(writer, empty+strings.ReplaceAll(plain.Body.String(), "\n\ndata: ", "\n\n"+empty+"data: "))
		})
		paddedFront := httptest.NewServer(newGateway(server{inProcess(t, engine{forms["sglang"]}), forms["sglang"]}, server{inProcess(t, padded), decode}, usualTimes))
		for clientName, f := range forms {
			for choices := 1; choices <= 2; choices++ {
				c := call{prompt: []int64{5, 6, 7}, maxTokens: 8, choices: choices, stream: true}
				body, err := json.Marshal(f.writeCall(c))
				must(t, err)
				_, want, err := post(front.URL+f.path(), body)
				must(t, err)
				status, answer, err := post(paddedFront.URL+f.path(), body)
				must(t, err)
				if status != http.StatusOK || !bytes.Equal(answer, want) {
					t.Errorf("%s to %s, %d choices: status %d, %s, want %s", decodeName, clientName, choices, status, answer, want)
				}
				if err := verify(f, c, answer); err != nil {
					t.Errorf("%s to %s, %d choices: %v", decodeName, clientName, choices, err)
				}
			}
		}
		front.Close()
		paddedFront.Close()
	}
}

func inProcess(t *testing.T, handler http.Handler) string {
	started := httptest.NewServer(handler)
	t.Cleanup(started.Close)
	return started.URL
}
