// SPDX-License-Identifier: Apache-2.0
#include "error.h"

#include <cstdio>
#include <system_error>

namespace routecap::cli {

void fail_input_output(const std::string& what, int error_number) {
  throw Failure(kInputOutput, text_of(what, ": ", std::generic_category().message(error_number)));
}

void tell(const std::string& text) {
  std::string line = "routecap: " + text;
  for (char& character : line) {
    // A file's name may hold anything; it must not begin a second line nor speak to the terminal.
    if (static_cast<unsigned char>(character) < ' ' || character == '\x7f') character = '?';
  }
  line += '\n';
  std::fputs(line.c_str(), stderr);
}

}  // namespace routecap::cli
