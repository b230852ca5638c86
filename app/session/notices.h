#pragma once
// What a person is told wherever they are, until it is settled or put away: drafts that a program which ended had not kept,
// and a cluster that waits for a model.
//
//   for (const Notice& n : notices(session.state())) …   // n.said, and a button for each of n.offers
#include <string>
#include <vector>

#include "app/session/offers.h"

namespace planscope::session {

struct Notice {
  Severity severity = Severity::note;
  std::string said;
  std::vector<Offer> offers;  // that settle it
  bool operator==(const Notice&) const = default;
};
std::vector<Notice> notices(const State&);

}  // namespace planscope::session
