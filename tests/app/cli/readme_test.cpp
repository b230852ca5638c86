// What README.md shows of commands is what they print: of `info`, `verify`, `simulate` and `plan`, whose answers hang on no
// machine but for the seconds of `verify`. A line `…` stands for any number of lines.
#include <algorithm>
#include <catch2/catch.hpp>
#include <iterator>
#include <map>
#include <regex>
#include <sstream>

#include "tests/app/cli/program.h"

namespace planscope {
namespace {

struct Shown {
  std::string command;  // without `$ `
  std::vector<std::string> lines;
};

// The commands of all blocks, in order.
std::vector<Shown> shown_by(const std::string& page) {
  std::vector<Shown> out;
  std::istringstream in(page);
  bool inside = false, open = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("```")) {
      inside = !inside, open = false;
    } else if (inside && line.starts_with("$ ")) {
      out.push_back({line.substr(2), {}});
      open = true;
    } else if (inside && open) {
      out.back().lines.push_back(line);
    }
  }
  return out;
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

std::string without_seconds(const std::string& line) {
  return std::regex_replace(line, std::regex("checks in [0-9.]+ s"), "checks in … s");
}

// Whether the lines that are shown stand in the output, one behind the other where no `…` is between them.
std::string first_not_found(const std::vector<std::string>& shown, const std::string& printed) {
  std::vector<std::string> lines;
  std::istringstream in(printed);
  for (std::string line; std::getline(in, line);) lines.push_back(without_seconds(line));
  std::size_t at = 0;
  bool anywhere = true;
  for (const std::string& line : shown) {
    if (words(line) == std::vector<std::string>{"…"}) {
      anywhere = true;
      continue;
    }
    const auto from = lines.begin() + static_cast<std::ptrdiff_t>(at);
    const auto found = std::find(from, anywhere ? lines.end() : std::min(from + 1, lines.end()), without_seconds(line));
    if (found == lines.end() || *found != without_seconds(line)) return line;
    at = static_cast<std::size_t>(found - lines.begin()) + 1;
    anywhere = false;
  }
  return "";
}

TEST_CASE("the README shows what is printed") {
  const ScratchFolder scratch;
  std::map<std::string, std::string> files;
  int compared = 0;
  for (const Shown& s : shown_by(read_text("README.md"))) {
    std::vector<std::string> command = words(s.command);
    if (command.size() == 2 && command[0] == "cat") {
      std::string text;
      for (const std::string& line : s.lines) text += line + "\n";
      files[command[1]] = scratch.write(command[1], text);
    }
    const std::vector<std::string> same = {"info", "verify", "simulate", "plan"};
    if (command.size() < 2 || command[0] != "./run" || std::find(same.begin(), same.end(), command[1]) == same.end())
      continue;
    command.erase(command.begin());
    for (std::string& word : command) {
      if (const auto file = files.find(word); file != files.end()) word = file->second;
      if (word.ends_with(".svg")) word = scratch.path(word);
    }
    INFO(s.command);
    const Ended ended = planscope_program(command, scratch);
    INFO(ended.out << ended.err);
    CHECK(ended.status == 0);
    CHECK(first_not_found(s.lines, ended.out) == "");
    ++compared;
  }
  CHECK(compared >= 4);
}

}  // namespace
}  // namespace planscope
