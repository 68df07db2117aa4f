// SPDX-License-Identifier: Apache-2.0

package routecap

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// api is what capi/abi/api.json says.
type api struct {
	Enums []struct {
		Name   string
		Values []struct {
			Name  string
			Value int64
		}
	}
	Structs []struct {
		Name   string
		Size   uintptr
		Fields []struct {
			Name         string
			Offset, Size uintptr
		}
	}
	Functions []struct {
		Name, Returns string
		Parameters    []struct{ Name, Type, Length string }
	}
}

// sourceFile is a file of the whole project, which a module that was fetched does not have. Where ROUTECAP_SOURCE names the project, it must be there.
func sourceFile(t testing.TB, name string) string {
	t.Helper()
	root := os.Getenv("ROUTECAP_SOURCE")
	path := filepath.Join(root, name)
	if root == "" {
		path = filepath.Join("..", "..", name)
	}
	if _, err := os.Stat(path); err != nil {
		if root != "" {
			t.Fatal(err)
		}
		t.Skipf("skipped: %s is not here", name)
	}
	return path
}

func readAPI(t *testing.T) api {
	data, err := os.ReadFile(sourceFile(t, "capi/abi/api.json"))
	if err != nil {
		t.Fatal(err)
	}
	var read api
	if err := json.Unmarshal(data, &read); err != nil {
		t.Fatal(err)
	}
	if len(read.Functions) < 63 || len(read.Structs) < 21 || len(read.Enums) < 20 {
		t.Fatalf("api.json has %d functions, %d structs, %d enums only", len(read.Functions), len(read.Structs), len(read.Enums))
	}
	return read
}

// parsed are the package's own files, tests left out.
func parsed(t *testing.T, pattern string) []*ast.File {
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

func TestEveryFunctionOfTheCAPIIsBound(t *testing.T) {
	// Functions that Go does not call, and why. None today.
	listed := map[string]string{}
	called := map[string]bool{}
	for _, file := range parsed(t, "*.go") {
		ast.Inspect(file, func(node ast.Node) bool {
			if selector, ok := node.(*ast.SelectorExpr); ok {
				if of, ok := selector.X.(*ast.Ident); ok && of.Name == "native" {
					called[selector.Sel.Name] = true
				}
			}
			return true
		})
	}
	for _, function := range readAPI(t).Functions {
		bound := called["R"+function.Name[1:]]
		if reason, there := listed[function.Name]; bound == there {
			t.Errorf("%s: bound %v, listed as not bound %v (%s)", function.Name, bound, there, reason)
		}
	}
}

// What a parameter is in the raw layer follows from its C type; SWIG's own choice where no typemap fits would be another.
func TestTheRawLayerHasTheTypesOfTheCAPI(t *testing.T) {
	for _, file := range []string{"internal/native/routecap.go", "internal/native/dlopen_generated.go"} {
		t.Run(filepath.Base(file), func(t *testing.T) { checkRawLayer(t, file) })
	}
}

func checkRawLayer(t *testing.T, file string) {
	signatures := map[string]*ast.FuncType{}
	for _, file := range parsed(t, file) {
		for _, declaration := range file.Decls {
			if function, ok := declaration.(*ast.FuncDecl); ok {
				signatures[function.Name.Name] = function.Type
			}
		}
	}
	handles := "rcap_backend rcap_capturer rcap_model rcap_tap rcap_output rcap_record"
	for _, function := range readAPI(t).Functions {
		var want []string
		lengths := map[string]bool{}
		for _, parameter := range function.Parameters {
			element := strings.TrimSuffix(strings.TrimPrefix(parameter.Type, "const "), "*")
			switch {
			case lengths[parameter.Name]:
				continue
			case parameter.Length != "" && element == "void":
				want = append(want, "[]byte")
			case parameter.Length != "":
				want = append(want, "[]"+strings.TrimSuffix(element, "_t"))
			case parameter.Type == "const char*":
				want = append(want, "string")
			case parameter.Type == "void*", strings.Contains(handles+" ", element+" ") && strings.HasSuffix(parameter.Type, "*") && !strings.HasSuffix(element, "*"):
				want = append(want, "uintptr")
			case strings.HasSuffix(parameter.Type, "*"):
				want = append(want, "unsafe.Pointer")
			default:
				want = append(want, strings.TrimSuffix(parameter.Type, "_t"))
			}
			lengths[parameter.Length] = parameter.Length != ""
		}
		signature := signatures["R"+function.Name[1:]]
		if signature == nil {
			t.Errorf("%s is not in the raw layer", function.Name)
			continue
		}
		var got []string
		for _, parameter := range signature.Params.List {
			got = append(got, typeName(parameter.Type))
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s takes %v, want %v", function.Name, got, want)
		}
	}
}

func typeName(expression ast.Expr) string {
	switch of := expression.(type) {
	case *ast.Ident:
		return of.Name
	case *ast.SelectorExpr:
		return typeName(of.X) + "." + of.Sel.Name
	case *ast.ArrayType:
		return "[]" + typeName(of.Elt)
	case *ast.StarExpr:
		return "*" + typeName(of.X)
	}
	return "?"
}

// bare is a name without its language's way of writing it.
func bare(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

func TestEnumValuesAreThoseOfTheCAPI(t *testing.T) {
	constants := map[string]int64{}
	for _, file := range parsed(t, "enums_generated.go") {
		ast.Inspect(file, func(node ast.Node) bool {
			if spec, ok := node.(*ast.ValueSpec); ok {
				text := ""
				switch value := spec.Values[0].(type) {
				case *ast.BasicLit:
					text = value.Value
				case *ast.UnaryExpr:
					text = value.Op.String() + value.X.(*ast.BasicLit).Value
				}
				number, err := strconv.ParseInt(text, 10, 32)
				if err != nil {
					t.Fatal(err)
				}
				constants[bare(spec.Names[0].Name)] = number
			}
			return true
		})
	}
	prefixes := map[string]string{"rcap_status": "err", "rcap_rows_term": "term", "rcap_capture_gate": "gate", "rcap_wire_format": "format"}
	checked := 0
	for _, enum := range readAPI(t).Enums {
		for _, value := range enum.Values {
			parts := strings.SplitN(value.Name, "_", 3)
			prefix := prefixes[enum.Name]
			if prefix == "" {
				prefix = bare(parts[1])
			}
			name := prefix + bare(parts[2])
			if value.Name == "RCAP_STATUS_OK" {
				name = "ok"
			}
			got, there := constants[name]
			if !there || got != value.Value {
				t.Errorf("%s is %d; Go's %s: %v, %d", value.Name, value.Value, name, there, got)
			}
			checked++
		}
	}
	if checked != len(constants) {
		t.Errorf("C has %d constants, Go %d", checked, len(constants))
	}
}

// The addresses of these cross to C, so each field lies where C has it.
var layouts = map[string]any{
	"rcap_error": errorLayout{}, "rcap_build_info": buildInfoLayout{}, "rcap_backend_options": backendOptionsLayout{},
	"rcap_backend_info": backendInfoLayout{}, "rcap_capturer_config": capturerConfigLayout{}, "rcap_capturer_plan": Plan{},
	"rcap_tap_options": tapOptionsLayout{}, "rcap_capture_layout": captureLayout{}, "rcap_capturer_stats": Stats{},
	"rcap_forward_layout": forwardLayout{}, "rcap_accept_layout": acceptLayout{}, "rcap_summary": Summary{}, "rcap_slots_layout": slotsLayout{},
	"rcap_slot_info": SlotInfo{}, "rcap_read_layout": readLayout{}, "rcap_read_info": ReadInfo{}, "rcap_record_layout": recordLayout{},
	"rcap_record_info": RecordInfo{}, "rcap_compare_report": CompareReport{}, "rcap_encode_options": encodeOptionsLayout{},
	"rcap_decode_hints": decodeHintsLayout{}, "rcap_fill_layout": fillLayout{}, "rcap_partition_layout": partitionLayout{},
}

func TestStructsLieAsInTheCAPI(t *testing.T) {
	described := readAPI(t)
	if len(described.Structs) != len(layouts) {
		t.Errorf("C has %d structs, Go %d", len(described.Structs), len(layouts))
	}
	for _, c := range described.Structs {
		if layouts[c.Name] == nil {
			t.Errorf("%s has no Go type", c.Name)
			continue
		}
		layout := reflect.TypeOf(layouts[c.Name])
		if layout.Size() != c.Size || layout.NumField() != len(c.Fields) {
			t.Errorf("%v has %d bytes and %d fields, %s %d and %d", layout, layout.Size(), layout.NumField(), c.Name, c.Size, len(c.Fields))
			continue
		}
		for index, field := range c.Fields {
			got := layout.Field(index)
			if got.Offset != field.Offset || got.Type.Size() != field.Size || bare(got.Name) != bare(strings.Replace(field.Name, "_ns", "_nanoseconds", 1)) {
				t.Errorf("%v.%s at %d, %d bytes; in C %s at %d, %d bytes", layout, got.Name, got.Offset, got.Type.Size(), field.Name, field.Offset, field.Size)
			}
		}
	}
}

// A field that is appended in C to what a caller fills must be reachable from Go, not only laid out.
func TestEveryFieldThatACallerFillsIsUsed(t *testing.T) {
	// Layouts that are written as a literal name their fields there; the others are filled or read field by field.
	literals := map[string]map[string]bool{}
	selected := map[string]bool{}
	for _, file := range parsed(t, "*.go") {
		ast.Inspect(file, func(node ast.Node) bool {
			switch of := node.(type) {
			case *ast.SelectorExpr:
				selected[of.Sel.Name] = true
			case *ast.CompositeLit:
				name, ok := of.Type.(*ast.Ident)
				if !ok || len(of.Elts) < 2 {
					return true
				}
				for _, element := range of.Elts {
					if pair, ok := element.(*ast.KeyValueExpr); ok {
						if literals[name.Name] == nil {
							literals[name.Name] = map[string]bool{}
						}
						literals[name.Name][pair.Key.(*ast.Ident).Name] = true
					}
				}
			}
			return true
		})
	}
	for name, value := range layouts {
		layout := reflect.TypeOf(value)
		used := literals[layout.Name()]
		if used == nil {
			used = selected
		}
		for index := range layout.NumField() {
			field := layout.Field(index).Name
			exported := layout.Field(index).IsExported()
			if !exported && field != "structSize" && !strings.HasPrefix(field, "reserved") && !(name == "rcap_error" && field == "code") && !used[field] {
				t.Errorf("%s.%s is nowhere set or read", name, field)
			}
		}
	}
}
