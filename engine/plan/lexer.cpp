#include "engine/plan/lexer.h"

#include <algorithm>

namespace planscope::plan {

namespace {
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// Of what stands in quotes from here on, with them; 0: nothing does.
std::size_t quoted_length(std::string_view rest) {
  if (rest[0] != '\'' && rest[0] != '"') return 0;
  const std::size_t end = rest.find(rest[0], 1);
  return end == std::string_view::npos || end == 1 ? 0 : end + 1;
}

std::size_t comment_begin(std::string_view line) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (const std::size_t quoted = quoted_length(line.substr(i)); quoted > 0) i += quoted - 1;
    if (line[i] != '#') continue;
    const bool ordinal = i > 0 && !is_blank(line[i - 1]) && i + 1 < line.size() && is_digit(line[i + 1]);
    if (!ordinal) return i;
  }
  return line.size();
}

std::size_t token_length(std::string_view rest) {
  if (const std::size_t quoted = quoted_length(rest); quoted > 0) return quoted;
  if (is_word(rest[0])) {
    const auto end = std::find_if_not(rest.begin(), rest.end(), is_word);
    return static_cast<std::size_t>(end - rest.begin());
  }
  for (const std::string_view two : {"<=", ">=", "!="})
    if (rest.substr(0, 2) == two) return 2;
  if (static_cast<unsigned char>(rest[0]) < 0x80) return 1;
  std::size_t n = 1;  // one UTF-8 character
  while (n < rest.size() && (static_cast<unsigned char>(rest[n]) & 0xC0) == 0x80) ++n;
  return n;
}
}  // namespace

Line lex(std::string_view line) {
  Line out;
  const std::size_t end = comment_begin(line);
  out.comment = line.substr(end);
  std::string_view code = line.substr(0, end);
  while (!code.empty() && is_blank(code.front())) code.remove_prefix(1);
  while (!code.empty() && is_blank(code.back())) code.remove_suffix(1);
  out.code = code;
  bool attached = false;
  for (std::size_t i = 0; i < code.size();) {
    if (is_blank(code[i])) {
      attached = false;
      ++i;
      continue;
    }
    const std::size_t n = token_length(code.substr(i));
    const std::string_view text = code.substr(i, n);
    Token::Kind kind = Token::Kind::symbol;
    if (is_word(text[0])) {
      kind = Token::Kind::word;
    } else if (quoted_length(text) > 0) {
      kind = Token::Kind::quoted;
    } else if (n == 1 && std::string_view(".,:@#[](){}*+-/%|&?=<>").find(text[0]) == std::string_view::npos) {
      kind = Token::Kind::unknown;
    } else if (static_cast<unsigned char>(text[0]) >= 0x80) {
      kind = Token::Kind::unknown;
    }
    out.tokens.push_back({kind, text, attached});
    attached = true;
    i += n;
  }
  out.tokens.push_back({Token::Kind::end, code.substr(code.size()), false});
  return out;
}

}  // namespace planscope::plan
