// SPDX-License-Identifier: Apache-2.0
//
// Recorded routes: what is read, and what is refused in one line.
#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "files.h"
#include "trace.h"

namespace {

namespace fs = std::filesystem;

/// A folder of this process, gone with the test.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("routecap_demo_" + std::to_string(getpid()))) { fs::create_directories(path_); }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  [[nodiscard]] std::string path() const { return path_.string(); }
  std::string write(const std::string& name, const std::string& bytes) const {
    const std::string file = (path_ / name).string();
    std::ofstream(file, std::ios::binary) << bytes;
    return file;
  }

 private:
  fs::path path_;
};

std::string npy(const std::string& header, const std::string& data, char version = 1) {
  std::string file = "\x93NUMPY";
  file += version;
  file += '\0';
  file += static_cast<char>(header.size() & 0xff);
  file += static_cast<char>(header.size() >> 8);
  if (version == 2) file += std::string(2, '\0');
  return file + header + data;
}

template <typename Call>
std::string refusal(Call call) {
  try {
    call();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "not refused";
}

const std::string kHeader = "{'descr': '|u1', 'fortran_order': False, 'shape': (3, 2, 2), }";
const std::string kIds = {0, 1, 2, 3, 1, 0, 3, 2, 2, 3, 0, 1};
const std::string kIndex =
    R"({"model": "tiny", "layers": 2, "experts": 4, "top_k": 2, "requests": [{"row_begin": 0, "row_end": 3, "first_pos": 5, "prompt_len": 5}]})";

}  // namespace

TEST_CASE("an array of version 1 and of version 2 is read") {
  const Folder folder;
  for (const char version : {'\1', '\2'}) {
    const engine::NpyArray array = engine::read_npy(folder.write("a.npy", npy(kHeader, kIds, version)), "|u1");
    CHECK(array.shape == std::vector<std::int64_t>{3, 2, 2});
    CHECK(std::string(array.bytes.begin(), array.bytes.end()) == kIds);
  }
}

TEST_CASE("an array that is not what it has to be is refused in one line with its path") {
  struct Row {
    std::string bytes;
    const char* why;
  };
  const Row rows[] = {
      {"", "is no .npy file"},
      {"\x93NUMPX 123456", "is no .npy file"},
      {npy(kHeader, kIds, 3), "has .npy version 3, 1 and 2 are known"},
      {npy(kHeader, "").substr(0, 40), "ends inside its header"},
      {npy("{'fortran_order': False, 'shape': (3, 2, 2)}", kIds), "its header has no 'descr'"},
      {npy("{'descr': '<i4', 'fortran_order': False, 'shape': (3, 2, 2)}", kIds), "does not hold elements of type '|u1'"},
      {npy("{'descr': '|u1', 'fortran_order': True, 'shape': (3, 2, 2)}", kIds), "is in Fortran order"},
      {npy("{'descr': '|u1', 'fortran_order': False, 'shape': (3, 2, 3)}", kIds), "does not hold as many elements as its shape says"},
      {npy("{'descr': '|u1', 'fortran_order': False, 'shape': (0, 2, 2)}", kIds), "does not hold as many elements as its shape says"},
      {npy("{'descr': '|u1', 'fortran_order': False, 'shape': (99999999999999999999, 2)}", kIds), "its shape has a number that does not fit"},
      {npy("{'descr': '|u1', 'fortran_order': False, 'shape': (4611686018427387904, 4)}", kIds), "does not hold as many elements as its shape says"},
  };
  const Folder folder;
  for (const Row& row : rows) {
    CAPTURE(row.why);
    const std::string path = folder.write("a.npy", row.bytes);
    CHECK(refusal([&] { static_cast<void>(engine::read_npy(path, "|u1")); }) == path + ": " + row.why);
  }
}

TEST_CASE("malformed JSON is refused, whatever is wrong with it") {
  const Folder folder;
  for (const char* text : {"", "{", "[1, 2", "{\"a\" 1}", "{\"a\": 1,}", "{\"a\": 1} 2", "{\"a\": true}", "{\"a\": \"b\\n\"}", "{\"a\": \"b}",
                           "[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]", "{a: 1}", "[1 2]"}) {
    CAPTURE(text);
    const std::string path = folder.write("a.json", text);
    CHECK(refusal([&] { static_cast<void>(engine::JsonValue::read(path)); }).starts_with(path + ": "));
  }
}

TEST_CASE("a folder of recorded routes is read, and every row is found") {
  const Folder folder;
  folder.write("index.json", kIndex);
  folder.write("ids_u8.npy", npy(kHeader, kIds));
  std::string weights;
  for (char i = 0; i < 12; ++i) weights += std::string{i, '\x3f'};
  folder.write("weights_bf16bits_u16.npy", npy("{'descr': '<u2', 'fortran_order': False, 'shape': (3, 2, 2), }", weights));

  const engine::Trace trace = engine::Trace::load(folder.path(), true);
  CHECK(trace.model() == "tiny");
  REQUIRE(trace.requests().size() == 1);
  CHECK(trace.requests()[0].row_end == 3);
  CHECK(trace.ids_of(1, 1)[0] == 3);
  CHECK(trace.ids_of(2, 0)[1] == 3);
  CHECK(trace.weights_of(2, 1)[1] == 0x3f0b);
  CHECK_FALSE(engine::Trace::load(folder.path(), false).has_weights());
}

TEST_CASE("recorded routes that contradict themselves are refused") {
  const Folder folder;
  const auto why = [&](const std::string& index, const std::string& ids) {
    folder.write("index.json", index);
    folder.write("ids_u8.npy", ids);
    return refusal([&] { static_cast<void>(engine::Trace::load(folder.path(), false)); }).substr(folder.path().size() + 1);
  };
  const auto replaced = [](std::string text, const std::string& from, const std::string& to) {
    return text.replace(text.find(from), from.size(), to);
  };
  const std::string ids = npy(kHeader, kIds);

  CHECK(why(replaced(kIndex, "\"layers\": 2", "\"layers\": 3"), ids) == "ids_u8.npy: has shape [3, 2, 2], index.json speaks of [3, 3, 2]");
  CHECK(why(replaced(kIndex, "\"row_end\": 3", "\"row_end\": 4"), ids) == "ids_u8.npy: has shape [3, 2, 2], index.json speaks of [4, 2, 2]");
  CHECK(why(replaced(kIndex, "\"experts\": 4", "\"experts\": 3"), ids) == "ids_u8.npy: holds expert 3 of a model with 3");
  CHECK(why(replaced(kIndex, "\"row_end\": 3", "\"row_end\": 0"), ids) == "index.json: has request 0 with rows or positions that cannot be");
  CHECK(why(replaced(kIndex, "\"first_pos\": 5", "\"first_pos\": 6"), ids) == "index.json: has request 0 with rows or positions that cannot be");
  CHECK(why(replaced(kIndex, "\"layers\"", "\"layer\""), ids) == "index.json: has no 'layers' of the right kind");
  CHECK(why(replaced(kIndex, "\"tiny\"", "1"), ids) == "index.json: has no 'model' of the right kind");
}
