#pragma once
// Notices, which every surface shows whatever view is in front, until the user acts on them or closes them: drafts that were
// not kept when a program ended, and a cluster that is chosen for the next model.
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
