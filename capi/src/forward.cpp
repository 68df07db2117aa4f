// SPDX-License-Identifier: Apache-2.0
#include <routecap/routecap.h>

#include "arguments.h"
#include "capturer/capturer.h"
#include "guard.h"

using namespace routecap;
using namespace routecap::capi;

extern "C" {

rcap_status rcap_capturer_end_forward(rcap_capturer* self, const rcap_forward_layout* layout, const void* slots, int64_t slots_bytes,
                                      const void* rows, int64_t rows_bytes, const int64_t* tags, int64_t tags_count, void* stream,
                                      rcap_output** output, rcap_error* err) noexcept {
  return guard(err, [&] {
    Capturer& capturer = live_capturer(self);
    const rcap_forward_layout checked = sized_in(layout, "layout");
    require(output, "output");
    Output* made = nullptr;
    const Answer answer = capturer.end_forward(checked, raw(slots, slots_bytes, "slots_bytes"), raw(rows, rows_bytes, "rows_bytes"),
                                               raw_counted(tags, tags_count, "tags_count"), stream, made);
    if (answer.status == RCAP_STATUS_OK) *output = reinterpret_cast<rcap_output*>(made);
    return answer;
  });
}

rcap_status rcap_capturer_discard_forward(rcap_capturer* self, void* stream, rcap_error* err) noexcept {
  return guard(err, [&] { live_capturer(self).discard_forward(stream); });
}

int64_t rcap_output_sequence(const rcap_output* self, rcap_error* err) noexcept {
  return guard_as<int64_t>(err, [&] { return live_output(self).sequence(); });
}

rcap_status rcap_output_accept(rcap_output* self, const rcap_accept_layout* layout, const void* rows, int64_t rows_bytes, const void* slots,
                               int64_t slots_bytes, void* stream, rcap_error* err) noexcept {
  return guard(err, [&] {
    Output& output = live_output(self);
    const rcap_accept_layout checked = sized_in(layout, "layout");
    output.pool().capturer().accept(output, checked, raw(rows, rows_bytes, "rows_bytes"), raw(slots, slots_bytes, "slots_bytes"), stream);
  });
}

rcap_status rcap_output_device_rows(rcap_output* self, void** data, int64_t* bytes, rcap_error* err) noexcept {
  return guard(err, [&] {
    Output& output = live_output(self);
    require(data, "data");
    require(bytes, "bytes");
    const RawArray rows = output.pool().capturer().device_rows(output);
    *data = const_cast<void*>(rows.data);
    *bytes = rows.bytes;
  });
}

rcap_status rcap_output_copy_to_host(rcap_output* self, void* stream, rcap_error* err) noexcept {
  return guard(err, [&] {
    Output& output = live_output(self);
    output.pool().capturer().copy_to_host(output, stream);
  });
}

int32_t rcap_output_ready(rcap_output* self, rcap_error* err) noexcept {
  return guard_as<int32_t>(err, [&]() -> int32_t {
    Output& output = live_output(self);
    return output.pool().capturer().ready(output) ? 1 : 0;
  });
}

rcap_status rcap_output_wait(rcap_output* self, int64_t timeout_ns, rcap_error* err) noexcept {
  return guard(err, [&] {
    Output& output = live_output(self);
    return output.pool().capturer().wait(output, timeout_ns);
  });
}

rcap_status rcap_output_finalize(rcap_output* self, rcap_summary* summary, rcap_error* err) noexcept {
  return guard(err, [&] {
    Output& output = live_output(self);
    if (summary != nullptr) require_out(summary, "summary");
    rcap_summary made{};
    const Answer answer = output.pool().capturer().finalize(output, &made);
    if (answer.status == RCAP_STATUS_OK && summary != nullptr) sized_out(summary, made);
    return answer;
  });
}

void rcap_output_destroy(rcap_output* self) noexcept {
  guard(nullptr, [&] {
    if (self == nullptr) return;
    auto& output = live<Output>(self, "output");
    // A forked child leaves everything as it is.
    if (!output.pool().same_process()) return;
    if (!output.pool().closed()) output.pool().capturer().destroy(output);
    output.pool().release(output);
  });
}

rcap_status rcap_capturer_completion_fd(rcap_capturer* self, int32_t* fd, rcap_error* err) noexcept {
  return guard(err, [&] {
    Capturer& capturer = live_capturer(self);
    require(fd, "fd");
    *fd = capturer.own_thread("completion_fd").completion_fd();
  });
}

rcap_status rcap_capturer_next_completed(rcap_capturer* self, int64_t timeout_ns, int64_t* sequence, int32_t* status, rcap_error* err) noexcept {
  return guard(err, [&]() -> Answer {
    Capturer& capturer = live_capturer(self);
    require(sequence, "sequence");
    require(status, "status");
    if (timeout_ns < 0) fail(RCAP_STATUS_INVALID_ARGUMENT, "timeout_ns is %" PRId64 ", it must not be negative", timeout_ns);
    const auto completion = capturer.own_thread("next_completed").next_completed(deadline_after(timeout_ns));
    if (!completion) return {RCAP_STATUS_TIMEOUT};
    *sequence = completion->sequence;
    *status = completion->status;
    return {};
  });
}

}  // extern "C"
