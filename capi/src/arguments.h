// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <routecap/routecap.h>

#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstring>

#include "capturer/capturer.h"
#include "commit/batch.h"
#include "record/record.h"
#include "support/error.h"

/// Untrusted arguments become checked ones here: handles, sized structs, required pointers.
namespace routecap::capi {

template <class Pointer>
void require(Pointer* pointer, const char* name) {
  if (pointer == nullptr) fail(RCAP_STATUS_INVALID_ARGUMENT, "%s is null", name);
}

/// No struct of this interface comes near it: a larger number is no size but whatever stood in memory.
inline constexpr std::int64_t kLargestStruct = 65536;

/// A struct of the caller, whatever version it was built with: fields it lacks are 0, bytes the library does not know must be 0.
template <class Struct>
Struct sized_in(const Struct* given, const char* name) {
  require(given, name);
  Struct known;
  const std::int64_t size = given->struct_size;
  if (size == static_cast<std::int64_t>(sizeof(Struct))) {
    std::memcpy(&known, given, sizeof known);
    return known;
  }
  if (size < 8 || size % 8 != 0 || size > kLargestStruct) {
    fail(RCAP_STATUS_INVALID_ARGUMENT,
         "%s->struct_size is %" PRId64 ", it must be a multiple of 8 in 8 .. %" PRId64
         "; this library's struct has %zu bytes (use the init function)",
         name, size, kLargestStruct, sizeof(Struct));
  }
  std::memset(&known, 0, sizeof known);
  std::memcpy(&known, given, std::min(static_cast<std::size_t>(size), sizeof known));
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  for (std::int64_t i = static_cast<std::int64_t>(sizeof known); i < size; ++i) {
    if (bytes[i] != 0) {
      fail(RCAP_STATUS_UNSUPPORTED, "%s: byte %" PRId64 " of %" PRId64 " is %d, this library knows %zu bytes and the rest must be 0", name, i, size,
           bytes[i], sizeof known);
    }
  }
  known.struct_size = static_cast<std::int64_t>(sizeof known);
  return known;
}

/// Refuses a struct that could not be filled; call before doing anything.
template <class Struct>
void require_out(const Struct* out, const char* name) {
  require(out, name);
  if (out->struct_size < 16 || out->struct_size > kLargestStruct) {
    fail(RCAP_STATUS_INVALID_ARGUMENT,
         "%s->struct_size is %" PRId64 ", allowed are 16 .. %" PRId64 "; this library's struct has %zu bytes (use the init function)", name,
         out->struct_size, kLargestStruct, sizeof(Struct));
  }
}

/// Writes the smaller of both sizes and zeroes the rest of the caller's struct.
template <class Struct>
void sized_out(Struct* out, const Struct& value) {
  const std::int64_t size = out->struct_size;
  const auto known = std::min(static_cast<std::size_t>(size), sizeof value);
  auto* bytes = reinterpret_cast<unsigned char*>(out);
  std::memcpy(bytes, &value, known);
  std::memset(bytes + known, 0, static_cast<std::size_t>(size) - known);
  out->struct_size = size;
}

inline void require_zero(std::int32_t reserved, const char* name) {
  if (reserved != 0) fail(RCAP_STATUS_UNSUPPORTED, "%s is %d, it must be 0", name, reserved);
}

/// The range of a read, as every function that reads by slots takes it.
inline rcap_read_layout checked_layout(const rcap_read_layout* layout) {
  const rcap_read_layout checked = sized_in(layout, "layout");
  require_zero(checked.reserved, "layout->reserved");
  return checked;
}

/// `bytes` < 0 is refused by name; what it must hold is checked with its layout.
inline RawArray raw(const void* data, std::int64_t bytes, const char* name) {
  if (bytes < 0) fail(RCAP_STATUS_INVALID_ARGUMENT, "%s is %" PRId64 ", it must not be negative", name, bytes);
  return {data, bytes};
}

/// An array of 8-byte elements given by count.
inline RawArray raw_counted(const void* data, std::int64_t count, const char* name) {
  if (count < 0 || count > INT64_MAX / 8)
    fail(RCAP_STATUS_INVALID_ARGUMENT, "%s is %" PRId64 ", allowed are 0 .. %" PRId64, name, count, INT64_MAX / 8);
  return {data, count * 8};
}

/// The object behind a handle; told from a null pointer, another type's handle and (as far as memory is readable) one given back.
template <class Core, class Opaque>
Core& live(Opaque* handle, const char* name) {
  require(handle, name);
  auto* core = reinterpret_cast<Core*>(const_cast<std::remove_const_t<Opaque>*>(handle));
  if (!core->is_live()) fail(RCAP_STATUS_INVALID_ARGUMENT, "%s is not a live handle of its type", name);
  return *core;
}

inline Capturer& live_capturer(const rcap_capturer* handle) {
  auto& capturer = live<Capturer>(handle, "capturer");
  if (!capturer.same_process()) fail(RCAP_STATUS_FORKED, "the capturer belongs to the parent process");
  return capturer;
}

inline Model& live_model(rcap_model* handle) {
  auto& model = live<Model>(handle, "model");
  if (!model.capturer().same_process()) fail(RCAP_STATUS_FORKED, "the model's capturer belongs to the parent process");
  return model;
}

inline Tap& live_tap(const rcap_tap* handle) {
  auto& tap = live<Tap>(handle, "tap");
  if (!tap.model().capturer().same_process()) fail(RCAP_STATUS_FORKED, "the tap's capturer belongs to the parent process");
  return tap;
}

/// An output whose capturer is still there (R34).
inline Output& live_output(const rcap_output* handle) {
  auto& output = live<Output>(handle, "output");
  if (!output.pool().same_process()) fail(RCAP_STATUS_FORKED, "the output's capturer belongs to the parent process");
  if (output.pool().closed()) fail(RCAP_STATUS_CLOSED, "the capturer of forward %" PRId64 " is destroyed", output.sequence());
  return output;
}

inline Record& live_record(const rcap_record* handle) { return live<Record>(handle, "record"); }

}  // namespace routecap::capi
