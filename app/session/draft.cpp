#include "app/session/draft.h"

#include <algorithm>
#include <set>

#include "app/session/merge.h"
#include "engine/base/enumeration.h"
#include "engine/base/text.h"

namespace planscope::session {

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

void Draft::write(std::string text) {
  typing_ = false;
  text = plan_text(std::move(text));
  if (text == this->text()) return;
  texts_.resize(at_ + 1);
  texts_.push_back(std::make_shared<const std::string>(std::move(text)));
  ++at_;
}

void Draft::type(std::string text) {
  if (typing_ && at_ + 1 == texts_.size()) {
    texts_[at_] = std::make_shared<const std::string>(plan_text(std::move(text)));
    return;
  }
  const std::size_t before = at_;
  write(std::move(text));
  typing_ = at_ > before;
}

void Draft::keep() {
  texts_ = {texts_[at_]};
  at_ = 0;
  typing_ = false;
}

void Draft::drop() { write(kept()); }

bool Draft::undo() {
  typing_ = false;
  if (!can_undo()) return false;
  --at_;
  return true;
}

bool Draft::redo() {
  typing_ = false;
  if (!can_redo()) return false;
  ++at_;
  return true;
}

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out = split(text, '\n');
  std::erase_if(out, [](const std::string& line) { return line.find_first_not_of(" \t\r") == std::string::npos; });
  return out;
}

constexpr std::size_t kMostLines = 2'000, kShown = 3, kLongest = 60;

}  // namespace

std::string change_between(const std::string& before, const std::string& after) {
  std::vector<std::string> a = lines_of(before), b = lines_of(after);
  // What both begin and end with is not looked at further.
  while (!a.empty() && !b.empty() && a.back() == b.back()) a.pop_back(), b.pop_back();
  std::size_t same = 0;
  while (same < a.size() && same < b.size() && a[same] == b[same]) ++same;
  a.erase(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(same));
  b.erase(b.begin(), b.begin() + static_cast<std::ptrdiff_t>(same));
  if (a.size() > kMostLines || b.size() > kMostLines)
    return std::to_string(a.size()) + " lines became " + std::to_string(b.size());
  std::vector<std::string> changes;
  std::size_t i = 0, j = 0;
  const auto differ = [&](std::size_t to, std::size_t in_after) {
    for (; i < to; ++i) changes.push_back("- " + shortened(a[i], kLongest));
    for (; j < in_after; ++j) changes.push_back("+ " + shortened(b[j], kLongest));
  };
  for (const auto& [line, in_after] : common_lines(a, b)) {
    differ(line, in_after);
    ++i, ++j;
  }
  differ(a.size(), b.size());
  return enumeration(changes, kShown);
}

}  // namespace planscope::session
