// Runs every file of tests/cases/cli:
//
//   file NAME … end      writes a file into a scratch folder, which the rest of the case calls {tmp}
//   > ARGUMENTS          runs planscope with them; "…" is one argument
//   status N             it ended so
//   out TEXT             standard output contains the line TEXT, or the part of a line that TEXT is
//   err … end            standard error is this, whole
//   no TEXT              standard error does not contain TEXT
#include <algorithm>
#include <catch2/catch.hpp>
#include <iomanip>
#include <sstream>

#include "tests/app/cli/program.h"

namespace planscope {
namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

std::vector<std::string> words(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> out;
  for (std::string w; in >> std::quoted(w);) out.push_back(w);
  return out;
}

std::string block(std::istream& in) {
  std::string out;
  for (std::string line; std::getline(in, line) && line != "end";) out += line + "\n";
  return out;
}

void run_case(const std::string& path) {
  const ScratchFolder scratch;
  std::istringstream in(read_text(path));
  Ended last;
  int checks = 0;
  for (std::string line; std::getline(in, line);) {
    INFO(path << ": " << line);
    const std::size_t space = line.find(' ');
    const std::string word = line.substr(0, space), rest = space == std::string::npos ? "" : line.substr(space + 1);
    if (word.empty() || word[0] == '#') continue;
    if (word == "file")
      scratch.write(rest, block(in));
    else if (word == ">")
      last = planscope_program(words(replaced(rest, "{tmp}", scratch.path())), scratch);
    else if (word == "status") {
      INFO(last.err);
      REQUIRE(last.status == std::stoi(rest));
      ++checks;
    } else if (word == "out")
      REQUIRE_THAT(replaced(last.out, scratch.path(), "{tmp}"), Catch::Contains(rest));
    else if (word == "no")
      REQUIRE_THAT(last.err, !Catch::Contains(rest));
    else if (word == "err")
      REQUIRE(replaced(last.err, scratch.path(), "{tmp}") == block(in));
    else
      FAIL("'" << word << "' is no command of a case");
  }
  REQUIRE(checks > 0);
}

TEST_CASE("cases of the command line") {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator("tests/cases/cli"))
    if (entry.path().extension() == ".test") files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  REQUIRE(!files.empty());
  for (const std::string& f : files) run_case(f);
}

}  // namespace
}  // namespace planscope
