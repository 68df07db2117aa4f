// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <routecap/routecap.h>

#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "support/error.h"

namespace routecap::capi {

/// Whether the caller wants to be told: a null pointer or too small a struct means no.
inline bool wanted(const rcap_error* err) noexcept { return err != nullptr && err->struct_size >= static_cast<std::int64_t>(sizeof(rcap_error)); }

inline Status report(rcap_error* err, Status status, std::int64_t detail, const char* text, const char* function = nullptr) noexcept {
  if (!wanted(err)) return status;
  err->code = status;
  err->reserved = 0;
  err->detail = detail;
  if (text == nullptr) {
    err->text[0] = '\0';
  } else {
    std::snprintf(err->text, sizeof err->text, "%s%s%s", function == nullptr ? "" : function, function == nullptr ? "" : ": ", text);
  }
  return status;
}

/// The one place where exceptions end: runs `body`, which returns a number >= 0 or an Answer, and turns what it throws into a status and a text.
///
/// @param function  name of the entry point, for faults that know nothing of what they belong to
template <class Result, class Body>
Result guard_as(rcap_error* err, Body&& body, const char* function = __builtin_FUNCTION()) noexcept {
  try {
    const Result result = std::forward<Body>(body)();
    report(err, RCAP_STATUS_OK, 0, nullptr);
    return result;
  } catch (const Error& error) {
    return report(err, error.status(), 0, error.what());
  } catch (const std::bad_alloc&) {
    return report(err, RCAP_STATUS_OUT_OF_MEMORY, 0, "memory could not be had", function);
  } catch (const std::length_error&) {
    return report(err, RCAP_STATUS_OUT_OF_MEMORY, 0, "a list is longer than the address space", function);
  } catch (const std::exception& error) {
    return report(err, RCAP_STATUS_INTERNAL, 0, error.what(), function);
  } catch (...) {
    return report(err, RCAP_STATUS_INTERNAL, 0, "an unknown exception was thrown", function);
  }
}

/// As above for functions that return a status; an answer such as BUSY passes through without a text.
template <class Body>
rcap_status guard(rcap_error* err, Body&& body, const char* function = __builtin_FUNCTION()) noexcept {
  Answer answer;
  const auto status = guard_as<rcap_status>(
      err,
      [&] {
        if constexpr (std::is_same_v<decltype(body()), void>) {
          body();
        } else {
          answer = body();
        }
        return RCAP_STATUS_OK;
      },
      function);
  if (status != RCAP_STATUS_OK || answer.status == RCAP_STATUS_OK) return status;
  return report(err, answer.status, answer.detail, nullptr);
}

}  // namespace routecap::capi
