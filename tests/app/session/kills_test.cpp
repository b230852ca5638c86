// A session is killed at random moments, while commands run and plans are evaluated beside. Whatever a command that had ended left
// must be there for the next session: as a draft that the program had not kept, as a version, or in the plan's file.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <map>
#include <random>
#include <thread>

#include "app/session/session.h"
#include "storage/workspace.h"
#include "tests/app/session/scratch.h"

using namespace planscope;
using namespace planscope::session;
using testing::Scratch;

namespace {

constexpr int kRounds = 200;
const std::string kModel = "sample_models/gpt2_tiny.pt2";
const std::string kPlan = "devices 2 as data=2\ntrans * batch by data\n";
using Texts = std::map<std::string, std::string>;  // by the plan's name

// The commands of a person with two plans of one model, the same for the same seed.
class Person {
 public:
  explicit Person(unsigned seed) : random_(seed) {}

  Invocation next() {
    const std::string mark = "# edit " + std::to_string(number_++);
    switch (random_() % 12) {
      case 0: return {"keep", {}};
      case 1: return {"undo", {}};
      case 2: return {"redo", {}};
      case 3: return {"document", {{"number", std::to_string(random_() % 2 + 1)}}};
      case 4: return {"text", {{"text", kPlan + mark + "\n"}}};
      case 5: return {"append", {{"statement", "trans transformer.h[0] recompute  " + mark}}};
      case 6: return {"cluster", {{"name", random_() % 2 ? "dgx-h100x1" : "dgx-h100x2"}}};
      case 7: return {"save", {}};
      default: return {"type", {{"text", kPlan + mark + " typed\n"}}};
    }
  }

 private:
  std::mt19937 random_;
  int number_ = 0;
};

// A session with the two plans of a folder, on a workspace there.
std::unique_ptr<Session> open_both(const Scratch& folder) {
  auto s = std::make_unique<Session>(SessionSettings{.workspace = folder.file("w"), .cluster = "dgx-h100x1"});
  for (const char* name : {"one.plan", "two.plan"})
    if (!s->apply({"open", {{"model", kModel}, {"plan", folder.write(name, kPlan)}}}).ok()) std::abort();
  return s;
}

Texts texts(const Session& s) {
  Texts out;
  for (const Document& d : s.state().documents) out[d.name] = d.draft.text();
  return out;
}

// Works until it is killed; says when it begins, and how many commands have ended.
[[noreturn]] void work(const Scratch& folder, unsigned seed, int said) {
  const std::unique_ptr<Session> s = open_both(folder);
  Person person(seed);
  for (int ended = 0;; ++ended) {
    if (::write(said, &ended, sizeof ended) != sizeof ended) ::_exit(1);
    (void)s->apply(person.next());
  }
}

// The texts that are there for the next session: of the plan's draft if there is one, else of its versions and its file.
std::vector<std::string> found(const Workspace& w, const std::vector<LostDraft>& lost, const Scratch& folder,
                               const std::string& plan) {
  std::vector<std::string> out;
  for (const LostDraft& l : lost)
    if (l.name == plan) out.push_back(l.text);
  if (!out.empty()) return out;
  out.push_back(folder.read(plan + ".plan"));
  const Result<std::vector<PlanRow>> rows = w.plans();
  REQUIRE(rows.ok());
  for (const PlanRow& row : *rows)
    if (row.name == plan) out.push_back(row.text);
  return out;
}

}  // namespace

TEST_CASE("a session that is killed at any moment has lost nothing of the commands that had ended") {
  std::mt19937 random(5);
  int commands = 0;
  for (int round = 0; round < kRounds; ++round) {
    CAPTURE(round);
    const Scratch folder;
    const unsigned seed = static_cast<unsigned>(random());
    int said[2];
    REQUIRE(::pipe(said) == 0);
    const pid_t child = ::fork();
    if (child == 0) work(folder, seed, said[1]);
    ::close(said[1]);
    int ended = 0;
    REQUIRE(::read(said[0], &ended, sizeof ended) == sizeof ended);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 150'000));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    for (int more = 0; ::read(said[0], &more, sizeof more) == sizeof more;) ended = more;
    ::close(said[0]);
    commands += ended;

    // The same commands in a session that nobody kills: its texts before and after the one that was cut short.
    const Scratch again;
    const std::unique_ptr<Session> whole = open_both(again);
    Person person(seed);
    for (int k = 0; k < ended; ++k) (void)whole->apply(person.next());
    const Texts before = texts(*whole);
    (void)whole->apply(person.next());
    const Texts after = texts(*whole);

    const Session next({.workspace = folder.file("w"), .cluster = "dgx-h100x1"});
    const SystemClock clock;
    const Result<Workspace> w = Workspace::open(folder.file("w"), clock);
    REQUIRE(w.ok());
    for (const auto& [plan, text] : before) {
      const std::vector<std::string> there = found(*w.value, next.state().lost, folder, plan);
      const auto has = [&](const std::string& wanted) { return std::find(there.begin(), there.end(), wanted) != there.end(); };
      INFO("after " << ended << " commands the plan '" << plan << "' was\n" << text);
      INFO("and would be\n" << after.at(plan));
      INFO("and there is\n" << Catch::Detail::stringify(there));
      CHECK((has(text) || has(after.at(plan))));
    }
  }
  CHECK(commands > kRounds);  // else nothing was killed at work
}
