#pragma once
// The open choices of a plan as panels list them: equal ones are one row with their count.
//
//   for (const OpenKind& k : open_kinds(*picture.open)) k.text   // `?t`, `the order × 4`
#include <string>
#include <vector>

#include "engine/plan/bind.h"
#include "planner/complete/complete.h"

namespace planscope::session {

struct OpenKind {
  plan::OpenChoice choice;  // the first of the equal ones
  std::string text;
};
std::vector<OpenKind> open_kinds(const Decided&);

}  // namespace planscope::session
