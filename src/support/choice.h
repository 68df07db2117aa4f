// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <routecap/routecap.h>

#include <array>
#include <cstdint>
#include <span>

/// Numbers that stand for a name in the C API, told by name where they are refused.
namespace routecap {

/// A value of an enumeration and its name without the enumeration's prefix.
struct Choice {
  std::int32_t value;
  const char* name;
};

inline constexpr std::array<Choice, 2> kMemories{{{RCAP_MEMORY_HOST, "HOST"}, {RCAP_MEMORY_DEVICE, "DEVICE"}}};
inline constexpr std::array<Choice, 2> kSlotUnits{{{RCAP_UNIT_SLOT, "SLOT"}, {RCAP_UNIT_PAGE, "PAGE"}}};
inline constexpr std::array<Choice, 3> kAcceptances{{{RCAP_ACCEPT_ALL, "ALL"}, {RCAP_ACCEPT_GIVEN, "GIVEN"}, {RCAP_ACCEPT_LATER, "LATER"}}};
inline constexpr std::array<Choice, 3> kWeightsKinds{
    {{RCAP_WEIGHTS_AS_ROUTED, "AS_ROUTED"}, {RCAP_WEIGHTS_RENORMALIZED, "RENORMALIZED"}, {RCAP_WEIGHTS_SCALED, "SCALED"}}};
inline constexpr std::array<Choice, 3> kTapFlags{
    {{RCAP_TAP_HASH_ROUTED, "HASH_ROUTED"}, {RCAP_TAP_UNORDERED, "UNORDERED"}, {RCAP_TAP_PARTIAL, "PARTIAL"}}};
inline constexpr std::array<Choice, 1> kReadFlags{{{RCAP_READ_INCLUDE_LAST, "INCLUDE_LAST"}}};
inline constexpr std::array<Choice, 2> kListDtypes{{{RCAP_DTYPE_INT32, "INT32"}, {RCAP_DTYPE_INT64, "INT64"}}};
inline constexpr std::array<Choice, 5> kIdDtypes{{{RCAP_DTYPE_UINT8, "UINT8"},
                                                  {RCAP_DTYPE_UINT16, "UINT16"},
                                                  {RCAP_DTYPE_INT16, "INT16"},
                                                  {RCAP_DTYPE_INT32, "INT32"},
                                                  {RCAP_DTYPE_INT64, "INT64"}}};

inline constexpr std::array<Choice, 9> kDtypes{{{RCAP_DTYPE_NONE, "NONE"},
                                                {RCAP_DTYPE_UINT8, "UINT8"},
                                                {RCAP_DTYPE_UINT16, "UINT16"},
                                                {RCAP_DTYPE_INT16, "INT16"},
                                                {RCAP_DTYPE_INT32, "INT32"},
                                                {RCAP_DTYPE_INT64, "INT64"},
                                                {RCAP_DTYPE_FLOAT16, "FLOAT16"},
                                                {RCAP_DTYPE_BFLOAT16, "BFLOAT16"},
                                                {RCAP_DTYPE_FLOAT32, "FLOAT32"}}};

/// Refuses a value that is none of them: `memory is 7, allowed are HOST (0) and DEVICE (1)`.
void require_choice(const char* field, std::int32_t value, std::span<const Choice> choices);

/// The same for a `rcap_dtype`; one that exists and is not allowed here is named.
void require_dtype(const char* field, std::int32_t dtype, std::span<const Choice> choices);

/// Refuses bits that are none of them (UNSUPPORTED: a newer library may know them).
void require_flags(const char* field, std::int32_t flags, std::span<const Choice> known);

/// Name of a value, `unknown` for one that is none of them.
const char* name_of(std::int32_t value, std::span<const Choice> choices);

/// Name of a `rcap_dtype`.
const char* dtype_name(std::int32_t dtype);

}  // namespace routecap
