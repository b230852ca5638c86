#pragma once
// The guided tour: a list of steps on a sample model. Each step says what to do next and where, and ticks off as soon
// as the session's state shows that it has been done. The preferences hold whether the tour is followed, and its next
// step.
//
//   tour_steps()[0].done(state)      // whether a document is open
//   next_step_of_tour(preferences)   // 0: none is done; tour_steps().size(): all are
//   advanced(state)                  // the id of the step that comes next, after those that the state completes
#include <span>
#include <string>
#include <vector>

#include "app/session/state.h"

namespace planscope::session {

struct TourStep {
  const char* id;
  const char* title;
  std::vector<const char*> todo;  // sentences that are short enough for a narrow panel
  Front where;                    // the panel or the canvas that it is about; of neither: the command
  const char* command;            // that does it; empty: going there does
  bool (*done)(const State&);
};
std::span<const TourStep> tour_steps();

inline constexpr const char* end_of_tour = "end";  // the step that comes after the last one
std::vector<const char*> tour_step_ids();          // with that one

bool follows_tour(const Preferences&);  // it has been begun, has not been left, and is not at its end
std::size_t next_step_of_tour(const Preferences&);
std::string advanced(const State&);

}  // namespace planscope::session
