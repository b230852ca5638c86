#pragma once
// The order of texts that are typed. A page that is closed sends its newest text though an earlier one is still under way,
// and either may come first: of two such texts the newer one counts, and it is typed into the older one only if that has come.
//
//   Typing t;
//   t.base("a", "ab", "page.1", "") == "a";
//   t.base("a", "abc", "page.2", "page.1") == "ab";   // had page.1 not come: "a", and nothing for page.1 then
#include <deque>
#include <optional>
#include <string>
#include <utility>

namespace planscope::session {

class Typing {
 public:
  // The text that `text` was typed into; nothing: a newer one has come already. `id` names the text and `after` the one before it
  // that its sender had no answer for; each may be empty.
  std::optional<std::string> base(const std::string& from, const std::string& text, const std::string& id, const std::string& after);

 private:
  std::deque<std::pair<std::string, std::string>> come_;  // id and text, newest last
  std::deque<std::string> overtaken_;                     // ids, newest last
};

}  // namespace planscope::session
