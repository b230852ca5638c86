// Figures are of the text as it stands, or say of which text they are; every version gets its own.
#include <catch2/catch.hpp>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "app/session/canvases/canvases.h"
#include "app/session/views.h"
#include "tests/app/session/scratch.h"
#include "tests/app/session/steps.h"

using namespace planscope;
using namespace planscope::session;
using namespace planscope::testing;

TEST_CASE("figures are of the text as it stands, or say that they are not") {
  const Scratch scratch;
  Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
  must(s, "open model=" + kModel);
  write(s, kPlan);
  s.wait();
  const Json good = chips(s);
  CHECK(good["current"] == true);
  CHECK(good["verdict"] == "equivalent");
  must(s, "append \"nonsense here\"");
  s.wait();
  const Json broken = chips(s);
  CHECK(broken["current"] == false);
  CHECK(broken["verdict"] == "refused");
  CHECK(broken["step_us"] == good["step_us"]);  // the last good picture stays
  CHECK(broken["reason"].get<std::string>().find("of an older text: line 3") == 0);
  must(s, "undo");
  CHECK(chips(s)["current"] == true);  // known already: nothing is computed
  must(s, "cluster dgx-a100x1");
  s.wait();
  CHECK(chips(s)["current"] == true);
  CHECK(chips(s)["step_us"] != good["step_us"]);
  must(s, "cluster dgx-h100x1");
  s.wait();
  CHECK(chips(s)["step_us"] == good["step_us"]);
}

namespace {

// Keeps the thread on which plans are evaluated where it tells of a change, as long as it lives.
class Held {
 public:
  explicit Held(Session& s) : session_(s) {
    s.on_change([this, mine = std::this_thread::get_id()] {
      if (std::this_thread::get_id() == mine) return;
      std::unique_lock lock(mutex_);
      held_ = true;
      changed_.notify_all();
      changed_.wait(lock, [this] { return !holds_; });
    });
  }
  ~Held() {
    release();
    session_.wait();
    session_.on_change({});
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return held_; });
  }
  void release() {
    const std::lock_guard lock(mutex_);
    holds_ = false;
    changed_.notify_all();
  }

 private:
  Session& session_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool holds_ = true, held_ = false;
};

}  // namespace

TEST_CASE("while a text is being evaluated the last picture stays, and says of which text it is") {
  const Scratch scratch;
  Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
  must(s, "open model=" + kModel);
  s.wait();
  {
    Held held(s);
    write(s, kPlan);
    CHECK(chips(s)["reason"] == "of the model without a plan: the newest text is being evaluated");  // no text was there
    held.wait();  // predicted, and not yet verified
    CHECK(chips(s)["current"] == true);
    CHECK(chips(s)["verdict"] == "pending");
    const Json predicted = chips(s);
    must(s, "append \"trans transformer.h[*] recompute\"");
    CHECK(chips(s)["current"] == false);
    CHECK(chips(s)["step_us"] == predicted["step_us"]);
    CHECK(chips(s)["reason"] == "of an older text: the newest text is being evaluated");
    CHECK(panel(s, "timeline")["reason"] == "of an older text: the newest text is being evaluated");
    must(s, "open plan=" + scratch.write("b.plan", "devices 1\n"));
    CHECK(chips(s)["current"] == false);
    CHECK(chips(s)["step_us"] == predicted["step_us"]);
    CHECK(chips(s)["reason"] == "of the plan 'plan': the newest text is being evaluated");
    CHECK_FALSE(panel(s, "timeline")["lanes"].empty());
    must(s, "open model=sample_models/llama_tiny.pt2 plan=" + scratch.file("b.plan"));
    CHECK(chips(s)["step_us"].is_null());  // a picture of another model says nothing of this one
    CHECK(chips(s)["reason"] == "the newest text is being evaluated");
    CHECK(words_of(**find_canvas("graph"), s.state()).stale.empty());
  }
  CHECK(chips(s)["current"] == true);
  CHECK(chips(s)["verdict"] == "equivalent");
}

TEST_CASE("the last picture stays while arguments are open, and goes where another plan has none") {
  const Scratch scratch;
  Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
  must(s, "open model=" + kModel);
  write(s, kPlan);
  s.wait();
  const Json good = chips(s);
  const std::string open = "devices 8 as data=?d tensor=?t where ?d * ?t = 8\ntrans * batch by data\n";
  write(s, open);
  s.wait();
  CHECK(chips(s)["verdict"] == "open");
  CHECK(chips(s)["current"] == false);
  CHECK(chips(s)["step_us"] == good["step_us"]);
  CHECK(chips(s)["reason"] == "of an older text: the plan leaves arguments open");
  CHECK_FALSE(panel(s, "timeline")["lanes"].empty());
  must(s, "select operators=\"transformer.h[*].mlp\"");
  s.wait();
  CHECK_FALSE(panel(s, "operator").contains("reason"));  // looked at in the text as it stands
  must(s, "open plan=" + scratch.write("b.plan", "nonsense\n"));
  s.wait();
  CHECK(chips(s)["verdict"] == "refused");
  CHECK(chips(s)["step_us"].is_null());
}

TEST_CASE("memory rows are judged, and open plans are shown as open") {
  const Scratch scratch;
  Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
  must(s, "open model=" + kModel);
  write(s, kPlan + "require memory(all) <= 1MiB\n");
  s.wait();
  Json rows = to_json(problems_panel(s.state()))["rows"];
  REQUIRE(rows.size() == 1);
  CHECK(rows[0]["severity"] == "warning");
  CHECK(rows[0]["line"] == 3);
  write(s, "devices 8 as data=?d tensor=?t where ?d * ?t = 8\ntrans * batch by data\n");
  s.wait();
  CHECK(chips(s)["verdict"] == "open");
  rows = to_json(problems_panel(s.state()))["rows"];
  REQUIRE(rows.size() >= 2);
  for (const Json& r : rows) CHECK(r["severity"] == "note");
}

TEST_CASE("what an edit changes is what the plans differ by") {
  const Scratch scratch;
  Session s({.workspace = scratch.file("w"), .cluster = "local"});
  must(s, "open model=" + kModel);
  write(s, kPlan);
  must(s, "keep");
  s.wait();
  const Json before = chips(s);
  must(s, "append \"trans transformer.h[*] recompute\"");
  s.wait();
  const Json preview = chips(s)["preview"];
  CHECK(preview["step_delta_us"].get<double>() > 0);
  CHECK(preview["peak_delta_bytes"].get<double>() < 0);
  must(s, "keep");
  s.wait();
  const Json after = chips(s);
  CHECK(after["preview"].is_null());
  CHECK(after["step_us"].get<double>() - before["step_us"].get<double>() == Approx(preview["step_delta_us"].get<double>()));
  CHECK(after["peak_bytes"].get<double>() - before["peak_bytes"].get<double>() == preview["peak_delta_bytes"].get<double>());
  must(s, "undo");
  s.wait();
  CHECK(chips(s)["step_us"] == before["step_us"]);
  must(s, "redo");
  s.wait();
  CHECK(chips(s)["step_us"] == after["step_us"]);
}

TEST_CASE("every version has figures, also one that nobody waited for") {
  const Scratch scratch;
  Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
  must(s, "open model=" + kModel + " plan=" + scratch.write("a.plan", kPlan));
  must(s, "keep");
  for (const char* line : {"trans transformer.h[0] recompute", "trans transformer.h[0] offload", "# nothing"}) {
    must(s, std::string("append \"") + line + "\"");
    must(s, "keep");
  }
  must(s, "append \"trans no_such_module recompute\"");
  must(s, "keep");
  must(s, "undo");
  s.wait();
  const State state = s.state();
  REQUIRE(state.document()->versions->size() == 5);
  for (const Version& v : *state.document()->versions) {
    INFO(v.change);
    const bool wrong = v.text.find("no_such_module") != std::string::npos;
    CHECK(v.figures.step_us.has_value() == !wrong);
    CHECK(v.figures.verdict == (wrong ? "" : "equivalent"));
  }
}

TEST_CASE("a time is told with its parts") {
  CHECK(sum_and_parts_text({}) == "0 µs");
  CHECK(sum_and_parts_text({{"warm-up", 0}, {"data", 43}}) == "43 µs: data");
  CHECK(sum_and_parts_text({{"warm-up", 30}, {"cool-down", 0}, {"data", 13}}) == "43 µs: warm-up 30 µs, data 13 µs");
  CHECK(each_part_text({{"forward", 12}}) == "forward 12 µs");
  CHECK(each_part_text({{"forward", 0}}) == "–");
}
