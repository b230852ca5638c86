// Random edits of two documents, beside a plain list of texts: every command leaves the text that it says, undo and redo bring back
// text and figures exactly, and the next session on the workspace has what this one had.
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <random>
#include <sstream>
#include <tuple>

#include "tests/app/session/scratch.h"
#include "tests/app/session/steps.h"

using namespace planscope;
using namespace planscope::session;
using namespace planscope::testing;

namespace {

using Texts = std::vector<std::string>;

// What a document's text has to be: the edits since a version was kept, the versions before it, and those that undo came from.
class Expected {
 public:
  explicit Expected(std::string text) : texts_{std::move(text)} {}

  const std::string& text() const { return texts_[at_]; }
  const std::string& kept() const { return texts_[0]; }
  bool edited() const { return text() != kept(); }

  void write(const std::string& text) {
    later_.clear();
    if (text != this->text()) push(text);
  }
  bool keep() {
    if (version_ && !edited()) return false;
    if (edited()) before_.push_back(kept());  // the file's text is the parent of a first version that differs
    version_ = true;
    texts_ = {text()};
    at_ = 0;
    later_.clear();
    return true;
  }
  bool drop() {
    if (!edited()) return false;
    push(kept());
    return true;
  }
  bool undo() {
    if (at_ > 0) return --at_, true;
    if (before_.empty()) return false;
    later_.emplace_back(texts_, at_);
    texts_ = {before_.back()};
    before_.pop_back();
    return true;
  }
  bool redo() {
    if (at_ + 1 < texts_.size()) return ++at_, true;
    if (later_.empty() || edited()) return false;
    before_.push_back(kept());
    std::tie(texts_, at_) = later_.back();
    later_.pop_back();
    return true;
  }

 private:
  void push(const std::string& text) {
    texts_.resize(at_ + 1);
    texts_.push_back(text);
    ++at_;
  }

  Texts texts_;
  std::size_t at_ = 0;
  bool version_ = false;
  Texts before_;
  std::vector<std::pair<Texts, std::size_t>> later_;
};

struct Beginning {
  std::string model;
  Texts begin, statements;  // lines of the plan at first; what is written
};

const Beginning beginnings[] = {
    {"gpt2_tiny",
     {"devices 2 as data=2", "trans * batch by data"},
     {"trans transformer.h[*] recompute", "trans transformer.h[0].mlp.c_fc out by data", "trans update(*) dim0 by data"}},
    {"mixtral_tiny",
     {"devices 2 as data=2", "axis mb=2", "trans * batch by mb, data"},
     {"use ep(model.layers[*], data)", "trans model.layers[*] recompute", "trans update(*) dim0 by data"}},
    {"t5_tiny",
     {"devices 2 as data=2", "trans * batch by data"},
     {"trans encoder.block[*] recompute", "trans decoder.block[*] offload", "assign decoder.block[*] to data=1"}},
    {"swin_tiny",
     {"devices 2 as data=2", "trans * batch by data"},
     {"trans swin.encoder.layers[*].blocks[*].mlp.fc1 out by data", "trans swin.encoder.layers[*] recompute",
      "require memory(all) <= 1MiB"}},
};

std::string text_of_lines(const Texts& lines) {
  std::string out;
  for (const std::string& l : lines) out += l + "\n";
  return out;
}

// What is said of a text: its figures where they are of that text, and what is wrong with it.
Json said_of(const Session& s) {
  const Json c = chips(s);
  Json out = {{"verdict", c["verdict"]}, {"current", c["current"]}};
  if (c["current"] == true)
    for (const char* figure : {"step_us", "origin", "peak_bytes", "memory_bytes"}) out[figure] = c[figure];
  const Json problems = panel(s, "problems");
  for (const Json& row : problems["rows"])
    out["problems"].push_back({row["severity"], row["line"], row["text"]});
  return out;
}

class Edits {
 public:
  Edits(const Beginning& first, const Beginning& second, unsigned seed) : random_(seed) {
    for (const Beginning* s : {&first, &second}) {
      const std::string text = text_of_lines(s->begin);
      files_.push_back(scratch_.write(s->model + ".plan", text));
      models_.push_back("sample_models/" + s->model + ".pt2");
      expected_.emplace_back(text);
      pools_.push_back(s->statements);
      for (const char* other : {"# a word", "nonsense here", "trans nothing.of.it recompute", "trans * batch by data"})
        pools_.back().push_back(other);
    }
  }

  void run(int steps) {
    Session s(settings());
    for (std::size_t k = 0; k < 2; ++k) must(s, "open model=" + models_[k] + " plan=" + files_[k]);
    now_ = 1;
    for (int step = 0; step < steps; ++step) {
      const std::string done = one(s);
      INFO("with " << models_[0] << ", step " << step << ": " << done);
      REQUIRE(text_of(s) == expected().text());
      REQUIRE(panel(s, "script")["text"] == expected().text());
      s.wait();
      const Json said = said_of(s);
      const auto known = said_.try_emplace({now_, expected().text(), s.state().document()->cluster}, said);
      REQUIRE(known.first->second == said);
      seen_again_ += !known.second;
    }
    CHECK(seen_again_ > steps / 4);
    s.leave_drafts();
  }

  // By the next session.
  void reopen() {
    Session s(settings());
    for (std::size_t k = 0; k < 2; ++k) {
      INFO(files_[k]);
      const Expected& e = expected_[k];
      const State before = s.state();
      const auto lost = std::find_if(before.lost.begin(), before.lost.end(), [&](const LostDraft& l) { return l.path == files_[k]; });
      CHECK((lost != before.lost.end()) == e.edited());
      if (lost == before.lost.end()) {
        must(s, "open model=" + models_[k] + " plan=" + files_[k]);
        const std::vector<Version>& versions = *s.state().document()->versions;
        CHECK((text_of(s) == e.text() ||
               std::any_of(versions.begin(), versions.end(), [&](const Version& v) { return v.text == e.text(); })));
        continue;
      }
      must(s, "restore " + std::to_string(lost->id));
      CHECK(text_of(s) == e.text());
      must(s, "undo");
      CHECK(text_of(s) == e.kept());
    }
  }

 private:
  SessionSettings settings() const { return {.workspace = scratch_.file("w"), .cluster = "dgx-h100x1"}; }
  Expected& expected() { return expected_[now_]; }
  std::size_t any(std::size_t n) { return random_() % n; }
  const std::string& statement() { return pools_[now_][any(pools_[now_].size())]; }

  // What was done, in words. What the session refuses, the list of texts refuses too.
  std::string one(Session& s) {
    switch (any(12)) {
      case 0:
        now_ = 1 - now_;
        must(s, "document " + std::to_string(now_ + 1));
        return "the other document";
      case 1:
        must(s, any(2) == 0 ? "cluster dgx-h100x1" : "cluster dgx-a100x1");
        return "another cluster";
      case 2: {
        const std::string what = any(3) == 0 ? "select none" : "select statement=" + std::to_string(1 + any(2));
        must(s, what);
        return what;
      }
      case 3:
      case 4: {
        const std::string line = statement();
        REQUIRE(s.apply({"append", {{"statement", line}}}).ok());
        expected().write(expected().text() + line + "\n");
        return "append " + line;
      }
      case 5: {
        std::vector<std::string> lines;
        std::istringstream in(expected().text());
        for (std::string l; std::getline(in, l);) lines.push_back(l);
        const std::size_t at = any(lines.size());
        lines[at] = statement();
        REQUIRE(s.apply({"replace", {{"line", std::to_string(at + 1)}, {"statement", lines[at]}}}).ok());
        expected().write(text_of_lines(lines));
        return "replace " + std::to_string(at + 1) + " " + lines[at];
      }
      case 6: return both(s, "keep", expected().keep());
      case 7: return both(s, "drop", expected().drop());
      case 8:
      case 9:
      case 10: return both(s, "undo", expected().undo());
      default: return both(s, "redo", expected().redo());
    }
  }

  static std::string both(Session& s, const std::string& command, bool can) {
    INFO(command);
    REQUIRE(testing::run(s, command).ok() == can);
    return command;
  }

  const Scratch scratch_;
  std::mt19937 random_;
  std::vector<std::string> files_, models_;
  std::vector<Expected> expected_;
  std::vector<Texts> pools_;
  std::size_t now_ = 0;
  std::map<std::tuple<std::size_t, std::string, std::string>, Json> said_;  // of a document's text on a cluster
  int seen_again_ = 0;
};

}  // namespace

TEST_CASE("random edits of two documents stay exact, with their figures, and are there in the next session", "[slow]") {
  for (const unsigned seed : {5U, 17U, 23U})
    for (const std::size_t pair : {0U, 2U}) {
      Edits edits(beginnings[pair], beginnings[pair + 1], seed);
      edits.run(100);
      edits.reopen();
    }
}

TEST_CASE("undo stays within its document, and opening another one discards nothing") {
  const Scratch scratch;
  Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
  must(s, "open model=" + kModel + " plan=" + scratch.write("a.plan", kPlan));
  must(s, "append \"# edited\"");
  must(s, "open plan=" + scratch.write("b.plan", "devices 1\n"));
  CHECK(s.state().documents.size() == 2);
  CHECK_FALSE(run(s, "undo").ok());
  CHECK(s.state().document()->draft.text() == "devices 1\n");
  must(s, "document 1");
  CHECK(s.state().document()->draft.text() == kPlan + "# edited\n");
  CHECK_FALSE(run(s, "close").ok());  // it has edits
  must(s, "close discard=yes");
  CHECK(s.state().document()->name == "b");
}

TEST_CASE("1,000 edits and undos over two documents stay exact") {
  const Scratch scratch;
  std::mt19937 random(11);
  Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
  must(s, "open model=" + kModel + " plan=" + scratch.write("a.plan", kPlan));
  must(s, "open plan=" + scratch.write("b.plan", "devices 1\n"));
  std::vector<std::vector<std::string>> texts = {{kPlan}, {"devices 1\n"}};
  std::vector<std::size_t> at = {0, 0};
  std::size_t now = 1;
  for (int step = 0; step < 1000; ++step) {
    switch (random() % 4) {
      case 0:
        now = 1 - now;
        must(s, "document " + std::to_string(now + 1));
        break;
      case 1:
        if (at[now] > 0) --at[now], must(s, "undo");
        break;
      case 2:
        if (at[now] + 1 < texts[now].size()) ++at[now], must(s, "redo");
        break;
      case 3: {
        const std::string line = "# edit " + std::to_string(step);
        const std::string text = texts[now][at[now]] + line + "\n";
        texts[now].resize(++at[now]);
        texts[now].push_back(text);
        must(s, "append \"" + line + "\"");
      }
    }
    REQUIRE(s.state().document()->draft.text() == texts[now][at[now]]);
  }
  s.wait();
  CHECK(chips(s)["current"] == true);
}
