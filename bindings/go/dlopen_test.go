// SPDX-License-Identifier: Apache-2.0

//go:build !cgo || routecap_dlopen

package routecap_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
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

// What ROUTECAP_LIBRARY names is looked at before the dynamic linker sees it, which would end the process at a file that was cut short.
func TestBrokenLibraries(t *testing.T) {
	if os.Getenv("ROUTECAP_TEST_BROKEN") != "" {
		_, err := routecap.Build()
		os.Stdout.WriteString("said: " + strings.TrimPrefix(message(err), "routecap: library not found: ") + "\n")
		return
	}
	folder := os.Getenv("ROUTECAP_LOADING_CASES")
	if folder == "" {
		t.Skip("ROUTECAP_LOADING_CASES names no folder of cases (tests/loading writes one)")
	}
	cases, err := os.ReadFile(filepath.Join(folder, "cases"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(cases), "\n"), "\n")
	if len(lines) < 20 {
		t.Fatalf("%d cases", len(lines))
	}
	for _, line := range lines {
		name, reason, _ := strings.Cut(line, "\t")
		path := filepath.Join(folder, name)
		want := "said: \n"
		if reason != "" {
			want = "said: " + path + ": " + reason + "\n"
		}
		// The library is loaded once in a process.
		command := exec.Command(os.Args[0], "-test.run", "^TestBrokenLibraries$", "-test.v")
		command.Env = append(os.Environ(), "ROUTECAP_LIBRARY="+path, "ROUTECAP_TEST_BROKEN=yes")
		if output, err := command.CombinedOutput(); err != nil || !strings.Contains(string(output), want) {
			t.Errorf("%s: %v\n%s, want %s", name, err, output, want)
		}
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
