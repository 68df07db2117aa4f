// SPDX-License-Identifier: Apache-2.0

package routecap_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	routecap "github.com/routecap/routecap/bindings/go"
)

// C ends a text at its first zero byte: "host\x00x" would be taken for "host".
func TestNamesWithAZeroByte(t *testing.T) {
	capturer, err := routecap.NewCapturer(routecap.Config{NumExperts: 8, TopK: 1, LayerIDs: []int32{0}, MaxForwardTokens: 1})
	must(t, err)
	defer capturer.Close()
	calls := map[string]struct {
		good, what string
		call       func(name string) error
	}{
		"AddModel": {"target", "the model's name", func(name string) error {
			_, err := capturer.AddModel(routecap.RoleTarget, name)
			return err
		}},
		"OpenBackend": {"host", "the backend's name", func(name string) error {
			backend, err := routecap.OpenBackend(name, routecap.BackendOptions{})
			if err == nil {
				must(t, backend.Close())
			}
			return err
		}},
		"SearchBackend": {"host", "the backend's name", func(name string) error { _, err := routecap.SearchBackend(name); return err }},
		"ParseFormat":   {"frame", "the form's name", func(name string) error { _, err := routecap.ParseFormat(name); return err }},
	}
	if taken := takesText(t); !slices.Equal(taken, slices.Sorted(maps.Keys(calls))) {
		t.Fatalf("a text is taken by %v", taken)
	}
	for name, c := range calls {
		for _, given := range []string{c.good + "\x00", c.good + "\x00x", "\x00" + c.good, "\x00"} {
			err := c.call(given)
			want := fmt.Sprintf("%s has a zero byte: %q", c.what, given)
			var failure *routecap.Error
			if !errors.As(err, &failure) || failure.Code != routecap.ErrInvalidArgument || failure.Text != want {
				t.Errorf("%s(%q): %v, want %s", name, given, err, want)
			}
		}
		if err := c.call(c.good); err != nil {
			t.Errorf("%s(%q): %v", name, c.good, err)
		}
	}
}

// takesText is every exported function and method of the package that has a text among its parameters.
func takesText(t *testing.T) []string {
	paths, err := filepath.Glob("*.go")
	must(t, err)
	var found []string
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		must(t, err)
		for _, declaration := range file.Decls {
			function, ok := declaration.(*ast.FuncDecl)
			if !ok || !function.Name.IsExported() {
				continue
			}
			for _, parameter := range function.Type.Params.List {
				named := false
				ast.Inspect(parameter.Type, func(node ast.Node) bool {
					identifier, ok := node.(*ast.Ident)
					named = named || ok && identifier.Name == "string"
					return true
				})
				if named {
					found = append(found, function.Name.Name)
				}
			}
		}
	}
	slices.Sort(found)
	return found
}
