// SPDX-License-Identifier: Apache-2.0
//
// Java's arrays. Each is one parameter, an io.github.routecap.internal.Span or null: an address and bytes, or a primitive array of Java's heap, an
// offset in it and bytes. Null alone is null in C: one of no bytes is given, and has an address.
//
// An array of the heap is lent for the call as a critical section. No other JNI function may be called inside one, so everything is looked up first, in
// the `in` typemaps, and the sections begin in `check`, which runs when all arguments are there. They end in `freearg`, on every way out: no typemap
// returns or throws in between. The public package never passes an array of the heap to a call that waits.

%{
#include <stdint.h>

typedef struct {
  jobject array;
  char *memory;
  int64_t offset;
  int64_t bytes;
} rcap_java_span;

static jfieldID rcap_java_array_field, rcap_java_address_field, rcap_java_bytes_field;

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved) {
  JNIEnv *jenv = NULL;
  jclass type;
  (void)reserved;
  if ((*vm)->GetEnv(vm, (void **)&jenv, JNI_VERSION_1_8) != JNI_OK) return JNI_ERR;
  type = (*jenv)->FindClass(jenv, "io/github/routecap/internal/Span");
  if (!type) return JNI_ERR;
  rcap_java_array_field = (*jenv)->GetFieldID(jenv, type, "array", "Ljava/lang/Object;");
  rcap_java_address_field = (*jenv)->GetFieldID(jenv, type, "address", "J");
  rcap_java_bytes_field = (*jenv)->GetFieldID(jenv, type, "bytes", "J");
  return rcap_java_array_field && rcap_java_address_field && rcap_java_bytes_field ? JNI_VERSION_1_8 : JNI_ERR;
}

static char rcap_java_nothing[8];

static rcap_java_span rcap_java_look(JNIEnv *jenv, jobject given) {
  rcap_java_span span = {NULL, NULL, 0, 0};
  if (!given) return span;
  span.bytes = (*jenv)->GetLongField(jenv, given, rcap_java_bytes_field);
  if (span.bytes == 0) {
    span.offset = (int64_t)(intptr_t)rcap_java_nothing;
    return span;
  }
  span.offset = (*jenv)->GetLongField(jenv, given, rcap_java_address_field);
  /* An address is never below the first page, an offset of the heap is kept negative: -1 - offset. */
  if (span.offset < 0) {
    span.array = (*jenv)->GetObjectField(jenv, given, rcap_java_array_field);
    span.offset = -1 - span.offset;
  }
  return span;
}

static void *rcap_java_begin(JNIEnv *jenv, rcap_java_span *span) {
  if (!span->array) return (void *)(intptr_t)span->offset;
  span->memory = (char *)(*jenv)->GetPrimitiveArrayCritical(jenv, (jarray)span->array, NULL);
  return span->memory ? span->memory + span->offset : NULL;
}

static void rcap_java_end(JNIEnv *jenv, const rcap_java_span *span, jint mode) {
  if (span->memory) (*jenv)->ReleasePrimitiveArrayCritical(jenv, (jarray)span->array, span->memory, mode);
}
%}

%define %rcap_java_array(ELEMENT, MODE, ...)
%typemap(jni) __VA_ARGS__ "jobject"
%typemap(jtype) __VA_ARGS__ "io.github.routecap.internal.Span"
%typemap(jstype) __VA_ARGS__ "io.github.routecap.internal.Span"
%typemap(javain) __VA_ARGS__ "$javainput"
%typemap(in) __VA_ARGS__ (rcap_java_span span) %{ span = rcap_java_look(jenv, $input); %}
%typemap(check) __VA_ARGS__ %{
  $1 = ($1_ltype)rcap_java_begin(jenv, &span$argnum);
  $2 = span$argnum.bytes / ELEMENT;
%}
%typemap(argout) __VA_ARGS__ ""
%typemap(freearg) __VA_ARGS__ %{ rcap_java_end(jenv, &span$argnum, MODE); %}
%enddef

// What was only read need not be copied back.
%rcap_java_array(1, JNI_ABORT, (const void *BYTES_IN, int64_t BYTES_COUNT))
%rcap_java_array(4, JNI_ABORT, (const int32_t *ARRAY_IN, int64_t ARRAY_COUNT))
%rcap_java_array(8, JNI_ABORT, (const int64_t *ARRAY_IN, int64_t ARRAY_COUNT))
%rcap_java_array(1, 0, (void *BYTES_OUT, int64_t BYTES_COUNT))
%rcap_java_array(4, 0, (int32_t *ARRAY_OUT, int64_t ARRAY_COUNT))
%rcap_java_array(8, 0, (int64_t *ARRAY_OUT, int64_t ARRAY_COUNT))

%define %rcap_java_number(JNI, JAVA, ...)
%typemap(jni) __VA_ARGS__ "JNI"
%typemap(jtype) __VA_ARGS__ "JAVA"
%typemap(jstype) __VA_ARGS__ "JAVA"
%typemap(javain) __VA_ARGS__ "$javainput"
%typemap(javaout) __VA_ARGS__ { return $jnicall; }
%typemap(in) __VA_ARGS__ %{ $1 = ($1_ltype)$input; %}
%typemap(out) __VA_ARGS__ %{ $result = (JNI)$1; %}
%enddef

%rcap_java_number(jint, int, int32_t ANSWER)
%rcap_java_number(jlong, long, int64_t ANSWER)

// The two ends of a direct buffer: where it lies, and one for memory of the library.
%typemap(jni) jobject rcap_java_view "jobject"
%typemap(jtype) jobject rcap_java_view "java.nio.ByteBuffer"
%typemap(jstype) jobject rcap_java_view "java.nio.ByteBuffer"
%typemap(jtype) jobject direct "java.nio.ByteBuffer"
%typemap(jstype) jobject direct "java.nio.ByteBuffer"
%native(rcap_java_address) jlong rcap_java_address(jobject direct);
%native(rcap_java_view) jobject rcap_java_view(jlong address, jlong bytes);
%{
JNIEXPORT jlong JNICALL Java_io_github_routecap_internal_jni_routecapJNI_rcap_1java_1address(JNIEnv *jenv, jclass type, jobject direct) {
  (void)type;
  return (jlong)(intptr_t)(*jenv)->GetDirectBufferAddress(jenv, direct);
}

JNIEXPORT jobject JNICALL Java_io_github_routecap_internal_jni_routecapJNI_rcap_1java_1view(JNIEnv *jenv, jclass type, jlong address, jlong bytes) {
  (void)type;
  return (*jenv)->NewDirectByteBuffer(jenv, (void *)(intptr_t)address, bytes);
}
%}
