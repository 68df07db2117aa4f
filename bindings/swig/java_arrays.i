// SPDX-License-Identifier: Apache-2.0
//
// Java's arrays. Each is one parameter: a direct buffer whose whole capacity counts (the public package passes slices, so that position and limit
// have been looked at), or null.

%{
static void *rcap_java_memory(JNIEnv *jenv, jobject buffer, int64_t element, int64_t *count) {
  *count = buffer ? (int64_t)(*jenv)->GetDirectBufferCapacity(jenv, buffer) / element : 0;
  return *count ? (*jenv)->GetDirectBufferAddress(jenv, buffer) : NULL;
}
%}

%define %rcap_java_array(ELEMENT, ...)
%typemap(jni) __VA_ARGS__ "jobject"
%typemap(jtype) __VA_ARGS__ "java.nio.ByteBuffer"
%typemap(jstype) __VA_ARGS__ "java.nio.ByteBuffer"
%typemap(javain) __VA_ARGS__ "$javainput"
%typemap(in) __VA_ARGS__ %{ $1 = ($1_ltype)rcap_java_memory(jenv, $input, ELEMENT, &$2); %}
%enddef

%rcap_java_array(1, (const void *BYTES_IN, int64_t BYTES_COUNT), (void *BYTES_OUT, int64_t BYTES_COUNT))
%rcap_java_array(4, (const int32_t *ARRAY_IN, int64_t ARRAY_COUNT))
%rcap_java_array(8, (const int64_t *ARRAY_IN, int64_t ARRAY_COUNT), (int64_t *ARRAY_OUT, int64_t ARRAY_COUNT))

// One number that is filled: the first element of an array.
%define %rcap_java_out(PATTERN, VALUE, JNIARRAY, JAVAARRAY, JNIVALUE, SETREGION)
%typemap(jni) PATTERN JNIARRAY
%typemap(jtype) PATTERN JAVAARRAY
%typemap(jstype) PATTERN JAVAARRAY
%typemap(javain) PATTERN "$javainput"
%typemap(in) PATTERN (VALUE value) %{
  value = 0;
  $1 = $input ? ($1_ltype)&value : NULL;
%}
%typemap(argout) PATTERN %{
  if ($input) {
    JNIVALUE _value = (JNIVALUE)(intptr_t)value$argnum;
    (*jenv)->SETREGION(jenv, $input, 0, 1, &_value);
  }
%}
%enddef

%rcap_java_out(int32_t *SCALAR_OUT, int32_t, "jintArray", "int[]", jint, SetIntArrayRegion)
%rcap_java_out(int64_t *SCALAR_OUT, int64_t, "jlongArray", "long[]", jlong, SetLongArrayRegion)
// A pointer that a handle owns, as an address.
%rcap_java_out(const void **VIEW_OUT, intptr_t, "jlongArray", "long[]", jlong, SetLongArrayRegion)
%rcap_java_out(void **VIEW_OUT, intptr_t, "jlongArray", "long[]", jlong, SetLongArrayRegion)
%rcap_java_out(const int32_t **VIEW_OUT, intptr_t, "jlongArray", "long[]", jlong, SetLongArrayRegion)
%rcap_java_out(const int64_t **VIEW_OUT, intptr_t, "jlongArray", "long[]", jlong, SetLongArrayRegion)

%typemap(jni) int32_t ANSWER "jint"
%typemap(jtype) int32_t ANSWER "int"
%typemap(jstype) int32_t ANSWER "int"
%typemap(javaout) int32_t ANSWER { return $jnicall; }
%typemap(out) int32_t ANSWER %{ $result = (jint)$1; %}
%typemap(jni) int64_t ANSWER "jlong"
%typemap(jtype) int64_t ANSWER "long"
%typemap(jstype) int64_t ANSWER "long"
%typemap(javaout) int64_t ANSWER { return $jnicall; }
%typemap(out) int64_t ANSWER %{ $result = (jlong)$1; %}
