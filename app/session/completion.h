#pragma once
// What can be written at a place of a plan: statements, templates, axes, factors, modules and names of the plan
// itself. Shallow: it reads
// words, so that it works in the middle of a line that has errors.
//
//   Completion c = complete(document, "devices 4 as data=4\ntrans * batch by d", 38);
//   c.from == 37; c.items[0].text == "data"
#include <cstddef>
#include <string>
#include <vector>

#include "app/session/state.h"

namespace planscope::session {

struct CompletionItem {
  std::string text;  // that replaces what is between `from` and the cursor
  std::string about;
  bool operator==(const CompletionItem&) const = default;
};

struct Completion {
  std::size_t from = 0;                    // byte of the text
  std::vector<CompletionItem> items = {};  // best first, at most 200
  // The word before the cursor can stand there as it is: then nothing is offered unless it is asked for, so that Enter
  // behind it is a new line.
  bool whole = false;
  std::string text = {};  // that it is of, and where the cursor was: it can be taken there alone
  std::size_t cursor = 0;
  bool is_of(const std::string& other, std::size_t place) const { return cursor == place && text == other; }
};

Completion complete(const Document&, const std::string& text, std::size_t cursor);

}  // namespace planscope::session
