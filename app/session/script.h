#pragma once
// Runs a script of commands on a session without a screen: how sessions are tested, and how a person automates.
// One command a
// line; beside those of the one list:
//   text <<END … END   the draft's whole text, as it stands between the lines
//   wait               until everything that was begun has ended
//   show PANEL [json]  prints a panel
//
// Lines are asked for one by one, so that a script may also be typed, or come from another program that reads the
// answers.
//
//   std::istringstream in("open model=a.pt2\nwait\nshow chips json\n");
//   ScriptEnd e = run_script(in, "a.session", session, std::cout);
#include <iosfwd>
#include <string>
#include <vector>

#include "app/session/session.h"

namespace planscope::session {

struct ScriptEnd {
  bool refused = false;  // a command was refused, or a panel does not exist; the rest was still run
  bool bad = false;      // the script itself cannot be read: a command that does not exist, a text without an end
  std::vector<Diagnostic> diagnostics;  // with the script's lines
};

ScriptEnd run_script(std::istream& script, const std::string& file, Session&, std::ostream& panels);

}  // namespace planscope::session
