// SPDX-License-Identifier: Apache-2.0
#include <routecap/routecap.h>

#include "arguments.h"
#include "capturer/capturer.h"
#include "guard.h"
#include "wire_arguments.h"

using namespace routecap;
using namespace routecap::capi;

extern "C" {

rcap_status rcap_capturer_encode(const rcap_capturer* self, const rcap_read_layout* layout, const void* slots, int64_t slots_bytes,
                                 const int64_t* tags, int64_t tags_count, int32_t format, const rcap_encode_options* options, void* buffer,
                                 int64_t buffer_bytes, int64_t* needed, rcap_error* err) noexcept {
  return guard(err, [&] {
    Capturer& capturer = live_capturer(self);
    const rcap_read_layout range = checked_layout(layout);
    const RawArray slot_list = raw(slots, slots_bytes, "slots_bytes");
    const RawArray tag_list = raw_counted(tags, tags_count, "tags_count");
    require_format(format);
    const rcap_encode_options known = checked_options(options);
    require_buffer(buffer, buffer_bytes, needed);
    return capturer.encode(range, slot_list, tag_list, format, known, static_cast<std::byte*>(buffer), buffer_bytes, *needed);
  });
}

}  // extern "C"
