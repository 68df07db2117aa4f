// SPDX-License-Identifier: Apache-2.0
// The way of a row allocates nothing once it has begun: counted, not believed.
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/rig.h"
#include "unit/allocations.h"

using namespace routecap_test;

namespace {

/// One engine step by hand, with everything prepared: what is counted is the library's alone.
class Engine {
 public:
  explicit Engine(const Setup& setup) : rig_(setup) {
    capture_.columns = setup.config.top_k;
    read_.tokens = 17;
    for (std::int64_t i = 0; i < 16; ++i) slots_.push_back(i);
    ids_.assign(static_cast<std::size_t>(16 * setup.config.top_k), 3);
    weights_.assign(ids_.size(), 0.5F);
    tags_.assign(16, 4);
    out_.assign(4096, 0);
    weights_out_.assign(16384, 0);
    validity_.assign(64, 0);
  }

  void step(std::int64_t tokens) {
    capture_.tokens = tokens;
    capture_.weights_dtype = RCAP_DTYPE_FLOAT32;
    const std::int64_t ids_bytes = tokens * capture_.columns * 4;
    for (std::int32_t column = 0; column < rig_.layers(); ++column) {
      check(rcap_tap_capture(rig_.tap(static_cast<std::size_t>(column)), &capture_, ids_.data(), ids_bytes, weights_.data(), ids_bytes, nullptr, 0,
                             nullptr, error_));
    }
    forward_.tokens = tokens;
    rcap_output* output = nullptr;
    const bool tags = rig_.setup().config.tags != 0;
    check(rcap_capturer_end_forward(rig_.get(), &forward_, slots_.data(), tokens * 8, nullptr, 0, tags ? tags_.data() : nullptr, tags ? tokens : 0,
                                    nullptr, &output, error_));
    if (rig_.setup().config.finalize_mode == RCAP_FINALIZE_CALLER) check(rcap_output_copy_to_host(output, nullptr, error_));
    check(rcap_output_wait(output, 20'000'000'000, error_));
    check(rcap_output_finalize(output, &summary_, error_));
    if (summary_.rows_stored != tokens) ++failures_;
    rcap_output_destroy(output);
  }

  void read() {
    check(rcap_capturer_read_into(rig_.get(), &read_, slots_.data(), 128, nullptr, 0, out_.data(), 4096, weights_out_.data(), 16384, validity_.data(),
                                  64, &info_, error_));
    check(rcap_capturer_slot_info_get(rig_.get(), 3, &slot_, error_));
    check(rcap_capturer_stats_get(rig_.get(), &stats_, error_));
  }

  void release_and_discard() {
    check(rcap_capturer_release_slots(rig_.get(), &list_, slots_.data(), 32, nullptr, error_));
    check(rcap_capturer_release_all(rig_.get(), nullptr, error_));
    check(rcap_capturer_discard_forward(rig_.get(), nullptr, error_));
  }

  [[nodiscard]] int failures() const { return failures_; }

 private:
  void check(std::int32_t status) {
    if (status != RCAP_STATUS_OK) ++failures_;
  }

  Rig rig_;
  Error error_;
  rcap_capture_layout capture_ = make<rcap_capture_layout>();
  rcap_forward_layout forward_ = make<rcap_forward_layout>();
  rcap_read_layout read_ = make<rcap_read_layout>();
  rcap_slots_layout list_ = make<rcap_slots_layout>();
  rcap_summary summary_ = make<rcap_summary>();
  rcap_read_info info_ = make<rcap_read_info>();
  rcap_slot_info slot_ = make<rcap_slot_info>();
  rcap_capturer_stats stats_ = make<rcap_capturer_stats>();
  Slots slots_;
  std::vector<std::int32_t> ids_;
  std::vector<float> weights_;
  std::vector<std::int64_t> tags_;
  std::vector<std::uint8_t> out_, weights_out_, validity_;
  int failures_ = 0;
};

/// Resident memory of this process in bytes.
std::int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t total = 0;
  std::int64_t resident = 0;
  statm >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

}  // namespace

TEST_CASE("no allocation: capture, end_forward, copy, finalize, destroy, read_into, releases, in every configuration") {
  for (const std::int32_t mode : {RCAP_FINALIZE_CALLER, RCAP_FINALIZE_OWN_THREAD}) {
    for (const std::int32_t weights : {RCAP_DTYPE_NONE, RCAP_DTYPE_FLOAT16}) {
      for (const std::int32_t tags : {0, 1}) {
        for (const std::int32_t partial : {0, static_cast<std::int32_t>(RCAP_TAP_PARTIAL)}) {
          CAPTURE(mode);
          CAPTURE(weights);
          CAPTURE(tags);
          CAPTURE(partial);
          Setup setup;
          setup.config.finalize_mode = mode;
          setup.config.weights_dtype = weights;
          setup.config.tags = tags;
          setup.config.check_level = RCAP_CHECK_BASIC;
          setup.tap_flags = {0, partial, 0};
          Engine engine(setup);
          const auto round = [&](std::int64_t tokens) {
            engine.step(tokens);
            engine.read();
            engine.release_and_discard();
          };
          round(1);  // may touch what is made at the first use
          round(16);
          const long before = total_allocations();
          for (int i = 0; i < 20; ++i) {
            round(1);
            round(16);
          }
          CHECK(total_allocations() == before);
          CHECK(engine.failures() == 0);
        }
      }
    }
  }
}

TEST_CASE("no allocation: a store of 4 M slots costs address space, not memory, until it is written") {
  Setup setup;
  setup.config.num_experts = 256;
  setup.config.top_k = 8;
  setup.config.num_slots = 4'000'000;
  setup.layer_ids.clear();
  for (std::int32_t layer = 3; layer < 61; ++layer) setup.layer_ids.push_back(layer);
  const std::int64_t before = resident_bytes();
  Rig rig(setup);
  rig.store({1, 2, 3}, {0, 2'000'000, 3'999'999});
  CHECK(rig.show({0, 1'000'000, 2'000'000, 3'999'999}) == "1 - 2 3");
  CHECK(resident_bytes() - before < 64 * 1024 * 1024);  // 1.9 GB of slots
  rig.release_all();
  CHECK(rig.show({0, 2'000'000, 3'999'999}) == "- - -");
  CHECK(resident_bytes() - before < 64 * 1024 * 1024);
}
