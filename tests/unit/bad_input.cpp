// SPDX-License-Identifier: Apache-2.0
// What captures, forwards, slots and reads refuse: status, one line naming field, value and limit, and nothing written.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "unit/refusal.h"

using namespace routecap_test;

namespace {

constexpr std::int32_t kInvalid = RCAP_STATUS_INVALID_ARGUMENT;
constexpr std::int32_t kRange = RCAP_STATUS_OUT_OF_RANGE;
constexpr std::int32_t kUnsupported = RCAP_STATUS_UNSUPPORTED;
constexpr std::int32_t kState = RCAP_STATUS_INVALID_STATE;

/// One capture of two rows at row 50 of the device buffer, spoilt by `spoil`.
template <class Spoil>
std::function<std::int32_t(Rig&, rcap_error*)> capture(Spoil spoil) {
  return [spoil](Rig& rig, rcap_error* error) {
    auto layout = make<rcap_capture_layout>();
    layout.columns = 4;
    layout.tokens = 2;
    layout.first_row = 50;
    std::vector<std::int32_t> ids(8, 1);
    const void* data = ids.data();
    std::int64_t bytes = 32;
    spoil(layout, data, bytes);
    return rcap_tap_capture(rig.tap(0), &layout, data, bytes, nullptr, 0, nullptr, 0, nullptr, error);
  };
}

/// One end_forward; an output it gives by mistake is dropped.
std::function<std::int32_t(Rig&, rcap_error*)> end(const Forward& forward) {
  return [forward](Rig& rig, rcap_error* error) {
    Output output;
    return rig.try_end(forward, output, error);
  };
}

template <class Spoil>
std::function<std::int32_t(Rig&, rcap_error*)> end_layout(Spoil spoil) {
  return [spoil](Rig& rig, rcap_error* error) {
    auto layout = make<rcap_forward_layout>();
    layout.tokens = 3;
    const std::vector<std::int64_t> slots = {20, 21, 22};
    const void* data = slots.data();
    std::int64_t bytes = 24;
    spoil(layout, data, bytes);
    rcap_output* output = nullptr;
    const std::int32_t status = rcap_capturer_end_forward(rig.get(), &layout, data, bytes, nullptr, 0, nullptr, 0, nullptr, &output, error);
    CHECK(output == nullptr);
    rcap_output_destroy(output);
    return status;
  };
}

std::function<std::int32_t(Rig&, rcap_error*)> read(const Read& read) {
  return [read](Rig& rig, rcap_error* error) {
    auto layout = make<rcap_read_layout>();
    layout.slots_dtype = read.slots_dtype;
    layout.unit = read.unit;
    layout.flags = read.flags;
    layout.tokens = read.tokens;
    layout.start = read.start;
    layout.after_sequence = read.after_sequence;
    layout.timeout_ns = read.timeout_ns;
    rcap_record* record = nullptr;
    const std::int32_t status =
        rcap_capturer_read(rig.get(), &layout, read.slots.data(), static_cast<std::int64_t>(read.slots.size() * 8),
                           read.tags.empty() ? nullptr : read.tags.data(), static_cast<std::int64_t>(read.tags.size()), &record, error);
    CHECK(record == nullptr);
    rcap_record_destroy(record);
    return status;
  };
}

template <class Spoil>
std::function<std::int32_t(Rig&, rcap_error*)> release(Spoil spoil) {
  return [spoil](Rig& rig, rcap_error* error) {
    auto layout = make<rcap_slots_layout>();
    const std::vector<std::int64_t> slots = {10, 11};
    const void* data = slots.data();
    std::int64_t bytes = 16;
    spoil(layout, data, bytes);
    return rcap_capturer_release_slots(rig.get(), &layout, data, bytes, nullptr, error);
  };
}

using Layout = rcap_capture_layout;
using Data = const void*;

}  // namespace

TEST_CASE("bad input: captures") {
  check_refusals(
      Setup(),
      {
          {"unknown ids dtype", kInvalid, {"ids_dtype", "99"}, capture([](Layout& l, Data&, std::int64_t&) { l.ids_dtype = 99; })},
          {"ids of a float dtype", kInvalid, {"ids_dtype", "8|FLOAT32"}, capture([](Layout& l, Data&, std::int64_t&) {
             l.ids_dtype = RCAP_DTYPE_FLOAT32;
           })},
          {"no ids dtype", kInvalid, {"ids_dtype", "0|NONE"}, capture([](Layout& l, Data&, std::int64_t&) { l.ids_dtype = RCAP_DTYPE_NONE; })},
          {"unknown memory", kInvalid, {"memory", "2"}, capture([](Layout& l, Data&, std::int64_t&) { l.memory = 2; })},
          {"columns", kInvalid, {"columns", "5", "4"}, capture([](Layout& l, Data&, std::int64_t& b) { l.columns = 5, b = 40; })},
          {"negative tokens", kRange, {"tokens", "-1"}, capture([](Layout& l, Data&, std::int64_t&) { l.tokens = -1; })},
          {"negative first row", kRange, {"first_row", "-1"}, capture([](Layout& l, Data&, std::int64_t&) { l.first_row = -1; })},
          {"too many rows", kRange, {"first_row|tokens", "63", "64"}, capture([](Layout& l, Data&, std::int64_t&) { l.first_row = 63; })},
          {"rows overflow", kRange, {"first_row|tokens", "9223372036854775807", "64"}, capture([](Layout& l, Data&, std::int64_t&) {
             l.first_row = INT64_MAX;
           })},
          {"negative stride", kInvalid, {"ids_row_stride", "-16"}, capture([](Layout& l, Data&, std::int64_t&) { l.ids_row_stride = -16; })},
          {"stride smaller than a row", kInvalid, {"ids_row_stride", "15", "16"}, capture([](Layout& l, Data&, std::int64_t&) {
             l.ids_row_stride = 15;
           })},
          {"stride overflows", kInvalid, {"ids"}, capture([](Layout& l, Data&, std::int64_t&) { l.ids_row_stride = INT64_MAX; })},
          {"stride overflows whatever the buffer",
           kInvalid,
           {"ids_row_stride", "4611686018427387904"},
           capture([](Layout& l, Data&, std::int64_t& b) { l.ids_row_stride = INT64_MAX / 2 + 1, l.tokens = 3, b = INT64_MAX; })},
          {"ids shorter than the layout", kInvalid, {"ids", "31", "32"}, capture([](Layout&, Data&, std::int64_t& b) { b = 31; })},
          {"ids shorter than their stride says", kInvalid, {"ids", "32", "36"}, capture([](Layout& l, Data&, std::int64_t&) {
             l.ids_row_stride = 20;
           })},
          {"negative bytes", kInvalid, {"ids", "-1"}, capture([](Layout&, Data&, std::int64_t& b) { b = -1; })},
          {"null ids", kInvalid, {"ids"}, capture([](Layout&, Data& d, std::int64_t&) { d = nullptr; })},
          {"null layout",
           kInvalid,
           {"layout"},
           [](Rig& rig, rcap_error* error) { return rcap_tap_capture(rig.tap(0), nullptr, nullptr, 0, nullptr, 0, nullptr, 0, nullptr, error); }},
          {"null tap",
           kInvalid,
           {"self|tap"},
           [](Rig&, rcap_error* error) {
             const auto layout = make<rcap_capture_layout>();
             return rcap_tap_capture(nullptr, &layout, nullptr, 0, nullptr, 0, nullptr, 0, nullptr, error);
           }},
      });
}

TEST_CASE("bad input: forwards") {
  constexpr std::int32_t kGiven = RCAP_ACCEPT_GIVEN;
  using Forwarded = rcap_forward_layout;
  Setup setup;
  check_refusals(
      setup,
      {
          {"unknown acceptance", kInvalid, {"acceptance", "3"}, end({.tokens = 3, .acceptance = 3, .slots = {20, 21, 22}})},
          {"slots dtype", kInvalid, {"slots_dtype", "1|UINT8"}, end_layout([](Forwarded& l, Data&, std::int64_t&) {
             l.slots_dtype = RCAP_DTYPE_UINT8;
           })},
          {"rows dtype",
           kInvalid,
           {"rows_dtype", "6|FLOAT16"},
           [](Rig& rig, rcap_error* error) {
             auto layout = make<rcap_forward_layout>();
             layout.tokens = 3;
             layout.acceptance = kGiven;
             layout.rows_dtype = RCAP_DTYPE_FLOAT16;
             const std::int64_t one[1] = {1};
             rcap_output* output = nullptr;
             return rcap_capturer_end_forward(rig.get(), &layout, one, 8, one, 8, nullptr, 0, nullptr, &output, error);
           }},
          {"slots memory", kInvalid, {"slots_memory", "5"}, end_layout([](Forwarded& l, Data&, std::int64_t&) { l.slots_memory = 5; })},
          {"rows memory", kInvalid, {"rows_memory", "-1"}, end({.tokens = 3, .acceptance = kGiven, .slots = {20}, .rows = {0}, .rows_memory = -1})},
          {"negative first row", kRange, {"first_row", "-4"}, end({.tokens = 3, .first_row = -4, .slots = {20, 21, 22}})},
          {"negative tokens", kRange, {"tokens", "-3"}, end({.tokens = -3})},
          {"too many rows", kRange, {"first_row|tokens", "62", "64"}, end({.tokens = 3, .first_row = 62, .slots = {20, 21, 22}})},
          {"fewer slots than tokens", kInvalid, {"slots", "16", "24"}, end({.tokens = 3, .slots = {20, 21}})},
          {"no slots", kInvalid, {"slots"}, end({.tokens = 3})},
          {"null slots with bytes", kInvalid, {"slots"}, end_layout([](Forwarded&, Data& d, std::int64_t&) { d = nullptr; })},
          {"negative slot bytes", kInvalid, {"slots", "-8"}, end_layout([](Forwarded&, Data&, std::int64_t& b) { b = -8; })},
          {"rows with ALL", kInvalid, {"rows"}, end({.tokens = 3, .slots = {20, 21, 22}, .rows = {0, 1, 2}})},
          {"rows with LATER", kInvalid, {"rows"}, end({.tokens = 3, .acceptance = RCAP_ACCEPT_LATER, .rows = {0, 1, 2}})},
          {"GIVEN without rows", kInvalid, {"rows", "24"}, end({.tokens = 3, .acceptance = kGiven, .slots = {20, 21, 22}})},
          {"null rows with bytes",
           kInvalid,
           {"rows", "24"},
           [](Rig& rig, rcap_error* error) {
             auto layout = make<rcap_forward_layout>();
             layout.tokens = 3;
             layout.acceptance = kGiven;
             rcap_output* output = nullptr;
             return rcap_capturer_end_forward(rig.get(), &layout, nullptr, 0, nullptr, 24, nullptr, 0, nullptr, &output, error);
           }},
          {"fewer slots than rows", kInvalid, {"slots"}, end({.tokens = 3, .acceptance = kGiven, .slots = {20}, .rows = {0, 1}})},
          {"rows shorter than groups",
           kInvalid,
           {"rows", "16", "24"},
           end({.tokens = 3, .acceptance = kGiven, .slots = {20, 21, 22}, .rows = {0, 1}, .groups = 1, .group_width = 3})},
          {"negative groups", kRange, {"groups", "-1"}, end({.tokens = 3, .slots = {20, 21, 22}, .groups = -1})},
          {"negative width", kRange, {"group_width", "-3"}, end({.tokens = 3, .slots = {20, 21, 22}, .groups = 1, .group_width = -3})},
          {"negative slots stride",
           kInvalid,
           {"slots_group_stride", "-1"},
           end({.tokens = 3, .slots = {20, 21, 22}, .groups = 3, .group_width = 1, .slots_group_stride = -1})},
          {"stride below width",
           kInvalid,
           {"slots_group_stride", "1", "2"},
           end({.tokens = 4, .slots = {20, 21, 22, 23}, .groups = 2, .group_width = 2, .slots_group_stride = 1})},
          {"width times groups is not tokens",
           kInvalid,
           {"groups 2", "group_width 2", "3"},
           end({.tokens = 3, .slots = {20, 21, 22, 23}, .groups = 2, .group_width = 2})},
          {"slot past the last", kRange, {"slot", "1000", "127|128"}, end({.tokens = 3, .slots = {20, 1000, 22}})},
          {"slot below -1", kRange, {"slot", "-2"}, end({.tokens = 3, .slots = {20, -2, 22}})},
          {"slot twice", kInvalid, {"slot", "22", "twice|repeat"}, end({.tokens = 3, .slots = {22, 21, 22}})},
          {"row past the last", kRange, {"row", "7", "2|3"}, end({.tokens = 3, .acceptance = kGiven, .slots = {20}, .rows = {7}})},
          {"row twice", kInvalid, {"row", "1", "twice|repeat"}, end({.tokens = 3, .acceptance = kGiven, .slots = {20, 21}, .rows = {1, 1}})},
          {"int32 slot below -1", kRange, {"slot", "-2"}, end({.tokens = 3, .slots = {20, -2, 22}, .slots_dtype = RCAP_DTYPE_INT32})},
          {"LATER slot past the last", kRange, {"slot", "128", "127|128"}, end({.tokens = 1, .acceptance = RCAP_ACCEPT_LATER, .slots = {128}})},
          {"LATER slot twice", kInvalid, {"slot", "20", "twice|repeat"}, end({.tokens = 2, .acceptance = RCAP_ACCEPT_LATER, .slots = {20, 20}})},
          {"tags where tags are off", kInvalid, {"tags"}, end({.tokens = 3, .slots = {20, 21, 22}, .tags = {1, 2, 3}})},
          {"null layout",
           kInvalid,
           {"layout"},
           [](Rig& rig, rcap_error* error) {
             rcap_output* output = nullptr;
             return rcap_capturer_end_forward(rig.get(), nullptr, nullptr, 0, nullptr, 0, nullptr, 0, nullptr, &output, error);
           }},
          {"null output",
           kInvalid,
           {"output"},
           [](Rig& rig, rcap_error* error) {
             const auto layout = make<rcap_forward_layout>();
             return rcap_capturer_end_forward(rig.get(), &layout, nullptr, 0, nullptr, 0, nullptr, 0, nullptr, nullptr, error);
           }},
      });
}

TEST_CASE("bad input: forwards where tags are kept") {
  Setup setup;
  setup.config.tags = 1;
  const auto with_tags = [](const std::int64_t* tags, std::int64_t count, std::int32_t memory) {
    return [=](Rig& rig, rcap_error* error) {
      auto layout = make<rcap_forward_layout>();
      layout.tokens = 3;
      layout.tags_memory = memory;
      const std::vector<std::int64_t> slots = {20, 21, 22};
      rcap_output* output = nullptr;
      return rcap_capturer_end_forward(rig.get(), &layout, slots.data(), 24, nullptr, 0, tags, count, nullptr, &output, error);
    };
  };
  static const std::int64_t kTags[4] = {1, 2, 3, 4};
  check_refusals(setup, {
                            {"none", kInvalid, {"tags"}, with_tags(nullptr, 0, RCAP_MEMORY_HOST)},
                            {"too few", kInvalid, {"tags", "2", "3"}, with_tags(kTags, 2, RCAP_MEMORY_HOST)},
                            {"too many", kInvalid, {"tags", "4", "3"}, with_tags(kTags, 4, RCAP_MEMORY_HOST)},
                            {"negative count", kInvalid, {"tags", "-1"}, with_tags(kTags, -1, RCAP_MEMORY_HOST)},
                            {"null with a count", kInvalid, {"tags"}, with_tags(nullptr, 3, RCAP_MEMORY_HOST)},
                            {"unknown memory", kInvalid, {"tags_memory", "2"}, with_tags(kTags, 3, 2)},
                            {"read: too few", kInvalid, {"tags", "1", "2"}, read({.slots = {10, 11}, .tokens = 3, .tags = {5}})},
                        });
}

TEST_CASE("bad input: slots") {
  using Listed = rcap_slots_layout;
  const auto copy = [](const Slots& from, const Slots& to) { return [=](Rig& rig, rcap_error* error) { return rig.try_copy(from, to, error); }; };
  check_refusals(
      Setup(),
      {
          {"-1",
           kRange,
           {"slot", "-1"},
           [](Rig& rig, rcap_error* error) {
             return rig.try_release({10, -1}, error);
           }},
          {"past the last",
           kRange,
           {"slot", "1000", "127|128"},
           [](Rig& rig, rcap_error* error) {
             return rig.try_release({10, 1000}, error);
           }},
          {"page past the last",
           kRange,
           {"slots", "128", "127"},
           [](Rig& rig, rcap_error* error) {
             return rig.try_release({10, 128}, error, RCAP_UNIT_PAGE);
           }},
          {"in device memory",
           kRange,
           {"slot", "-1"},
           [](Rig& rig, rcap_error* error) {
             return rig.try_release({10, -1}, error, RCAP_UNIT_SLOT, RCAP_MEMORY_DEVICE);
           }},
          {"unknown unit", kInvalid, {"unit", "2"}, release([](Listed& l, Data&, std::int64_t&) { l.unit = 2; })},
          {"unknown memory", kInvalid, {"memory", "9"}, release([](Listed& l, Data&, std::int64_t&) { l.memory = 9; })},
          {"dtype", kInvalid, {"slots_dtype", "2|UINT16"}, release([](Listed& l, Data&, std::int64_t&) { l.slots_dtype = RCAP_DTYPE_UINT16; })},
          {"not whole elements", kInvalid, {"slots", "12"}, release([](Listed&, Data&, std::int64_t& b) { b = 12; })},
          {"negative bytes", kInvalid, {"slots", "-8"}, release([](Listed&, Data&, std::int64_t& b) { b = -8; })},
          {"null slots", kInvalid, {"slots"}, release([](Listed&, Data& d, std::int64_t&) { d = nullptr; })},
          {"null layout",
           kInvalid,
           {"layout"},
           [](Rig& rig, rcap_error* error) { return rcap_capturer_release_slots(rig.get(), nullptr, nullptr, 0, nullptr, error); }},
          {"copy from -1", kRange, {"from", "-1"}, copy({10, -1}, {20, 21})},
          {"copy to past the last", kRange, {"to", "500", "127|128"}, copy({10, 11}, {20, 500})},
          {"copy to one twice", kInvalid, {"to", "20", "twice|repeat"}, copy({10, 11}, {20, 20})},
          {"copy of different lengths", kInvalid, {"from", "to", "16", "8"}, copy({10, 11}, {20})},
          {"slot_info past the last",
           kRange,
           {"slot", "128"},
           [](Rig& rig, rcap_error* error) {
             auto info = make<rcap_slot_info>();
             return rcap_capturer_slot_info_get(rig.get(), 128, &info, error);
           }},
          {"slot_info -1",
           kRange,
           {"slot", "-1"},
           [](Rig& rig, rcap_error* error) {
             auto info = make<rcap_slot_info>();
             return rcap_capturer_slot_info_get(rig.get(), -1, &info, error);
           }},
      });
}

TEST_CASE("bad input: reads") {
  check_refusals(Setup(),
                 {
                     {"negative n", kRange, {"tokens", "-1"}, read({.slots = {10}, .tokens = -1})},
                     {"start negative", kRange, {"start", "-1"}, read({.slots = {10, 11}, .tokens = 3, .start = -1})},
                     {"start past n", kRange, {"start", "4", "3"}, read({.slots = {10, 11}, .tokens = 3, .start = 4})},
                     {"fewer than n-1 slots", kInvalid, {"slots", "1", "2"}, read({.slots = {10}, .tokens = 3})},
                     {"n far beyond the slots", kInvalid, {"slots", "1"}, read({.slots = {10}, .tokens = INT64_MAX})},
                     {"slot past the last", kRange, {"slot", "128", "127|128"}, read({.slots = {10, 128}, .tokens = 3})},
                     {"slot below -1", kRange, {"slot", "-2"}, read({.slots = {10, -2}, .tokens = 3})},
                     {"unknown flag", kUnsupported, {"flags", "2"}, read({.slots = {10}, .tokens = 2, .flags = 2})},
                     {"unknown unit", kInvalid, {"unit", "2"}, read({.slots = {10}, .tokens = 2, .unit = 2})},
                     {"dtype", kInvalid, {"slots_dtype", "1|UINT8"}, read({.slots = {10}, .tokens = 2, .slots_dtype = RCAP_DTYPE_UINT8})},
                     {"negative timeout", kInvalid, {"timeout_ns", "-1"}, read({.slots = {10}, .tokens = 2, .timeout_ns = -1})},
                     {"negative sequence", kInvalid, {"after_sequence", "-1"}, read({.slots = {10}, .tokens = 2, .after_sequence = -1})},
                     {"a number nobody was given", kRange, {"after_sequence", "9", "1|2"}, read({.slots = {10}, .tokens = 2, .after_sequence = 9})},
                     {"tags where tags are off", kInvalid, {"tags"}, read({.slots = {10}, .tokens = 2, .tags = {1}})},
                     {"null layout",
                      kInvalid,
                      {"layout"},
                      [](Rig& rig, rcap_error* error) {
                        rcap_record* record = nullptr;
                        return rcap_capturer_read(rig.get(), nullptr, nullptr, 0, nullptr, 0, &record, error);
                      }},
                     {"null record",
                      kInvalid,
                      {"record"},
                      [](Rig& rig, rcap_error* error) {
                        const auto layout = make<rcap_read_layout>();
                        return rcap_capturer_read(rig.get(), &layout, nullptr, 0, nullptr, 0, nullptr, error);
                      }},
                 });
}

TEST_CASE("bad input: outputs") {
  const auto with_later = [](auto call) {
    return [call](Rig& rig, rcap_error* error) {
      static_cast<void>(rig);
      Rig other;
      const Output output = other.forward_later({1, 2}, {10, 11});
      const std::int32_t status = call(output, error);
      Rig::accept(output, {.rows = {0}});
      CHECK(other.settle(output).rows_stored == 1);
      CHECK(other.show({10, 11}) == "1 -");
      return status;
    };
  };
  check_refusals(Setup(), {
                              {"accept null rows with bytes", kInvalid, {"rows", "16"}, with_later([](const Output& o, rcap_error* e) {
                                 const auto layout = make<rcap_accept_layout>();
                                 return rcap_output_accept(o.get(), &layout, nullptr, 16, nullptr, 0, nullptr, e);
                               })},
                              {"accept slots without rows", kInvalid, {"rows", "8"}, with_later([](const Output& o, rcap_error* e) {
                                 const auto layout = make<rcap_accept_layout>();
                                 const std::int64_t slot = 10;
                                 return rcap_output_accept(o.get(), &layout, nullptr, 0, &slot, 8, nullptr, e);
                               })},
                              {"accept a row past the last", kRange, {"row", "2"}, with_later([](const Output& o, rcap_error* e) {
                                 return Rig::try_accept(o, {.rows = {2}}, e);
                               })},
                              {"accept a row twice", kInvalid, {"row", "1"}, with_later([](const Output& o, rcap_error* e) {
                                 return Rig::try_accept(o, {.rows = {1, 1}}, e);
                               })},
                              {"accept with an unknown dtype", kInvalid, {"rows_dtype", "7|BFLOAT16"}, with_later([](const Output& o, rcap_error* e) {
                                 return Rig::try_accept(o, {.rows = {1}, .rows_dtype = RCAP_DTYPE_BFLOAT16}, e);
                               })},
                              {"accept with a negative width", kRange, {"group_width", "-1"}, with_later([](const Output& o, rcap_error* e) {
                                 return Rig::try_accept(o, {.rows = {1}, .groups = 1, .group_width = -1}, e);
                               })},
                              {"accept without a layout", kInvalid, {"layout"}, with_later([](const Output& o, rcap_error* e) {
                                 return rcap_output_accept(o.get(), nullptr, nullptr, 0, nullptr, 0, nullptr, e);
                               })},
                              {"accept twice",
                               kState,
                               {"accept"},
                               [](Rig&, rcap_error* error) {
                                 Rig other;
                                 const Output output = other.forward_later({1, 2}, {10, 11});
                                 Rig::accept(output, {.rows = {0}});
                                 return Rig::try_accept(output, {.rows = {1}}, error);
                               }},
                              {"accept after finalize",
                               kState,
                               {"accept|settled"},
                               [](Rig&, rcap_error* error) {
                                 Rig other;
                                 const Output output = other.forward({1}, {10});
                                 other.settle(output);
                                 return Rig::try_accept(output, {.rows = {0}}, error);
                               }},
                              {"negative wait", kInvalid, {"timeout_ns", "-1"}, with_later([](const Output& o, rcap_error* e) {
                                 return rcap_output_wait(o.get(), -1, e);
                               })},
                              {"device rows without a place", kInvalid, {"data|bytes"}, with_later([](const Output& o, rcap_error* e) {
                                 return rcap_output_device_rows(o.get(), nullptr, nullptr, e);
                               })},
                          });
}
