#pragma once
// What can happen to one instance of a value, and in which order it may.
#include <cstdint>
#include <string>
#include <vector>

namespace planscope::verification {

enum class Event : std::uint8_t {
  make,    // it is there
  begin,   // a communication that will make it is under way
  settle,  // … and has ended
  read,
  read_any,    // one of several instances with the same contents is read
  read_some,   // a part of it, which needs the terms of some indices
  alone,       // it begins: no other instance with the same contents is there
  end,         // freed
  accumulate,  // one more term
  update,      // a stored parameter changes
  hold,        // read, and being read until released
  release,
};

enum class Problem : std::uint8_t {
  none,
  not_made,
  ended,
  under_way,
  incomplete,
  twice,
  held,
  after_update,
  before_update,
  no_wait,
  not_alone
};

enum class Status : std::uint8_t { absent, partial, under_way, alive, ended, updated };

struct Life {
  Status status = Status::absent;
  std::uint8_t holds = 0;  // 255: too many to be counted, for ever
};

// Applies an event; after a problem the instance goes on as if there had been none. `terms`: how many an accumulator has
// had and needs.
struct Terms {
  std::uint32_t had = 0, needs = 1;
  std::vector<bool> which = {};                       // of those that are read while terms are added: by index
  std::int64_t first_missing = 0, last_missing = -1;  // … and the ends of what it lacks
};
Problem apply(Event, Life&, Terms&);

std::string expected_text(Event, Problem);
std::string got_text(Problem);

}  // namespace planscope::verification
