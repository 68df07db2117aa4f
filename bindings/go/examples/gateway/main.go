// SPDX-License-Identifier: Apache-2.0

// A gateway in front of a prefill and a decode server. It joins the routing that the two recorded, checks it, and answers in the form that the client
// asked for: POST /generate (SGLang), /v1/completions (vLLM), /prime (prime's object), and GET /stats.
//
//	gateway -role engine  -listen :8001 -form sglang
//	gateway -role engine  -listen :8002 -form vllm
//	gateway -role gateway -listen :8000 -prefill http://localhost:8001 -prefill-form sglang -decode http://localhost:8002 -decode-form vllm
//
// The engines are stand-ins: they answer in the servers' envelopes with routes that anybody can compute again.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"time"
)

func main() {
	role := flag.String("role", "gateway", "gateway or engine")
	listen := flag.String("listen", "127.0.0.1:0", "address to listen on; port 0 takes a free one")
	own := flag.String("form", "sglang", "engine: the form it answers in: sglang, vllm or prime")
	prefill := flag.String("prefill", "", "gateway: URL of the prefill server")
	prefillForm := flag.String("prefill-form", "sglang", "gateway: the prefill server's form")
	decode := flag.String("decode", "", "gateway: URL of the decode server")
	decodeForm := flag.String("decode-form", "sglang", "gateway: the decode server's form")
	flag.Parse()
	for _, name := range []string{*own, *prefillForm, *decodeForm} {
		if _, ok := forms[name]; !ok {
			log.Fatalf("no form %q; there are sglang, vllm and prime", name)
		}
	}
	var handler http.Handler
	switch *role {
	case "engine":
		handler = newEngine(forms[*own])
	case "gateway":
		handler = newGateway(server{*prefill, forms[*prefillForm]}, server{*decode, forms[*decodeForm]})
	default:
		log.Fatalf("no role %q; there are gateway and engine", *role)
	}
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Fprintln(os.Stdout, listener.Addr())
	log.Fatal((&http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}).Serve(listener))
}
