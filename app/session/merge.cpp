#include "app/session/merge.h"

#include <algorithm>

#include "engine/base/text.h"

namespace planscope::session {

namespace {

constexpr std::size_t kMostCells = 4'000'000;  // of the table of a comparison

using Lines = std::vector<std::string>;

// What one person has done to the base: which of its lines are kept, and what is written before each and at the end.
struct Edits {
  std::vector<bool> kept;
  std::vector<Lines> written;       // by the base's line that it stands before
  std::vector<bool> in_place_of;    // of that line, which is not kept

  Edits(const Lines& base, const Lines& text)
      : kept(base.size(), false), written(base.size() + 1), in_place_of(base.size() + 1, false) {
    std::size_t from = 0, text_from = 0;
    const auto differ = [&](std::size_t to, std::size_t text_to) {
      for (; text_from < text_to; ++text_from) written[from].push_back(text[text_from]);
      in_place_of[from] = to > from;
    };
    for (const auto& [line, text_line] : common_lines(base, text)) {
      differ(line, text_line);
      kept[line] = true;
      from = line + 1, text_from = text_line + 1;
    }
    differ(base.size(), text.size());
  }

  const Lines& at(std::size_t line, bool in_place) const {
    static const Lines none;
    return in_place_of[line] == in_place ? written[line] : none;
  }
};

// Every line of both, in the order of each; what both have in the same order once.
void add_all(Lines& out, const Lines& theirs, const Lines& mine) {
  auto t = theirs.begin(), m = mine.begin();
  for (const auto& [in_theirs, in_mine] : common_lines(theirs, mine)) {
    out.insert(out.end(), t, theirs.begin() + static_cast<std::ptrdiff_t>(in_theirs));
    out.insert(out.end(), m, mine.begin() + static_cast<std::ptrdiff_t>(in_mine));
    out.push_back(theirs[in_theirs]);
    t = theirs.begin() + static_cast<std::ptrdiff_t>(in_theirs) + 1;
    m = mine.begin() + static_cast<std::ptrdiff_t>(in_mine) + 1;
  }
  out.insert(out.end(), t, theirs.end());
  out.insert(out.end(), m, mine.end());
}

}  // namespace

std::vector<std::pair<std::size_t, std::size_t>> common_lines(const Lines& a, const Lines& b) {
  std::size_t head = 0, tail = 0;
  const std::size_t least = std::min(a.size(), b.size());
  while (head < least && a[head] == b[head]) ++head;
  while (head + tail < least && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) ++tail;
  std::vector<std::pair<std::size_t, std::size_t>> out;
  for (std::size_t i = 0; i < head; ++i) out.emplace_back(i, i);
  const std::size_t rows = a.size() - head - tail, columns = b.size() - head - tail;
  if (rows > 0 && columns > 0 && rows < kMostCells / columns) {
    std::vector<std::size_t> longest((rows + 1) * (columns + 1));  // common lines from a place in each on
    const auto at = [&](std::size_t i, std::size_t j) -> std::size_t& { return longest[i * (columns + 1) + j]; };
    for (std::size_t i = rows; i-- > 0;)
      for (std::size_t j = columns; j-- > 0;)
        at(i, j) = a[head + i] == b[head + j] ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
    for (std::size_t i = 0, j = 0; i < rows && j < columns;) {
      if (a[head + i] == b[head + j])
        out.emplace_back(head + i++, head + j++);
      else if (at(i + 1, j) >= at(i, j + 1))
        ++i;
      else
        ++j;
    }
  }
  for (std::size_t k = tail; k > 0; --k) out.emplace_back(a.size() - k, b.size() - k);
  return out;
}

std::string merged(const std::string& base, const std::string& mine, const std::string& theirs) {
  if (theirs == base || mine == theirs) return mine;
  if (mine == base) return theirs;
  const Lines lines = split(base, '\n');  // what is behind the last line break is a line, perhaps an empty one
  const Edits of_mine(lines, split(mine, '\n')), of_theirs(lines, split(theirs, '\n'));
  Lines out;
  for (std::size_t i = 0; i <= lines.size(); ++i) {
    for (const bool in_place : {false, true}) add_all(out, of_theirs.at(i, in_place), of_mine.at(i, in_place));
    if (i < lines.size() && of_mine.kept[i] && of_theirs.kept[i]) out.push_back(lines[i]);
  }
  return join(out, "\n");
}

}  // namespace planscope::session
