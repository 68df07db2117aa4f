// SPDX-License-Identifier: Apache-2.0
#include <routecap/routecap.h>

#include "arguments.h"
#include "capturer/capturer.h"
#include "guard.h"

using namespace routecap;
using namespace routecap::capi;

namespace {

rcap_slots_layout checked_layout(const rcap_slots_layout* layout) {
  const rcap_slots_layout checked = sized_in(layout, "layout");
  require_zero(checked.reserved, "layout->reserved");
  return checked;
}

}  // namespace

extern "C" {

rcap_status rcap_capturer_release_slots(rcap_capturer* self, const rcap_slots_layout* layout, const void* slots, int64_t slots_bytes, void* stream,
                                        rcap_error* err) noexcept {
  return guard(err, [&] { live_capturer(self).release_slots(checked_layout(layout), raw(slots, slots_bytes, "slots_bytes"), stream); });
}

rcap_status rcap_capturer_release_all(rcap_capturer* self, void* /*stream*/, rcap_error* err) noexcept {
  return guard(err, [&] { live_capturer(self).release_all(); });
}

rcap_status rcap_capturer_copy_slots(rcap_capturer* self, const rcap_slots_layout* layout, const void* from, int64_t from_bytes, const void* to,
                                     int64_t to_bytes, void* stream, rcap_error* err) noexcept {
  return guard(err, [&] {
    live_capturer(self).copy_slots(checked_layout(layout), raw(from, from_bytes, "from_bytes"), raw(to, to_bytes, "to_bytes"), stream);
  });
}

rcap_status rcap_capturer_slot_info_get(const rcap_capturer* self, int64_t slot, rcap_slot_info* info, rcap_error* err) noexcept {
  return guard(err, [&] {
    Capturer& capturer = live_capturer(self);
    require_out(info, "info");
    rcap_slot_info made{};
    const Answer answer = capturer.slot_info(slot, made);
    if (answer.status == RCAP_STATUS_OK) sized_out(info, made);
    return answer;
  });
}

}  // extern "C"
