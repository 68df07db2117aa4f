// SPDX-License-Identifier: Apache-2.0
//
// The one interface from which the raw layers of the Go, Java and Rust bindings are generated (`packaging/run bindings`). Functions are wrapped as they
// are: no %extend, no proxies of handles, and no destructors, because the public packages on top own lifetimes and do it by hand.
//
// What is where: the language's typemaps first (they define the patterns and the two macros that the generated features name), then the generated
// features, which give every pointer of the API one of those patterns, then the API itself.
%module routecap

%{
#include <routecap/routecap_flat.h>
%}

// int64_t is C's long on every 64-bit Linux. SWIG would write long long into its casts, which is another type to a compiler.
#define SWIGWORDSIZE64
%include <stdint.i>
#ifdef SWIGJAVA
%apply long long { int64_t };
#endif

#if defined(SWIGGO)
%include "go.i"
#elif defined(SWIGJAVA)
%include "java_handles.i"
%include "java_arrays.i"
#elif defined(SWIGXML)
%include "rust.i"
#else
#error "bindings/swig has typemaps for Go and Java, and -xml for Rust, only"
#endif

%include "swig_features.i"
%include "routecap_flat.h"
