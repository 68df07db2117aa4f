// SPDX-License-Identifier: Apache-2.0

//go:build !cgo || routecap_dlopen

package routecap_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	routecap "github.com/routecap/routecap/bindings/go"
)

func TestLibraryNotFound(t *testing.T) {
	if os.Getenv("ROUTECAP_LIBRARY") != "/nowhere/libroutecap.so.0" {
		// The library is loaded once in a process, so this is another one's to see.
		command := exec.Command(os.Args[0], "-test.run", "^TestLibraryNotFound$", "-test.v")
		command.Env = append(os.Environ(), "ROUTECAP_LIBRARY=/nowhere/libroutecap.so.0")
		output, err := command.CombinedOutput()
		if err != nil || !strings.Contains(string(output), "--- PASS: TestLibraryNotFound") {
			t.Fatalf("%v\n%s", err, output)
		}
		return
	}
	calls := map[string]func() error{
		"NewCapturer": func() error { _, err := routecap.NewCapturer(routecap.Config{}); return err },
		"Plan":        func() error { _, err := routecap.Config{}.Plan(); return err },
		"Build":       func() error { _, err := routecap.Build(); return err },
		"LayoutRows":  func() error { _, _, err := routecap.LayoutRows(routecap.RowsQuery{}); return err },
		"OpenBackend": func() error { _, err := routecap.OpenBackend("host", routecap.BackendOptions{}); return err },
		"NewRecord":   func() error { _, err := routecap.NewRecord(routecap.RecordConfig{}); return err },
		"Decode": func() error {
			_, err := routecap.Decode(routecap.FormatFrame, []byte("x"), routecap.DecodeHints{})
			return err
		},
		"Detect":      func() error { _, err := routecap.Detect([]byte("x")); return err },
		"ParseFormat": func() error { _, err := routecap.ParseFormat("frame"); return err },
	}
	for name, call := range calls {
		if err := call(); !errors.Is(err, routecap.ErrLibraryNotFound) || !strings.Contains(err.Error(), "/nowhere/libroutecap.so.0") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if routecap.Version() != "" || routecap.LiveHandles() != 0 {
		t.Error(routecap.Version(), routecap.LiveHandles())
	}
}
