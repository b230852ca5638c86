#pragma once
// What was open lately, in whichever program. It is kept in a file beside the workspace, as lines of a session script, the
// newest first. Without a workspace it ends with the session.
//
//   std::vector<Recent> all = read_recent("w.planscope");
//   print(to_open(all.front()))   // open model="/models/gpt2.pt2" plan="/plans/tp.plan" cluster="local"
#include <string>
#include <vector>

#include "app/session/commands.h"

namespace planscope::session {

struct Recent {
  std::string model, plan, cluster;  // as `open` takes them; plan: empty where there is none
  bool operator==(const Recent&) const = default;
};

std::string recent_file(const std::string& workspace);           // empty: there is none
std::vector<Recent> read_recent(const std::string& workspace);  // those whose models are still there
// What cannot be written is not kept for the next start.
void write_recent(const std::string& workspace, const std::vector<Recent>&);
Invocation to_open(const Recent&);
// What that plan was opened with last; null: nothing of these.
const Recent* find_recent(const std::vector<Recent>&, const std::string& plan);

}  // namespace planscope::session
