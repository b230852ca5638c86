#include "app/session/seen.h"

#include <algorithm>

#include "app/session/lines.h"
#include "app/session/text_change.h"
#include "engine/base/text.h"

namespace planscope::session {

namespace {

constexpr std::size_t kMostTexts = 100, kLongest = 60;

std::string as_told(const std::vector<std::string>& lines, std::size_t line) {
  return "'" + printable(shortened(lines[line], kLongest)) + "'";
}

// The number that a line has now.
Result<std::string> number_now(const std::string& seen, const std::string& now, const std::string& number) {
  const std::vector<std::string> lines = lines_of(seen);
  const std::size_t line = number_of(number).value_or(0);
  if (line < 1 || line > lines.size()) return number;  // the command says that there is none
  const std::optional<LineNow> found = line_now(seen, now, line - 1);
  if (!found)
    return error("line " + number + " has gone since it was seen", "it was " + as_told(lines, line - 1),
                 "look at the plan as it is now");
  if (found->changed)
    return error("line " + number + " has been changed since it was seen",
                 "it was " + as_told(lines, line - 1) + ", now line " + std::to_string(found->line + 1) + " is " +
                     as_told(split(now, '\n'), found->line),
                 "look at the plan as it is now");
  return std::to_string(found->line + 1);
}

}  // namespace

void SeenTexts::add(std::uint64_t number, const std::string& text) {
  texts_.emplace_back(number, std::make_shared<const std::string>(text));
  if (texts_.size() > kMostTexts) texts_.pop_front();
}

bool SeenTexts::is_newest(const std::string& text) const { return !texts_.empty() && *texts_.back().second == text; }

const std::string* SeenTexts::find(std::uint64_t number) const {
  const auto found = std::find_if(texts_.begin(), texts_.end(), [&](const auto& t) { return t.first == number; });
  return found == texts_.end() ? nullptr : found->second.get();
}

std::optional<std::uint64_t> SeenTexts::number_of(const std::string& text) const {
  const auto found = std::find_if(texts_.rbegin(), texts_.rend(), [&](const auto& t) { return *t.second == text; });
  return found == texts_.rend() ? std::nullopt : std::optional(found->first);
}

Result<Invocation> lines_now(const SeenTexts& texts, Invocation i) {
  if (!i.has("seen")) return i;
  const std::string* seen = texts.find(number_of(i.get("seen")).value_or(0));
  i.arguments.erase("seen");
  if (!seen)
    return error("the plan is not the one that was seen", "another one is in front, or it has been changed often since",
                 "look at the plan as it is now");
  const std::string& now = *texts.find(texts.newest());
  for (const ArgumentInfo& a : find_command(i.id)->arguments) {
    if (a.kind != ArgumentInfo::Kind::line || !i.has(a.name)) continue;
    Result<std::string> line = number_now(*seen, now, i.get(a.name));
    if (!line.ok()) return line.diagnostics;
    i.arguments[a.name] = std::move(*line);
  }
  return i;
}

std::string seen_word(const SeenTexts& texts, const std::string& text) {
  const std::optional<std::uint64_t> number = texts.number_of(text);
  return number ? " seen=" + std::to_string(*number) : "";
}

std::string select_line(const SeenTexts& texts, const std::string& text, int line) {
  return "select statement=" + std::to_string(line) + seen_word(texts, text);
}

}  // namespace planscope::session
