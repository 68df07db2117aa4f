// SPDX-License-Identifier: Apache-2.0
//
// Go. The package that comes out is internal: everything in it is uintptr, unsafe.Pointer and slices, and costs one cgo call and no allocation.

%go_import("unsafe")

// pkg-config finds the library; the hand-written part of the package says so beside these lines (cgo.go).
%insert(go_header) %{
// Package native is the C API as it is. Handles are uintptr, structs are unsafe.Pointer to the layouts of package routecap.
%}

// A handle is the number that C gave: the garbage collector has nothing to do with it. Whatever is filled, a handle too, is named by unsafe.Pointer:
// package routecap passes the addresses of its own variables, which hold no pointer into Go's memory, and cgo need not look (type_pointers in
// packaging/lib/bindings.sh).
%define %rcap_handle(NAME)
%typemap(gotype) NAME *, const NAME * "uintptr"
%typemap(in) NAME *, const NAME * %{ $1 = ($1_ltype)$input; %}
%typemap(gotype) NAME ** "unsafe.Pointer"
%typemap(in) NAME ** %{ $1 = ($1_ltype)$input; %}
%enddef

// A struct is a Go struct of the same layout, passed where it stands. Its C type is not wrapped.
%define %rcap_struct(NAME, CAMEL)
%ignore NAME;
%typemap(gotype) NAME *, const NAME * "unsafe.Pointer"
%typemap(in) NAME *, const NAME * %{ $1 = ($1_ltype)$input; %}
%enddef

// Enum constants are written as Go constants in package routecap; as SWIG's variables they would cost a call each at start-up.
%rename("$ignore", %$isenum) "";
%rename("$ignore", %$isenumitem) "";

%include "go_arrays.i"
