// SPDX-License-Identifier: Apache-2.0
//
// The random schedules of the property tests, for as long as one likes: capturers that live for the whole run, in both finalize modes, beside others
// that are made and destroyed all the time. Every answer is compared with the model; memory, files and threads must not grow.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include <rapidcheck.h>

#include "property/footprint.h"
#include "property/generator.h"
#include "property/schedules.h"
#include "property/session.h"

namespace routecap_test::property {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kCommandsPerTurn = 150;
constexpr int kLongLived = 6;
constexpr int kSize = 100;

/// What the run does wrong on purpose, so that it is seen to notice.
enum class Broken { kNothing, kHeap, kFiles, kRows };

struct Options {
  std::int64_t seconds = 30;
  std::int64_t turns = 0;  ///< instead of seconds, where it is not 0
  std::uint64_t seed = kSeed;
  std::int64_t report_seconds = 60;
  Broken broken = Broken::kNothing;
};

[[noreturn]] void refuse(const std::string& why) {
  std::fprintf(stderr, "property_soak: %s\n", why.c_str());
  std::fprintf(stderr, "usage: property_soak [--seconds N | --turns N] [--seed N] [--report-seconds N] [--broken heap|files|rows]\n");
  std::exit(2);
}

std::int64_t number(const std::string& option, const char* text, std::int64_t least) {
  char* end = nullptr;
  const long long value = std::strtoll(text, &end, 10);
  if (end == text || *end != '\0' || value < least)
    refuse(option + " is '" + text + "', a whole number of at least " + std::to_string(least) + " is wanted");
  return value;
}

Options options_of(int argc, char** argv) {
  Options options;
  if (const char* seconds = std::getenv("ROUTECAP_SOAK_SECONDS")) options.seconds = number("ROUTECAP_SOAK_SECONDS", seconds, 1);
  for (int i = 1; i < argc; i += 2) {
    const std::string option = argv[i];
    if (i + 1 == argc) refuse(option + " has no value");
    const char* value = argv[i + 1];
    if (option == "--seconds") {
      options.seconds = number(option, value, 1);
    } else if (option == "--turns") {
      options.turns = number(option, value, 1);
    } else if (option == "--seed") {
      options.seed = static_cast<std::uint64_t>(number(option, value, 0));
    } else if (option == "--report-seconds") {
      options.report_seconds = number(option, value, 1);
    } else if (option == "--broken") {
      const std::string what = value;
      options.broken = what == "heap" ? Broken::kHeap : what == "files" ? Broken::kFiles : what == "rows" ? Broken::kRows : Broken::kNothing;
      if (options.broken == Broken::kNothing) refuse("--broken is '" + what + "', one of heap, files and rows is wanted");
    } else {
      refuse("unknown option '" + option + "'");
    }
  }
  return options;
}

/// One run, until its time is up.
class Soak {
 public:
  explicit Soak(const Options& options) : options_(options), random_(schedules(kCommandsPerTurn)), growth_(Slack{}) {
    const Variant variant = options.broken == Broken::kRows ? Variant::kDropLeavesOld : Variant::kContract;
    for (int i = 0; i < kLongLived; ++i) {
      const Finalizing finalizing = i % 2 == 0 ? Finalizing::kCaller : Finalizing::kOwnThread;
      sessions_.push_back(std::make_unique<Session>(next().geometry, finalizing, variant, nullptr));
    }
  }

  /// @return whether nothing grew; a wrong answer is thrown
  bool run() {
    const Clock::time_point began = Clock::now();
    const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - began).count(); };
    double told = 0;
    for (double done = 0; done < 1;) {
      turn();
      const Footprint footprint = Footprint::now();
      growth_.add(done, footprint);
      const double now = elapsed();
      done =
          options_.turns > 0 ? static_cast<double>(short_lived_) / static_cast<double>(options_.turns) : now / static_cast<double>(options_.seconds);
      if (now - told < static_cast<double>(options_.report_seconds)) continue;
      told = now;
      std::printf("%.0f s: %lld commands; %s\n", now, static_cast<long long>(commands_), footprint.text().c_str());
      std::fflush(stdout);
    }
    for (const auto& session : sessions_) session->finish();
    const auto grown = growth_.found();
    std::printf("%lld commands in %.0f s, %d capturers kept and %lld made and destroyed, seed %llu: no wrong answer\n",
                static_cast<long long>(commands_), elapsed(), kLongLived, static_cast<long long>(short_lived_),
                static_cast<unsigned long long>(options_.seed));
    std::printf("first half:  %s\nsecond half: %s\n", growth_.usual().text().c_str(), growth_.latest().text().c_str());
    if (grown) std::printf("GREW: %s\n", grown->c_str());
    return !grown;
  }

 private:
  Schedule next() { return random_(rc::Random(options_.seed + schedules_++), kSize).value(); }

  /// Every long-lived capturer goes on for a while and rests; one other lives through a schedule.
  void turn() {
    for (const auto& session : sessions_) {
      for (const Command& command : next().commands) session->run(command);
      session->rest();
      commands_ += static_cast<std::int64_t>(kCommandsPerTurn);
    }
    Session::run(next(), short_lived_ % 2 == 0 ? Finalizing::kCaller : Finalizing::kOwnThread);
    commands_ += static_cast<std::int64_t>(kCommandsPerTurn);
    ++short_lived_;
    if (options_.broken == Broken::kHeap) leaked_.push_back(std::vector<char>(kLeak));
    if (options_.broken == Broken::kFiles && short_lived_ % kLeakFileEvery == 0) files_.push_back(std::fopen("/dev/null", "r"));
  }

  static constexpr std::size_t kLeak = 256 << 10;
  static constexpr std::int64_t kLeakFileEvery = 3;

  Options options_;
  rc::Gen<Schedule> random_;
  Growth growth_;
  std::uint64_t schedules_ = 0;
  std::int64_t commands_ = 0;
  std::int64_t short_lived_ = 0;
  std::vector<std::unique_ptr<Session>> sessions_;
  std::vector<std::vector<char>> leaked_;
  std::vector<std::FILE*> files_;
};

}  // namespace
}  // namespace routecap_test::property

int main(int argc, char** argv) {
  using namespace routecap_test::property;
  const Options options = options_of(argc, argv);
  try {
    return Soak(options).run() ? EXIT_SUCCESS : EXIT_FAILURE;
  } catch (const std::exception& error) {
    std::printf("WRONG, seed %llu: %s\n", static_cast<unsigned long long>(options.seed), error.what());
    return EXIT_FAILURE;
  }
}
