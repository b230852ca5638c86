#pragma once
// Everything that a person can do, as one list: menus, the palette, shortcuts, the help sheet, the page in a
// browser, session
// scripts and tests are made from it. What a command does is the session's; here is how it is named, written and read.
//
//   Result<Invocation> i = parse_invocation("replace 7 \"use gpipe(S)\"");
//   i->id == "replace"; i->arguments["line"] == "7"
//   parse_invocation("split out by tensor, data")->arguments["by"] == "tensor, data"
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/diagnostic.h"

namespace planscope::session {

struct ArgumentInfo {
  const char* name;
  // path: a file. word: a name, of a few or of something in the workspace. source: one that may be a file too.
  // rest: all the words from here to the end, behind the argument's name as a word: `split out by tensor, data`.
  // list, sources: every further word, or source; they are joined by line breaks.
  // line: the number of a line of the plan. seen: that of the text in which lines are counted (seen.h), which a surface
  // says by itself.
  enum class Kind { text, path, number, word, source, rest, list, sources, line, seen } kind;
  bool required;
  bool positional;  // may be written without its name and `=`
  const char* about;
  bool asked = true;  // false: of an optional one, that nobody is asked for it before the command runs

  bool several() const { return kind == Kind::list || kind == Kind::sources; }
};

struct CommandInfo {
  const char* id;
  const char* title;
  const char* menu;  // empty: in the palette alone
  const char* keys;  // as "Ctrl+S"; empty: none
  std::vector<ArgumentInfo> arguments;
  const char* about;
};

std::span<const CommandInfo> commands();
const CommandInfo* find_command(std::string_view id);

struct Invocation {
  std::string id;
  std::map<std::string, std::string> arguments;  // by name

  bool has(const std::string& name) const { return arguments.contains(name); }
  std::string get(const std::string& name) const {
    const auto found = arguments.find(name);
    return found == arguments.end() ? std::string() : found->second;
  }
};

// The value of a number argument, which has at most nine digits; no value if the text is not such a number.
std::optional<std::size_t> number_of(const std::string& text);

// One line of a session script: `open model=a.pt2 plan="my plan.plan"`. In quotes, \" \\ and \n are as in C.
// Errors: no such command
// (with the nearest), an argument that it does not have, one that is missing, a quote that does not end.
// `text <<END` may have the lines of the text behind it, up to the line END; without that line it is refused.
Result<Invocation> parse_invocation(std::string_view line);
std::optional<std::string> here_document_end(std::string_view line);  // END of `text <<END`; nothing: another command
bool ends_here_document(std::string_view line, const std::string& end);
// The same while it is being written: arguments may still be missing.
Result<Invocation> parse_begun(std::string_view line);
std::string print(const Invocation&);       // that is read back as the same
std::string quoted(std::string_view text);  // a value behind a line, as `prefer theme` has it

}  // namespace planscope::session
