// SPDX-License-Identifier: Apache-2.0
// One decoder (ROUTECAP_FUZZ_FORMAT) on any bytes with any hints: it answers with a status that is documented, or with a record that is whole and
// that comes back from its own encoder.
#include <routecap/routecap.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace {

constexpr std::int32_t kFormat = ROUTECAP_FUZZ_FORMAT;
/// Bytes in front of the form that become hints.
constexpr std::size_t kHintBytes = 8;

/// Ids that hints may ask for: 4 bytes each stay below the fuzzer's limit of one allocation.
constexpr std::int64_t kMostHintedIds = 500'000;

struct Destroy {
  void operator()(rcap_record* record) const { rcap_record_destroy(record); }
};
using RecordPtr = std::unique_ptr<rcap_record, Destroy>;
using Bytes = std::vector<std::uint8_t>;

void check(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

struct Hints {
  rcap_decode_hints known;
  std::vector<std::int32_t> layer_ids;
};

/// 255 (and 0 where a hint cannot be 0) = not given.
Hints hints_of(const std::uint8_t* bytes) {
  constexpr std::array<std::int32_t, 12> kExperts{0, 1, 2, 8, 16, 128, 256, 257, 300, 65536, 65537, INT32_MAX};
  Hints made;
  rcap_decode_hints_init(&made.known, sizeof made.known);
  made.known.num_experts = kExperts[bytes[0] % kExperts.size()];
  made.known.top_k = bytes[1];
  made.known.num_layers = bytes[2];
  made.known.start = bytes[3] == 255 ? -1 : bytes[3];
  made.known.rows = bytes[4] == 255 ? -1 : bytes[4];
  made.known.dtype = bytes[5] % 6;
  made.known.turn = bytes[6] == 255 ? -1 : bytes[6];
  for (std::int32_t i = 0; i < bytes[7]; ++i) made.layer_ids.push_back(i * 3 + 2);
  // A caller who names the whole size gets it; what is looked for here is what the bytes can make the library take.
  const std::int64_t layers = std::max<std::int64_t>(made.known.num_layers, std::ssize(made.layer_ids));
  if (made.known.rows * layers * made.known.top_k > kMostHintedIds) made.known.rows = -1;
  return made;
}

RecordPtr decode(std::int32_t format, const std::uint8_t* bytes, std::size_t size, const Hints& hints) {
  rcap_error error{};
  error.struct_size = sizeof error;
  rcap_record* record = nullptr;
  std::int64_t consumed = -1;
  const std::int32_t status =
      rcap_record_decode(format, bytes, static_cast<std::int64_t>(size), &hints.known, hints.layer_ids.empty() ? nullptr : hints.layer_ids.data(),
                         static_cast<std::int64_t>(hints.layer_ids.size()), &record, &consumed, &error);
  if (status != RCAP_STATUS_OK) {
    check(status == RCAP_STATUS_INVALID_ARGUMENT || status == RCAP_STATUS_CORRUPT || status == RCAP_STATUS_VERSION_MISMATCH ||
              status == RCAP_STATUS_UNSUPPORTED || status == RCAP_STATUS_OUT_OF_RANGE,
          error.text);
    check(error.text[0] != '\0' && record == nullptr, "a refusal says nothing, or gives a record");
    return nullptr;
  }
  check(consumed >= 0 && consumed <= static_cast<std::int64_t>(size), "consumed");
  return RecordPtr(record);
}

Bytes encode(const rcap_record* record, std::int32_t format, std::int32_t missing) {
  rcap_encode_options options;
  rcap_encode_options_init(&options, sizeof options);
  options.missing = missing;
  std::int64_t needed = 0;
  if (rcap_record_encode(record, format, &options, nullptr, 0, &needed, nullptr) != RCAP_STATUS_OK) return {};
  Bytes bytes(static_cast<std::size_t>(needed) + 1);
  check(rcap_record_encode(record, format, &options, bytes.data(), needed, &needed, nullptr) == RCAP_STATUS_OK, "encode");
  bytes.resize(static_cast<std::size_t>(needed));
  return bytes;
}

std::int64_t id_at(const void* ids, std::int32_t dtype, std::int64_t index) {
  if (dtype == RCAP_DTYPE_UINT8) return static_cast<const std::uint8_t*>(ids)[index];
  if (dtype == RCAP_DTYPE_UINT16) return static_cast<const std::uint16_t*>(ids)[index];
  return static_cast<const std::int32_t*>(ids)[index];
}

bool bit_at(const void* bits, std::int64_t index) { return (static_cast<const std::uint8_t*>(bits)[index / 8] >> (index % 8) & 1) != 0; }

void check_whole(const rcap_record* record) {
  rcap_record_info info;
  rcap_record_info_init(&info, sizeof info);
  check(rcap_record_info_get(record, &info, nullptr) == RCAP_STATUS_OK, "info");
  const void* ids = nullptr;
  const void* rows = nullptr;
  const void* cells = nullptr;
  std::int64_t bytes = 0;
  check(rcap_record_row_validity(record, &rows, &bytes, nullptr) == RCAP_STATUS_OK, "row validity");
  check(rcap_record_cell_validity(record, &cells, &bytes, nullptr) == RCAP_STATUS_OK, "cell validity");
  check(rcap_record_ids(record, &ids, &bytes, nullptr) == RCAP_STATUS_OK, "ids");
  check(bytes == info.rows * info.num_layers * info.top_k * (info.ids_dtype == RCAP_DTYPE_INT32 ? 4 : info.ids_dtype), "bytes of the ids");
  for (std::int64_t cell = 0; cell < info.rows * info.num_layers; ++cell) {
    const bool row_valid = bit_at(rows, cell / info.num_layers);
    const bool valid = info.has_cell_validity != 0 ? bit_at(cells, cell) : row_valid;
    check(row_valid || !valid, "a valid cell in a missing row");
    for (std::int64_t k = 0; k < info.top_k; ++k) {
      const std::int64_t id = id_at(ids, info.ids_dtype, cell * info.top_k + k);
      check(valid ? id >= 0 && id < info.num_experts
                  : id == (info.ids_dtype == RCAP_DTYPE_UINT8    ? 255
                           : info.ids_dtype == RCAP_DTYPE_UINT16 ? 65535
                                                                 : -1),
            "an id");
    }
  }
}

/// What a record's own form must be told to be read back.
Hints hints_of(const rcap_record* record) {
  rcap_record_info info;
  rcap_record_info_init(&info, sizeof info);
  check(rcap_record_info_get(record, &info, nullptr) == RCAP_STATUS_OK, "info");
  Hints made;
  rcap_decode_hints_init(&made.known, sizeof made.known);
  made.known.start = info.start;
  made.known.rows = info.rows;
  made.known.num_experts = info.num_experts;
  made.known.top_k = info.top_k;
  const std::int32_t* layer_ids = nullptr;
  std::int64_t layers = 0;
  check(rcap_record_layer_ids(record, &layer_ids, &layers, nullptr) == RCAP_STATUS_OK, "layers");
  made.layer_ids.assign(layer_ids, layer_ids + layers);
  return made;
}

void check_comes_back(const rcap_record* record) {
  const Hints hints = hints_of(record);
  const Bytes frame = encode(record, RCAP_WIRE_FRAME, RCAP_MISSING_REFUSE);
  const RecordPtr again = decode(RCAP_WIRE_FRAME, frame.data(), frame.size(), hints);
  check(again != nullptr && encode(again.get(), RCAP_WIRE_FRAME, RCAP_MISSING_REFUSE) == frame, "a frame comes back");
  for (const std::int32_t missing : {RCAP_MISSING_REFUSE, RCAP_MISSING_MINUS_ONE, RCAP_MISSING_FILL}) {
    const Bytes form = encode(record, kFormat, missing);
    if (form.empty()) continue;
    const RecordPtr other = decode(kFormat, form.data(), form.size(), hints);
    check(other != nullptr, "the form's own text is refused");
    check(encode(other.get(), kFormat, missing) == form, "the form comes back");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < kHintBytes) return 0;
  const std::uint8_t* bytes = data + kHintBytes;
  size -= kHintBytes;
  std::int32_t format = 0;
  check(rcap_wire_detect(bytes, static_cast<std::int64_t>(size), &format, nullptr) != RCAP_STATUS_OK || (format >= 1 && format <= RCAP_WIRE_CSV),
        "detect");
  const RecordPtr record = decode(kFormat, bytes, size, hints_of(data));
  if (record == nullptr) return 0;
  check_whole(record.get());
  check_comes_back(record.get());
  return 0;
}
