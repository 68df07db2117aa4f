// SPDX-License-Identifier: Apache-2.0
#pragma once

// Calls of every exported function: with valid arguments, and with each of its pointers null in turn. The list is generated.

#include <cstdint>
#include <string>
#include <vector>

#include "scene.h"

namespace routecap::abi {

// VALID: nothing is null. ALLOWED: null has a meaning there. REFUSED: INVALID_ARGUMENT. NOTHING: a destroy function, which does nothing.
enum class Expect { VALID, ALLOWED, REFUSED, NOTHING };

struct Call {
  std::string function;
  std::string null_parameter;
  Expect expectation;
  std::int64_t (*make)(Scene&);
};

#define RCAP_NULL nullptr
#define RCAP_ERR (&s.err)
#define RCAP_STREAM (static_cast<void*>(&s))
#define RCAP_HANDLE(type) (s.argument<type>())
#define RCAP_STRUCT_OF(type) (&s.structure<type>())
#define RCAP_TEXT(function, parameter) (text_of(#function))
#define RCAP_ARRAY(function, parameter, type) (static_cast<type*>(s.array(#parameter)))
#define RCAP_OUT(function, parameter, type) (s.out<type>())
#define RCAP_LENGTH(function, parameter) (number_of(#function, #parameter))
#define RCAP_NUMBER(function, parameter, type) (static_cast<type>(number_of(#function, #parameter)))

inline const std::vector<Call>& calls() {
  static const std::vector<Call> kCalls = {
#define RCAP_CALL(function, parameter, expectation, call)                    \
  {#function, parameter, Expect::expectation, [](Scene& s) -> std::int64_t { \
     static_cast<void>(s);                                                   \
     return call;                                                            \
   }},
#include "null_calls.inc"
#undef RCAP_CALL
  };
  return kCalls;
}

#undef RCAP_NULL
#undef RCAP_ERR
#undef RCAP_STREAM
#undef RCAP_HANDLE
#undef RCAP_STRUCT_OF
#undef RCAP_TEXT
#undef RCAP_ARRAY
#undef RCAP_OUT
#undef RCAP_LENGTH
#undef RCAP_NUMBER

}  // namespace routecap::abi
