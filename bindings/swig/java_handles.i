// SPDX-License-Identifier: Apache-2.0
//
// Java. The package that comes out is not exported: handles, structs, strings, streams and all that is filled are `long`, the address of the thing.
// Structs, strings and answers lie in direct memory of the public package, the error of a call too, so that no native code makes a Java object, throws,
// or writes into an array: what went wrong is read where it stands, after everything of the call has been given back.
//
// SWIG keeps pointers in jlongs through pointer casts, which break C's aliasing rules; these typemaps do not, and the file is compiled with
// -fno-strict-aliasing all the same.

%pragma(java) jniclassclassmodifiers="final class"
%pragma(java) moduleclassmodifiers="final class"

%define %rcap_address(...)
%typemap(jni) __VA_ARGS__ "jlong"
%typemap(jtype) __VA_ARGS__ "long"
%typemap(jstype) __VA_ARGS__ "long"
%typemap(javain) __VA_ARGS__ "$javainput"
%typemap(in) __VA_ARGS__ %{ $1 = ($1_ltype)(intptr_t)$input; %}
%typemap(argout) __VA_ARGS__ ""
%typemap(freearg) __VA_ARGS__ ""
%enddef

%define %rcap_handle(NAME)
%rcap_address(NAME *, const NAME *, NAME **)
%enddef

%define %rcap_struct(NAME, CAMEL)
%ignore NAME;
%rcap_address(NAME *, const NAME *)
%enddef

%rcap_address(void *STREAM)
%rcap_address(const char *name)
%rcap_address(int32_t *SCALAR_OUT, int64_t *SCALAR_OUT)
%rcap_address(const void **VIEW_OUT, void **VIEW_OUT, const int32_t **VIEW_OUT, const int64_t **VIEW_OUT)

// Constants are the public package's.
%rename("$ignore", %$isenum) "";
%rename("$ignore", %$isenumitem) "";
