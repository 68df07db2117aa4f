// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

// maxBody is the most bytes that a request may have.
const maxBody = 1 << 20

// times are how long the gateway waits for whom: a client with its request, and a server with its answer. An answer has to be read in both together.
type times struct{ request, answer time.Duration }

var usualTimes = times{request: 10 * time.Second, answer: 30 * time.Second}

// refusal is an error with the status that the client gets.
type refusal struct {
	status int
	err    error
}

func (r refusal) Error() string { return r.err.Error() }
func (r refusal) Unwrap() error { return r.err }

// statusOf is the status of what went wrong.
func statusOf(err error) int {
	var known refusal
	if errors.As(err, &known) {
		return known.status
	}
	return http.StatusInternalServerError
}

// errorBody is what every error looks like, of the gateway and of the engines.
func errorBody(status int, message string) any {
	return map[string]any{"error": map[string]any{"code": status, "message": message}}
}

func sendJSON(writer http.ResponseWriter, status int, value any) {
	writer.Header().Set("Content-Type", "application/json")
	writer.WriteHeader(status)
	json.NewEncoder(writer).Encode(value)
}

// route is what a path takes.
type route struct {
	method string
	serve  http.HandlerFunc
}

// routed serves these paths and nothing else, in the time that a client has.
func routed(routes map[string]route, within times) http.Handler {
	return http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		// Each request of a connection has its own; what is not a network connection has none.
		now, controller := time.Now(), http.NewResponseController(writer)
		controller.SetReadDeadline(now.Add(within.request))
		controller.SetWriteDeadline(now.Add(within.request + within.answer))
		found, there := routes[request.URL.Path]
		if !there {
			sendJSON(writer, http.StatusNotFound, errorBody(http.StatusNotFound, "there is no "+clipped(request.URL.Path)))
			return
		}
		allowed := found.method
		if allowed == http.MethodGet {
			allowed = "GET, HEAD"
		}
		if request.Method != found.method && (found.method != http.MethodGet || request.Method != http.MethodHead) {
			writer.Header().Set("Allow", allowed)
			sendJSON(writer, http.StatusMethodNotAllowed, errorBody(http.StatusMethodNotAllowed, request.URL.Path+" takes "+allowed))
			return
		}
		found.serve(writer, request)
	})
}

// readBody is a request's body, in the time and with the bytes that it may have.
func readBody(writer http.ResponseWriter, request *http.Request, within times) ([]byte, error) {
	// What says of itself that it is too large is not waited for.
	tooLarge := request.ContentLength > maxBody
	var body []byte
	var err error
	if !tooLarge {
		body, err = io.ReadAll(http.MaxBytesReader(writer, request.Body, maxBody))
		var large *http.MaxBytesError
		tooLarge = errors.As(err, &large)
	}
	switch {
	case tooLarge:
		return nil, refusal{http.StatusRequestEntityTooLarge, fmt.Errorf("the request is too large: more than %d bytes", maxBody)}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, refusal{http.StatusRequestTimeout, fmt.Errorf("the request did not come in %v", within.request)}
	case err != nil:
		return nil, refusal{http.StatusBadRequest, err}
	}
	// The client has nothing more to send: that it is silent must not end its request.
	http.NewResponseController(writer).SetReadDeadline(time.Time{})
	return body, nil
}

func sendEvent(writer http.ResponseWriter, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	writer.Header().Set("Content-Type", "text/event-stream")
	if _, err := fmt.Fprintf(writer, "data: %s\n\n", text); err != nil {
		return err
	}
	http.NewResponseController(writer).Flush()
	return nil
}
