// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"
)

const (
	// Token ids and positions are 31-bit numbers in every server.
	largest = 1<<31 - 1
	// What an error shows of a value.
	longestShown = 60
)

// members are an object's, read one by one. What is of another kind than is due, or out of its range, is refused by name, value and limit; the first of
// these is kept in wrong. A member that is null was left out.
type members struct {
	// What stands before a name in what is said of it: nothing, or "choices[0].".
	before string
	values map[string]json.RawMessage
	wrong  *error
}

// parsed is a text as one JSON value.
func parsed(what string, text []byte) (json.RawMessage, error) {
	for at := 0; at < len(text); {
		letter, size := utf8.DecodeRune(text[at:])
		if letter == utf8.RuneError && size == 1 {
			return nil, fmt.Errorf("the %s is no UTF-8 at byte %d", what, at)
		}
		at += size
	}
	var value json.RawMessage
	if err := json.Unmarshal(text, &value); err != nil {
		return nil, fmt.Errorf("the %s is no JSON: %w", what, err)
	}
	return value, nil
}

// membersOf takes a value that must be an object.
func membersOf(name, before string, value json.RawMessage, wrong *error) members {
	m := members{before: before, wrong: wrong}
	if *wrong == nil && value[0] != '{' {
		*wrong = fmt.Errorf("%s is %s, not an object", name, shown(value))
	}
	if *wrong == nil {
		*wrong = json.Unmarshal(value, &m.values)
	}
	return m
}

// shown is a value as an error shows it: on one line, and not all of a long one.
func shown(value json.RawMessage) string {
	var line bytes.Buffer
	if json.Compact(&line, value) != nil {
		line.Write(value)
	}
	return clipped(line.String())
}

func clipped(text string) string {
	if len(text) <= longestShown {
		return text
	}
	end := longestShown - 3
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "..."
}

func (m members) refuse(format string, arguments ...any) {
	if *m.wrong == nil {
		*m.wrong = fmt.Errorf("%s%s", m.before, fmt.Sprintf(format, arguments...))
	}
}

// get is a member; there is none where something was wrong before.
func (m members) get(name string) (json.RawMessage, bool) {
	value, there := m.values[name]
	return value, there && string(value) != "null" && *m.wrong == nil
}

func (m members) whole(name string, low, high, otherwise int64) int64 {
	value, there := m.get(name)
	if !there {
		return otherwise
	}
	return m.wholeOf(name, value, low, high)
}

func (m members) wholeOf(name string, value json.RawMessage, low, high int64) int64 {
	number, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil || number < low || number > high {
		m.refuse("%s is %s, allowed are whole numbers %d .. %d", name, shown(value), low, high)
	}
	return number
}

func (m members) flag(name string) bool {
	value, there := m.get(name)
	if there && string(value) != "true" && string(value) != "false" {
		m.refuse("%s is %s, allowed are true and false", name, shown(value))
	}
	return there && string(value) == "true"
}

func (m members) text(name string) string {
	value, there := m.get(name)
	if !there {
		return ""
	}
	var text string
	if value[0] != '"' || json.Unmarshal(value, &text) != nil {
		m.refuse("%s is %s, not a text", name, shown(value))
	}
	return text
}

// list is a member that must be there.
func (m members) list(name string) []json.RawMessage {
	value, there := m.get(name)
	if !there {
		m.refuse("%s is missing", name)
		return nil
	}
	var list []json.RawMessage
	if value[0] != '[' || json.Unmarshal(value, &list) != nil {
		m.refuse("%s is %s, not a list", name, shown(value))
	}
	return list
}

// object is a member that is an empty object where it was left out.
func (m members) object(name string) members {
	value, there := m.get(name)
	if !there {
		return members{before: m.before + name + ".", wrong: m.wrong}
	}
	return membersOf(m.before+name, m.before+name+".", value, m.wrong)
}

// tokens is a list of so many token ids.
func (m members) tokens(name string, least, most int) []int64 {
	list := m.list(name)
	if *m.wrong == nil && (len(list) < least || len(list) > most) {
		m.refuse("%s has %d tokens, allowed are %d .. %d", name, len(list), least, most)
	}
	tokens := make([]int64, len(list))
	for at, value := range list {
		if *m.wrong != nil {
			return nil
		}
		// The name is made where it is needed: a prompt may be long.
		number, err := strconv.ParseInt(string(value), 10, 64)
		if err != nil || number < 0 || number > largest {
			number = m.wholeOf(fmt.Sprintf("%s[%d]", name, at), value, 0, largest)
		}
		tokens[at] = number
	}
	return tokens
}

// rows is a member that holds rows, as a text or as an object, or nothing.
func (m members) rows(name string, object bool) json.RawMessage {
	value, there := m.get(name)
	switch {
	case !there:
		return nil
	case object && value[0] != '{':
		m.refuse("%s is %s, not an object", name, shown(value))
	case !object && value[0] != '"':
		m.refuse("%s is %s, not a text", name, shown(value))
	}
	return value
}
