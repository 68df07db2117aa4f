// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "commands.h"
#include "error.h"
#include "print.h"

namespace routecap::cli {

Action setup_help(CLI::App& parser) {
  auto name = std::make_shared<std::string>();
  parser.add_option("COMMAND", *name, "a command; without one, the list of them");
  return [name, &parser] {
    const CLI::App* program = parser.get_parent();
    if (name->empty()) {
      // Its help() would be that of the command chosen, which is this one.
      print_text({}, program->get_formatter()->make_help(program, "routecap", CLI::AppFormatMode::Normal));
      return kDone;
    }
    const auto found = program->get_subcommands([&name](const CLI::App* command) { return command->get_name() == *name; });
    if (found.empty()) refuse("there is no command '", *name, "'; `routecap help` lists them");
    print_text({}, found.front()->help("routecap"));
    return kDone;
  };
}

}  // namespace routecap::cli
