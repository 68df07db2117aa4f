// SPDX-License-Identifier: Apache-2.0
//
// Go's slices: pointer and length cross as they are, nothing is copied. The library keeps none of them (what it does keep, an id map, is pinned by
// package routecap). A slice's length is in elements of its type, and so is each COUNT; BYTES are []byte.

// SWIG would make them Go's int, which takes what C does not.
%typemap(gotype) int32_t, rcap_status, int32_t ANSWER "int32"
%typemap(gotype) int64_t ANSWER "int64"

%typemap(gotype) (const int32_t *ARRAY_IN, int64_t ARRAY_COUNT), (int32_t *ARRAY_OUT, int64_t ARRAY_COUNT) "[]int32"
%typemap(gotype) (const int64_t *ARRAY_IN, int64_t ARRAY_COUNT), (int64_t *ARRAY_OUT, int64_t ARRAY_COUNT) "[]int64"
%typemap(gotype) (const void *BYTES_IN, int64_t BYTES_COUNT), (void *BYTES_OUT, int64_t BYTES_COUNT) "[]byte"

// The pointer says whether an array is given, in C as in Go: nil is null, and a slice of no elements is not.
%typemap(in) (const int32_t *ARRAY_IN, int64_t ARRAY_COUNT), (const int64_t *ARRAY_IN, int64_t ARRAY_COUNT),
             (int32_t *ARRAY_OUT, int64_t ARRAY_COUNT), (int64_t *ARRAY_OUT, int64_t ARRAY_COUNT), (const void *BYTES_IN, int64_t BYTES_COUNT),
             (void *BYTES_OUT, int64_t BYTES_COUNT) %{
  $1 = ($1_ltype)$input.array;
  $2 = (int64_t)$input.len;
%}

%typemap(gotype) int32_t *SCALAR_OUT, int64_t *SCALAR_OUT, const void **VIEW_OUT, void **VIEW_OUT, const int32_t **VIEW_OUT,
                 const int64_t **VIEW_OUT "unsafe.Pointer"
%typemap(in) int32_t *SCALAR_OUT, int64_t *SCALAR_OUT %{ $1 = ($1_ltype)$input; %}
%typemap(in) const void **VIEW_OUT, void **VIEW_OUT, const int32_t **VIEW_OUT, const int64_t **VIEW_OUT %{ $1 = ($1_ltype)$input; %}

// A stream is a number to Go, whatever the backend makes of it.
%typemap(gotype) void *STREAM "uintptr"
%typemap(in) void *STREAM %{ $1 = (void *)$input; %}
