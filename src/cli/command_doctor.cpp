// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <system_error>

#include "bench_rig.h"
#include "commands.h"
#include "machine.h"
#include "markup.h"
#include "options.h"
#include "print.h"

namespace routecap::cli {
namespace {

constexpr const char* kMeaning =
    "Each line is ok, a note (works; could be better, or may surprise) or a fault (the library itself is\n"
    "broken), with what to do about it. Exit code: 4 where there is a fault, else 0.";

struct Options {
  std::string root;
  PrintOptions print;
};

enum class Verdict { kOk, kNote, kFault };

struct Finding {
  std::string name;
  Verdict verdict = Verdict::kOk;
  std::string text;
  std::string advice;  ///< what to do; empty = nothing
};

const char* name_of(Verdict verdict) { return verdict == Verdict::kOk ? "ok" : verdict == Verdict::kNote ? "note" : "fault"; }

std::string short_bytes(std::int64_t bytes) {
  const std::string text = bytes_text(bytes);
  const std::size_t open = text.find('(');
  return open == std::string::npos ? text : text.substr(open + 1, text.size() - open - 2);
}

/// The file that the library was loaded from; empty where that cannot be told.
std::string library_file() {
  Dl_info found{};
  if (dladdr(reinterpret_cast<const void*>(&rcap_version_string), &found) == 0 || found.dli_fname == nullptr) return "";
  return found.dli_fname;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

Finding check_version() {
  Finding finding{"library", Verdict::kOk, text_of("version ", rcap_version_string(), ", ABI ", rcap_abi_version()), ""};
  const std::string file = library_file();
  if (!file.empty()) finding.text += ", " + file;
  const std::string built = RCAP_VERSION_STRING;
  if (built != rcap_version_string()) {
    finding.verdict = Verdict::kNote;
    finding.text += ", and this command was built for " + built;
    finding.advice = "install both from one release, or look at LD_LIBRARY_PATH if another library was meant";
  }
  return finding;
}

Finding check_simd(const rcap_build_info& info) {
  Finding finding{"simd", Verdict::kOk, text_of(info.simd, " row loops"), ""};
  if (std::string_view(info.simd) == "scalar") {
    finding.verdict = Verdict::kNote;
    finding.advice =
        "this processor, or the virtual machine's model of it, shows neither AVX2 nor NEON: rows are captured several times slower; "
        "for a virtual machine choose its host's processor model";
  }
  return finding;
}

Finding check_build(const rcap_build_info& info) { return {"build", Verdict::kOk, text_of(info.compiler, "; ", info.features), ""}; }

/// A few rows all the way: captured, staged, stored, read, encoded, decoded, and compared with what went in.
Finding check_rows() {
  Finding finding{"rows", Verdict::kOk, "captured, stored, read, encoded and decoded as they should be", ""};
  try {
    BenchShape shape;
    shape.layers = 3;
    shape.tokens = 67;
    shape.slots = 101;
    BenchRig rig(shape);
    rig.decode_frame();
    if (!rig.is_right()) throw Failure(kInternalError, "rows came out other than they went in");
  } catch (const std::exception& error) {
    finding.verdict = Verdict::kFault;
    finding.text = error.what();
    finding.advice = "reinstall the library; if that does not help, report this with the lines above";
  }
  return finding;
}

/// Every place of the library's search for a backend of that name, as `rcap_backend_search` tells it; empty where it cannot be told.
std::string search_report(const std::string& name) {
  std::int64_t needed = 0;
  if (rcap_backend_search(name.c_str(), nullptr, 0, &needed, nullptr) != RCAP_STATUS_OUT_OF_RANGE) return "";
  std::string report(static_cast<std::size_t>(needed), '\0');
  if (rcap_backend_search(name.c_str(), report.data(), needed, &needed, nullptr) != RCAP_STATUS_OK) return "";
  report.resize(static_cast<std::size_t>(needed) - 1);
  return report;
}

/// Where a plugin came from.
struct Origin {
  std::string file;         ///< empty: built in
  std::string passed_over;  ///< files before it that are there and will not do, each with its reason
};

Origin origin_of(const std::string& name) {
  const std::string loads = ": loads";
  Origin origin;
  for (const std::string& line : lines_of(search_report(name))) {
    if (line.ends_with(loads)) {
      origin.file = line.substr(0, line.size() - loads.size());
      break;
    }
    // What is not there is no fault of that place's.
    if (line.ends_with(": no such file") || line.ends_with(": is not an absolute path")) continue;
    origin.passed_over += (origin.passed_over.empty() ? "" : "; ") + line;
  }
  if (origin.file.empty()) origin.passed_over.clear();
  return origin;
}

/// Names of the backends to look at: those that this project has, and every other plugin in a folder that the library searches.
std::vector<std::string> backend_names() {
  const std::string begin = "libroutecap_backend_";
  const std::string end = ".so";
  const std::string known = "tbb";
  std::vector<std::string> names{"host", known, "cuda"};
  std::set<std::string> found;
  const std::string file = "/" + begin + known + end + ": ";
  for (const std::string& line : lines_of(search_report(known))) {
    const std::size_t at = line.find(file);
    if (at == std::string::npos) continue;  // a place that the library passes over
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(line.substr(0, at), none)) {
      const std::string name = entry.path().filename();
      if (name.size() > begin.size() + end.size() && name.starts_with(begin) && name.ends_with(end)) {
        found.insert(name.substr(begin.size(), name.size() - begin.size() - end.size()));
      }
    }
  }
  for (const std::string& name : found) {
    std::int64_t bytes = 0;
    // What is no name the library does not look for.
    const bool is_name = rcap_backend_search(name.c_str(), nullptr, 0, &bytes, nullptr) == RCAP_STATUS_OUT_OF_RANGE;
    if (is_name && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

/// Whether the dynamic linker did not find a library that a plugin needs: the words of glibc, and of musl.
bool lacks_library(std::string_view text) {
  return text.find("cannot open shared object file: No such file") != std::string_view::npos ||
         text.find("Error loading shared library ") != std::string_view::npos;
}

std::string missing_library_advice(const std::string& name) {
  return std::string("install the library that the text names") + (name == "tbb" ? " (for the TBB plugin: libtbb12)" : "");
}

Finding check_backend(const std::string& name) {
  Finding finding{text_of("backend ", name), Verdict::kOk, "", ""};
  auto error = make(rcap_error_init);
  rcap_backend* backend = nullptr;
  rcap_status status = rcap_backend_open(name.c_str(), nullptr, &backend, &error);
  if (status == RCAP_STATUS_OK) {
    auto info = make(rcap_backend_info_init);
    status = rcap_backend_describe(backend, &info, &error);
    finding.text = info.description;
    rcap_backend_destroy(backend);
    const Origin origin = origin_of(name);
    if (!origin.file.empty()) finding.text += ", " + origin.file;
    if (!origin.passed_over.empty()) {
      finding.verdict = Verdict::kNote;
      finding.text += "; passed over: " + origin.passed_over;
      finding.advice = lacks_library(origin.passed_over) ? missing_library_advice(name)
                                                         : "remove the file that was passed over, or install it anew from this library's release";
    }
  }
  if (status == RCAP_STATUS_OK && std::string_view(name) == "cuda") {
    finding.verdict = Verdict::kNote;
    if (!finding.advice.empty()) finding.advice += "; ";
    finding.advice += "tested without a GPU only: run tests/cuda/run of the source tree on this machine before relying on it";
  }
  if (status == RCAP_STATUS_OK) return finding;
  finding.text = error.text[0] != '\0' ? error.text : rcap_status_name(status);
  finding.verdict = Verdict::kNote;
  if (name == "host") {
    finding.verdict = Verdict::kFault;
    finding.advice = "the host backend is built in: reinstall the library";
  } else if (status == RCAP_STATUS_NOT_FOUND) {
    finding.advice = "nothing, where rows are captured on the host; this installation has no plugin of that name";
  } else if (status == RCAP_STATUS_NO_DEVICE) {
    finding.advice = "see whether the driver is loaded and the device is shown to this process (containers, CUDA_VISIBLE_DEVICES)";
  } else if (status == RCAP_STATUS_INVALID_STATE && lacks_library(finding.text)) {
    finding.advice = missing_library_advice(name);
  } else {
    finding.advice = "install plugin and library from one release";
  }
  return finding;
}

Finding check_locked(const Machine& machine) {
  Finding finding{"locked memory", Verdict::kOk, "no limit", ""};
  if (machine.locked_limit) {
    finding.verdict = Verdict::kNote;
    finding.text = short_bytes(*machine.locked_limit) + " at most";
    finding.advice =
        "nothing on the host; pinned staging blocks and RDMA registrations may need more: ulimit -l unlimited, LimitMEMLOCK=infinity "
        "(systemd), --ulimit memlock=-1 (containers)";
  }
  return finding;
}

Finding check_transparent(const Machine& machine) {
  const std::string& mode = machine.transparent_huge_pages;
  Finding finding{"transparent huge pages", Verdict::kOk, mode.empty() ? "not told by this kernel" : mode, ""};
  if (mode == "never") {
    finding.verdict = Verdict::kNote;
    finding.advice =
        "the library asks for huge pages for a large store and gets none, so that slots in random order miss the TLB: "
        "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled";
  }
  return finding;
}

Finding check_reserved(const Machine& machine) {
  Finding finding{"reserved huge pages", Verdict::kOk, "not told by this kernel", ""};
  if (machine.huge_pages < 0) return finding;
  finding.text = text_of(machine.huge_pages, ", ", machine.huge_pages_free, " free");
  if (machine.huge_page_bytes > 0) finding.text += " (" + short_bytes(machine.huge_page_bytes) + " each)";
  if (machine.huge_pages_free > 0) {
    finding.verdict = Verdict::kNote;
    finding.advice = "the library uses none of them: what is reserved here and not used by others is memory that nobody has";
  }
  return finding;
}

Finding check_overcommit(const Machine& machine) {
  Finding finding{"overcommit", Verdict::kOk, "not told by this kernel", ""};
  if (machine.overcommit < 0) return finding;
  finding.text = text_of("mode ", machine.overcommit);
  if (machine.overcommit == 2) {
    finding.verdict = Verdict::kNote;
    finding.text += ", strict";
    finding.advice =
        "a store counts in full when the capturer is created, not page by page as slots are used: size it by num_slots, or raise "
        "vm.overcommit_ratio";
  }
  return finding;
}

Finding check_processors(const Machine& machine) {
  Finding finding{"processors", Verdict::kOk, text_of(machine.processors, " for this process"), ""};
  double usable = static_cast<double>(machine.processors);
  if (machine.processor_quota) {
    finding.text += text_of(", control groups allow the time of ", number_text(*machine.processor_quota, 2));
    usable = std::min(usable, *machine.processor_quota);
  }
  if (usable < 2) {
    finding.verdict = Verdict::kNote;
    finding.advice =
        "a capturer's own finalize thread would take its time from the engine's: give the process 2, or finalize on the engine's thread "
        "(RCAP_FINALIZE_CALLER)";
  }
  return finding;
}

Finding check_memory(const Machine& machine) {
  Finding finding{"memory", Verdict::kOk, "", ""};
  finding.text = machine.memory < 0 ? "not told by this kernel" : short_bytes(machine.memory);
  if (machine.memory_available >= 0) finding.text += ", " + short_bytes(machine.memory_available) + " available";
  if (machine.memory_limit) {
    finding.text += ", control groups allow " + short_bytes(*machine.memory_limit);
    if (machine.memory < 0 || *machine.memory_limit < machine.memory) {
      finding.verdict = Verdict::kNote;
      finding.advice =
          "a store grows as slots are written, and above the limit the kernel ends the process: leave room for num_slots * slot_bytes "
          "(rcap_capturer_plan_get)";
    }
  }
  return finding;
}

std::string text_of_findings(const std::vector<Finding>& findings) {
  std::string out;
  for (const Finding& finding : findings) {
    std::string label = name_of(finding.verdict);
    label.resize(7, ' ');
    std::string name = finding.name;
    name.resize(24, ' ');
    out += label + name + printable(finding.text) + '\n';
    if (!finding.advice.empty()) out += std::string(7, ' ') + "-> " + finding.advice + '\n';
  }
  return out;
}

ExitCode doctor(const Options& options) {
  auto info = make(rcap_build_info_init);
  require([&](rcap_error* error) { return rcap_build_info_get(&info, error); });
  const Machine machine = look_at_machine(options.root);
  std::vector<Finding> findings{check_version(), check_build(info), check_simd(info), check_rows()};
  for (const std::string& name : backend_names()) findings.push_back(check_backend(name));
  for (const auto& check : {check_processors, check_memory, check_overcommit, check_locked, check_transparent, check_reserved}) {
    findings.push_back(check(machine));
  }
  bool is_broken = false;
  for (const Finding& finding : findings) is_broken = is_broken || finding.verdict == Verdict::kFault;
  if (options.print.json) {
    Json json{{"version", rcap_version_string()}, {"abi", rcap_abi_version()}, {"simd", info.simd}, {"features", info.features}};
    json["findings"] = Json::array();
    for (const Finding& finding : findings) {
      json["findings"].push_back({{"name", finding.name}, {"verdict", name_of(finding.verdict)}, {"text", finding.text}, {"advice", finding.advice}});
    }
    print_json(options.print, json);
  } else {
    print_text(options.print, text_of_findings(findings));
  }
  return is_broken ? kInternalError : kDone;
}

}  // namespace

Action setup_doctor(Parser& parser) {
  auto options = std::make_shared<Options>();
  add_print_options(parser, options->print);
  parser.add_value("--root", &options->root, "folder to look for /proc and /sys in, for tests", "FOLDER").group.clear();
  parser.footer(kMeaning);
  return [options] { return doctor(*options); };
}

}  // namespace routecap::cli
