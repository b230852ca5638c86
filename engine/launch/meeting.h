#pragma once
// The file through which ranks find a trial that they join (joining.h): one line, for its owner alone.
//
//   10.0.0.1 40213 9f3c… planscope-trial 7d1e… 4711 88123     address, port, token, what it is, and whose: boot, process, its start
//
// A file that is none of these is never written over and never removed.
#include <optional>
#include <string>

#include "engine/base/diagnostic.h"
#include "engine/base/process_identity.h"

namespace planscope {

struct Meeting {
  std::string address, port, token;
  ProcessIdentity owner;
};

std::optional<Meeting> read_meeting(const std::string& file);  // nothing: it is not there, or no meeting
bool is_foreign_file(const std::string& file);  // it is there and is no meeting: no trial writes such a file
bool is_abandoned(const Meeting&);                             // its owner was a process of this machine and has ended

// In one step: nobody reads half of it. What a trial has left there that is gone is replaced. Errors: the file is something
// else, or of a trial that waits; it cannot be written.
std::vector<Diagnostic> write_meeting(const std::string& file, const Meeting&);
void remove_meeting(const std::string& file, const std::string& token);  // if it is this one

}  // namespace planscope
