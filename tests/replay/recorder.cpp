// SPDX-License-Identifier: Apache-2.0
#include "recorder.h"

#include <routecap/routecap.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_map>

namespace replay {
namespace {

/// Numbers of handles, in the order in which they were made.
template <class Handle>
class Numbers {
 public:
  std::int64_t add(const Handle* handle) { return numbers_[handle] = next_++; }
  [[nodiscard]] std::int64_t of(const Handle* handle) const { return numbers_.at(handle); }
  void remove(const Handle* handle) { numbers_.erase(handle); }

 private:
  std::unordered_map<const Handle*, std::int64_t> numbers_;
  std::int64_t next_ = 0;
};

struct Recorder {
  std::vector<std::int32_t> ids_dtypes;
  Run run;
  std::map<Bytes, std::int64_t> data;
  Numbers<rcap_capturer> capturers;
  Numbers<rcap_model> models;
  Numbers<rcap_tap> taps;
  Numbers<rcap_output> outputs;
  std::unordered_map<const rcap_capturer*, std::vector<std::int32_t>> layers;
  std::unordered_map<const rcap_model*, const rcap_capturer*> owners;
  std::unordered_map<const rcap_tap*, std::size_t> columns;
  std::int64_t captures = 0;

  void note(Line line) { run.lines.push_back(std::move(line)); }

  /// The name of a block of bytes; the ranks hand over the same rows, which stand in the script once.
  std::string data_of(const Bytes& bytes) {
    const auto [place, is_new] = data.try_emplace(bytes, static_cast<std::int64_t>(data.size()));
    if (is_new) {
      run.data[place->second] = bytes;
      note(Line("data").give("id", place->second).give("bytes", hex(bytes)));
    }
    return "@" + std::to_string(place->second);
  }
};

std::optional<Recorder> recorder;

std::string words_of(const std::vector<std::int32_t>& numbers) { return joined({numbers.begin(), numbers.end()}); }

template <class Struct>
Struct made(void (*init)(Struct*, std::int64_t)) {
  Struct value;
  init(&value, sizeof value);
  return value;
}

/// The answer of a call that may say something else than OK.
Line& answer(Line& line, std::int32_t status, const rcap_error* error) {
  line.want("status", std::string(rcap_status_name(status)).substr(std::strlen("RCAP_STATUS_")));
  if (status == RCAP_STATUS_NOT_READY) line.want("detail", error->detail);
  return line;
}

Bytes bytes_at(const void* data, std::int64_t bytes) {
  const auto* const begin = static_cast<const std::uint8_t*>(data);
  return {begin, begin + bytes};
}

void want_rows(Line& line, std::int64_t start, std::int64_t rows, std::int64_t rows_valid, const Bytes& row_validity, const Bytes& cell_validity,
               const Bytes& ids, const Bytes& weights) {
  line.want("start", start).want("rows", rows).want("valid", rows_valid).want("row_validity", hex(row_validity));
  line.want("cell_validity", hex(cell_validity)).want("ids", hex(ids));
  if (!weights.empty()) line.want("weights", hex(weights));
}

Line read_line(const char* verb, const rcap_capturer* self, const rcap_read_layout& layout, const void* slots, std::int64_t slots_bytes) {
  Line line(verb);
  line.give("capturer", recorder->capturers.of(self)).give("tokens", layout.tokens).give("flags", layout.flags).give("after", layout.after_sequence);
  line.give("slots", List::at(layout.slots_dtype, RCAP_MEMORY_HOST, slots, slots_bytes).written());
  return line;
}

void note_all_stats(const rcap_capturer* self, const rcap_capturer_stats& stats) {
  Line line("stats");
  line.give("capturer", recorder->capturers.of(self));
  line.want("suppressed", stats.suppressed).want("forwards", stats.forwards).want("discarded_forwards", stats.discarded_forwards);
  line.want("busy", stats.busy).want("finalized", stats.finalized).want("dropped", stats.dropped).want("rows_stored", stats.rows_stored);
  line.want("rows_bad", stats.rows_bad).want("rows_outdated", stats.rows_outdated).want("rows_reserved", stats.rows_reserved);
  line.want("rows_rejected", stats.rows_rejected).want("slots_released", stats.slots_released).want("slots_copied", stats.slots_copied);
  line.want("copies_pending", stats.copies_pending).want("in_flight", stats.in_flight).want("last_sequence", stats.last_sequence);
  recorder->note(std::move(line));
}

}  // namespace

void begin_recording(const std::vector<std::int32_t>& ids_dtypes) {
  recorder.emplace();
  recorder->ids_dtypes = ids_dtypes;
}

Run end_recording() {
  Run run = std::move(recorder->run);
  recorder.reset();
  return run;
}

}  // namespace replay

// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,readability-identifier-naming): the linker's names
extern "C" {

using namespace replay;  // NOLINT(google-build-using-namespace): these functions are the recorder's, only their names are C's

rcap_status __real_rcap_capturer_create(const rcap_capturer_config*, const std::int32_t*, std::int64_t, rcap_backend*, rcap_capturer**, rcap_error*);
rcap_status __wrap_rcap_capturer_create(const rcap_capturer_config* config, const std::int32_t* layers, std::int64_t layers_count,
                                        rcap_backend* backend, rcap_capturer** capturer, rcap_error* error) {
  const rcap_status status = __real_rcap_capturer_create(config, layers, layers_count, backend, capturer, error);
  if (!recorder || status != RCAP_STATUS_OK) return status;
  Line line("capturer_create");
  line.give("capturer", recorder->capturers.add(*capturer));
  recorder->layers[*capturer].assign(layers, layers + layers_count);
  line.give("layers", words_of(recorder->layers[*capturer])).give("top_k", config->top_k);
  line.give("fused_shared_experts", config->num_fused_shared_experts).give("weights", dtype_name(config->weights_dtype));
  line.give("weights_kind", config->weights_kind).give("check_level", config->check_level).give("pipeline_depth", config->pipeline_depth);
  line.give("chunked_prefill_size", config->chunked_prefill_size).give("max_running_requests", config->max_running_requests);
  line.give("num_verify_tokens", config->num_verify_tokens).give("max_graph_tokens", config->max_graph_tokens);
  line.give("dp_size", config->dp_size).give("attn_tp_size", config->attn_tp_size).give("num_slots", config->num_slots);
  line.give("reserved_slots", config->reserved_slots);
  recorder->note(std::move(line));
  return status;
}

void __real_rcap_capturer_destroy(rcap_capturer*);
void __wrap_rcap_capturer_destroy(rcap_capturer* self) {
  if (recorder && self != nullptr) {
    recorder->note(Line("capturer_destroy").give("capturer", recorder->capturers.of(self)));
    recorder->capturers.remove(self);
  }
  __real_rcap_capturer_destroy(self);
}

rcap_status __real_rcap_capturer_add_model(rcap_capturer*, std::int32_t, const char*, rcap_model**, rcap_error*);
rcap_status __wrap_rcap_capturer_add_model(rcap_capturer* self, std::int32_t role, const char* name, rcap_model** model, rcap_error* error) {
  const rcap_status status = __real_rcap_capturer_add_model(self, role, name, model, error);
  if (!recorder || status != RCAP_STATUS_OK) return status;
  recorder->owners[*model] = self;
  Line line("add_model");
  line.give("capturer", recorder->capturers.of(self)).give("model", recorder->models.add(*model));
  line.give("role", role == RCAP_ROLE_TARGET ? "target" : "draft").give("name", name);
  recorder->note(std::move(line));
  return status;
}

rcap_status __real_rcap_model_add_tap(rcap_model*, std::int32_t, const rcap_tap_options*, const void*, std::int64_t, rcap_tap**, rcap_error*);
rcap_status __wrap_rcap_model_add_tap(rcap_model* self, std::int32_t layer, const rcap_tap_options* options, const void* map, std::int64_t map_bytes,
                                      rcap_tap** tap, rcap_error* error) {
  const rcap_status status = __real_rcap_model_add_tap(self, layer, options, map, map_bytes, tap, error);
  if (!recorder || status != RCAP_STATUS_OK) return status;
  const std::vector<std::int32_t>& layers = recorder->layers.at(recorder->owners.at(self));
  recorder->columns[*tap] = static_cast<std::size_t>(std::ranges::find(layers, layer) - layers.begin());
  Line line("add_tap");
  line.give("model", recorder->models.of(self)).give("tap", recorder->taps.add(*tap)).give("layer", layer);
  line.give("column", static_cast<std::int64_t>(recorder->columns[*tap])).give("flags", options == nullptr ? 0 : options->flags);
  recorder->note(std::move(line));
  return status;
}

rcap_status __real_rcap_capturer_seal(rcap_capturer*, rcap_error*);
rcap_status __wrap_rcap_capturer_seal(rcap_capturer* self, rcap_error* error) {
  const rcap_status status = __real_rcap_capturer_seal(self, error);
  if (recorder && status == RCAP_STATUS_OK) recorder->note(Line("seal").give("capturer", recorder->capturers.of(self)));
  return status;
}

rcap_status __real_rcap_tap_capture(rcap_tap*, const rcap_capture_layout*, const void*, std::int64_t, const void*, std::int64_t, const std::int32_t*,
                                    std::int64_t, void*, rcap_error*);
rcap_status __wrap_rcap_tap_capture(rcap_tap* self, const rcap_capture_layout* layout, const void* ids, std::int64_t ids_bytes, const void* weights,
                                    std::int64_t weights_bytes, const std::int32_t* row_ids, std::int64_t row_ids_count, void* stream,
                                    rcap_error* error) {
  if (!recorder) return __real_rcap_tap_capture(self, layout, ids, ids_bytes, weights, weights_bytes, row_ids, row_ids_count, stream, error);
  // The engine's arrays may go on behind this call's rows: a half of a batch is a range of it.
  const std::int64_t elements = layout->tokens * layout->columns;
  Bytes low;
  for (std::int64_t i = 0; i < elements; ++i)
    low.push_back(*(static_cast<const std::uint8_t*>(ids) + i * static_cast<std::int64_t>(sizeof(std::int32_t))));
  const Bytes bits = weights_bytes == 0 ? Bytes() : bytes_at(weights, elements * static_cast<std::int64_t>(sizeof(std::uint16_t)));

  rcap_capture_layout given = *layout;
  given.ids_dtype = recorder->ids_dtypes.at(recorder->columns.at(self));
  given.memory = recorder->captures++ % 3 == 0 ? RCAP_MEMORY_HOST : RCAP_MEMORY_DEVICE;
  const Bytes own = widened(low, 1, given.ids_dtype);
  const rcap_status status = __real_rcap_tap_capture(self, &given, own.data(), static_cast<std::int64_t>(own.size()), bits.data(),
                                                     static_cast<std::int64_t>(bits.size()), row_ids, row_ids_count, stream, error);
  if (status != RCAP_STATUS_OK) return status;
  const std::string ids_name = recorder->data_of(low);
  const std::string weights_name = bits.empty() ? "" : recorder->data_of(bits);
  Line line("tap_capture");
  line.give("tap", recorder->taps.of(self)).give("memory", given.memory == RCAP_MEMORY_HOST ? "host" : "device");
  line.give("first_row", layout->first_row).give("tokens", layout->tokens).give("columns", layout->columns).give("ids", ids_name);
  if (!bits.empty()) line.give("weights", weights_name);
  if (row_ids_count > 0) line.give("row_ids", words_of({row_ids, row_ids + row_ids_count}));
  recorder->note(std::move(line));
  return status;
}

rcap_status __real_rcap_capturer_discard_forward(rcap_capturer*, void*, rcap_error*);
rcap_status __wrap_rcap_capturer_discard_forward(rcap_capturer* self, void* stream, rcap_error* error) {
  const rcap_status status = __real_rcap_capturer_discard_forward(self, stream, error);
  if (recorder && status == RCAP_STATUS_OK) recorder->note(Line("discard_forward").give("capturer", recorder->capturers.of(self)));
  return status;
}

rcap_status __real_rcap_capturer_end_forward(rcap_capturer*, const rcap_forward_layout*, const void*, std::int64_t, const void*, std::int64_t,
                                             const std::int64_t*, std::int64_t, void*, rcap_output**, rcap_error*);
rcap_status __wrap_rcap_capturer_end_forward(rcap_capturer* self, const rcap_forward_layout* layout, const void* slots, std::int64_t slots_bytes,
                                             const void* rows, std::int64_t rows_bytes, const std::int64_t* tags, std::int64_t tags_count,
                                             void* stream, rcap_output** output, rcap_error* error) {
  const rcap_status status =
      __real_rcap_capturer_end_forward(self, layout, slots, slots_bytes, rows, rows_bytes, tags, tags_count, stream, output, error);
  if (!recorder) return status;
  static constexpr const char* kAcceptances[] = {"all", "given", "later"};
  Line line("end_forward");
  line.give("capturer", recorder->capturers.of(self)).give("first_row", layout->first_row).give("tokens", layout->tokens);
  line.give("acceptance", kAcceptances[layout->acceptance]);
  if (slots_bytes > 0) line.give("slots", List::at(layout->slots_dtype, layout->slots_memory, slots, slots_bytes).written());
  if (rows_bytes > 0) line.give("rows", List::at(layout->rows_dtype, layout->rows_memory, rows, rows_bytes).written());
  line.give("groups", layout->groups).give("group_width", layout->group_width).give("slots_group_stride", layout->slots_group_stride);
  line.give("rows_group_stride", layout->rows_group_stride);
  if (status == RCAP_STATUS_OK) line.give("output", recorder->outputs.add(*output));
  answer(line, status, error);
  if (status == RCAP_STATUS_OK) line.want("sequence", rcap_output_sequence(*output, nullptr));
  recorder->note(std::move(line));
  return status;
}

rcap_status __real_rcap_output_accept(rcap_output*, const rcap_accept_layout*, const void*, std::int64_t, const void*, std::int64_t, void*,
                                      rcap_error*);
rcap_status __wrap_rcap_output_accept(rcap_output* self, const rcap_accept_layout* layout, const void* rows, std::int64_t rows_bytes,
                                      const void* slots, std::int64_t slots_bytes, void* stream, rcap_error* error) {
  const rcap_status status = __real_rcap_output_accept(self, layout, rows, rows_bytes, slots, slots_bytes, stream, error);
  if (!recorder || status != RCAP_STATUS_OK) return status;
  Line line("accept");
  line.give("output", recorder->outputs.of(self)).give("rows", List::at(layout->rows_dtype, layout->rows_memory, rows, rows_bytes).written());
  if (slots_bytes > 0) line.give("slots", List::at(layout->slots_dtype, layout->slots_memory, slots, slots_bytes).written());
  recorder->note(std::move(line));
  return status;
}

rcap_status __real_rcap_output_copy_to_host(rcap_output*, void*, rcap_error*);
rcap_status __wrap_rcap_output_copy_to_host(rcap_output* self, void* stream, rcap_error* error) {
  const rcap_status status = __real_rcap_output_copy_to_host(self, stream, error);
  if (recorder && status == RCAP_STATUS_OK) recorder->note(Line("copy_to_host").give("output", recorder->outputs.of(self)));
  return status;
}

rcap_status __real_rcap_output_wait(rcap_output*, std::int64_t, rcap_error*);
rcap_status __wrap_rcap_output_wait(rcap_output* self, std::int64_t timeout, rcap_error* error) {
  const rcap_status status = __real_rcap_output_wait(self, timeout, error);
  if (recorder && status == RCAP_STATUS_OK) recorder->note(Line("wait").give("output", recorder->outputs.of(self)));
  return status;
}

rcap_status __real_rcap_output_finalize(rcap_output*, rcap_summary*, rcap_error*);
rcap_status __wrap_rcap_output_finalize(rcap_output* self, rcap_summary* summary, rcap_error* error) {
  const rcap_status status = __real_rcap_output_finalize(self, summary, error);
  if (!recorder) return status;
  Line line("finalize");
  answer(line.give("output", recorder->outputs.of(self)), status, error);
  line.want("sequence", summary->sequence).want("entries", summary->entries).want("rows_stored", summary->rows_stored);
  line.want("rows_bad", summary->rows_bad).want("rows_outdated", summary->rows_outdated).want("rows_reserved", summary->rows_reserved);
  line.want("rows_rejected", summary->rows_rejected);
  recorder->note(std::move(line));
  return status;
}

void __real_rcap_output_destroy(rcap_output*);
void __wrap_rcap_output_destroy(rcap_output* self) {
  if (recorder && self != nullptr) {
    recorder->note(Line("output_destroy").give("output", recorder->outputs.of(self)));
    recorder->outputs.remove(self);
  }
  __real_rcap_output_destroy(self);
}

rcap_status __real_rcap_capturer_release_slots(rcap_capturer*, const rcap_slots_layout*, const void*, std::int64_t, void*, rcap_error*);
rcap_status __wrap_rcap_capturer_release_slots(rcap_capturer* self, const rcap_slots_layout* layout, const void* slots, std::int64_t slots_bytes,
                                               void* stream, rcap_error* error) {
  const rcap_status status = __real_rcap_capturer_release_slots(self, layout, slots, slots_bytes, stream, error);
  if (!recorder || status != RCAP_STATUS_OK) return status;
  Line line("release_slots");
  line.give("capturer", recorder->capturers.of(self)).give("slots", List::at(layout->slots_dtype, layout->memory, slots, slots_bytes).written());
  recorder->note(std::move(line));
  return status;
}

rcap_status __real_rcap_capturer_copy_slots(rcap_capturer*, const rcap_slots_layout*, const void*, std::int64_t, const void*, std::int64_t, void*,
                                            rcap_error*);
rcap_status __wrap_rcap_capturer_copy_slots(rcap_capturer* self, const rcap_slots_layout* layout, const void* from, std::int64_t from_bytes,
                                            const void* to, std::int64_t to_bytes, void* stream, rcap_error* error) {
  const rcap_status status = __real_rcap_capturer_copy_slots(self, layout, from, from_bytes, to, to_bytes, stream, error);
  if (!recorder || status != RCAP_STATUS_OK) return status;
  Line line("copy_slots");
  line.give("capturer", recorder->capturers.of(self)).give("from", List::at(layout->slots_dtype, layout->memory, from, from_bytes).written());
  line.give("to", List::at(layout->slots_dtype, layout->memory, to, to_bytes).written());
  recorder->note(std::move(line));
  return status;
}

rcap_status __real_rcap_capturer_stats_get(const rcap_capturer*, rcap_capturer_stats*, rcap_error*);
rcap_status __wrap_rcap_capturer_stats_get(const rcap_capturer* self, rcap_capturer_stats* stats, rcap_error* error) {
  const rcap_status status = __real_rcap_capturer_stats_get(self, stats, error);
  if (recorder && status == RCAP_STATUS_OK) note_all_stats(self, *stats);
  return status;
}

rcap_status __real_rcap_capturer_read(const rcap_capturer*, const rcap_read_layout*, const void*, std::int64_t, const std::int64_t*, std::int64_t,
                                      rcap_record**, rcap_error*);
rcap_status __wrap_rcap_capturer_read(const rcap_capturer* self, const rcap_read_layout* layout, const void* slots, std::int64_t slots_bytes,
                                      const std::int64_t* tags, std::int64_t tags_count, rcap_record** record, rcap_error* error) {
  const rcap_status status = __real_rcap_capturer_read(self, layout, slots, slots_bytes, tags, tags_count, record, error);
  if (!recorder) return status;
  Line line = read_line("read", self, *layout, slots, slots_bytes);
  answer(line, status, error);
  if (status == RCAP_STATUS_OK) {
    rcap_record_info info = made(rcap_record_info_init);
    if (rcap_record_info_get(*record, &info, nullptr) != RCAP_STATUS_OK) throw std::runtime_error("a record does not describe itself");
    const auto part = [&](rcap_status (*get)(const rcap_record*, const void**, std::int64_t*, rcap_error*)) {
      const void* data = nullptr;
      std::int64_t bytes = 0;
      if (get(*record, &data, &bytes, nullptr) != RCAP_STATUS_OK) throw std::runtime_error("a record does not give its arrays");
      return bytes_at(data, bytes);
    };
    want_rows(line, info.start, info.rows, info.rows_valid, part(rcap_record_row_validity), part(rcap_record_cell_validity), part(rcap_record_ids),
              part(rcap_record_weights));
  }
  recorder->note(std::move(line));
  return status;
}

rcap_status __real_rcap_capturer_read_into(const rcap_capturer*, const rcap_read_layout*, const void*, std::int64_t, const std::int64_t*,
                                           std::int64_t, void*, std::int64_t, void*, std::int64_t, void*, std::int64_t, rcap_read_info*, rcap_error*);
rcap_status __wrap_rcap_capturer_read_into(const rcap_capturer* self, const rcap_read_layout* layout, const void* slots, std::int64_t slots_bytes,
                                           const std::int64_t* tags, std::int64_t tags_count, void* ids, std::int64_t ids_bytes, void* weights,
                                           std::int64_t weights_bytes, void* validity, std::int64_t validity_bytes, rcap_read_info* info,
                                           rcap_error* error) {
  const rcap_status status = __real_rcap_capturer_read_into(self, layout, slots, slots_bytes, tags, tags_count, ids, ids_bytes, weights,
                                                            weights_bytes, validity, validity_bytes, info, error);
  // Without buffers it only tells what is needed, which every replay asks for itself.
  if (!recorder || validity_bytes == 0) return status;
  Line line = read_line("read_into", self, *layout, slots, slots_bytes);
  answer(line, status, error);
  if (status == RCAP_STATUS_OK) {
    const auto* const bits = static_cast<const std::uint8_t*>(validity);
    want_rows(line, info->start, info->rows, info->rows_valid, bytes_at(bits, info->row_validity_bytes),
              bytes_at(bits + info->row_validity_bytes, info->cell_validity_bytes), bytes_at(ids, info->ids_bytes),
              bytes_at(weights, info->weights_bytes));
  }
  recorder->note(std::move(line));
  return status;
}

rcap_status __real_rcap_capturer_encode(const rcap_capturer*, const rcap_read_layout*, const void*, std::int64_t, const std::int64_t*, std::int64_t,
                                        std::int32_t, const rcap_encode_options*, void*, std::int64_t, std::int64_t*, rcap_error*);
rcap_status __wrap_rcap_capturer_encode(const rcap_capturer* self, const rcap_read_layout* layout, const void* slots, std::int64_t slots_bytes,
                                        const std::int64_t* tags, std::int64_t tags_count, std::int32_t format, const rcap_encode_options* options,
                                        void* buffer, std::int64_t buffer_bytes, std::int64_t* needed, rcap_error* error) {
  const rcap_status status =
      __real_rcap_capturer_encode(self, layout, slots, slots_bytes, tags, tags_count, format, options, buffer, buffer_bytes, needed, error);
  if (!recorder || buffer == nullptr) return status;
  Line line = read_line("encode", self, *layout, slots, slots_bytes);
  recorder->note(std::move(answer(line, status, error)));
  return status;
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,readability-identifier-naming)
