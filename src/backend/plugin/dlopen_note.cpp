// SPDX-License-Identifier: Apache-2.0
//
// What this library may load at run time, told in the file itself: an ELF note of the form that packagers' tools read (the "dlopen metadata for ELF
// files" of the UAPI group), so that packages can suggest the plugins of which no needed library speaks.
#include <cstdint>

namespace routecap {
namespace {

constexpr char kModules[] = R"([{"feature":"tbb","description":"Captures, commits and reads on several threads of the host","priority":"suggested",)"
                            R"("soname":["libroutecap_backend_tbb.so"]},)"
                            R"({"feature":"cuda","description":"Captures in the memory and streams of NVIDIA GPUs","priority":"suggested",)"
                            R"("soname":["libroutecap_backend_cuda.so"]}])";

struct DlopenNote {
  std::uint32_t name_bytes;
  std::uint32_t text_bytes;
  std::uint32_t type;
  char name[4];
  alignas(std::uint32_t) char text[sizeof kModules];
};

constexpr DlopenNote note_of() {
  DlopenNote note{sizeof note.name, sizeof note.text, 0x407c0c0a, {'F', 'D', 'O', '\0'}, {}};
  for (std::size_t i = 0; i < sizeof kModules; ++i) note.text[i] = kModules[i];
  return note;
}

// Nothing refers to it: readers look for the section, in which notes lie every 4 bytes.
[[gnu::used, gnu::section(".note.dlopen"), gnu::aligned(4)]] constexpr DlopenNote kNote = note_of();

}  // namespace
}  // namespace routecap
