// The cases of tests/cases/session through HTTP: every panel that they show is the same as without.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <regex>
#include <sstream>

#include "app/session/panels/panels.h"
#include "tests/app/server/client.h"
#include "tests/app/session/scratch.h"
#include "tests/engine/graph/import/model_text.h"

using namespace planscope;
using server::Json;

namespace {

// What two sides answer to the lines of a script: panels as text, each line of a command whether it was refused.
struct Side {
  virtual ~Side() = default;
  virtual std::string show(const std::string& panel) = 0;
  virtual bool command(const session::Invocation&) = 0;
  virtual void wait() = 0;
};

struct Direct : Side {
  explicit Direct(session::SessionSettings s) : it(std::move(s)) {}
  std::string show(const std::string& panel) override {
    const Result<session::Panel> p = session::make_panel(panel, it.state());
    return p.ok() ? session::to_json(*p).dump() : "none";
  }
  bool command(const session::Invocation& i) override { return it.apply(i).ok(); }
  void wait() override { it.wait(); }
  session::Session it;
};

struct Served : Side {
  explicit Served(const server::Server& s) : client(s) {}
  std::string show(const std::string& panel) override {
    const testing::Reply r = client.get("/api/panels/" + panel);
    return r.status == 200 ? r.json().dump() : "none";
  }
  bool command(const session::Invocation& i) override {
    return client.post("/api/commands", {{"id", i.id}, {"arguments", i.arguments}}).status == 200;
  }
  void wait() override { client.get("/api/panels/chips?wait=100"); }
  testing::Client client;
};

// Without what is a matter of chance: when something took place, and which plans a search had found before its best.
std::string lasting(const std::string& panel, const std::string& text) {
  Json j = Json::parse(text, nullptr, false);
  if (panel == "planner" && j.contains("progress") && !j["progress"].empty()) j["progress"] = {j["progress"].back()};
  if (panel == "search" && j.contains("series"))
    for (Json& series : j["series"]) series["points"] = series["points"].back().at(1);
  return std::regex_replace(j.is_discarded() ? text : j.dump(), std::regex("\"seconds\":[^,}]*"), "");
}

std::vector<std::string> replay(const std::string& script, Side& side, const std::string& folder) {
  std::vector<std::string> out;
  std::istringstream in(script);
  for (std::string line; std::getline(in, line);) {
    line = std::regex_replace(line, std::regex("\\{tmp\\}"), folder);
    std::istringstream words(line);
    std::string first, second;
    words >> first >> second;
    if (first.empty() || first[0] == '#') continue;
    if (first == "wait") {
      side.wait();
    } else if (first == "show") {
      side.wait();  // what is asked for in the middle of an evaluation is a matter of chance
      const std::string panel = lasting(second, side.show(second));
      out.push_back(second + " " + std::regex_replace(panel, std::regex(folder), "{tmp}"));
    } else if (first == "text" && second.starts_with("<<")) {
      std::string text;
      for (std::string more; std::getline(in, more) && more != second.substr(2);) text += more + "\n";
      out.push_back(side.command({"text", {{"text", text}}}) ? "done" : "refused");
    } else {
      side.wait();  // whether a command is refused before the plan has been evaluated is a matter of chance too
      const Result<session::Invocation> i = session::parse_invocation(line);
      if (i.ok()) out.push_back(side.command(*i) ? "done" : "refused");
    }
  }
  return out;
}

}  // namespace

TEST_CASE("session cases show the same panels through HTTP", "[server][slow]") {
  std::size_t shown = 0;
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator("tests/cases/session"))
    if (entry.path().extension() == ".test") files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  for (const std::string& file : files)
    for (const testing::TextCase& c : testing::read_cases(file)) {
      INFO(file << ": " << c.name);
      const FakeClock clock(1'700'000'000'000'000);
      const testing::Scratch here, there;
      Direct direct({.workspace = here.file("w.planscope"), .cluster = "dgx-h100x1", .clock = &clock});
      server::ServerSettings s;
      s.session = {.workspace = there.file("w.planscope"), .cluster = "dgx-h100x1", .clock = &clock};
      s.port = 0;
      s.uploads = there.path();
      const Result<std::unique_ptr<server::Server>> started = server::Server::start(std::move(s));
      REQUIRE(started.ok());
      Served served(**started.value);
      const std::vector<std::string> expected = replay(c.input, direct, here.path());
      CHECK(replay(c.input, served, there.path()) == expected);
      shown += expected.size();
    }
  CHECK(shown > 20);
}
