// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace routecap::cli {

/// Bytes of base 85 text in the alphabet of RFC 1924 without separators, as Python's `base64.b85encode` writes it; nothing where it is none.
std::optional<std::string> base85_bytes(std::string_view text);

/// Padded base64 of RFC 4648.
std::string base64_text(std::string_view bytes);

/// Whether every character is one of padded base64 and their number a multiple of 4.
bool may_be_base64(std::string_view text);

}  // namespace routecap::cli
