// SPDX-License-Identifier: Apache-2.0

package routecap_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// Every name that a user can write has a comment of its own, fields and constants too.
func TestEveryPublicNameIsDocumented(t *testing.T) {
	paths, err := filepath.Glob("*.go")
	must(t, err)
	set := token.NewFileSet()
	var files []*ast.File
	for _, path := range paths {
		if !strings.HasSuffix(path, "_test.go") {
			file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
			must(t, err)
			files = append(files, file)
		}
	}
	documented, err := doc.NewFromFiles(set, files, "github.com/routecap/routecap/bindings/go")
	must(t, err)
	names := 0
	expect := func(name string, comments ...string) {
		names++
		if strings.TrimSpace(strings.Join(comments, "")) == "" {
			t.Errorf("%s has no comment", name)
		}
	}
	values := func(groups []*doc.Value) {
		for _, group := range groups {
			for _, spec := range group.Decl.Specs {
				value := spec.(*ast.ValueSpec)
				for _, name := range value.Names {
					if name.IsExported() {
						expect(name.Name, value.Doc.Text(), value.Comment.Text(), singleDoc(group))
					}
				}
			}
		}
	}
	functions := func(of string, all []*doc.Func) {
		for _, function := range all {
			expect(of+function.Name, function.Doc)
		}
	}
	expect("package", documented.Doc)
	values(documented.Consts)
	values(documented.Vars)
	functions("", documented.Funcs)
	for _, kind := range documented.Types {
		expect(kind.Name, kind.Doc)
		values(kind.Consts)
		values(kind.Vars)
		functions("", kind.Funcs)
		functions(kind.Name+".", kind.Methods)
		structure, ok := kind.Decl.Specs[0].(*ast.TypeSpec).Type.(*ast.StructType)
		if !ok {
			continue
		}
		for _, field := range structure.Fields.List {
			for _, name := range field.Names {
				// Two fields of one line share its comment.
				if name.IsExported() {
					expect(kind.Name+"."+name.Name, field.Doc.Text(), field.Comment.Text())
				}
			}
		}
	}
	if names < 400 {
		t.Errorf("%d names", names)
	}
}

// singleDoc is the comment of a declaration that declares one name.
func singleDoc(group *doc.Value) string {
	if len(group.Decl.Specs) == 1 {
		return group.Doc
	}
	return ""
}
