#pragma once
// From one text of a plan to the next, for an editor that shows it: what differs, and where a cursor stays. Places are
// bytes of the text as it was.
//
//   pieces_between("a\nb\nc\n", "a2\nb\nc2\n")   // "2" at 1, "2" at 5: a cursor in `b` is not touched
//   place_after("a\nb\n", "new\na\nb\n", 3) == 7   // still behind `b`
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace planscope::session {

struct TextPiece {
  std::size_t from = 0, to = 0;  // what is replaced
  std::string insert;
  bool operator==(const TextPiece&) const = default;
};

// In the order of their places; none where the texts are equal.
std::vector<TextPiece> pieces_between(const std::string& before, const std::string& after);

// What has become of a line, from 0: the same stands there, or another form of it; nothing: it has gone.
struct LineNow {
  std::size_t line = 0;
  bool changed = false;
  bool operator==(const LineNow&) const = default;
};
std::optional<LineNow> line_now(const std::string& before, const std::string& after, std::size_t line);

// A place stays in its line, and there between the same words: where the line is still there, where it has been moved
// to, or in what has become of it. Where the line has gone it is at the beginning of the one that follows.
std::size_t place_after(const std::string& before, const std::string& after, std::size_t place);

}  // namespace planscope::session
