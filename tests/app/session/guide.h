// Runs a chapter of docs/guide: its script, on a workspace of its own, with the pictures in a scratch folder.
#pragma once
#include <sstream>
#include <string>
#include <vector>

#include "app/session/script.h"
#include "tests/app/session/scratch.h"

namespace planscope::testing {

struct Chapter {
  Scratch scratch;
  std::vector<std::string> shown;   // what each `show` prints
  std::vector<Diagnostic> refused;  // of the whole script
  bool bad = false;                 // a line that cannot be read

  Chapter(const std::string& name, const std::string& programs) {
    session::Session s({.workspace = scratch.file("w.planscope"), .cluster = "local", .programs = programs});
    std::istringstream script(read_file_text("docs/guide/" + name + ".session"));
    std::string part;
    for (std::string line; std::getline(script, line);) {
      part += at_scratch(line) + "\n";
      if (line.starts_with("show ")) shown.push_back(run(s, part));
      if (line.starts_with("show ")) part.clear();
    }
    run(s, part);
  }

 private:
  std::string at_scratch(std::string line) const {
    const std::string folder = "docs/guide";
    if (const std::size_t at = line.find(folder); at != std::string::npos)
      line.replace(at, folder.size(), scratch.path());
    return line;
  }

  std::string run(session::Session& s, const std::string& part) {
    std::istringstream in(part);
    std::ostringstream out;
    const session::ScriptEnd end = session::run_script(in, "guide", s, out);
    refused.insert(refused.end(), end.diagnostics.begin(), end.diagnostics.end());
    bad = bad || end.bad;
    return out.str();
  }
};

}  // namespace planscope::testing
