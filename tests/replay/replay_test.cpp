// SPDX-License-Identifier: Apache-2.0
//
// The committed script against the C API: every call, in every variant; and a replay that could not fail would show nothing.
#include <doctest/doctest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>

#include "replayer.h"
#include "script.h"

namespace {

std::string committed() {
  std::ifstream file(REPLAY_SCRIPT, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string refusal(const std::string& text) {
  try {
    static_cast<void>(replay::Script::read(text));
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "not refused";
}

/// The faults of the first run's first variant once `from` is `to`, where it first stands behind `after`.
std::vector<std::string> faults_with(const std::string& after, const std::string& from, const std::string& to) {
  std::string text = committed();
  const std::size_t begin = text.find(after);
  REQUIRE(begin != std::string::npos);
  const std::size_t place = text.find(from, begin);
  REQUIRE(place != std::string::npos);
  text.replace(place, from.size(), to);
  const replay::Script script = replay::Script::read(text);
  return replay::replay(script, script.runs.front(), 0).faults;
}

}  // namespace

TEST_CASE("the committed script replays with equal records in every variant") {
  const replay::Script script = replay::Script::read(committed());
  REQUIRE(script.variants.size() == 3);
  REQUIRE(script.runs.size() == 2);
  for (const replay::Run& run : script.runs) {
    for (std::size_t variant = 0; variant < script.variants.size(); ++variant) {
      const replay::Replay replayed = replay::replay(script, run, variant);
      CHECK(replayed.calls == static_cast<std::int64_t>(run.lines.size()));
      CHECK(replayed.reads >= 8);
      const std::string first = replayed.faults.empty() ? "" : replayed.faults.front();
      CHECK(first == "");
    }
  }
}

TEST_CASE("the script has in it what a schedule has") {
  const replay::Script script = replay::Script::read(committed());
  std::set<std::string> seen;
  std::set<std::int32_t> dtypes;
  for (const replay::Variant& variant : script.variants) dtypes.insert(variant.ids_dtypes.begin(), variant.ids_dtypes.end());
  CHECK(dtypes.size() == 5);
  for (const replay::Run& run : script.runs) {
    for (const replay::Line& line : run.lines) {
      seen.insert(line.verb());
      if (line.verb() == "end_forward") {
        seen.insert("accept " + line.text("acceptance"));
        if (line.has("slots")) seen.insert("slots in " + std::to_string(replay::List::read(line.text("slots")).memory));
        if (line.number("tokens") == 0) seen.insert("idle");
        if (line.number("groups") > 1 && line.number("rows_group_stride") > line.number("group_width")) seen.insert("groups with a gap");
      }
      if (line.wants("status")) seen.insert(line.verb() + " " + line.wanted("status"));
      if (line.verb() == "add_tap" && line.number("flags") != 0) seen.insert("flags");
      if (line.verb() == "tap_capture")
        seen.insert("capture in " + line.text("memory") + (line.has("row_ids") ? " of rows" : "") + (line.has("weights") ? " with weights" : ""));
      if (line.verb() == "finalize" && line.wanted_number("rows_rejected") > 0) seen.insert("rejected");
      if (line.verb() == "finalize" && line.wanted_number("rows_outdated") > 0) seen.insert("outdated");
      if (line.verb() == "finalize" && line.wanted_number("rows_reserved") > 0) seen.insert("reserved");
      if (line.verb() == "stats" && line.wanted_number("suppressed") > 0) seen.insert("suppressed");
      if (line.verb() == "stats" && line.wanted_number("dropped") > 0) seen.insert("dropped");
      if (line.wants("valid") && line.wanted_number("valid") < line.wanted_number("rows")) seen.insert("missing rows");
      if (line.wants("valid") && line.number("flags") != 0) seen.insert("last row");
    }
  }
  for (const char* wanted : {"accept",
                             "accept all",
                             "accept given",
                             "accept later",
                             "slots in 0",
                             "slots in 1",
                             "idle",
                             "groups with a gap",
                             "end_forward BUSY",
                             "flags",
                             "read OK",
                             "read NOT_READY",
                             "read_into OK",
                             "encode OK",
                             "release_slots",
                             "copy_slots",
                             "discard_forward",
                             "capture in host",
                             "capture in device",
                             "capture in host of rows",
                             "capture in device of rows",
                             "capture in host with weights",
                             "capture in device with weights",
                             "rejected",
                             "reserved",
                             "suppressed",
                             "dropped",
                             "missing rows",
                             "last row"}) {
    CAPTURE(wanted);
    CHECK(seen.contains(wanted));
  }
}

TEST_CASE("an answer that differs is found") {
  CHECK(faults_with("", "script", "script").empty());
  // A sequence number.
  CHECK(faults_with("end_forward", "sequence=1", "sequence=7").size() == 1);
  // A status.
  CHECK(faults_with("read ", "status=NOT_READY", "status=TIMEOUT").size() == 1);
  // A counter.
  CHECK(faults_with("finalize", "rows_stored=", "rows_stored=1").size() == 1);
  // A bit of validity, an id, and the hash of a frame.
  CHECK(faults_with("read ", " row_validity=", " row_validity=00").size() == 1);
  CHECK(faults_with("status=OK start=", " ids=", " ids=00").size() == 1);
  const std::vector<std::string> faults = faults_with("read ", "frames=", "frames=0");
  REQUIRE(faults.size() == 1);
  CHECK(faults.front().find("read gives a frame of CRC ") != std::string::npos);
}

TEST_CASE("a routed id that differs shows in the records") {
  std::string text = committed();
  // The ids of the first forward whose rows are stored: those of the capture before the first end_forward.
  const std::size_t end = text.find("end_forward");
  const std::size_t capture = text.rfind("tap_capture", end);
  const std::size_t reference = text.find(" ids=@", capture) + 6;
  const std::string number = text.substr(reference, text.find_first_of(" \n", reference) - reference);
  const std::size_t data = text.find("bytes=", text.find("data id=" + number + " ")) + 6;
  text.replace(data, 2, text.substr(data, 2) == "00" ? "01" : "00");
  const replay::Script script = replay::Script::read(text);
  CHECK_FALSE(replay::replay(script, script.runs.front(), 0).faults.empty());
}

TEST_CASE("a text that is no script is refused with its line") {
  CHECK(refusal("") == "line 1: a script has at least one variant and one run");
  CHECK(refusal("seal capturer=0\n") == "line 1: not a script of version 1");
  CHECK(refusal("# c\nscript version=2\n") == "line 2: not a script of version 1");
  CHECK(refusal("script version=1\nseal capturer=0\n") == "line 2: seal before the first run");
  CHECK(refusal("script version=1\nvariant experts=1 factor=1 ids=int8\n") == "line 2: 'int8' is no dtype");
  CHECK(refusal("script version=1\nrun\ndata id=0 bytes=0\n") == "line 3: an odd number of hexadecimal digits");
  CHECK(refusal("script version=1\nrun\ndata id=x bytes=00\n") == "line 3: 'x' is no number");
  CHECK(refusal("script version=1\nrun\nseal 0\n") == "line 3: '0' is not name=value");
}
