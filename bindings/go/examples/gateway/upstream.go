// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"
)

// server is one upstream.
type server struct {
	url  string
	form form
}

// client asks the upstreams. A server that sends elsewhere is not followed: that is no answer.
func client() *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// answered is an answer of a server that is not 200.
type answered struct {
	status int
	text   string
}

func (a answered) Error() string {
	if a.text == "" {
		return fmt.Sprintf("it answers %d", a.status)
	}
	return fmt.Sprintf("it answers %d: %s", a.status, a.text)
}

// What an error holds of a server's refusal, and what is read to find it.
const (
	longestTold = 1000
	mostRead    = 64 << 10
)

// complaint is what a server says of its refusal, on one line: the message of the error bodies that servers have, or its text.
func complaint(body []byte) string {
	var told struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &told) != nil || told.Error.Message == "" {
		told.Error.Message = string(body)
	}
	line := strings.ToValidUTF8(strings.Join(strings.Fields(told.Error.Message), " "), "\ufffd")
	for end := longestTold; end < len(line); end-- {
		if utf8.RuneStart(line[end]) {
			return line[:end]
		}
	}
	return line
}

// upstream is a server's failure as the client is told it: a refusal of the server's own is passed on.
func upstream(name string, err error, within time.Duration) error {
	status := http.StatusBadGateway
	var refused answered
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		status, err = http.StatusGatewayTimeout, fmt.Errorf("its answer took longer than %v", within)
	case errors.As(err, &refused) && refused.status >= 400 && refused.status < 500:
		status = refused.status
	}
	return refusal{status, fmt.Errorf("the %s server: %w", name, err)}
}

func (g *gateway) post(ctx context.Context, s server, c call) (*http.Response, error) {
	body, err := json.Marshal(s.form.writeCall(c))
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+s.form.path(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := g.client.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		defer response.Body.Close()
		text, err := io.ReadAll(io.LimitReader(response.Body, mostRead))
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, answered{response.StatusCode, complaint(text)}
	}
	return response, nil
}

// ask gives the choices of an answer that came whole: each that was asked for, once.
func (g *gateway) ask(ctx context.Context, s server, c call) ([]choice, error) {
	response, err := g.post(ctx, s, c)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(&limited{response.Body, c, 0})
	if err != nil {
		return nil, err
	}
	choices, err := s.form.readAnswer(body)
	if err != nil {
		return nil, err
	}
	if len(choices) != c.choices {
		return nil, fmt.Errorf("%d choices came, asked for were %d", len(choices), c.choices)
	}
	came := make([]bool, c.choices)
	for _, one := range choices {
		switch {
		case one.index >= c.choices:
			return nil, fmt.Errorf("choice %d came, asked for were %d", one.index, c.choices)
		case came[one.index]:
			return nil, fmt.Errorf("choice %d came twice", one.index)
		case len(one.tokens) < 1 || len(one.tokens) > c.maxTokens:
			return nil, fmt.Errorf("choice %d has %d tokens, asked for were 1 .. %d", one.index, len(one.tokens), c.maxTokens)
		}
		came[one.index] = true
	}
	return choices, nil
}

// limited is an answer that is cut off where it has more bytes than it can have.
type limited struct {
	answer io.Reader
	asked  call
	came   int64
}

func (l *limited) Read(into []byte) (int, error) {
	got, err := l.answer.Read(into)
	l.came += int64(got)
	if most := l.asked.longestAnswer(); l.came > most {
		return 0, fmt.Errorf("the answer is longer than the %d bytes that %d choices of %d rows and %d tokens take", most, l.asked.choices, l.asked.rows(),
			l.asked.maxTokens)
	}
	return got, err
}
