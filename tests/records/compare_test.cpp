// SPDX-License-Identifier: Apache-2.0
// Compare: where two records differ, in numbers.
#include <doctest/doctest.h>

#include "records/sketch.h"

using namespace routecap_records;

namespace {

/// The report as one line of its numbers.
std::string numbers(const rcap_compare_report& report) {
  std::string text = report.equal != 0 ? "equal" : report.same_shape != 0 ? "same shape" : "other shape";
  text += " from " + std::to_string(report.start) + " rows " + std::to_string(report.rows) + "+" + std::to_string(report.rows_only_first) + "+" +
          std::to_string(report.rows_only_second);
  text += " cells " + std::to_string(report.cells) + "+" + std::to_string(report.cells_only_first) + "+" + std::to_string(report.cells_only_second);
  text += " differ " + std::to_string(report.cells_differ) + " sets " + std::to_string(report.cells_differ_as_sets) + " weights " +
          std::to_string(report.cells_differ_in_weights) + " versions " + std::to_string(report.rows_differ_in_version);
  return text + " first " + std::to_string(report.first_row) + "/" + std::to_string(report.first_layer);
}

}  // namespace

TEST_CASE("compare: ids in another order, other ids, holes and versions are counted apart") {
  const Sketch first{.start = 10, .rows = {"1.2 3.4 #1", "5.6 7.8 #1", "~", "9.1 9.2 #2", "9.3 9.4 #2", "~"}};
  struct Case {
    const char* what;
    std::int64_t start;
    std::vector<std::string> rows;
    const char* expected;
    std::vector<std::int64_t> by_layer;
  };
  const std::vector<Case> cases = {
      {"itself",
       10,
       {"1.2 3.4 #1", "5.6 7.8 #1", "~", "9.1 9.2 #2", "9.3 9.4 #2", "~"},
       "equal from 10 rows 6+0+0 cells 8+0+0 differ 0 sets 0 weights 0 versions 0 first -1/-1",
       {0, 0}},
      {"an order and a set",
       10,
       {"1.2 4.3 #1", "5.6 7.8 #1", "~", "9.0 9.2 #2", "9.3 9.4 #2", "~"},
       "same shape from 10 rows 6+0+0 cells 8+0+0 differ 2 sets 1 weights 0 versions 0 first 10/6",
       {1, 1}},
      {"a hole on each side",
       10,
       {"1.2 3.4 #1", "~", "5.5 5.6 #1", "9.1 9.2 #2", "9.3 9.4 #2", "~"},
       "same shape from 10 rows 6+0+0 cells 6+2+2 differ 0 sets 0 weights 0 versions 0 first 11/2",
       {0, 0}},
      {"versions alone",
       10,
       {"1.2 3.4 #1", "5.6 7.8 #2", "~", "9.1 9.2 #2", "9.3 9.4 #1", "~"},
       "same shape from 10 rows 6+0+0 cells 8+0+0 differ 0 sets 0 weights 0 versions 2 first -1/-1",
       {0, 0}},
      {"the end alone",
       14,
       {"9.3 9.5 #2", "~", "~"},
       "same shape from 14 rows 2+4+1 cells 2+0+0 differ 1 sets 1 weights 0 versions 0 first 14/6",
       {0, 1}},
      {"no position in common",
       20,
       {"9.3 9.5 #2"},
       "same shape from 20 rows 0+6+1 cells 0+0+0 differ 0 sets 0 weights 0 versions 0 first -1/-1",
       {0, 0}},
      {"no rows", 12, {}, "same shape from 12 rows 0+6+0 cells 0+0+0 differ 0 sets 0 weights 0 versions 0 first -1/-1", {0, 0}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    const Compared compared = compare(record(first), record(Sketch{.start = c.start, .rows = c.rows}));
    CHECK(numbers(compared.report) == c.expected);
    CHECK(compared.by_layer == c.by_layer);
  }
}

TEST_CASE("compare: weights bit by bit, cells of PARTIAL layers one by one, ids of every dtype") {
  for (const std::int32_t experts : {256, 300, 70000}) {
    CAPTURE(experts);
    Sketch first{.rows = {"1=1.2=2 3=3.4=4", "5=5.6=6 -", "7=7.8=8 -"},
                 .flags = {0, RCAP_TAP_PARTIAL},
                 .num_experts = experts,
                 .weights_dtype = RCAP_DTYPE_BFLOAT16};
    Sketch second = first;
    second.rows = {"1=1.2=3 4=4.3=3", "5=5.6=6 1=1.2=2", "7=7.8=8 -"};
    const Compared compared = compare(record(first), record(second));
    CHECK(numbers(compared.report) == "same shape from 0 rows 3+0+0 cells 4+0+1 differ 1 sets 0 weights 2 versions 0 first 0/6");
    CHECK(compared.by_layer == std::vector<std::int64_t>{0, 1});
  }
}

TEST_CASE("compare: an id as often as it stands there counts") {
  const Compared compared = compare(record(Sketch{.rows = {"1.1.2 0.0.0"}, .top_k = 3}), record(Sketch{.rows = {"1.2.2 0.0.0"}, .top_k = 3}));
  CHECK(compared.report.cells_differ == 1);
  CHECK(compared.report.cells_differ_as_sets == 1);
}

TEST_CASE("compare: of records of another shape only the positions are told") {
  const Sketch first{.start = 3, .rows = {"1.2 3.4", "5.6 7.8"}};
  struct Case {
    const char* what;
    void (*change)(Sketch&);
  };
  const std::vector<Case> cases = {
      {"E", [](Sketch& s) { s.num_experts = 255; }},
      {"K",
       [](Sketch& s) {
         s = {.start = 3, .rows = {"1 3", "5 7"}, .top_k = 1};
       }},
      {"layers",
       [](Sketch& s) {
         s.layers = {2, 7};
       }},
      {"weights",
       [](Sketch& s) {
         s = {.start = 3, .rows = {"~", "~"}, .weights_dtype = RCAP_DTYPE_FLOAT32};
       }},
      {"kind", [](Sketch& s) { s.weights_kind = RCAP_WEIGHTS_RENORMALIZED; }},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    Sketch second = first;
    c.change(second);
    const Compared compared = compare(record(first), record(second));
    CHECK(numbers(compared.report) == "other shape from 3 rows 2+0+0 cells 0+0+0 differ 0 sets 0 weights 0 versions 0 first -1/-1");
    CHECK(compared.by_layer == std::vector<std::int64_t>{-7, -7});
  }
}

TEST_CASE("compare: other flags are not equal, yet rows are compared") {
  const Sketch first{.rows = {"1.2 3.4"}};
  Sketch second = first;
  second.flags = {RCAP_TAP_UNORDERED, 0};
  CHECK(numbers(compare(record(first), record(second)).report) ==
        "same shape from 0 rows 1+0+0 cells 2+0+0 differ 0 sets 0 weights 0 versions 0 first -1/-1");
}

TEST_CASE("compare: arguments") {
  const Handle a = record(Sketch{.rows = {"1.2 3.4"}});
  rcap_compare_report report;
  rcap_compare_report_init(&report, sizeof report);
  rcap_error error;
  rcap_error_init(&error, sizeof error);
  std::vector<std::int64_t> by_layer(3, -7);
  const auto call = [&](const rcap_record* self, const rcap_record* other, rcap_compare_report* into, std::int64_t* layers, std::int64_t count) {
    const std::int32_t status = rcap_record_compare(self, other, into, layers, count, &error);
    return std::string(rcap_status_name(status)) + ": " + error.text;
  };
  CHECK(call(a.get(), a.get(), &report, nullptr, 0) == "RCAP_STATUS_OK: ");
  CHECK(call(a.get(), a.get(), &report, by_layer.data(), 3) == "RCAP_STATUS_OK: ");
  CHECK(by_layer == std::vector<std::int64_t>{0, 0, -7});
  report.rows = 77;
  CHECK(call(nullptr, a.get(), &report, nullptr, 0) == "RCAP_STATUS_INVALID_ARGUMENT: self is null");
  CHECK(call(a.get(), nullptr, &report, nullptr, 0) == "RCAP_STATUS_INVALID_ARGUMENT: other is null");
  CHECK(call(a.get(), a.get(), nullptr, nullptr, 0) == "RCAP_STATUS_INVALID_ARGUMENT: report is null");
  CHECK(call(a.get(), a.get(), &report, nullptr, 2) == "RCAP_STATUS_INVALID_ARGUMENT: by_layer is null, by_layer_count is 2");
  CHECK(call(a.get(), a.get(), &report, by_layer.data(), 1) == "RCAP_STATUS_OUT_OF_RANGE: by_layer_count is 1, allowed are 2 .. 9223372036854775807");
  CHECK(report.rows == 77);
}
