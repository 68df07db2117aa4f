// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wire/output.h"
#include "wire/wire.h"

/// The forms, one file each. Encoders get checked options; where more is written than fits, an Output only counts. Detectors look at content
/// alone and never throw.
namespace routecap::wire {

void encode_frame(const Record& record, const rcap_encode_options& options, Output& out);
Decoded decode_frame(std::span<const std::byte> bytes, const DecodeHints& hints);
bool looks_like_frame(std::span<const std::byte> bytes);

void encode_frame_base64(const Record& record, const rcap_encode_options& options, Output& out);
Decoded decode_frame_base64(std::span<const std::byte> bytes, const DecodeHints& hints);
bool looks_like_frame_base64(std::span<const std::byte> bytes);

void encode_sglang(const Record& record, const rcap_encode_options& options, Output& out);
Decoded decode_sglang(std::span<const std::byte> bytes, const DecodeHints& hints);

void encode_npy(const Record& record, const rcap_encode_options& options, Output& out);
Decoded decode_npy(std::span<const std::byte> bytes, const DecodeHints& hints);
bool looks_like_npy(std::span<const std::byte> bytes);

void encode_vllm(const Record& record, const rcap_encode_options& options, Output& out);
Decoded decode_vllm(std::span<const std::byte> bytes, const DecodeHints& hints);
bool looks_like_vllm(std::span<const std::byte> bytes);

void encode_prime(const Record& record, const rcap_encode_options& options, Output& out);
Decoded decode_prime(std::span<const std::byte> bytes, const DecodeHints& hints);
bool looks_like_prime(std::span<const std::byte> bytes);

void encode_nemo(const Record& record, const rcap_encode_options& options, Output& out);
Decoded decode_nemo(std::span<const std::byte> bytes, const DecodeHints& hints);
bool looks_like_nemo(std::span<const std::byte> bytes);

void encode_lists(const Record& record, const rcap_encode_options& options, Output& out);
Decoded decode_lists(std::span<const std::byte> bytes, const DecodeHints& hints);
bool looks_like_lists(std::span<const std::byte> bytes);

void encode_csv(const Record& record, const rcap_encode_options& options, Output& out);
Decoded decode_csv(std::span<const std::byte> bytes, const DecodeHints& hints);
bool looks_like_csv(std::span<const std::byte> bytes);

}  // namespace routecap::wire
