// A plan has the same diagnostics in a session as on the command line: the command line's own text cases, replayed, and what the
// verbs say of every plan that is in a text case, of those beside the samples, and of these with a line left out.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "app/session/session.h"
#include "app/workbench/materials.h"
#include "engine/base/text.h"
#include "engine/plan/parser.h"
#include "tests/app/session/scratch.h"
#include "tests/engine/graph/import/model_text.h"

using namespace planscope;
using namespace planscope::session;
using testing::Scratch;

namespace {

struct Case {
  std::string model, plan, text, cluster = "local";
  int status = 0;
  bool tells = false;                  // the case says what standard error holds
  std::vector<std::string> said = {};  // with {tmp} in the place of the folder
};

std::vector<std::string> block(std::istream& in) {
  std::vector<std::string> out;
  for (std::string line; std::getline(in, line) && line != "end";) out.push_back(line);
  return out;
}

// `> verify MODEL {tmp}/PLAN [--cluster NAME]`, or simulate.
std::optional<Case> case_of(const std::vector<std::string>& words, std::map<std::string, std::string>& texts) {
  const bool known = words.size() >= 4 && (words[1] == "verify" || words[1] == "simulate") && words[3].starts_with("{tmp}/");
  const bool on = words.size() == 6 && words[4] == "--cluster" && !words[5].starts_with("{tmp}");
  if (!known || (words.size() != 4 && !on)) return std::nullopt;
  return Case{words[2], words[3].substr(6), texts[words[3].substr(6)], on ? words[5] : "local"};
}

// These commands of a file of cases, with the texts of the plans as they are by then.
std::vector<Case> cases_of(const std::filesystem::path& file) {
  std::map<std::string, std::string> texts;
  std::vector<Case> out;
  std::ifstream in(file);
  bool known = false;
  for (std::string line; std::getline(in, line);) {
    const std::vector<std::string> words = split(line, ' ');
    if (line.starts_with("file ")) {
      std::string& text = texts[words[1]];
      text.clear();
      for (const std::string& l : block(in)) text += l + "\n";
    } else if (line.starts_with("> ")) {
      std::optional<Case> one = case_of(words, texts);
      known = one.has_value();
      if (one) out.push_back(std::move(*one));
    } else if (known && line.starts_with("status ")) {
      out.back().status = std::stoi(words[1]);
    } else if (known && line == "err") {
      out.back().tells = true;
      out.back().said = block(in);
    }
  }
  return out;
}

// A model, the text of a plan, and a cluster, that somebody looks at together.
struct Look {
  std::string model, text, cluster = "local";
  auto operator<=>(const Look&) const = default;
};

// Those of every command, whatever its verb.
std::set<Look> looks_of(const std::filesystem::path& file) {
  std::map<std::string, std::string> texts;
  std::set<Look> out;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const std::vector<std::string> words = split(line, ' ');
    if (line.starts_with("file ")) {
      std::string& text = texts[words[1]];
      text.clear();
      for (const std::string& l : block(in)) text += l + "\n";
    }
    if (!line.starts_with("> ") || words.size() < 4 || !words[2].ends_with(".pt2")) continue;
    const auto named = std::find(words.begin(), words.end(), "--cluster");
    const bool on = named != words.end() && named + 1 != words.end() && !(named + 1)->starts_with("{tmp}");
    for (std::size_t k = 3; k < words.size() && words[k].ends_with(".plan"); ++k) {
      const bool scratch = words[k].starts_with("{tmp}/");
      const std::string plan = scratch ? words[k].substr(6) : words[k];
      if (scratch ? texts.contains(plan) : std::filesystem::exists(plan))
        out.insert({words[2], scratch ? texts[plan] : testing::read_file_text(plan), on ? *(named + 1) : "local"});
    }
  }
  return out;
}

// Of a session script: every text that is written, and every plan that is opened from its file.
std::set<Look> looks_of_script(const std::string& script) {
  std::set<Look> out;
  std::istringstream in(script);
  Look now{.model = "", .text = "", .cluster = "dgx-h100x1"};
  for (std::string line; std::getline(in, line);) {
    const std::vector<std::string> words = split(line, ' ');
    std::string plan;
    for (const std::string& w : words) {
      if (words[0] == "open" && w.starts_with("model=")) now.model = w.substr(6);
      if (words[0] == "open" && w.starts_with("cluster=")) now.cluster = w.substr(8);
      if (words[0] == "open" && w.starts_with("plan=") && w.ends_with(".plan")) plan = w.substr(5);
    }
    if (std::filesystem::exists(plan)) out.insert({now.model, testing::read_file_text(plan), now.cluster});
    if (line != "text <<END") continue;
    now.text.clear();
    for (std::string l; std::getline(in, l) && l != "END";) now.text += l + "\n";
    out.insert(now);
  }
  return out;
}

// A case of plans: which model, by its first word, and the text below that. The samples have other numbers of layers, so that some of
// what is right there is wrong here.
Look look_of_plan_case(const std::string& input) {
  const std::size_t end = input.find('\n');
  return {"sample_models/" + input.substr(0, input.find_first_of(" \n")) + "_tiny.pt2", input.substr(end + 1), "dgx-h100x8"};
}

// `model: NAME`, then the text between two lines `--`.
Look look_of_communication_case(const std::filesystem::path& file) {
  Look out{.model = "", .text = "", .cluster = "dgx-h100x8"};
  std::ifstream in(file);
  int marks = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("model: ")) out.model = "sample_models/" + line.substr(7) + ".pt2";
    if (line == "--")
      ++marks;
    else if (marks == 1)
      out.text += line + "\n";
  }
  return out;
}

std::vector<std::filesystem::path> files_of(const std::string& folder, const std::string& ending) {
  std::vector<std::filesystem::path> out;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ending) out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

std::set<Look> looks_at_text_cases() {
  std::set<Look> out;
  for (const auto& file : files_of("tests/cases/cli", ".test")) out.merge(looks_of(file));
  for (const auto& file : files_of("tests/cases/session", ".test"))
    for (const testing::TextCase& c : testing::read_cases(file)) out.merge(looks_of_script(c.input));
  for (const char* folder : {"tests/cases/plan", "tests/cases/constraint"})
    for (const auto& file : files_of(folder, ".test"))
      for (const testing::TextCase& c : testing::read_cases(file)) out.insert(look_of_plan_case(c.input));
  for (const auto& file : files_of("tests/cases/communication", ".test")) out.insert(look_of_communication_case(file));
  for (const auto& file : files_of("tests/cases/plan/catalogue", ".plan"))  // right for one of them at most
    for (const char* model : {"llama_tiny", "gpt2_tiny"})
      out.insert({"sample_models/" + std::string(model) + ".pt2", testing::read_file_text(file), "dgx-h100x8"});
  return out;
}

std::set<Look> looks_at_samples() {
  std::set<Look> out;
  for (const auto& plan : files_of("sample_models/plans", ".plan")) {
    const std::string name = plan.filename();
    const std::string model = "sample_models/" + name.substr(0, name.find('-')) + ".pt2";
    if (name.find("_tiny-") != std::string::npos && std::filesystem::exists(model))
      out.insert({model, testing::read_file_text(plan), "dgx-h100x1"});
  }
  return out;
}

// Each plan without one of its lines, another one of each: what is left is often wrong.
std::set<Look> with_a_line_left_out(const std::set<Look>& all) {
  std::set<Look> out;
  std::size_t k = 0;
  for (const Look& l : all) {
    std::vector<std::string> lines = split(l.text, '\n');
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(k++ % lines.size()));
    out.insert({l.model, join(lines, "\n"), l.cluster});
  }
  return out;
}

std::multiset<std::string> lines_of(const std::vector<Diagnostic>& all) {
  std::multiset<std::string> out;
  for (const Diagnostic& d : all) out.insert(to_string(d));
  return out;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

// What `simulate` and `verify` say of it on the command line; nothing: it has open arguments, so that they refuse it.
std::optional<std::multiset<std::string>> said_by_verbs(const Look& l, const OpenModel& model, const std::string& name) {
  const Result<plan::Plan> read = plan::parse_plan(plan_text(l.text), name);
  if (!read.ok()) {  // what a file is read to
    const Scratch scratch;
    std::multiset<std::string> out;
    for (const Diagnostic& d : open_materials(l.model, scratch.write("a.plan", l.text), l.cluster, "verify", nullptr).diagnostics)
      out.insert(replaced(to_string(d), scratch.file("a.plan"), name));
    return out;
  }
  const Result<Decided> decided = decide(model.graph, *read.value, {}, nullptr);
  if (decided.value && !decided.has_errors() && !decided->decisions.complete) return std::nullopt;
  const Result<Materials> m = open_materials(model, *read.value, l.cluster, "verify", nullptr);
  std::multiset<std::string> out = lines_of(read.diagnostics);
  out.merge(lines_of(m.diagnostics));
  if (!m.ok()) return out;
  out.merge(lines_of(predict(*m.value).diagnostics));
  out.merge(lines_of(failures_as_errors(verify(*m->result.graph, m->result.program))));
  return out;
}

}  // namespace

TEST_CASE("a session says of a plan what the command line says") {
  std::size_t seen = 0, said = 0;
  for (const auto& entry : std::filesystem::directory_iterator("tests/cases/cli")) {
    const Scratch scratch;
    for (const Case& c : cases_of(entry.path())) {
      if (!std::filesystem::exists(c.model)) continue;
      scratch.write(c.plan, c.text);
      INFO(entry.path().string() << ": " << c.model << " " << c.plan);
      Session s({.workspace = "", .cluster = c.cluster});
      const Result<Done> opened = s.apply({"open", {{"model", c.model}, {"plan", scratch.file(c.plan)}}});
      if (!opened.ok()) continue;  // the model or the file itself cannot be read
      s.wait();
      std::vector<std::string> found, errors;
      for (const Diagnostic& d : s.state().document()->latest->diagnostics) {
        found.push_back(to_string(d));
        if (d.severity == Severity::error) errors.push_back(found.back());
      }
      std::vector<std::string> expected;
      for (const std::string& line : c.said) {
        expected.push_back(replaced(line, "{tmp}", scratch.path()));
        INFO("expected: " << expected.back() << "\nfound: " << join(found, "\n"));
        CHECK(std::find(found.begin(), found.end(), expected.back()) != found.end());
        ++said;
      }
      if (c.status == 2 && c.tells)
        for (const std::string& e : errors) {
          INFO("only in the session: " << e);
          CHECK(std::find(expected.begin(), expected.end(), e) != expected.end());
        }
      ++seen;
    }
  }
  CHECK(seen > 15);
  CHECK(said > 8);
}

TEST_CASE("a session says of every plan in the text cases and of the samples what the verbs say", "[slow]") {
  std::set<Look> all = looks_at_samples();
  all.merge(with_a_line_left_out(all));
  all.merge(looks_at_text_cases());
  std::size_t seen = 0, said = 0;
  std::optional<OpenModel> model;  // looks at one model are beside each other
  std::unique_ptr<Session> s;
  std::string of;
  for (const Look& l : all) {
    if (!std::filesystem::exists(l.model)) continue;
    if (of != l.model) {
      of = l.model;
      model = *open_model(l.model, nullptr).value;
      s = std::make_unique<Session>(SessionSettings{});
      REQUIRE(s->apply({"open", {{"model", l.model}}}).ok());
    }
    INFO(l.model << " on " << l.cluster << "\n" << l.text);
    const std::optional<std::multiset<std::string>> expected = said_by_verbs(l, *model, s->state().document()->name);
    if (!expected || !s->apply({"cluster", {{"name", l.cluster}}}).ok()) continue;  // there is no such cluster
    REQUIRE(s->apply({"text", {{"text", l.text}}}).ok());
    s->wait();
    CHECK(lines_of(s->state().document()->latest->diagnostics) == *expected);
    ++seen;
    said += expected->size();
  }
  CHECK(seen > 400);
  CHECK(said > 200);
}
