// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "commands.h"
#include "error.h"
#include "help_format.h"
#include "print.h"

namespace routecap::cli {

Action setup_help(Parser& parser) {
  auto name = std::make_shared<std::string>();
  parser.add_value("COMMAND", name.get(), "a command; without one, the list of them", "");
  return [name] {
    const Program program;
    const ProgramCommand* const command = program.find(*name);
    if (command == nullptr && !name->empty()) refuse("there is no command '", *name, "'; `routecap help` lists them");
    print_text({}, command == nullptr ? program_help(program) : command_help(*command));
    return kDone;
  };
}

}  // namespace routecap::cli
