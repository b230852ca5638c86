#pragma once
// The order of texts that are typed. A page that is closed sends its newest text though an earlier one is still under way,
// and either may arrive first: of two such texts the newer one counts, and it is typed into the older one only if that has arrived.
//
//   Typing t;
//   t.base("a", "ab", "page.1", "") == "a";
//   t.base("a", "abc", "page.2", "page.1") == "ab";   // had page.1 not arrived: "a", and nothing for page.1 then
#include <deque>
#include <optional>
#include <string>
#include <utility>

namespace planscope::session {

class Typing {
 public:
  // The base of `text`; absent: a newer text has arrived already. `id` names the text, and `after` the previous one of the same page
  // that the server had not acknowledged; each may be empty.
  std::optional<std::string> base(const std::string& from, const std::string& text, const std::string& id, const std::string& after);

 private:
  std::deque<std::pair<std::string, std::string>> come_;  // id and text, newest last
  std::deque<std::string> overtaken_;                     // ids, newest last
};

}  // namespace planscope::session
