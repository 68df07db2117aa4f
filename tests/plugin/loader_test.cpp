// SPDX-License-Identifier: Apache-2.0
// Finding and loading plugins: where, in which order, and what is said of a file that will not do.
#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "support/rig.h"

using namespace routecap_test;
namespace fs = std::filesystem;

namespace {

const fs::path kPlugins = ROUTECAP_TEST_PLUGINS;

/// A folder of this process's own, with an environment that names folders in it.
class Work {
 public:
  Work() : path_(fs::temp_directory_path() / ("routecap-plugin-" + std::to_string(::getpid()))) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  ~Work() {
    ::unsetenv("ROUTECAP_BACKEND_PATH");
    fs::remove_all(path_);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }
  /// Puts a plugin into a folder under the name that a search looks for.
  void place(const std::string& folder, const std::string& plugin, const std::string& name) const {
    fs::create_directories(path_ / folder);
    fs::copy_file(kPlugins / (plugin + ".so"), path_ / folder / ("libroutecap_backend_" + name + ".so"), fs::copy_options::overwrite_existing);
  }
  [[nodiscard]] fs::path write(const std::string& file, const std::string& bytes) const {
    std::ofstream(path_ / file, std::ios::binary) << bytes;
    return path_ / file;
  }

 private:
  fs::path path_;
};

struct Opened {
  std::int32_t status = RCAP_STATUS_OK;
  std::string text;
  Backend backend;
};

Opened open(const std::string& name, std::int32_t ordinal = 0, std::int32_t threads = 0) {
  Error error;
  auto options = make<rcap_backend_options>();
  options.device_ordinal = ordinal;
  options.threads = threads;
  rcap_backend* backend = nullptr;
  Opened opened;
  opened.status = rcap_backend_open(name.c_str(), &options, &backend, error);
  opened.backend.reset(backend);
  opened.text = error.text();
  CHECK((opened.status == RCAP_STATUS_OK) == (backend != nullptr));
  CHECK(opened.text.find('\n') == std::string::npos);
  CHECK(opened.text.empty() == (opened.status == RCAP_STATUS_OK));
  return opened;
}

std::string plugin(const std::string& name) { return (kPlugins / (name + ".so")).string(); }

std::string search(const std::string& name) {
  Error error;
  std::int64_t needed = 0;
  CHECK(rcap_backend_search(name.c_str(), nullptr, 0, &needed, error) == RCAP_STATUS_OUT_OF_RANGE);
  REQUIRE(needed > 1);
  std::string text(static_cast<std::size_t>(needed), '#');
  CHECK(rcap_backend_search(name.c_str(), text.data(), needed - 1, &needed, error) == RCAP_STATUS_OUT_OF_RANGE);
  CHECK(text.front() == '#');
  REQUIRE(rcap_backend_search(name.c_str(), text.data(), needed, &needed, error) == RCAP_STATUS_OK);
  REQUIRE(text.back() == '\0');
  text.pop_back();
  return text;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

rcap_backend_info info_of(const Backend& backend) {
  auto info = make<rcap_backend_info>();
  REQUIRE(rcap_backend_describe(backend.get(), &info, nullptr) == RCAP_STATUS_OK);
  return info;
}

/// Rows through a backend: stored, read, some of them bad or on a layer that skipped them.
void check_rows(rcap_backend* backend) {
  Setup setup;
  setup.backend = backend;
  setup.tap_flags = {0, RCAP_TAP_PARTIAL, 0};
  Rig rig(setup);
  rig.store({1, 2, 3}, {10, 11, 12});
  CHECK(rig.show({10, 11, 12, 13}) == "1 2 3 -");
  REQUIRE(rig.capture(0, {4, 5}) == RCAP_STATUS_OK);
  REQUIRE(rig.capture_rows(1, {5}, {1}) == RCAP_STATUS_OK);
  REQUIRE(rig.capture(2, {4, 5}) == RCAP_STATUS_OK);
  CHECK(rig.settle(rig.end({.tokens = 2, .acceptance = RCAP_ACCEPT_GIVEN, .slots = {20, 21}, .rows = {1, 0}})).rows_stored == 2);
  const Rows rows = rig.read({.slots = {20, 21}});
  CHECK(rows.ids_of(0, 1) == rig.router().ids(5, rig.setup().layer_ids[1]));
  CHECK(rows.cell(0, 1));
  CHECK_FALSE(rows.cell(1, 1));
  CHECK(rows.ids_of(1, 2) == rig.router().ids(4, rig.setup().layer_ids[2]));
  const Output later = rig.forward_later({6, 7}, {30, 31});
  Rig::accept(later, {.rows = {1}});
  CHECK(rig.settle(later).rows_stored == 1);
  CHECK(rig.show({30, 31}) == "- 7");
  rig.capture_all({8});
  rig.discard();
  rig.release({10});
  CHECK(rig.store({9}, {11}).rows_stored == 1);
  CHECK(rig.show({10, 11, 12}) == "- 9 3");
}

}  // namespace

TEST_CASE("a plugin is opened by its absolute path, describes itself and captures rows") {
  const Opened example = open(plugin("routecap_backend_example"));
  REQUIRE(example.status == RCAP_STATUS_OK);
  const rcap_backend_info info = info_of(example.backend);
  CHECK(std::string(info.name) == "example");
  CHECK(std::string(info.description) == "host memory, as an example");
  CHECK(info.threads == 1);
  CHECK(info.host_memory == 1);
  CHECK(info.lost == 0);
  CHECK(info.device_bytes == 0);
  check_rows(example.backend.get());
  const rcap_backend_info after = info_of(example.backend);
  CHECK(after.device_bytes == 0);  // the capturer is gone, and everything with it
  CHECK(after.pinned_bytes == 0);
  CHECK(after.captures > 0);
  CHECK(after.snapshots == 4);
}

TEST_CASE("a capturer keeps its backend alive") {
  Opened example = open(plugin("routecap_backend_example"));
  REQUIRE(example.status == RCAP_STATUS_OK);
  Setup setup;
  setup.backend = example.backend.get();
  Rig rig(setup);
  CHECK(info_of(example.backend).device_bytes > 0);
  CHECK(info_of(example.backend).pinned_bytes > 0);
  example.backend.reset();
  rig.store({1}, {10});
  CHECK(rig.show({10}) == "1");
}

TEST_CASE("what a plugin refuses comes with its own text: an ordinal, threads, a shape") {
  CHECK(open(plugin("routecap_backend_example"), 1).status == RCAP_STATUS_OUT_OF_RANGE);
  const Opened threads = open(plugin("routecap_backend_example"), 0, 2);
  CHECK(threads.status == RCAP_STATUS_OUT_OF_RANGE);
  CHECK(threads.text == "backend \"example\": open: threads: the example works on the caller's thread");
  const Opened example = open(plugin("routecap_backend_example"));
  Setup setup;
  setup.backend = example.backend.get();
  setup.config.weights_dtype = RCAP_DTYPE_FLOAT16;
  setup.seal = false;
  Rig rig(setup);
  Error error;
  CHECK(name(rcap_capturer_seal(rig.get(), error)) == "RCAP_STATUS_UNSUPPORTED");
  CHECK(error.text() == "backend \"example\": prepare: weights_dtype: the example keeps no weights");
  CHECK(info_of(example.backend).device_bytes == 0);
}

TEST_CASE("an older plugin serves a newer library, a newer plugin an older one") {
  for (const char* age : {"older", "newer"}) {
    CAPTURE(age);
    const Opened frozen = open(plugin(std::string("frozen_") + age));
    REQUIRE_MESSAGE(frozen.status == RCAP_STATUS_OK, frozen.text);
    CHECK(std::string(info_of(frozen.backend).name) == age);
    check_rows(frozen.backend.get());
    CHECK(info_of(frozen.backend).device_bytes == 0);
    CHECK(info_of(frozen.backend).lost == 0);
  }
}

TEST_CASE("each way of being no plugin has a status and a text of its own, with the path") {
  const Work work;
  std::ifstream file(plugin("routecap_backend_example"), std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  REQUIRE(bytes.size() > sizeof(Elf64_Ehdr));
  std::string foreign = bytes;
  foreign[offsetof(Elf64_Ehdr, e_machine)] = EM_SPARCV9;
  foreign[offsetof(Elf64_Ehdr, e_machine) + 1] = 0;
  std::string narrow = bytes;
  narrow[EI_CLASS] = ELFCLASS32;
  const struct {
    std::string path;
    const char* status;
    const char* text;
  } cases[] = {
      {(work.path() / "none.so").string(), "RCAP_STATUS_NOT_FOUND", "no such file"},
      {work.path().string(), "RCAP_STATUS_CORRUPT", "is not a file"},
      {work.write("text.so", "#!/bin/sh\nexit 0\n# long enough to hold a header, and yet none\n").string(), "RCAP_STATUS_CORRUPT",
       "is not a shared object"},
      {work.write("empty.so", "").string(), "RCAP_STATUS_CORRUPT", "is not a shared object"},
      {work.write("short.so", bytes.substr(0, 70)).string(), "RCAP_STATUS_CORRUPT", "is not a whole shared object"},
      {work.write("foreign.so", foreign).string(), "RCAP_STATUS_UNSUPPORTED",
       "is for another architecture: ELF machine 43 (64 bit), this process is "},
      {work.write("narrow.so", narrow).string(), "RCAP_STATUS_UNSUPPORTED", "(32 bit), this process is "},
      {plugin("lacking"), "RCAP_STATUS_INVALID_STATE", "a_function_that_no_library_has"},
      {plugin("no_plugin"), "RCAP_STATUS_INVALID_ARGUMENT", "is no plugin: it has no routecap_backend_entry_1"},
      {plugin("refusing_OTHER_INTERFACE"), "RCAP_STATUS_VERSION_MISMATCH", "is a plugin of interface 3, this library ("},
      {plugin("refusing_NULL_TABLE"), "RCAP_STATUS_VERSION_MISMATCH", "needs a library that knows lanes"},
      {plugin("refusing_SHORT_TABLE"), "RCAP_STATUS_VERSION_MISMATCH", "its table has "},
      {plugin("refusing_NO_CAPTURE"), "RCAP_STATUS_VERSION_MISMATCH", "its table lacks capture"},
      {plugin("refusing_SMALL_JOBS"), "RCAP_STATUS_VERSION_MISMATCH", "its jobs have "},
  };
  for (const auto& wrong : cases) {
    CAPTURE(wrong.path);
    const Opened opened = open(wrong.path);
    CAPTURE(opened.text);
    CHECK(name(opened.status) == wrong.status);
    CHECK(has(search(wrong.path), wrong.text));
    CHECK(search(wrong.path).rfind(wrong.path + ": ", 0) == 0);
    CHECK(has(opened.text, wrong.text));
    CHECK(has(opened.text, fs::path(wrong.path).filename().string() + ": "));
  }
}

TEST_CASE("a plugin that was cut short is refused wherever a part to load is missing, and loads where none is") {
  const Work work;
  std::ifstream file(plugin("routecap_backend_example"), std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  Elf64_Ehdr header;
  REQUIRE(bytes.size() > sizeof header);
  std::memcpy(&header, bytes.data(), sizeof header);
  std::set<std::size_t> sizes;
  std::size_t needed = 0;  // what the dynamic linker reads: behind it are section headers and symbols for debuggers
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    REQUIRE(header.e_phoff + (i + 1) * sizeof segment <= bytes.size());
    std::memcpy(&segment, bytes.data() + header.e_phoff + i * sizeof segment, sizeof segment);
    if (segment.p_type != PT_LOAD) continue;
    const std::size_t end = segment.p_offset + segment.p_filesz;
    needed = std::max(needed, end);
    sizes.insert({segment.p_offset, segment.p_offset + 1, end - 1, end});
  }
  REQUIRE(needed > 4096);
  REQUIRE(needed < bytes.size());
  for (std::size_t size = 1; size < needed; size += 97) sizes.insert(size);
  sizes.insert({sizeof header, header.e_phoff + header.e_phnum * sizeof(Elf64_Phdr), needed - 1, needed, bytes.size() - 1});
  std::size_t loaded = 0;
  for (const std::size_t size : sizes) {
    CAPTURE(size);
    const fs::path path = work.write("cut-" + std::to_string(size) + ".so", bytes.substr(0, size));
    const Opened opened = open(path.string());
    CAPTURE(opened.text);
    CHECK(name(opened.status) == (size < needed ? "RCAP_STATUS_CORRUPT" : "RCAP_STATUS_OK"));
    if (size < needed) CHECK(has(opened.text, size < sizeof header ? ".so: is not a shared object" : ".so: is not a whole shared object: "));
    loaded += opened.status == RCAP_STATUS_OK ? 1 : 0;
  }
  CHECK(loaded >= 2);
  // Sizes that wrap round, and headers that name nothing.
  const auto with = [&](const std::string& file_name, const Elf64_Ehdr& changed, std::size_t segment, const Elf64_Phdr* put) {
    std::string damaged = bytes;
    std::memcpy(damaged.data(), &changed, sizeof changed);
    if (put != nullptr) std::memcpy(damaged.data() + header.e_phoff + segment * sizeof *put, put, sizeof *put);
    const Opened opened = open(work.write(file_name, damaged).string());
    CAPTURE(opened.text);
    CHECK(name(opened.status) == "RCAP_STATUS_CORRUPT");
    CHECK(has(opened.text, "is not a whole shared object: "));
  };
  Elf64_Phdr huge{};
  std::memcpy(&huge, bytes.data() + header.e_phoff, sizeof huge);
  REQUIRE(huge.p_type == PT_LOAD);
  huge.p_offset = UINT64_MAX - 4095;
  huge.p_filesz = 8192;
  with("wraps.so", header, 0, &huge);
  Elf64_Ehdr changed = header;
  changed.e_phoff = UINT64_MAX - 55;
  with("far.so", changed, 0, nullptr);
  changed = header;
  changed.e_phnum = 0;
  with("bare.so", changed, 0, nullptr);
  changed = header;
  changed.e_phentsize = 8;
  with("odd.so", changed, 0, nullptr);
}

TEST_CASE("what is no file by a plugin's name is refused at once: a FIFO, a socket, a device") {
  const Work work;
  const fs::path fifo = work.path() / "libroutecap_backend_pipe.so";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  const fs::path socket = work.path() / "socket.so";
  REQUIRE(::mknod(socket.c_str(), S_IFSOCK | 0600, 0) == 0);
  for (const fs::path& path : {fifo, socket, fs::path("/dev/null")}) {
    CAPTURE(path);
    const Opened opened = open(path.string());
    CHECK(name(opened.status) == "RCAP_STATUS_CORRUPT");
    CHECK(opened.text == path.string() + ": is not a file");
    CHECK(search(path.string()) == path.string() + ": is not a file\n");
  }
  ::setenv("ROUTECAP_BACKEND_PATH", work.path().c_str(), 1);
  CHECK(name(open("pipe").status) == "RCAP_STATUS_CORRUPT");
}

TEST_CASE("of a path that is too long for an error's text the end is kept, and the reason") {
  const Work work;
  const fs::path folder = work.path() / std::string(200, 'd') / std::string(200, 'e');
  fs::create_directories(folder);
  const fs::path file = folder / "odd.so";
  fs::copy_file(plugin("no_plugin"), file);
  const Opened opened = open(file.string());
  CHECK(name(opened.status) == "RCAP_STATUS_INVALID_ARGUMENT");
  CHECK(opened.text.rfind("...", 0) == 0);
  CHECK(has(opened.text, "e/odd.so: is no plugin: it has no routecap_backend_entry_1"));
  CHECK(search(file.string()) == file.string() + ": is no plugin: it has no routecap_backend_entry_1\n");
}

TEST_CASE("a probe that finds no device is an answer with a status of its own, and opening may fail") {
  const Opened none = open(plugin("refusing_NO_DEVICE"));
  CHECK(name(none.status) == "RCAP_STATUS_NO_DEVICE");
  CHECK(none.text == "backend \"refusing\": probe: driver 12.2 is older than the 12.4 that is needed");
  CHECK(open(plugin("refusing_SILENT")).text == "backend \"refusing\": probe: failed and does not say why");
  const Opened busy = open(plugin("refusing_BAD_STATUS"));
  CHECK(name(busy.status) == "RCAP_STATUS_INTERNAL");
  CHECK(has(busy.text, "probe answers -6, which it must not: later"));
  const Opened broken = open(plugin("refusing_BROKEN_OPEN"));
  CHECK(name(broken.status) == "RCAP_STATUS_DEVICE");
  CHECK(broken.text == "backend \"refusing\": open: the card answers?nothing");
  // The host goes on working.
  Rig rig;
  rig.store({1}, {10});
  CHECK(rig.show({10}) == "1");
}

TEST_CASE("a plugin that answers OK and gives nothing is refused with the function's name") {
  const Opened none = open(plugin("unfaithful_NULL_DEVICE"));
  CHECK(name(none.status) == "RCAP_STATUS_INTERNAL");
  CHECK(none.text == "backend \"unfaithful\": open answers 0 and gives no device");
  const struct {
    const char* plugin;
    const char* text;
  } cases[] = {{"unfaithful_NULL_MEMORY", "backend \"unfaithful\": allocate answers 0 and gives no memory"},
               {"unfaithful_NULL_EVENT", "backend \"unfaithful\": event_create answers 0 and gives no event"}};
  for (const auto& wrong : cases) {
    CAPTURE(wrong.plugin);
    const Opened opened = open(plugin(wrong.plugin));
    REQUIRE(opened.status == RCAP_STATUS_OK);
    Setup setup;
    setup.backend = opened.backend.get();
    setup.seal = false;
    Rig rig(setup);
    Error error;
    CHECK(name(rcap_capturer_seal(rig.get(), error)) == "RCAP_STATUS_INTERNAL");
    CHECK(error.text() == wrong.text);
    CHECK(info_of(opened.backend).device_bytes == 0);
    CHECK(info_of(opened.backend).pinned_bytes == 0);
  }
}

TEST_CASE("R34: a snapshot that names a layer that is not there ends its output with DEVICE, and nothing is stored from it") {
  for (const char* mistake : {"LAYER_ABOVE", "LAYER_BELOW", "LAYER_HIGHEST", "LAYER_LOWEST"}) {
    for (const std::int32_t mode : {RCAP_FINALIZE_CALLER, RCAP_FINALIZE_OWN_THREAD}) {
      for (const std::int32_t flags : {0, static_cast<std::int32_t>(RCAP_TAP_PARTIAL)}) {
        CAPTURE(mistake);
        CAPTURE(mode);
        CAPTURE(flags);
        const Opened opened = open(plugin(std::string("unfaithful_") + mistake));
        REQUIRE(opened.status == RCAP_STATUS_OK);
        Setup setup;
        setup.backend = opened.backend.get();
        setup.config.finalize_mode = mode;
        setup.tap_flags = {0, flags, 0};
        Rig rig(setup);
        // More of them than there are staging blocks: each comes back.
        for (std::int64_t i = 0; i < 6; ++i) {
          rig.capture_all({1, 2});
          Output output;
          REQUIRE(rig.try_end({.tokens = 2, .slots = {10, 11}}, output) == RCAP_STATUS_OK);
          if (mode == RCAP_FINALIZE_CALLER) REQUIRE(rcap_output_copy_to_host(output.get(), nullptr, nullptr) == RCAP_STATUS_OK);
          REQUIRE(rcap_output_wait(output.get(), 20'000'000'000, nullptr) == RCAP_STATUS_OK);
          CHECK(name(rcap_output_finalize(output.get(), nullptr, nullptr)) == "RCAP_STATUS_DEVICE");
        }
        CHECK(rig.show({10, 11}) == "- -");
        CHECK(rig.stats().rows_stored == 0);
        CHECK(rig.stats().in_flight == 0);
      }
    }
  }
}

TEST_CASE("a name is looked for in ROUTECAP_BACKEND_PATH, beside the library and in the configured folder, never in the current one") {
  const Work work;
  ::setenv("ROUTECAP_BACKEND_PATH", ("relative::" + (work.path() / "a").string() + "/:" + (work.path() / "b").string()).c_str(), 1);
  const std::string file = "/libroutecap_backend_example.so";
  const std::string report = search("example");
  CAPTURE(report);
  const std::string a = (work.path() / "a").string() + file + ": no such file\n";
  const std::string b = (work.path() / "b").string() + file + ": no such file\n";
  CHECK(report.rfind("relative: is not an absolute path\n" + a + b, 0) == 0);
  const std::string beside = fs::path(ROUTECAP_TEST_LIBRARY).parent_path().string() + "/routecap/backends-1" + file + ": no such file\n";
  const std::string configured = std::string(ROUTECAP_TEST_LIBDIR) + "/routecap/backends-1" + file + ": no such file\n";
  CHECK(report.substr(report.find(b) + b.size()) == beside + configured);
  CHECK_FALSE(has(report, fs::current_path().string() + file));
  Opened none = open("example");
  CHECK(name(none.status) == "RCAP_STATUS_NOT_FOUND");
  CHECK(none.text.rfind("backend \"example\": relative: is not an absolute path; ", 0) == 0);

  // The first that loads is taken; one that is there and will not do decides the status.
  work.place("a", "refusing_NO_CAPTURE", "example");
  const Opened refused = open("example");
  CHECK(name(refused.status) == "RCAP_STATUS_VERSION_MISMATCH");
  CHECK(refused.text.rfind("backend \"example\": ", 0) == 0);
  CHECK(has(refused.text, "/libroutecap_backend_example.so: its table lacks capture; relative: is not"));
  work.place("b", "routecap_backend_example", "example");
  CHECK(open("example").status == RCAP_STATUS_OK);
  CHECK(has(search("example"), (work.path() / "b").string() + file + ": loads\n"));
  CHECK(has(search("example"), (work.path() / "a").string() + file + ": its table lacks capture\n"));

  // No folder of the environment, no plugin; not from the current folder either.
  ::unsetenv("ROUTECAP_BACKEND_PATH");
  const fs::path before = fs::current_path();
  fs::current_path(work.path() / "b");
  CHECK(name(open("example").status) == "RCAP_STATUS_NOT_FOUND");
  CHECK(name(open("./libroutecap_backend_example.so").status) == "RCAP_STATUS_INVALID_ARGUMENT");
  fs::current_path(before);
}

TEST_CASE("what is neither a name nor an absolute path is refused") {
  for (const char* bad : {"", "sub/plugin.so", "../plugin.so", "CUDA", "a b", "caf\xC3\xA9", "a.so", "0123456789012345678901234567890123"}) {
    CAPTURE(bad);
    const Opened opened = open(bad);
    CHECK(name(opened.status) == "RCAP_STATUS_INVALID_ARGUMENT");
    std::int64_t needed = 7;
    Error error;
    CHECK(rcap_backend_search(bad, nullptr, 0, &needed, error) == RCAP_STATUS_INVALID_ARGUMENT);
    CHECK(needed == 7);
  }
  CHECK(search("host") == "host: built in\n");
}

TEST_CASE("a plugin may be opened from many threads at once") {
  std::vector<std::thread> threads;
  std::vector<std::int32_t> statuses(8, RCAP_STATUS_INTERNAL);
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    threads.emplace_back([&, i] {
      rcap_backend* backend = nullptr;
      statuses[i] = rcap_backend_open(plugin(i % 2 == 0 ? "routecap_backend_example" : "frozen_older").c_str(), nullptr, &backend, nullptr);
      rcap_backend_destroy(backend);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::int32_t status : statuses) CHECK(status == RCAP_STATUS_OK);
}
