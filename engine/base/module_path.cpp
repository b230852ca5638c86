#include "engine/base/module_path.h"

#include <algorithm>
#include <array>

#include "engine/base/text.h"

namespace planscope {

namespace {
constexpr std::array<std::string_view, 13> script_words{"where", "by", "at",  "sizes", "as",     "to", "into",
                                                        "and",   "or", "not", "in",    "except", "lag"};
bool is_plain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
}  // namespace

bool is_script_word(std::string_view w) {
  return std::find(script_words.begin(), script_words.end(), w) != script_words.end();
}

// In quotes of a kind that it does not hold; a name with both kinds in several pieces.
std::string written_component(std::string_view name) {
  if (!name.empty() && std::all_of(name.begin(), name.end(), is_plain) && !is_script_word(name))
    return std::string(name);
  std::string out;
  do {
    const bool single = name.find('\'') != std::string_view::npos, both = single && name.find('"') != std::string_view::npos;
    const char quote = both ? (name.starts_with('\'') ? '"' : '\'') : single ? '"' : '\'';
    const std::size_t end = std::min(name.find(quote), name.size());
    out += quote + std::string(name.substr(0, end)) + quote;
    name.remove_prefix(end);
  } while (!name.empty());
  return out;
}

std::string plain_component(std::string_view written) {
  std::string out;
  char quote = 0;
  for (const char c : written) {
    if (c == quote)
      quote = 0;
    else if (quote == 0 && (c == '\'' || c == '"'))
      quote = c;
    else
      out += c;
  }
  return out;
}

std::string written_path(std::string_view path) {
  std::string out;
  for (const std::string& component : split(path, '.')) out += (out.empty() ? "" : ".") + written_component(component);
  return path.empty() ? std::string() : out;
}

// Names hold no dots, so that those outside quotes are all there are.
std::string named_path(std::string_view written) { return plain_component(written); }

}  // namespace planscope
