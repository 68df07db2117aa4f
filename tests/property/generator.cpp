// SPDX-License-Identifier: Apache-2.0
#include "property/generator.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <ostream>
#include <utility>

#include <rapidcheck.h>

namespace routecap_test::property {
namespace {

constexpr std::size_t kGeometryDraws = 32;
constexpr std::size_t kCommandDraws = 64;

/// How often a kind comes, in shares of their sum; by `Kind`.
constexpr std::array<std::uint64_t, static_cast<std::size_t>(Kind::kCount)> kShares = {
    0,   // kNothing
    30,  // kForward
    9,   // kAccept
    16,  // kSettle
    3,   // kCopyToHost
    5,   // kFinalize
    4,   // kPoll
    6,   // kDrop
    7,   // kRelease
    1,   // kReleaseAll
    12,  // kCopySlots
    1,   // kDiscard
    14,  // kRead
    2,   // kAlgebra
    2,   // kDraft
    1,   // kStrayCapture
    2,   // kRebalance
    4,   // kMisuse
};

DrawList random_draws(rc::Random& random, std::size_t count) {
  DrawList draws(count);
  for (std::size_t i = 0; i < count; i += 4) {
    const std::uint64_t bits = random.next();
    for (std::size_t j = 0; j < 4 && i + j < count; ++j) draws[i + j] = static_cast<std::uint16_t>(bits >> (16 * j));
  }
  return draws;
}

Kind random_kind(rc::Random& random) {
  std::uint64_t sum = 0;
  for (const std::uint64_t share : kShares) sum += share;
  std::uint64_t left = random.next() % sum;
  std::uint8_t kind = 0;
  while (left >= kShares[kind]) left -= kShares[kind++];
  return static_cast<Kind>(kind);
}

/// Where shrinking stands. A success goes on from where it was found instead of from the beginning, as RapidCheck's own combinators would: with
/// thousands of numbers in a schedule that is the difference between a second and an hour.
struct Cursor {
  enum class Stage : std::uint8_t { kDropCommands, kGeometry, kCommands, kDone };
  int pass = 0;
  Stage stage = Stage::kDropCommands;
  std::size_t chunk = 0;  ///< kDropCommands: commands dropped at once; 0 = not begun
  std::size_t at = 0;     ///< kDropCommands: the first of them; else the command
  std::size_t draw = 0;   ///< the number looked at
  std::size_t step = 0;   ///< what is tried with it
};

constexpr int kPasses = 3;

/// Tries for one list: cut short, then every number 0, then halved. Moves the cursor on; nothing once the list is done.
bool plainer_list(DrawList& list, Cursor& cursor) {
  constexpr std::size_t kCuts = 7;
  while (cursor.draw == 0 && cursor.step < kCuts) {
    const std::size_t length = (std::size_t{1} << cursor.step++) - 1;
    if (length >= list.size()) continue;
    list.resize(length);
    return true;
  }
  if (cursor.draw == 0) {
    cursor.draw = 1;
    cursor.step = 0;
  }
  for (; cursor.draw <= list.size(); ++cursor.draw, cursor.step = 0) {
    std::uint16_t& number = list[cursor.draw - 1];
    const std::size_t tried = cursor.step++;
    if (number == 0 || tried > 1) continue;
    number = tried == 0 ? std::uint16_t{0} : static_cast<std::uint16_t>(number / 2);
    return true;
  }
  return false;
}

/// The candidates after a cursor, each with a cursor of its own.
class PlainerSchedules {
 public:
  PlainerSchedules(Schedule schedule, Cursor cursor) : schedule_(std::move(schedule)), cursor_(cursor) {}

  rc::Maybe<rc::Shrinkable<Schedule>> operator()() {
    while (cursor_.stage != Cursor::Stage::kDone) {
      Schedule candidate = schedule_;
      if (!step(candidate)) continue;
      Cursor from = cursor_;
      // What was dropped or halved makes room for the same step again.
      if (from.stage == Cursor::Stage::kDropCommands) from.at -= from.chunk;
      if (from.stage != Cursor::Stage::kDropCommands && from.draw > 0 && from.step > 0) --from.step;
      return rc::shrinkable::lambda([candidate] { return candidate; }, [candidate, from] { return rc::makeSeq<PlainerSchedules>(candidate, from); });
    }
    return rc::Nothing;
  }

 private:
  /// Changes the candidate and moves on; false where only the cursor moved.
  bool step(Schedule& candidate) {
    std::vector<Command>& commands = candidate.commands;
    switch (cursor_.stage) {
      case Cursor::Stage::kDropCommands: {
        if (cursor_.chunk == 0) cursor_.chunk = std::max<std::size_t>(std::bit_floor(commands.size()), 1);
        if (cursor_.at + cursor_.chunk > commands.size()) {
          cursor_.at = 0;
          cursor_.chunk /= 2;
          if (cursor_.chunk == 0) next(Cursor::Stage::kGeometry);
          return false;
        }
        const auto first = commands.begin() + static_cast<std::ptrdiff_t>(cursor_.at);
        commands.erase(first, first + static_cast<std::ptrdiff_t>(cursor_.chunk));
        cursor_.at += cursor_.chunk;
        return true;
      }
      case Cursor::Stage::kGeometry:
        if (plainer_list(candidate.geometry, cursor_)) return true;
        next(Cursor::Stage::kCommands);
        return false;
      case Cursor::Stage::kCommands:
        if (cursor_.at >= commands.size()) {
          next(++cursor_.pass < kPasses ? Cursor::Stage::kDropCommands : Cursor::Stage::kDone);
          return false;
        }
        if (plainer_list(commands[cursor_.at].draws, cursor_)) return true;
        cursor_.draw = 0;
        cursor_.step = 0;
        ++cursor_.at;
        return false;
      case Cursor::Stage::kDone: break;
    }
    return false;
  }

  void next(Cursor::Stage stage) { cursor_ = {cursor_.pass, stage, 0, 0, 0, 0}; }

  Schedule schedule_;
  Cursor cursor_;
};

}  // namespace

rc::Gen<Schedule> schedules(std::size_t commands) {
  return [commands](const rc::Random& seed, int) {
    rc::Random random = seed;
    Schedule schedule;
    schedule.geometry = random_draws(random, kGeometryDraws);
    for (std::size_t i = 0; i < commands; ++i) {
      const Kind kind = random_kind(random);
      schedule.commands.push_back({kind, random_draws(random, kCommandDraws)});
    }
    return rc::shrinkable::lambda([schedule] { return schedule; }, [schedule] { return rc::makeSeq<PlainerSchedules>(schedule, Cursor{}); });
  };
}

void showValue(const Schedule& schedule, std::ostream& stream) {
  const auto show = [&](const DrawList& draws) {
    for (const std::uint16_t draw : draws) stream << ' ' << draw;
    stream << '\n';
  };
  stream << "geometry";
  show(schedule.geometry);
  for (const Command& command : schedule.commands) {
    stream << "command " << static_cast<int>(command.kind);
    show(command.draws);
  }
}

}  // namespace routecap_test::property
