// SPDX-License-Identifier: Apache-2.0
#include <cinttypes>
#include <exception>

#include "capturer/capturer.h"
#include "capturer/read_request.h"
#include "support/checked.h"
#include "wire/encode_slots.h"
#include "wire/wire.h"

namespace routecap {
namespace {

void check_capacity(std::int64_t needed, std::int64_t capacity) {
  if (needed > capacity) fail(RCAP_STATUS_OUT_OF_RANGE, "buffer_bytes is %" PRId64 ", up to %" PRId64 " are needed", capacity, needed);
}

}  // namespace

Answer Capturer::encode(const rcap_read_layout& layout, RawArray slots, RawArray tags, std::int32_t format, const rcap_encode_options& options,
                        std::byte* out, std::int64_t capacity, std::int64_t& needed) {
  require_sealed();
  const ReadRequest request = checked_read(layout, slots, tags);
  RecordGeometry geometry = record_geometry(request, request.rows());
  wire::check_options(format, options, geometry);
  if (!wire::is_flat(format, geometry)) {
    std::unique_ptr<Record> record;
    const Answer answer = read(layout, slots, tags, record);
    if (answer.status != RCAP_STATUS_OK) return answer;
    needed = wire::encode(*record, format, options, out, capacity);
    if (out != nullptr) check_capacity(needed, capacity);
    return {};
  }
  // The size goes by the number of rows alone, so nothing is read for it.
  needed = wire::flat_size(wire::flat_form(format, geometry, options), geometry);
  if (out == nullptr) return {};
  check_capacity(needed, capacity);
  std::exception_ptr refused;
  const Answer answer = until_ready(request, [&] {
    return try_gather(request, [&](std::int64_t rows) {
      geometry.rows = rows;
      refused = nullptr;
      const wire::FlatForm form = wire::flat_form(format, geometry, options);
      needed = wire::flat_size(form, geometry);
      return wire::encode_slots(gather_job(request), request.slots, geometry, form, out, refused);
    });
  });
  if (answer.status == RCAP_STATUS_OK && refused != nullptr) std::rethrow_exception(refused);
  return answer;
}

}  // namespace routecap
