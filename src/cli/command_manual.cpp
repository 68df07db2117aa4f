// SPDX-License-Identifier: Apache-2.0
//
// The manual routecap(1): the commands and options as the parser knows them, and the prose of manual_text.h around them.
#include <routecap/routecap.h>

#include <algorithm>

#include "commands.h"
#include "error.h"
#include "help_format.h"
#include "manual_text.h"
#include "print.h"
#include "words.h"

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
  for (const std::string& line : split(footer, '\n')) {
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

std::string option_entry(const Option& option) { return ".TP\n.B " + roff(option_heading(option)) + "\n" + roff(option_help(option)) + "\n"; }

bool is_own(const Option& option) { return option.group == kOwnGroup || option.is_argument(); }

/// Whether the command that has both groups which commands share has this option too.
bool is_shared(const Parser& reference, const Option& option) {
  const Option* found = reference.find(option.names.back());
  return found != nullptr && found->group == option.group && found->help == option.help;
}

bool is_help(const Option& option) {
  const Answer* const answer = std::get_if<Answer>(&option.target);
  return answer != nullptr && *answer == Answer::kHelp;
}

std::string command_section(const ProgramCommand& command, const Parser& reference) {
  std::string out = ".SS " + roff(command_usage(command)) + "\n";
  std::string summary = command.summary;
  summary.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(summary.front())));
  out += roff(summary) + ".\n";
  const Parser& parser = command.parser;
  if (!parser.footer().empty()) out += roff_of_footer(parser.footer());
  bool shares = false;
  for (const Option& option : parser.options()) {
    if (is_help(option) || option.group.empty()) continue;
    if (is_own(option) || !is_shared(reference, option)) {
      out += option_entry(option);
    } else {
      shares = true;
    }
  }
  std::string groups;
  for (const std::string& group : parser.groups()) {
    if (group != kOwnGroup && !group.empty()) groups += text_of(groups.empty() ? "" : " and of ", '"', group, '"');
  }
  if (shares) out += ".PP\nIt also takes the options of " + roff(groups) + ", below.\n";
  return out;
}

std::string manual(const Program& program) {
  std::string out = ".\\\" SPDX-License-Identifier: Apache-2.0\n.\\\" made by `routecap manual`\n";
  out += ".TH ROUTECAP 1 \"\" \"routecap " + std::string(RCAP_VERSION_STRING) + "\" \"User Commands\"\n.SH NAME\nroutecap \\- " + kManualSummary;
  out += "\n.SH SYNOPSIS\n.B " + roff(program_usage(program)) + "\n.SH DESCRIPTION\n" + kManualDescription + ".SH OPTIONS\n";
  for (const Option& option : program.parser.options()) out += option_entry(option);
  out += ".SH COMMANDS\n";
  const Parser& reference = program.find("convert")->parser;
  for (const ProgramCommand* command : program.shown()) out += command_section(*command, reference);
  for (const std::string& group : reference.groups()) {
    if (group == kOwnGroup || group.empty()) continue;
    std::string heading = group;
    std::transform(heading.begin(), heading.end(), heading.begin(), [](unsigned char character) { return std::toupper(character); });
    out += ".SH " + roff(heading) + "\n";
    for (const Option& option : reference.options()) {
      if (option.group == group) out += option_entry(option);
    }
  }
  return out + kManualRest;
}

}  // namespace

Action setup_manual(Parser& /*parser*/) {
  return [] {
    print_text({}, manual(Program()));
    return kDone;
  };
}

}  // namespace routecap::cli
