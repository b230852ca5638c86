#include "app/session/draft.h"

#include <algorithm>

#include "app/session/merge.h"
#include "engine/base/enumeration.h"
#include "engine/base/text.h"

namespace planscope::session {

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

void Draft::begin_from(std::string kept) {
  kept = plan_text(std::move(kept));
  if (kept == this->kept()) return;
  texts_.insert(texts_.begin(), std::make_shared<const std::string>(std::move(kept)));
  ++at_;
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
