#include <fstream>
#include <iostream>

#include "app/cli/command.h"
#include "app/session/script.h"

namespace planscope::cli {

Answer session(const Options& o) {
  std::ifstream file;
  if (o.name != "-") {
    if (const Result<std::string> readable = read_file(o.name); !readable.ok()) return bad_input(readable.diagnostics);
    file.open(o.name, std::ios::binary);
  }
  if (const std::vector<Diagnostic> wrong = wrong_session_cluster(o); !wrong.empty()) return bad_input(wrong);
  session::Session s({.workspace = o.workspace,
                      .cluster = o.session_cluster,
                      .programs = o.program_folder,
                      .samples = PLANSCOPE_SAMPLES});
  session::ScriptEnd end = session::run_script(o.name == "-" ? std::cin : file, o.name == "-" ? "" : o.name, s, std::cout);
  report(end.diagnostics);
  Answer a;
  a.status = end.bad ? kBadInput : end.refused ? kNo : kDone;
  a.silent = true;  // panels have been printed
  return a;
}

}  // namespace planscope::cli
