// Runs every file of tests/cases/session: a session script, and what its panels print. {tmp} is a scratch folder, {here}
// the current one, the workspace is one in it, and the clock stands still. Commands that were refused stand at the end.
// `app_session_test "[write-cases]"` writes what is printed into the files, to be read before it is committed.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <regex>
#include <sstream>

#include "app/session/script.h"
#include "tests/app/session/scratch.h"
#include "tests/engine/graph/import/model_text.h"

using namespace planscope;

namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

std::string answer(const std::string& script) {
  const testing::Scratch scratch;
  const FakeClock clock(1'700'000'000'000'000);
  session::Session s({.workspace = scratch.file("w.planscope"),
                      .cluster = "dgx-h100x1",
                      .samples = "sample_models",
                      .clock = &clock});
  std::istringstream in(replaced(script, "{tmp}", scratch.path()));
  std::ostringstream out;
  const session::ScriptEnd end = session::run_script(in, "script", s, out);
  std::string text = out.str() + to_string(end.diagnostics);
  if (!text.empty() && text.back() != '\n') text += "\n";
  text = std::regex_replace(text, std::regex("Seconds: [^\n]*"), "Seconds: …");
  return replaced(replaced(text, scratch.path(), "{tmp}"), std::filesystem::current_path().string(), "{here}");
}

std::vector<std::string> files() {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator("tests/cases/session"))
    if (entry.path().extension() == ".test") out.push_back(entry.path().string());
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

TEST_CASE("session scripts print the panels that they ask for") {
  REQUIRE(!files().empty());
  for (const std::string& file : files())
    for (const testing::TextCase& c : testing::read_cases(file)) {
      INFO(file << ": " << c.name);
      CHECK(answer(c.input) == c.expected);
    }
}

TEST_CASE("write what session scripts print into their files", "[.][write-cases]") {
  for (const std::string& file : files()) {
    std::ostringstream out;
    std::istringstream in(testing::read_file_text(file));
    for (std::string line; std::getline(in, line) && !line.starts_with("===");) out << line << "\n";
    for (const testing::TextCase& c : testing::read_cases(file))
      out << "=== " << c.name << "\n" << c.input << "---\n" << answer(c.input) << "\n";
    std::string text = out.str();
    std::ofstream(file, std::ios::binary) << text.substr(0, text.size() - 1);
  }
}
