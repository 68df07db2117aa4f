// SPDX-License-Identifier: Apache-2.0
//
// Java's failures: the call's own rcap_error lives on the native stack, and what it says is thrown inside the same call.
//
// The exception is thrown in the `ret` typemap, which runs after `freearg`: thrown in `out`, a function would return with the critical section of an
// array still open, and the JVM hangs. BUSY, NOT_READY and TIMEOUT are answers and come back as the number they are.

%{
#include <stdlib.h>

static int rcap_java_is_fault(int64_t status) {
  return status < 0 && status != RCAP_STATUS_BUSY && status != RCAP_STATUS_NOT_READY && status != RCAP_STATUS_TIMEOUT;
}

static void rcap_java_throw(JNIEnv *jenv, const rcap_error *error, int64_t status) {
  jclass type;
  jmethodID make;
  jstring text;
  jobject exception;
  if ((*jenv)->ExceptionCheck(jenv)) return;
  type = (*jenv)->FindClass(jenv, "io/github/routecap/internal/jni/NativeFailure");
  if (!type) return;
  make = (*jenv)->GetMethodID(jenv, type, "<init>", "(IJLjava/lang/String;)V");
  text = (*jenv)->NewStringUTF(jenv, error->text);
  if (!make || !text) return;
  exception = (*jenv)->NewObject(jenv, type, make, (jint)status, (jlong)error->detail, text);
  if (exception) (*jenv)->Throw(jenv, (jthrowable)exception);
}
%}

// `error` is the caller's memory; a wrapper's own local needs the prefix _global_ to keep its name.
%typemap(in, numinputs=0) rcap_error *err (rcap_error _global_error) %{
  rcap_error_init(&_global_error, sizeof _global_error);
  $1 = &_global_error;
%}
%typemap(ret) rcap_status, int32_t ANSWER, int64_t ANSWER %{
  if (rcap_java_is_fault($1)) {
    rcap_java_throw(jenv, &_global_error, $1);
    return $null;
  }
%}
