// SPDX-License-Identifier: Apache-2.0
#include <routecap/routecap.h>

#include "arguments.h"
#include "capturer/capturer.h"
#include "guard.h"

using namespace routecap;
using namespace routecap::capi;

extern "C" {

rcap_status rcap_capturer_read(const rcap_capturer* self, const rcap_read_layout* layout, const void* slots, int64_t slots_bytes, const int64_t* tags,
                               int64_t tags_count, rcap_record** record, rcap_error* err) noexcept {
  return guard(err, [&] {
    Capturer& capturer = live_capturer(self);
    require(record, "record");
    std::unique_ptr<Record> made;
    const Answer answer =
        capturer.read(checked_layout(layout), raw(slots, slots_bytes, "slots_bytes"), raw_counted(tags, tags_count, "tags_count"), made);
    if (answer.status == RCAP_STATUS_OK) *record = reinterpret_cast<rcap_record*>(made.release());
    return answer;
  });
}

rcap_status rcap_capturer_read_into(const rcap_capturer* self, const rcap_read_layout* layout, const void* slots, int64_t slots_bytes,
                                    const int64_t* tags, int64_t tags_count, void* ids, int64_t ids_bytes, void* weights, int64_t weights_bytes,
                                    void* validity, int64_t validity_bytes, rcap_read_info* info, rcap_error* err) noexcept {
  rcap_read_info made{};
  bool info_valid = false;
  const rcap_status status = guard(err, [&] {
    Capturer& capturer = live_capturer(self);
    if (info != nullptr) require_out(info, "info");
    return capturer.read_into(checked_layout(layout), raw(slots, slots_bytes, "slots_bytes"), raw_counted(tags, tags_count, "tags_count"),
                              raw(ids, ids_bytes, "ids_bytes"), raw(weights, weights_bytes, "weights_bytes"),
                              raw(validity, validity_bytes, "validity_bytes"), made, info_valid);
  });
  // Too small a buffer is told together with what is needed.
  if (info_valid && info != nullptr && (status == RCAP_STATUS_OK || status == RCAP_STATUS_OUT_OF_RANGE)) sized_out(info, made);
  return status;
}

}  // extern "C"
