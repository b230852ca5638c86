#pragma once
// The texts that a document has had lately, each under a number. A command about a line of the plan says by it which
// text its giver has seen (`toggle 3 seen=12`): where the plan has been changed since, by another person or by the same
// one a moment ago, it comes to the same line wherever that stands now, or is refused. It never comes to another one.
//
//   SeenTexts seen;
//   seen.add(12, "a\nb\n"), seen.add(13, "new\na\nb2\n");
//   lines_now(seen, *parse_invocation("toggle 1 seen=12"))   // toggle 2
//   lines_now(seen, *parse_invocation("toggle 2 seen=12"))   // error: line 2 has been changed since it was seen
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "app/session/commands.h"

namespace planscope::session {

class SeenTexts {
 public:
  void add(std::uint64_t number, const std::string& text);  // numbers grow
  bool is_newest(const std::string& text) const;
  std::uint64_t newest() const { return texts_.empty() ? 0 : texts_.back().first; }
  const std::string* find(std::uint64_t number) const;                   // null: too long ago, or of another document
  std::optional<std::uint64_t> number_of(const std::string& text) const;  // the newest one; nothing: too long ago

 private:
  std::deque<std::pair<std::uint64_t, std::shared_ptr<const std::string>>> texts_;  // the newest last
};

// With its lines as they are numbered now, and without `seen`; one that does not say it is as it was. Errors: the text
// is not known any more; a line has been changed, or has gone.
Result<Invocation> lines_now(const SeenTexts&, Invocation);

// ` seen=12` behind a line about that text; empty where its number is not known.
std::string seen_word(const SeenTexts&, const std::string& text);
// What selects a line of that text.
std::string select_line(const SeenTexts&, const std::string& text, int line);

}  // namespace planscope::session
