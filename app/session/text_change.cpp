#include "app/session/text_change.h"

#include <algorithm>
#include <optional>

#include "app/session/merge.h"
#include "engine/base/text.h"

namespace planscope::session {

namespace {

using Lines = std::vector<std::string>;

bool is_inside_character(const std::string& text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
}

// How many bytes both begin with, and how many both end with behind that; whole characters.
struct Same {
  std::size_t head = 0, tail = 0;
  std::size_t all() const { return head + tail; }
};

Same same(const std::string& a, const std::string& b) {
  Same s;
  const std::size_t least = std::min(a.size(), b.size());
  while (s.head < least && a[s.head] == b[s.head]) ++s.head;
  while (s.head > 0 && (is_inside_character(a, s.head) || is_inside_character(b, s.head))) --s.head;
  while (s.all() < least && a[a.size() - 1 - s.tail] == b[b.size() - 1 - s.tail]) ++s.tail;
  const auto inside = [&] {
    return is_inside_character(a, a.size() - s.tail) || is_inside_character(b, b.size() - s.tail);
  };
  while (s.tail > 0 && inside()) --s.tail;
  return s;
}

// Where each line begins; behind the last one, the end of the text and a line break more.
std::vector<std::size_t> beginnings(const Lines& lines) {
  std::vector<std::size_t> out{0};
  for (const std::string& line : lines) out.push_back(out.back() + line.size() + 1);
  return out;
}

// A run of lines that became another run; either may be empty.
struct Run {
  std::size_t from = 0, to = 0, after_from = 0, after_to = 0;
};

std::vector<Run> runs_between(const Lines& before, const Lines& after) {
  std::vector<Run> out;
  std::size_t i = 0, j = 0;
  const auto differ = [&](std::size_t to, std::size_t after_to) {
    if (i < to || j < after_to) out.push_back({i, to, j, after_to});
  };
  for (const auto& [line, line_after] : common_lines(before, after)) {
    differ(line, line_after);
    i = line + 1, j = line_after + 1;
  }
  differ(before.size(), after.size());
  return out;
}

// The run that the line is of; the line differs.
Run run_of(const Lines& before, const Lines& after, std::size_t line) {
  for (const Run& r : runs_between(before, after))
    if (line >= r.from && line < r.to) return r;
  return {};
}

std::size_t column_in(const std::string& before, const std::string& after, std::size_t column) {
  const Same s = same(before, after);
  if (column <= s.head) return column;
  if (column >= before.size() - s.tail) return after.size() - (before.size() - column);
  std::size_t at = std::min(column, after.size() - s.tail);
  while (is_inside_character(after, at)) --at;
  return at;
}

// The only line that is the same, where there is no other one like it.
std::optional<std::size_t> moved_to(const Lines& before, const Lines& after, const std::string& line) {
  if (line.find_first_not_of(" \t") == std::string::npos) return std::nullopt;
  if (std::count(before.begin(), before.end(), line) != 1 || std::count(after.begin(), after.end(), line) != 1)
    return std::nullopt;
  return static_cast<std::size_t>(std::find(after.begin(), after.end(), line) - after.begin());
}

// The line of the run that is most like it; of equal ones the one as far from the run's beginning.
std::size_t become(const Lines& after, const Run& run, const std::string& line, std::size_t line_number) {
  const std::size_t beside = std::min(run.after_from + (line_number - run.from), run.after_to - 1);
  std::size_t best = beside;
  for (std::size_t j = run.after_from; j < run.after_to; ++j)
    if (same(line, after[j]).all() > same(line, after[best]).all()) best = j;
  return best;
}

}  // namespace

std::vector<TextPiece> pieces_between(const std::string& before, const std::string& after) {
  const Lines a = split(before, '\n'), b = split(after, '\n');
  const std::vector<std::size_t> begin = beginnings(a), begin_after = beginnings(b);
  std::vector<TextPiece> out;
  for (const Run& r : runs_between(a, b)) {
    // Each line with the break behind it; the last ones, which have none there, with the one before them.
    const std::size_t behind = r.to == a.size() ? 1 : 0, in_front = r.from > 0 ? behind : 0;
    const std::size_t from = begin[r.from] - in_front, to = begin[r.to] - behind;
    const std::size_t from_after = begin_after[r.after_from] - in_front, to_after = begin_after[r.after_to] - behind;
    const std::string old = before.substr(from, to - from), now = after.substr(from_after, to_after - from_after);
    const Same s = same(old, now);
    out.push_back({from + s.head, to - s.tail, now.substr(s.head, now.size() - s.all())});
  }
  return out;
}

std::optional<LineNow> line_now(const std::string& before, const std::string& after, std::size_t line) {
  const Lines a = split(before, '\n'), b = split(after, '\n');
  if (line >= a.size()) return std::nullopt;
  for (const auto& [kept, kept_after] : common_lines(a, b))
    if (kept == line) return LineNow{kept_after, false};
  if (const std::optional<std::size_t> moved = moved_to(a, b, a[line])) return LineNow{*moved, false};
  const Run r = run_of(a, b, line);
  if (r.after_from == r.after_to) return std::nullopt;
  return LineNow{become(b, r, a[line], line), true};
}

std::size_t place_after(const std::string& before, const std::string& after, std::size_t place) {
  const Lines a = split(before, '\n'), b = split(after, '\n');
  const std::vector<std::size_t> begin = beginnings(a), begin_after = beginnings(b);
  place = std::min(place, before.size());
  const auto line = static_cast<std::size_t>(std::upper_bound(begin.begin(), begin.end(), place) - begin.begin()) - 1;
  const std::optional<LineNow> now = line_now(before, after, line);
  if (!now) return std::min(begin_after[run_of(a, b, line).after_from], after.size());
  return begin_after[now->line] + column_in(a[line], b[now->line], place - begin[line]);
}

}  // namespace planscope::session
