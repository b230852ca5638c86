#include "app/workbench/plan_file.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <set>
#include <utility>

#include "engine/base/file_text.h"

namespace planscope {

namespace {

// How many bytes the character of UTF-8 has that begins there; 0: none does.
std::size_t character_at(const std::string& text, std::size_t at) {
  const auto byte = [&](std::size_t k) { return k < text.size() ? static_cast<unsigned char>(text[k]) : 0U; };
  const unsigned first = byte(at), second = byte(at + 1);
  const std::size_t size = first < 0x80   ? 1
                           : first < 0xC2 ? 0
                           : first < 0xE0 ? 2
                           : first < 0xF0 ? 3
                           : first < 0xF5 ? 4
                                          : 0;
  for (std::size_t k = 1; k < size; ++k)
    if ((byte(at + k) & 0xC0) != 0x80) return 0;
  const bool too_long = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool none = (first == 0xED && second > 0x9F) || (first == 0xF4 && second > 0x8F);  // no character is there
  return too_long || none ? 0 : size;
}

bool is_plain(const std::string& text) {
  const auto plain = [](char c) { return static_cast<unsigned char>(c) < 0x80 && c != '\r'; };
  return std::all_of(text.begin(), text.end(), plain);
}

}  // namespace

std::string plan_text(std::string text) {
  if (is_plain(text)) return text;
  static const std::set<std::string> line_ends = {"\u2028", "\u2029", "\xEF\xB7\x90", "\xEF\xB7\x91"};
  std::string out;
  for (std::size_t at = text.starts_with("\uFEFF") ? 3 : 0; at < text.size();) {
    const std::size_t size = character_at(text, at);
    const std::string character = text.substr(at, size);
    if (size == 0) {
      const auto byte = static_cast<unsigned char>(text[at]);
      out += static_cast<char>(0xC0 | (byte >> 6));
      out += static_cast<char>(0x80 | (byte & 0x3F));
    } else if (character == "\r") {
      if (at + 1 == text.size() || text[at + 1] != '\n') out += '\n';
    } else if (line_ends.contains(character)) {
      out += ' ';
    } else {
      out += character;
    }
    at += std::max<std::size_t>(size, 1);
  }
  return out;
}

namespace {

Diagnostic about(const std::string& path, Diagnostic d) {
  d.file = path;
  return d;
}

// The position of the first byte that begins no character of UTF-8; empty if the text is valid.
std::optional<std::size_t> first_wrong_byte(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = character_at(text, at);
    if (size == 0) return at;
    at += size;
  }
  return std::nullopt;
}

Diagnostic not_utf8(const std::string& text, std::size_t at) {
  const std::string before = plan_text(text.substr(0, at));
  const std::size_t begin = before.rfind('\n') + 1;  // of the line; 0 where it is the first one
  const auto begins_character = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
  const auto column = 1 + std::count_if(before.begin() + static_cast<std::ptrdiff_t>(begin), before.end(), begins_character);
  char byte[8];
  std::snprintf(byte, sizeof byte, "0x%02X", static_cast<unsigned>(static_cast<unsigned char>(text[at])));
  Diagnostic d = error("the file is not written in UTF-8", "the byte " + std::string(byte) + " in column " + std::to_string(column) +
                                                               " begins no character of it",
                       "save it as UTF-8 in the editor, or convert it, as: iconv -f LATIN1 -t UTF-8 FILE");
  d.line = static_cast<int>(1 + std::count(before.begin(), before.end(), '\n'));
  return d;
}

std::string line_end_of(const std::string& text) {
  if (text.find("\r\n") != std::string::npos) return "\r\n";
  return text.find('\n') == std::string::npos && text.find('\r') != std::string::npos ? "\r" : "\n";
}

}  // namespace

Result<PlanFile> read_plan_file(const std::string& path) {
  Result<std::string> text = file_text(path);
  if (!text.ok()) return text.diagnostics;
  if (text->find('\0') != std::string::npos)
    return about(path, error("the file is no plan", "it holds bytes that no text has", "a model is opened with open model=FILE"));
  if (const std::optional<std::size_t> at = first_wrong_byte(*text)) return about(path, not_utf8(*text, *at));
  std::string line_end = line_end_of(*text);
  return PlanFile{plan_text(std::move(*text.value)), std::move(line_end)};
}

std::string with_line_ends(const std::string& text, const std::string& line_end) {
  if (line_end == "\n") return text;
  std::string out;
  for (const char c : text) out += c == '\n' ? line_end : std::string(1, c);
  return out;
}

}  // namespace planscope
