// SPDX-License-Identifier: Apache-2.0
#include "replayer.h"

#include <routecap/routecap.h>

#include <functional>
#include <stdexcept>
#include <unordered_map>

#include "support/handles.h"

namespace replay {
namespace {

using routecap_test::Capturer;
using routecap_test::Error;
using routecap_test::make;
using routecap_test::Output;
using routecap_test::Record;

/// Far longer than a copy takes: a wait that runs into it is a fault.
constexpr std::int64_t kTimeout = 10'000'000'000;

std::int64_t size_of(const Bytes& bytes) { return static_cast<std::int64_t>(bytes.size()); }

/// What a read gave, whichever call it was.
struct Rows {
  std::int64_t start = 0;
  std::int64_t rows = 0;
  std::int64_t valid = 0;
  Bytes row_validity;
  Bytes cell_validity;
  Bytes ids;
  Bytes weights;
};

/// bfloat16 is the upper half of a float32.
Bytes as_float32(const Bytes& bits) {
  Bytes wide;
  for (std::size_t i = 0; i < bits.size(); i += 2) wide.insert(wide.end(), {0, 0, bits[i], bits[i + 1]});
  return wide;
}

std::string status_name(std::int32_t status) { return std::string(rcap_status_name(status)).substr(std::string("RCAP_STATUS_").size()); }

class Replayer {
 public:
  Replayer(const Script& script, const Run& run, std::size_t variant) : run_(run), number_(variant), variant_(script.variants.at(variant)) {}

  Replay all();

 private:
  struct Sealed {
    Capturer handle;
    std::int32_t stored = RCAP_DTYPE_NONE;  // dtype of the ids in its records (R28)
    std::int32_t weights = RCAP_DTYPE_NONE;
    std::vector<std::int32_t> layers;
  };
  struct Tap {
    rcap_tap* handle = nullptr;
    std::int32_t ids_dtype = RCAP_DTYPE_NONE;
    bool wide_weights = false;
  };

  void call();
  void create();
  void add_model();
  void add_tap();
  void capture();
  void end_forward();
  void accept();
  void finalize();
  void copy_slots();
  void read();
  void read_into();
  void encode();
  void stats();

  /// A call that has to succeed.
  void require(rcap_status status) {
    if (status < 0) fault("answers " + status_name(status) + ": " + error_.text());
  }
  void fault(const std::string& why) { replay_.faults.push_back("line " + std::to_string(where_) + ": " + line_->verb() + " " + why); }
  void compare(const std::string& name, std::int64_t is) {
    if (is != line_->wanted_number(name)) fault("answers " + name + "=" + std::to_string(is) + ", wanted " + line_->wanted(name));
  }
  void compare(const std::string& name, const Bytes& is, const Bytes& wanted) {
    if (is != wanted) fault("gives " + name + " " + hex(is) + ", wanted " + hex(wanted));
  }
  /// Whether the call did what the script says, and that was OK.
  bool answered(rcap_status status);
  void compare_rows(const Rows& rows);
  void compare_frame(const Bytes& frame);

  [[nodiscard]] Sealed& capturer() { return capturers_.at(line_->number("capturer")); }
  [[nodiscard]] rcap_output* output() { return outputs_.at(line_->number("output")).get(); }
  [[nodiscard]] const Bytes& data(const std::string& name) const { return run_.data.at(std::stoll(line_->text(name).substr(1))); }
  [[nodiscard]] rcap_read_layout read_layout(const List& slots) const;

  const Run& run_;
  std::size_t number_;
  const Variant& variant_;
  const Line* line_ = nullptr;
  std::int64_t where_ = 0;
  Error error_;
  Replay replay_;
  std::unordered_map<std::int64_t, Sealed> capturers_;
  std::unordered_map<std::int64_t, rcap_model*> models_;
  std::unordered_map<std::int64_t, std::int64_t> owners_;  // of models
  std::unordered_map<std::int64_t, Tap> taps_;
  std::unordered_map<std::int64_t, Output> outputs_;
};

Replay Replayer::all() {
  for (std::size_t i = 0; i < run_.lines.size(); ++i) {
    line_ = &run_.lines[i];
    where_ = i < run_.where.size() ? run_.where[i] : static_cast<std::int64_t>(i);
    try {
      call();
    } catch (const std::exception& error) {
      throw std::runtime_error("line " + std::to_string(where_) + ": " + line_->verb() + ": " + error.what());
    }
    ++replay_.calls;
  }
  return std::move(replay_);
}

void Replayer::call() {
  const std::unordered_map<std::string, std::function<void()>> calls = {
      {"capturer_create", [&] { create(); }},
      {"add_model", [&] { add_model(); }},
      {"add_tap", [&] { add_tap(); }},
      {"seal", [&] { require(rcap_capturer_seal(capturer().handle.get(), error_)); }},
      {"tap_capture", [&] { capture(); }},
      {"discard_forward", [&] { require(rcap_capturer_discard_forward(capturer().handle.get(), nullptr, error_)); }},
      {"end_forward", [&] { end_forward(); }},
      {"accept", [&] { accept(); }},
      {"copy_to_host", [&] { require(rcap_output_copy_to_host(output(), nullptr, error_)); }},
      {"wait", [&] { require(rcap_output_wait(output(), kTimeout, error_)); }},
      {"finalize", [&] { finalize(); }},
      {"output_destroy", [&] { outputs_.erase(line_->number("output")); }},
      {"release_slots",
       [&] {
         const List slots = List::read(line_->text("slots"));
         rcap_slots_layout layout = make<rcap_slots_layout>();
         layout.slots_dtype = slots.dtype;
         layout.memory = slots.memory;
         const Bytes bytes = slots.bytes();
         require(rcap_capturer_release_slots(capturer().handle.get(), &layout, bytes.data(), size_of(bytes), nullptr, error_));
       }},
      {"copy_slots", [&] { copy_slots(); }},
      {"read", [&] { read(); }},
      {"read_into", [&] { read_into(); }},
      {"encode", [&] { encode(); }},
      {"stats", [&] { stats(); }},
      {"capturer_destroy", [&] { capturers_.erase(line_->number("capturer")); }},
  };
  const auto found = calls.find(line_->verb());
  if (found == calls.end()) throw std::runtime_error("no such call");
  found->second();
}

void Replayer::create() {
  rcap_capturer_config config = make<rcap_capturer_config>();
  config.num_experts = static_cast<std::int32_t>(variant_.experts);
  config.top_k = static_cast<std::int32_t>(line_->number("top_k"));
  config.num_fused_shared_experts = static_cast<std::int32_t>(line_->number("fused_shared_experts"));
  config.weights_dtype = dtype_of(line_->text("weights"));
  config.weights_kind = static_cast<std::int32_t>(line_->number("weights_kind"));
  config.check_level = static_cast<std::int32_t>(line_->number("check_level"));
  config.pipeline_depth = static_cast<std::int32_t>(line_->number("pipeline_depth"));
  config.chunked_prefill_size = line_->number("chunked_prefill_size");
  config.max_running_requests = line_->number("max_running_requests");
  config.num_verify_tokens = line_->number("num_verify_tokens");
  config.max_graph_tokens = line_->number("max_graph_tokens");
  config.dp_size = line_->number("dp_size");
  config.attn_tp_size = line_->number("attn_tp_size");
  config.num_slots = line_->number("num_slots");
  config.reserved_slots = line_->number("reserved_slots");

  Sealed made;
  made.weights = config.weights_dtype;
  made.stored = variant_.experts <= 256 ? RCAP_DTYPE_UINT8 : variant_.experts <= 65536 ? RCAP_DTYPE_UINT16 : RCAP_DTYPE_INT32;
  for (const std::int64_t layer : numbers_of(line_->text("layers"))) made.layers.push_back(static_cast<std::int32_t>(layer));
  rcap_capturer* handle = nullptr;
  require(rcap_capturer_create(&config, made.layers.data(), static_cast<std::int64_t>(made.layers.size()), nullptr, &handle, error_));
  if (handle == nullptr) throw std::runtime_error("there is no capturer");
  made.handle.reset(handle);
  capturers_[line_->number("capturer")] = std::move(made);
}

void Replayer::add_model() {
  rcap_model* model = nullptr;
  const std::int32_t role = line_->text("role") == "target" ? RCAP_ROLE_TARGET : RCAP_ROLE_DRAFT;
  require(rcap_capturer_add_model(capturer().handle.get(), role, line_->text("name").c_str(), &model, error_));
  models_[line_->number("model")] = model;
  owners_[line_->number("model")] = line_->number("capturer");
}

void Replayer::add_tap() {
  const auto column = static_cast<std::size_t>(line_->number("column"));
  Tap tap;
  tap.ids_dtype = variant_.ids_dtypes.at(column);
  tap.wide_weights = column % 2 == 1;
  rcap_tap_options options = make<rcap_tap_options>();
  options.flags = static_cast<std::int32_t>(line_->number("flags"));
  require(rcap_model_add_tap(models_.at(line_->number("model")), static_cast<std::int32_t>(line_->number("layer")), &options, nullptr, 0, &tap.handle,
                             error_));
  taps_[line_->number("tap")] = tap;
}

void Replayer::capture() {
  const Tap& tap = taps_.at(line_->number("tap"));
  rcap_capture_layout layout = make<rcap_capture_layout>();
  layout.ids_dtype = tap.ids_dtype;
  layout.weights_dtype = tap.wide_weights ? RCAP_DTYPE_FLOAT32 : RCAP_DTYPE_BFLOAT16;
  layout.memory = line_->text("memory") == "device" ? RCAP_MEMORY_DEVICE : RCAP_MEMORY_HOST;
  layout.columns = static_cast<std::int32_t>(line_->number("columns"));
  layout.tokens = line_->number("tokens");
  layout.first_row = line_->number("first_row");
  const Bytes ids = widened(data("ids"), variant_.factor, tap.ids_dtype);
  Bytes weights;
  if (line_->has("weights")) weights = tap.wide_weights ? as_float32(data("weights")) : data("weights");
  std::vector<std::int32_t> row_ids;
  if (line_->has("row_ids")) {
    for (const std::int64_t row : numbers_of(line_->text("row_ids"))) row_ids.push_back(static_cast<std::int32_t>(row));
  }
  require(rcap_tap_capture(tap.handle, &layout, ids.data(), size_of(ids), weights.empty() ? nullptr : weights.data(), size_of(weights),
                           row_ids.empty() ? nullptr : row_ids.data(), static_cast<std::int64_t>(row_ids.size()), nullptr, error_));
}

void Replayer::end_forward() {
  rcap_forward_layout layout = make<rcap_forward_layout>();
  layout.first_row = line_->number("first_row");
  layout.tokens = line_->number("tokens");
  const std::string& acceptance = line_->text("acceptance");
  layout.acceptance = acceptance == "all" ? RCAP_ACCEPT_ALL : acceptance == "given" ? RCAP_ACCEPT_GIVEN : RCAP_ACCEPT_LATER;
  layout.groups = line_->number("groups");
  layout.group_width = line_->number("group_width");
  layout.slots_group_stride = line_->number("slots_group_stride");
  layout.rows_group_stride = line_->number("rows_group_stride");
  Bytes slots;
  Bytes rows;
  if (line_->has("slots")) {
    const List list = List::read(line_->text("slots"));
    layout.slots_dtype = list.dtype;
    layout.slots_memory = list.memory;
    slots = list.bytes();
  }
  if (line_->has("rows")) {
    const List list = List::read(line_->text("rows"));
    layout.rows_dtype = list.dtype;
    layout.rows_memory = list.memory;
    rows = list.bytes();
  }
  rcap_output* made = nullptr;
  const rcap_status status = rcap_capturer_end_forward(capturer().handle.get(), &layout, slots.empty() ? nullptr : slots.data(), size_of(slots),
                                                       rows.empty() ? nullptr : rows.data(), size_of(rows), nullptr, 0, nullptr, &made, error_);
  Output output(made);
  if (!answered(status)) return;
  compare("sequence", rcap_output_sequence(output.get(), error_));
  outputs_[line_->number("output")] = std::move(output);
}

void Replayer::accept() {
  rcap_accept_layout layout = make<rcap_accept_layout>();
  const List rows = List::read(line_->text("rows"));
  layout.rows_dtype = rows.dtype;
  layout.rows_memory = rows.memory;
  Bytes slots;
  if (line_->has("slots")) {
    const List list = List::read(line_->text("slots"));
    layout.slots_dtype = list.dtype;
    layout.slots_memory = list.memory;
    slots = list.bytes();
  }
  const Bytes bytes = rows.bytes();
  require(
      rcap_output_accept(output(), &layout, bytes.data(), size_of(bytes), slots.empty() ? nullptr : slots.data(), size_of(slots), nullptr, error_));
}

void Replayer::finalize() {
  rcap_summary summary = make<rcap_summary>();
  if (!answered(rcap_output_finalize(output(), &summary, error_))) return;
  compare("sequence", summary.sequence);
  compare("entries", summary.entries);
  compare("rows_stored", summary.rows_stored);
  compare("rows_bad", summary.rows_bad);
  compare("rows_outdated", summary.rows_outdated);
  compare("rows_reserved", summary.rows_reserved);
  compare("rows_rejected", summary.rows_rejected);
}

void Replayer::copy_slots() {
  const List from = List::read(line_->text("from"));
  const List to = List::read(line_->text("to"));
  rcap_slots_layout layout = make<rcap_slots_layout>();
  layout.slots_dtype = from.dtype;
  layout.memory = from.memory;
  const Bytes sources = from.bytes();
  const Bytes targets = to.bytes();
  require(rcap_capturer_copy_slots(capturer().handle.get(), &layout, sources.data(), size_of(sources), targets.data(), size_of(targets), nullptr,
                                   error_));
}

rcap_read_layout Replayer::read_layout(const List& slots) const {
  rcap_read_layout layout = make<rcap_read_layout>();
  layout.slots_dtype = slots.dtype;
  layout.flags = static_cast<std::int32_t>(line_->number("flags"));
  layout.tokens = line_->number("tokens");
  layout.after_sequence = line_->number("after");
  return layout;
}

void Replayer::read() {
  const List list = List::read(line_->text("slots"));
  const rcap_read_layout layout = read_layout(list);
  const Bytes slots = list.bytes();
  rcap_record* handle = nullptr;
  const rcap_status status = rcap_capturer_read(capturer().handle.get(), &layout, slots.data(), size_of(slots), nullptr, 0, &handle, error_);
  const Record record(handle);
  if (!answered(status)) return;
  rcap_record_info info = make<rcap_record_info>();
  require(rcap_record_info_get(handle, &info, error_));
  if (info.ids_dtype != capturer().stored || info.weights_dtype != capturer().weights || info.num_experts != variant_.experts) {
    fault("gives ids of dtype " + dtype_name(info.ids_dtype) + ", weights of dtype " + dtype_name(info.weights_dtype) + ", " +
          std::to_string(info.num_experts) + " experts");
  }
  const auto part = [&](rcap_status (*get)(const rcap_record*, const void**, std::int64_t*, rcap_error*)) {
    const void* data = nullptr;
    std::int64_t bytes = 0;
    require(get(handle, &data, &bytes, error_));
    const auto* const begin = static_cast<const std::uint8_t*>(data);
    return Bytes(begin, begin + bytes);
  };
  compare_rows({info.start, info.rows, info.rows_valid, part(rcap_record_row_validity), part(rcap_record_cell_validity), part(rcap_record_ids),
                part(rcap_record_weights)});
  Bytes frame;
  std::int64_t needed = 0;
  require(rcap_record_encode(handle, RCAP_WIRE_FRAME, nullptr, nullptr, 0, &needed, error_));
  frame.resize(static_cast<std::size_t>(needed));
  require(rcap_record_encode(handle, RCAP_WIRE_FRAME, nullptr, frame.data(), needed, &needed, error_));
  compare_frame(frame);
}

void Replayer::read_into() {
  const List list = List::read(line_->text("slots"));
  const rcap_read_layout layout = read_layout(list);
  const Bytes slots = list.bytes();
  const rcap_capturer* const self = capturer().handle.get();
  rcap_read_info info = make<rcap_read_info>();
  require(rcap_capturer_read_into(self, &layout, slots.data(), size_of(slots), nullptr, 0, nullptr, 0, nullptr, 0, nullptr, 0, &info, error_));
  Rows rows;
  Bytes validity(static_cast<std::size_t>(info.row_validity_bytes + info.cell_validity_bytes));
  rows.ids.resize(static_cast<std::size_t>(info.ids_bytes));
  rows.weights.resize(static_cast<std::size_t>(info.weights_bytes));
  const rcap_status status = rcap_capturer_read_into(self, &layout, slots.data(), size_of(slots), nullptr, 0, rows.ids.data(), size_of(rows.ids),
                                                     rows.weights.empty() ? nullptr : rows.weights.data(), size_of(rows.weights), validity.data(),
                                                     size_of(validity), &info, error_);
  if (!answered(status)) return;
  // A row less than asked for is no fault, and the cell bits begin behind the bits of the rows that there are (R2).
  rows.start = info.start;
  rows.rows = info.rows;
  rows.valid = info.rows_valid;
  rows.ids.resize(static_cast<std::size_t>(info.ids_bytes));
  rows.weights.resize(static_cast<std::size_t>(info.weights_bytes));
  const auto cells = validity.begin() + info.row_validity_bytes;
  rows.row_validity.assign(validity.begin(), cells);
  rows.cell_validity.assign(cells, cells + info.cell_validity_bytes);
  compare_rows(rows);
}

void Replayer::encode() {
  const List list = List::read(line_->text("slots"));
  const rcap_read_layout layout = read_layout(list);
  const Bytes slots = list.bytes();
  Bytes frame;
  std::int64_t needed = 0;
  rcap_status status = RCAP_STATUS_OK;
  do {
    frame.resize(static_cast<std::size_t>(needed));
    status = rcap_capturer_encode(capturer().handle.get(), &layout, slots.data(), size_of(slots), nullptr, 0, RCAP_WIRE_FRAME, nullptr,
                                  frame.empty() ? nullptr : frame.data(), size_of(frame), &needed, error_);
  } while (status == RCAP_STATUS_OK && frame.empty());
  if (!answered(status)) return;
  frame.resize(static_cast<std::size_t>(needed));
  compare_frame(frame);
}

void Replayer::stats() {
  rcap_capturer_stats stats = make<rcap_capturer_stats>();
  require(rcap_capturer_stats_get(capturer().handle.get(), &stats, error_));
  const std::unordered_map<std::string, std::int64_t> counters = {
      {"suppressed", stats.suppressed},
      {"forwards", stats.forwards},
      {"discarded_forwards", stats.discarded_forwards},
      {"busy", stats.busy},
      {"finalized", stats.finalized},
      {"dropped", stats.dropped},
      {"rows_stored", stats.rows_stored},
      {"rows_bad", stats.rows_bad},
      {"rows_outdated", stats.rows_outdated},
      {"rows_reserved", stats.rows_reserved},
      {"rows_rejected", stats.rows_rejected},
      {"slots_released", stats.slots_released},
      {"slots_copied", stats.slots_copied},
      {"copies_pending", stats.copies_pending},
      {"in_flight", stats.in_flight},
      {"last_sequence", stats.last_sequence},
  };
  for (const auto& [name, wanted] : line_->answers()) compare(name, counters.at(name));
}

bool Replayer::answered(rcap_status status) {
  if (status_name(status) != line_->wanted("status")) {
    fault("answers " + status_name(status) + ", wanted " + line_->wanted("status") + " " + error_.text());
    return false;
  }
  if (line_->wants("detail")) compare("detail", error_.detail());
  return status == RCAP_STATUS_OK;
}

void Replayer::compare_rows(const Rows& rows) {
  compare("start", rows.start);
  compare("rows", rows.rows);
  compare("valid", rows.valid);
  compare("row_validity", rows.row_validity, bytes_of_hex(line_->wanted("row_validity")));
  const Bytes cells = bytes_of_hex(line_->wanted("cell_validity"));
  compare("cell_validity", rows.cell_validity, cells);
  // Missing cells are all ones in every dtype (R7).
  const Bytes ids = bytes_of_hex(line_->wanted("ids"));
  const std::size_t top_k = rows.rows == 0 ? 0 : ids.size() / (static_cast<std::size_t>(rows.rows) * capturer().layers.size());
  Bytes wanted = widened(ids, variant_.factor, capturer().stored);
  const auto width = static_cast<std::size_t>(dtype_bytes(capturer().stored));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::size_t cell = i / top_k;
    if ((cells.at(cell / 8) >> (cell % 8) & 1) == 0) std::fill_n(wanted.begin() + static_cast<std::ptrdiff_t>(i * width), width, std::uint8_t{0xff});
  }
  compare("ids", rows.ids, wanted);
  if (line_->wants("weights")) compare("weights", rows.weights, bytes_of_hex(line_->wanted("weights")));
  if (line_->verb() == "read_into") ++replay_.reads;
}

void Replayer::compare_frame(const Bytes& frame) {
  ++replay_.reads;
  replay_.crcs.push_back(crc32(frame));
  if (!line_->wants("frames")) return;
  const std::vector<std::string> wanted = split(line_->wanted("frames"), ',');
  if (wanted.at(number_) != replay_.crcs.back()) fault("gives a frame of CRC " + replay_.crcs.back() + ", wanted " + wanted[number_]);
}

}  // namespace

Replay replay(const Script& script, const Run& run, std::size_t variant) { return Replayer(script, run, variant).all(); }

}  // namespace replay
