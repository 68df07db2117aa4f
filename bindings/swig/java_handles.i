// SPDX-License-Identifier: Apache-2.0
//
// Java. The package that comes out is not exported: handles, structs and streams are `long`, the address of the thing. Structs lie in direct buffers
// of the public package, which writes their fields at the offsets of capi/abi/api.json: a setter through JNI would cost more than the capture.

%pragma(java) jniclassclassmodifiers="final class"
%pragma(java) moduleclassmodifiers="public final class"

%define %rcap_address(...)
%typemap(jni) __VA_ARGS__ "jlong"
%typemap(jtype) __VA_ARGS__ "long"
%typemap(jstype) __VA_ARGS__ "long"
%typemap(javain) __VA_ARGS__ "$javainput"
%typemap(in) __VA_ARGS__ %{ $1 = ($1_ltype)(intptr_t)$input; %}
%enddef

%define %rcap_handle(NAME)
%rcap_address(NAME *, const NAME *)
// Receives a handle: a long[] of at least one element.
%typemap(jni) NAME ** "jlongArray"
%typemap(jtype) NAME ** "long[]"
%typemap(jstype) NAME ** "long[]"
%typemap(javain) NAME ** "$javainput"
%typemap(in) NAME ** (NAME *handle) %{
  handle = NULL;
  $1 = $input ? &handle : NULL;
%}
%typemap(argout) NAME ** %{
  if ($input) {
    jlong _value = (jlong)(intptr_t)handle$argnum;
    (*jenv)->SetLongArrayRegion(jenv, $input, 0, 1, &_value);
  }
%}
%enddef

%define %rcap_struct(NAME, CAMEL)
%ignore NAME;
%rcap_address(NAME *, const NAME *)
%enddef

%rcap_address(void *STREAM)

// Constants are the public package's.
%rename("$ignore", %$isenum) "";
%rename("$ignore", %$isenumitem) "";
