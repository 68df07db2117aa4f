// SPDX-License-Identifier: Apache-2.0
// Every call of the plugin interface fails once, for good, or too late, and every piece of a stream's work loses the device: whatever it is, no row
// is lost without a word, nothing is stored that was not captured, no memory stays behind, nothing hangs, and another capturer's rows are what they
// were.
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "plugin/fake_device/control.h"
#include "support/device.h"
#include "support/rig.h"

using namespace routecap_test;

namespace {

constexpr std::int64_t kPatience = 20'000'000'000;
constexpr std::int64_t kMissing = 0;

/// What a slot may show: a seed, or `kMissing`. Several where a fault leaves it open.
using May = std::set<std::int64_t>;

/// An engine that takes every refusal, and an oracle that knows what each slot may show after it.
class Engine {
 public:
  Engine(std::int32_t mode, std::int64_t first_seed) : mode_(mode), next_seed_(first_seed), rig_(setup(mode)) {
    // A refused seal may be repeated.
    std::int32_t status = rcap_capturer_seal(rig_.get(), nullptr);
    expect(status);
    if (status != RCAP_STATUS_OK) status = rcap_capturer_seal(rig_.get(), nullptr);
    sealed_ = status == RCAP_STATUS_OK;
    for (std::int64_t slot = 0; slot < kSlots; ++slot) may_[slot] = {kMissing};
  }

  [[nodiscard]] bool sealed() const { return sealed_; }
  [[nodiscard]] bool met_fault() const { return met_fault_; }
  [[nodiscard]] std::int64_t outputs_of_fault() const { return outputs_of_fault_; }

  struct Step {
    Slots slots;
    std::vector<std::int64_t> rows{};  ///< GIVEN where there are any, or what a LATER one accepts
    std::int32_t acceptance = RCAP_ACCEPT_ALL;
    std::int32_t memory = RCAP_MEMORY_HOST;
    bool dropped = false;
  };

  /// Captures and ends a forward; returns false where that was refused.
  bool begin(const Step& step) {
    const auto tokens = static_cast<std::int64_t>(step.slots.size());
    Seeds seeds;
    for (std::int64_t i = 0; i < tokens; ++i) seeds.push_back(next_seed_++);
    bool captured = true;
    for (std::size_t column = 0; column < rig_.setup().layer_ids.size(); ++column) captured = took(rig_.capture(column, seeds)) && captured;
    Forward forward{.tokens = tokens, .acceptance = step.acceptance, .slots = step.slots, .slots_memory = step.memory, .rows_memory = step.memory};
    if (step.acceptance == RCAP_ACCEPT_GIVEN) forward.rows = step.rows;
    Flight flight{step, seeds, captured, {}, true};
    std::int32_t status = rig_.try_end(forward, flight.output);
    expect(status);
    // Refused, it took no number and kept the captures: the same call may be repeated (R32).
    if (status == RCAP_STATUS_DEVICE) status = rig_.try_end(forward, flight.output);
    if (status == RCAP_STATUS_OK) {
      flights_.push_back(std::move(flight));
      return true;
    }
    // Given up; where even that fails, the next forward finds rows that it captures twice.
    if (!took(rcap_capturer_discard_forward(rig_.get(), nullptr, nullptr))) spoiled_ = true;
    return false;
  }

  /// Accepts, copies and finalizes the oldest forward, or drops it.
  void settle_oldest() {
    if (flights_.empty()) return;
    Flight flight = std::move(flights_.front());
    flights_.erase(flights_.begin());
    rcap_output* const output = flight.output.get();
    if (flight.step.acceptance == RCAP_ACCEPT_LATER) {
      Accept accept{.rows = flight.step.rows, .rows_memory = flight.step.memory};
      flight.accepted = took(Rig::try_accept(flight.output, accept));
    }
    if (flight.step.dropped) {
      flight.output.reset();
      end_of(flight, RCAP_STATUS_DEVICE, {});
      return;
    }
    if (mode_ == RCAP_FINALIZE_CALLER) took(rcap_output_copy_to_host(output, nullptr, nullptr));
    auto summary = make<rcap_summary>();
    std::int32_t status = RCAP_STATUS_NOT_READY;
    if (flight.accepted) {
      const std::int32_t waited = rcap_output_wait(output, kPatience, nullptr);
      CHECK((waited == RCAP_STATUS_OK || waited == RCAP_STATUS_DEVICE));
      // What it finds on the way may still be the device's to end.
      for (int i = 0; i < 1000 && status == RCAP_STATUS_NOT_READY; ++i) {
        status = rcap_output_finalize(output, &summary, nullptr);
        if (status == RCAP_STATUS_NOT_READY) static_cast<void>(rcap_output_wait(output, 20'000'000, nullptr));
      }
      expect(status);
      CHECK(name(status) != "RCAP_STATUS_NOT_READY");
      CHECK(rcap_output_finalize(output, nullptr, nullptr) == status);  // the same answer again
    } else {
      // Its acceptance met a fault: it ends with DEVICE, stores nothing and touches no slot.
      static_cast<void>(rcap_output_wait(output, kPatience, nullptr));
      status = rcap_output_finalize(output, &summary, nullptr);
      CHECK(name(status) == "RCAP_STATUS_DEVICE");
      met_fault_ = true;
      ++outputs_of_fault_;
      return;
    }
    end_of(flight, status, summary);
  }
  void settle_all() {
    while (!flights_.empty()) settle_oldest();
  }

  void release(const Slots& slots, std::int32_t memory) {
    if (!took(rig_.try_release(slots, nullptr, RCAP_UNIT_SLOT, memory))) return;
    for (const std::int64_t slot : slots) may_[slot] = {kMissing};
  }
  void copy(std::int64_t from, std::int64_t to, std::int32_t memory) {
    if (took(rig_.try_copy({from}, {to}, nullptr, RCAP_UNIT_SLOT, memory))) may_[to] = may_[from];
  }

  /// Every slot shows what it may, and nothing is pending.
  void check(const char* who) const {
    CAPTURE(who);
    rig_.settle_drops();
    for (const auto& entry : may_) {
      const std::int64_t slot = entry.first;
      const std::string shown = rig_.words(rig_.read({.slots = {slot}, .after_sequence = rig_.last_sequence(), .timeout_ns = kPatience}));
      std::string allowed;
      for (const std::int64_t seed : entry.second) allowed += (seed == kMissing ? "-" : std::to_string(seed)) + " ";
      CAPTURE(slot);
      CAPTURE(allowed);
      CAPTURE(shown);
      CHECK((allowed + " ").find(shown + " ") != std::string::npos);
    }
    CHECK(rig_.stats().in_flight == 0);
  }

 private:
  static constexpr std::int64_t kSlots = 24;

  struct Flight {
    Step step;
    Seeds seeds;
    bool captured = true;
    Output output;
    bool accepted = true;
  };

  static Setup setup(std::int32_t mode) {
    Setup setup;
    setup.config.pipeline_depth = 3;
    setup.config.finalize_mode = mode;
    setup.seal = false;
    return setup;
  }

  /// Only a fault may refuse what is right.
  void expect(std::int32_t status) {
    if (status == RCAP_STATUS_OK) return;
    CAPTURE(name(status));
    CHECK((status == RCAP_STATUS_DEVICE || status == RCAP_STATUS_OUT_OF_MEMORY || status == RCAP_STATUS_NOT_READY));
    met_fault_ = met_fault_ || status != RCAP_STATUS_NOT_READY;
  }
  bool took(std::int32_t status) {
    expect(status);
    return status == RCAP_STATUS_OK;
  }

  /// What became of a forward that was committed: `status` DEVICE stands for a drop too.
  void end_of(const Flight& flight, std::int32_t status, const rcap_summary& summary) {
    if (status == RCAP_STATUS_DEVICE && !flight.step.dropped) ++outputs_of_fault_;
    const bool listed_by_device = flight.step.memory == RCAP_MEMORY_DEVICE;
    const bool whole = status == RCAP_STATUS_OK && summary.rows_bad == 0;
    // A row may be missing only where a call said that something had gone wrong.
    if (status == RCAP_STATUS_OK && summary.rows_bad != 0) CHECK((!flight.captured || spoiled_));
    if (whole) spoiled_ = false;
    for (std::size_t i = 0; i < flight.step.slots.size(); ++i) {
      std::size_t row = i;
      std::int64_t slot = flight.step.slots[i];
      if (flight.step.acceptance == RCAP_ACCEPT_GIVEN) row = static_cast<std::size_t>(flight.step.rows[i]);
      if (flight.step.acceptance == RCAP_ACCEPT_LATER) {
        if (i >= flight.step.rows.size()) break;
        row = static_cast<std::size_t>(flight.step.rows[i]);
        slot = flight.step.slots[row];
      }
      if (whole) {
        may_[slot] = {flight.seeds[row]};
      } else if (status == RCAP_STATUS_OK) {
        may_[slot] = {kMissing};
      } else if (listed_by_device) {
        may_[slot].insert(kMissing);  // slots that only the failed device knew stay as they were
      } else {
        may_[slot] = {kMissing};
      }
    }
  }

  std::int32_t mode_;
  std::int64_t next_seed_;
  Rig rig_;
  bool sealed_ = false;
  bool met_fault_ = false;
  bool spoiled_ = false;
  std::int64_t outputs_of_fault_ = 0;
  std::vector<Flight> flights_;
  std::map<std::int64_t, May> may_;
};

constexpr std::int32_t kDevice = RCAP_MEMORY_DEVICE;

struct Fault {
  std::int64_t call = -1;
  std::int32_t kind = kFaultOnce;
  std::int64_t work = -1;
};

struct Happened {
  std::int64_t calls = 0;
  std::int64_t works = 0;
  bool met = false;
  std::int64_t outputs_of_fault = 0;
};

/// Two capturers of one device, everything that calls a plugin, and the fault somewhere in it.
Happened run(std::int32_t mode, std::uint64_t seed, std::int64_t delay_ns, const Fault& fault) {
  const FreshDevice fresh(seed, delay_ns);
  const fake_device_control& control = *test_device_control();
  rcap_plugin_device* const device = test_device();
  Happened happened;
  {
    control.fail_call(device, fault.call, fault.kind);
    control.fail_work(device, fault.work);
    Engine first(mode, 1);
    Engine second(RCAP_FINALIZE_CALLER, 1000);
    if (first.sealed() && second.sealed()) {
      second.begin({.slots = {1, 2}});
      second.settle_all();
      first.begin({.slots = {10, 11}});
      first.begin({.slots = {11, 12}, .rows = {1, 0}, .acceptance = RCAP_ACCEPT_GIVEN, .memory = kDevice});
      second.begin({.slots = {3, 4}, .memory = kDevice});
      first.settle_oldest();
      first.begin({.slots = {13, 14, 15}, .rows = {0, 2}, .acceptance = RCAP_ACCEPT_LATER});
      first.settle_oldest();
      first.settle_oldest();
      first.release({10}, kDevice);
      first.begin({.slots = {16, 17}, .rows = {1}, .acceptance = RCAP_ACCEPT_LATER, .memory = kDevice});
      first.begin({.slots = {11, 18}, .rows = {0, 1}, .acceptance = RCAP_ACCEPT_GIVEN});
      first.settle_all();
      first.copy(11, 20, kDevice);
      if (mode == RCAP_FINALIZE_CALLER) {
        first.begin({.slots = {12, 19}, .dropped = true});
        first.begin({.slots = {21, 18}, .memory = kDevice, .dropped = true});
        first.settle_all();
      }
      second.settle_all();
      // The fault had its chance.
      control.fail_call(device, -1, kFaultOnce);
      control.fail_work(device, -1);
      control.synchronize(device);
      if (control.why_lost(device)[0] == '\0') {
        // The device goes on, and so do both: every block is free, and what is captured now is stored.
        for (std::int64_t i = 0; i < 5; ++i) {
          CHECK(first.begin({.slots = {i, 22}}));
          if (i % 2 == 1) first.settle_oldest();
        }
        first.settle_all();
        CHECK(second.begin({.slots = {5}}));
        second.settle_all();
      } else {
        CHECK_FALSE(first.begin({.slots = {22}}));
        CHECK_FALSE(second.begin({.slots = {5}}));
      }
      first.check("the capturer that met the fault");
      second.check("its neighbour");
    }
    happened.met = first.met_fault() || second.met_fault();
    happened.outputs_of_fault = first.outputs_of_fault() + second.outputs_of_fault();
    if (!happened.met) control.synchronize(device);
    happened.calls = control.calls(device);
    happened.works = control.works(device);
  }
  CHECK(FreshDevice::bytes_held() == 0);
  CHECK(control.engine_bytes(device) == 0);
  return happened;
}

/// Every call and every work of a run without a fault, and some behind them: polling makes runs differ.
void fail_everything(std::int32_t mode, std::uint64_t seed, std::int64_t delay_ns) {
  const Happened plain = run(mode, seed, delay_ns, {});
  REQUIRE_FALSE(plain.met);
  REQUIRE(plain.calls > 100);
  REQUIRE(plain.works > 60);
  std::int64_t reached = 0;
  std::int64_t met = 0;
  std::int64_t outputs = 0;
  for (const std::int32_t kind : {kFaultOnce, kFaultSticky, kFaultLate}) {
    for (std::int64_t call = 0; call < plain.calls + 20; ++call) {
      CAPTURE(kind);
      CAPTURE(call);
      const Happened happened = run(mode, seed, delay_ns, {call, kind});
      reached += happened.calls > call ? 1 : 0;
      met += happened.met ? 1 : 0;
      outputs += happened.outputs_of_fault;
    }
  }
  for (std::int64_t work = 0; work < plain.works; ++work) {
    CAPTURE(work);
    const Happened happened = run(mode, seed, delay_ns, {-1, kFaultOnce, work});
    reached += happened.works > work ? 1 : 0;
    met += happened.met ? 1 : 0;
    outputs += happened.outputs_of_fault;
  }
  // The faults were there: most of those that a run came to were told, and many ended an output. Only calls that were made are counted: a busy
  // machine polls more often in one run than in the next.
  CHECK(reached > 3 * 100 + 60);
  CHECK(met * 2 > reached);
  CHECK(outputs * 4 > reached);
}

}  // namespace

TEST_CASE("R34: whichever call or work fails, no row is lost silently, nothing leaks, hangs or harms a neighbour; the caller finalizes") {
  fail_everything(RCAP_FINALIZE_CALLER, 1, 0);
}

TEST_CASE("R34: whichever call or work fails, no row is lost silently, nothing leaks, hangs or harms a neighbour; the own thread finalizes") {
  fail_everything(RCAP_FINALIZE_OWN_THREAD, 2, 0);
}

TEST_CASE("R34: the same with streams that dawdle, for some of the faults") {
  for (const std::int32_t mode : {RCAP_FINALIZE_CALLER, RCAP_FINALIZE_OWN_THREAD}) {
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
      CAPTURE(mode);
      CAPTURE(seed);
      const auto at = static_cast<std::int64_t>(seed * 13 % 200);
      run(mode, seed, 100'000, seed % 4 == 3 ? Fault{-1, kFaultOnce, at / 2} : Fault{at, static_cast<std::int32_t>(seed % 4)});
    }
  }
}
