#pragma once
// What a plan leaves open, alike choices once, for people.
//
//   for (const OpenKind& k : open_kinds(*picture.open)) k.text   // `?t`, `the order × 4`
#include <string>
#include <vector>

#include "engine/plan/bind.h"
#include "planner/complete/complete.h"

namespace planscope::session {

struct OpenKind {
  plan::OpenChoice choice;  // the first of those that are alike
  std::string text;
};
std::vector<OpenKind> open_kinds(const Decided&);

}  // namespace planscope::session
