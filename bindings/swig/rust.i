// SPDX-License-Identifier: Apache-2.0
//
// Rust. SWIG has no Rust target; what it reads comes out as XML (`swig -xml`), names, exact types and the features of swig_features.i, and
// bindings/rust/generator makes the crates' files of that. Nothing is mapped: Rust calls C as it is.

%define %rcap_handle(NAME)
%enddef

%define %rcap_struct(NAME, CAMEL)
%enddef
