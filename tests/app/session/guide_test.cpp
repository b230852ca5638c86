// The guide stays true: its scripts run, what it prints is what they print, and its pictures are those that they make.
// `app_session_test "[write-guide]"` writes both into docs/, to be read before they are committed.
#include "tests/app/session/guide.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <filesystem>
#include <fstream>
#include <set>
#include <vector>

#include "app/session/tour.h"

using namespace planscope;
using testing::Chapter;

namespace {

struct Block {
  std::string kind, text;  // session, text; empty: between blocks, with the lines of ```
};

// A file of Markdown as its blocks, in order; all texts together are the file.
std::vector<Block> blocks(const std::string& file) {
  std::vector<Block> out = {{}};
  std::istringstream in(testing::read_file_text(file));
  for (std::string line; std::getline(in, line);) {
    const bool inside = !out.back().kind.empty();
    if (inside && line == "```") out.push_back({});
    out.back().text += line + "\n";
    if (!inside && (line == "```session" || line == "```text")) out.push_back({line.substr(3), ""});
  }
  return out;
}

// Those whose figures are the same everywhere. What a trial measures is not.
const std::vector<std::string> kChapters = {"first_plan", "pipeline_order", "coshard"};
const std::string kGuide = "docs/guide.md";

// The guide with what its scripts print. A block `text` is what a `show` of the block before it prints, or what is refused.
std::string with_answers(const std::vector<Block>& guide, std::deque<std::string> shown, std::deque<std::string> refused) {
  std::string out;
  std::deque<std::string> wanted;
  for (const Block& b : guide) {
    if (b.kind == "session") {
      wanted.clear();
      std::istringstream in(b.text);
      for (std::string line; std::getline(in, line);)
        if (line.starts_with("show ") && !shown.empty()) {
          wanted.push_back(shown.front());
          shown.pop_front();
        }
      if (wanted.empty() && !refused.empty()) wanted.push_back(refused.front());
    }
    if (b.kind != "text") {
      out += b.text;
      continue;
    }
    if (wanted.empty()) return out + "a block that nothing prints";
    if (!refused.empty() && wanted.front() == refused.front()) refused.pop_front();
    out += wanted.front();
    wanted.pop_front();
  }
  return out;
}

struct Made {
  std::deque<std::string> shown, refused;
  std::map<std::string, std::string> pictures;  // by file
};

Made made() {
  Made out;
  for (const std::string& name : kChapters) {
    INFO(name);
    const Chapter c(name, "");
    INFO(to_string(c.refused));
    CHECK_FALSE(c.bad);
    out.shown.insert(out.shown.end(), c.shown.begin(), c.shown.end());
    for (Diagnostic d : c.refused) {
      d.file.clear(), d.line = 0;
      out.refused.push_back(to_string(d) + "\n");
    }
    for (const auto& entry : std::filesystem::directory_iterator(c.scratch.path()))
      if (entry.path().extension() == ".svg")
        out.pictures[entry.path().filename().string()] = testing::read_file_text(entry.path().string());
  }
  return out;
}

}  // namespace

TEST_CASE("the guide prints what its scripts print, and shows the pictures that they make") {
  const Made m = made();
  CHECK(m.refused.size() == 1);  // the one that the guide tells of
  CHECK(m.pictures.size() >= 6);
  const std::string guide = testing::read_file_text(kGuide);
  CHECK(with_answers(blocks(kGuide), m.shown, m.refused) == guide);
  for (const auto& [file, picture] : m.pictures) {
    INFO(file);
    CHECK(testing::read_file_text("docs/guide/" + file) == picture);
    CHECK(picture.size() <= 150 * 1024);
    CHECK(guide.find("(guide/" + file + ")") != std::string::npos);
  }
}

TEST_CASE("the guide lists the steps of the guided tour") {
  const std::string guide = testing::read_file_text(kGuide);
  std::string list;
  int number = 0;
  for (const session::TourStep& step : session::tour_steps())
    list += std::to_string(++number) + ". " + step.title + "\n";
  CHECK(guide.find("\n" + list + "\n") != std::string::npos);
}

TEST_CASE("commands of the guide are those of its scripts") {
  std::string scripts;
  for (const auto& entry : std::filesystem::directory_iterator("docs/guide"))
    if (entry.path().extension() == ".session") scripts += testing::read_file_text(entry.path().string()) + "\n";
  int shown = 0;
  for (const Block& b : blocks(kGuide)) {
    if (b.kind != "session") continue;
    INFO(b.text);
    CHECK(scripts.find(b.text) != std::string::npos);
    ++shown;
  }
  CHECK(shown >= 8);
}

TEST_CASE("write what the guide prints and shows", "[.][write-guide]") {
  const Made m = made();
  for (const auto& [file, picture] : m.pictures) std::ofstream("docs/guide/" + file, std::ios::binary) << picture;
  const std::string text = with_answers(blocks(kGuide), m.shown, m.refused);
  std::ofstream(kGuide, std::ios::binary) << text;
}
