// SPDX-License-Identifier: Apache-2.0

// A gateway in front of a prefill and a decode server. It joins the routing that the two recorded, checks it, and answers in the form that the client
// asked for: POST /generate (SGLang), /v1/completions (vLLM), /prime (prime's object), and GET /stats.
//
//	gateway -role engine  -listen :8001 -form sglang
//	gateway -role engine  -listen :8002 -form vllm
//	gateway -role gateway -listen :8000 -prefill http://localhost:8001 -prefill-form sglang -decode http://localhost:8002 -decode-form vllm
//
// A request is judged before any server is asked. It has at most 1 MiB, 1 .. 32768 tokens of prompt, each 0 .. 2147483647, 1 .. 4096 tokens of output (where
// max_tokens is left out 16, where max_new_tokens is 128, as the servers have it) and 1 .. 16 choices (n is 1 where it is left out), and comes within 10 s.
// A server answers within 30 s, with at most
//
//	64 KiB + choices * (rows * layers * K * 11 + tokens * 512) bytes
//
// whole or streamed, signs of life included: that is what the rows and tokens asked for take in any form, and what the gateway holds of an answer at a time.
// A longer one is cut off there and is a bad answer (502).
//
// Every error is JSON, {"error":{"code":400,"message":"max_tokens is -1, allowed are whole numbers 1 .. 4096"}}: 400, 404, 405, 408 and 413 are about the
// request; a 4xx of a server is passed on with what it says; 502 is a server that fails or answers wrongly, 504 one that does not answer in time. What is no
// HTTP at all is answered by Go's own server.
//
// The engines are stand-ins: they answer in the servers' envelopes with routes that anybody can compute again. A real one is vLLM with routecap attached,
// whose form is named routecap.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	routecap "github.com/routecap/routecap/bindings/go"
)

const usage = `usage: gateway -role gateway -prefill URL -decode URL [-prefill-form FORM] [-decode-form FORM] [-listen HOST:PORT]
       gateway -role engine [-form FORM] [-listen HOST:PORT]
`

const details = `
A gateway in front of a prefill and a decode server: POST /generate, /v1/completions, /prime, GET /stats. An engine is a stand-in for such a server.

  -role ROLE           gateway (where it is left out) or engine
  -listen HOST:PORT    where to listen, 127.0.0.1:0 where it is left out; port 0 takes a free one. The address is printed.
  -prefill URL         the prefill server, http://HOST:PORT
  -decode URL          the decode server
  -prefill-form FORM   the prefill server's form: sglang (where it is left out), vllm, prime, or routecap: vLLM with routecap attached
  -decode-form FORM    the decode server's form
  -form FORM           the form that an engine answers in

Limits of a request: 1 MiB; 32768 tokens of prompt, each 0 .. 2147483647; 4096 tokens of output (max_tokens is 16 and max_new_tokens 128 where they are
left out); 16 choices (n is 1). It comes within 10 s, and a server answers within 30 s. Errors are JSON: {"error":{"code":400,"message":"..."}}.
`

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run serves until the process ends, or gives its exit code: 2 for options that cannot be, 1 for what fails.
func run(arguments []string, stdout, stderr io.Writer) int {
	handler, listen, err := configured(arguments)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, usage, details)
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "gateway: %v\n%s", err, usage)
		return 2
	}
	// Built without cgo, the library is loaded now, and not while a client waits.
	if _, err := routecap.Build(); err != nil {
		fmt.Fprintf(stderr, "gateway: %v\n", err)
		return 1
	}
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		fmt.Fprintf(stderr, "gateway: -listen %s: %v\n", listen, err)
		return 1
	}
	fmt.Fprintln(stdout, listener.Addr())
	err = (&http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}).Serve(listener)
	fmt.Fprintf(stderr, "gateway: %v\n", err)
	return 1
}

// configured is what the options ask for, and where it listens.
func configured(arguments []string) (http.Handler, string, error) {
	options := flag.NewFlagSet("gateway", flag.ContinueOnError)
	options.SetOutput(io.Discard)
	role := options.String("role", "gateway", "")
	listen := options.String("listen", "127.0.0.1:0", "")
	own := options.String("form", "sglang", "")
	prefill := options.String("prefill", "", "")
	prefillForm := options.String("prefill-form", "sglang", "")
	decode := options.String("decode", "", "")
	decodeForm := options.String("decode-form", "sglang", "")
	if err := options.Parse(arguments); err != nil {
		return nil, "", err
	}
	if options.NArg() > 0 {
		return nil, "", fmt.Errorf("%q is no option", options.Arg(0))
	}
	if *role != "gateway" && *role != "engine" {
		return nil, "", fmt.Errorf("-role is %q, allowed are gateway and engine", *role)
	}
	var wrong error
	refuse := func(format string, arguments ...any) {
		if wrong == nil {
			wrong = fmt.Errorf(format, arguments...)
		}
	}
	options.Visit(func(given *flag.Flag) {
		if given.Name != "role" && given.Name != "listen" && (given.Name == "form") != (*role == "engine") {
			refuse("-%s is no option of the role %s", given.Name, *role)
		}
	})
	if _, port, err := net.SplitHostPort(*listen); err != nil || !isPort(port) {
		refuse("-listen is %q, allowed is HOST:PORT with a port of 0 .. 65535", *listen)
	}
	formOf := func(name, given string) form {
		if upstreams[given] == nil {
			refuse("-%s is %q, allowed are sglang, vllm, prime and routecap", name, given)
		}
		return upstreams[given]
	}
	if *role == "engine" {
		form := formOf("form", *own)
		if wrong != nil {
			return nil, "", wrong
		}
		return newEngine(form), *listen, nil
	}
	serverOf := func(name, given, form string) server {
		read, err := url.Parse(given)
		switch {
		case given == "":
			refuse("a gateway needs -%s URL", name)
		case err != nil, read.Scheme != "http" && read.Scheme != "https", read.Hostname() == "", read.RawQuery != "", read.Fragment != "",
			read.Port() != "" && !isPort(read.Port()):
			refuse("-%s is %q, allowed is http://HOST:PORT", name, given)
		}
		return server{strings.TrimSuffix(given, "/"), formOf(name+"-form", form)}
	}
	before, behind := serverOf("prefill", *prefill, *prefillForm), serverOf("decode", *decode, *decodeForm)
	if wrong != nil {
		return nil, "", wrong
	}
	return newGateway(before, behind, usualTimes), *listen, nil
}

func isPort(text string) bool {
	_, err := strconv.ParseUint(text, 10, 16)
	return err == nil
}
