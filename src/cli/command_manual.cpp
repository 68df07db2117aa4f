// SPDX-License-Identifier: Apache-2.0
//
// The manual routecap(1): the commands and options as the parser knows them, and the prose of manual_text.h around them.
#include <routecap/routecap.h>

#include <algorithm>

#include "commands.h"
#include "error.h"
#include "help_format.h"
#include "manual_text.h"
#include "options.h"
#include "print.h"

namespace routecap::cli {
namespace {

/// Text as man(7) takes it.
std::string roff(const std::string& text) {
  std::string out;
  for (const char character : text) {
    if (character == '\\') {
      out += "\\e";
    } else if (character == '-') {
      out += "\\-";
    } else {
      out += character;
    }
    // A line that begins with one of these would be a request.
    if (character == '\n') out += "\\&";
  }
  if (out.starts_with('.') || out.starts_with('\'')) out.insert(0, "\\&");
  return out;
}

/// A footer: a line that begins with two blanks and a name begins an entry of a list, deeper ones go on with it, an empty one begins a paragraph.
std::string roff_of_footer(const std::string& footer) {
  std::string out;
  bool listed = false;
  for (const std::string& line : CLI::detail::split(footer, '\n')) {
    const std::size_t blanks = std::min(line.find_first_not_of(' '), line.size());
    const std::size_t gap = line.find("  ", blanks);
    if (line.empty()) {
      out += ".PP\n";
      listed = false;
    } else if (blanks == 2 && gap != std::string::npos) {
      const std::size_t text = line.find_first_not_of(' ', gap);
      out += ".TP\n.B " + roff(line.substr(blanks, gap - blanks)) + "\n" + roff(line.substr(text)) + "\n";
      listed = true;
    } else {
      if (listed && blanks == 0) out += ".PP\n";
      listed = listed && blanks > 0;
      out += roff(line.substr(blanks)) + "\n";
    }
  }
  return out;
}

std::string option_entry(const CLI::Option& option) {
  std::string help = option.get_description();
  const std::vector<std::string> words = words_of(option);
  if (!words.empty()) help += ": " + CLI::detail::join(words, ", ");
  return ".TP\n.B " + roff(option_heading(option)) + "\n" + roff(help) + "\n";
}

bool is_own(const CLI::Option& option) { return option.get_group() == "Options" || option.get_positional(); }

/// The option of a command that has both groups which commands share.
const CLI::Option* shared_option(const CLI::App& reference, const CLI::Option& option) {
  const CLI::Option* found = reference.get_option_no_throw(option.get_name());
  return found != nullptr && found->get_group() == option.get_group() && found->get_description() == option.get_description() ? found : nullptr;
}

std::string command_section(const CLI::App& command, const CLI::App& reference) {
  std::string out = ".SS " + roff(usage_line(command, command.get_name())) + "\n";
  std::string summary = command.get_description();
  summary.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(summary.front())));
  out += roff(summary) + ".\n";
  if (!command.get_footer().empty()) out += roff_of_footer(command.get_footer());
  bool shares = false;
  for (const CLI::Option* option : command.get_options([](const CLI::Option*) { return true; })) {
    if (option == command.get_help_ptr() || (option->get_group().empty() && !option->get_positional())) continue;
    if (is_own(*option) || shared_option(reference, *option) == nullptr) {
      out += option_entry(*option);
    } else {
      shares = true;
    }
  }
  std::string groups;
  for (const std::string& group : command.get_groups()) {
    if (group != "Options" && !group.empty()) groups += text_of(groups.empty() ? "" : " and of ", '"', group, '"');
  }
  if (shares) out += ".PP\nIt also takes the options of " + roff(groups) + ", below.\n";
  return out;
}

std::string manual(const CLI::App& program) {
  std::string out = ".\\\" SPDX-License-Identifier: Apache-2.0\n.\\\" made by `routecap manual`\n";
  out += ".TH ROUTECAP 1 \"\" \"routecap " + std::string(RCAP_VERSION_STRING) + "\" \"User Commands\"\n.SH NAME\nroutecap \\- " + kManualSummary;
  out += "\n.SH SYNOPSIS\n.B " + roff(usage_line(program, "routecap")) + "\n.SH DESCRIPTION\n" + kManualDescription + ".SH OPTIONS\n";
  for (const CLI::Option* option : program.get_options([](const CLI::Option*) { return true; })) out += option_entry(*option);
  out += ".SH COMMANDS\n";
  const CLI::App& reference = *program.get_subcommand("convert");
  for (const CLI::App* command : program.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); })) {
    out += command_section(*command, reference);
  }
  for (const std::string& group : reference.get_groups()) {
    if (group == "Options" || group.empty()) continue;
    std::string heading = group;
    std::transform(heading.begin(), heading.end(), heading.begin(), [](unsigned char character) { return std::toupper(character); });
    out += ".SH " + roff(heading) + "\n";
    for (const CLI::Option* option : reference.get_options([&group](const CLI::Option* one) { return one->get_group() == group; })) {
      out += option_entry(*option);
    }
  }
  return out + kManualRest;
}

}  // namespace

Action setup_manual(CLI::App& parser) {
  return [&parser] {
    print_text({}, manual(*parser.get_parent()));
    return kDone;
  };
}

}  // namespace routecap::cli
