// Whole plans under rows: what keeps them is found, and what excludes everything is named.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>

#include "engine/base/text.h"
#include "planner/search/stages/stages.h"
#include "tests/planner/search/stages/samples.h"

using namespace planscope;
using namespace planscope::stages;
using planscope::testing::cluster;
using planscope::testing::predicted;
using planscope::testing::rows;
using planscope::testing::sample;

TEST_CASE("rows are kept, and what excludes everything is named") {
  const Graph graph = sample("gpt2_tiny");
  const Cluster c = cluster("dgx-a100x1");
  Settings s{.global_batch = 16, .seconds = 1000};
  s.rows = rows("require |tensor| = 2\nrequire |pipe| >= 2\n");
  const Result<Found> kept = search(graph, c, s);
  REQUIRE(kept.ok());
  REQUIRE(kept->outcome == Outcome::found);
  CHECK(kept->best[0].configuration.tensor == 2);
  CHECK(kept->best[0].configuration.pipe >= 2);
  s.rows = rows("require |tensor| >= 4\nrequire |mb| >= 1\nrequire |data| >= 4\n");
  const Result<Found> none = search(graph, c, s);
  REQUIRE(none.ok());
  CHECK(none->outcome == Outcome::impossible);
  REQUIRE(none->conflicts.size() == 1);
  REQUIRE(none->conflicts[0].lines.size() == 2);
  CHECK(none->conflicts[0].lines[0].line.text == "require |tensor| >= 4");
  CHECK(none->conflicts[0].lines[1].line.text == "require |data| >= 4");
}

TEST_CASE("memory rows make the planner compute again, or say no", "[slow]") {
  const Graph graph = sample("llama_tiny");
  const Cluster c = cluster("dgx-a100x1");
  const Result<Found> free = search(graph, c, {.global_batch = 64});
  REQUIRE(free->outcome == Outcome::found);
  const std::int64_t peak = free->best[0].peak_bytes[0];
  Settings s{.global_batch = 64, .seconds = 1000};
  s.rows = rows("require memory(all) <= " + std::to_string(peak / 2) + "\n");
  const Result<Found> half = search(graph, c, s);
  REQUIRE(half->outcome == Outcome::found);
  for (std::int64_t bytes : half->best[0].peak_bytes) CHECK(bytes <= peak / 2);
  s.rows = rows("require memory(all) <= 1000\n");
  const Result<Found> none = search(graph, c, s);
  CHECK(none->outcome == Outcome::impossible);
  REQUIRE(none->conflicts.size() == 1);
}

TEST_CASE("what must not be computed again is cut so that it need not be", "[slow]") {
  const Graph graph = sample("llama_tiny");
  Cluster c = cluster("dgx-a100x1");
  c.host = {};  // nothing is offloaded
  const std::int64_t peak =
      search(graph, c, {.global_batch = 64, .templates = {false, false, false}})->best[0].peak_bytes[0];
  Settings s{.global_batch = 64, .templates = {false, false, false}};
  const auto under = [&](const std::string& text) {
    s.rows = rows("require memory(all) <= " + std::to_string(peak / 2) + "\n" + text);
    const Result<Found> f = search(graph, c, s);
    REQUIRE(f->outcome == Outcome::found);
    INFO(f->best[0].script);
    for (std::int64_t bytes : f->best[0].peak_bytes) CHECK(bytes <= peak / 2);
    CHECK(f->best[0].bound_us <= f->best[0].step_us);
    return *f;
  };
  const Found free = under("");
  const Found one = under("forbid trans model.layers[0] recompute\n");
  const Found all = under("forbid trans * recompute\n");
  CHECK(free.best[0].step_us <= one.best[0].step_us);
  CHECK(one.best[0].step_us <= all.best[0].step_us);
  for (const Candidate& best : all.best) CHECK(best.script.find("recompute") == std::string::npos);
  // Other layers are computed again instead.
  const Found others = under("forbid trans model.layers[0].mlp recompute\nrequire |pipe| = 1\nrequire |tensor| <= 2\n");
  CHECK(others.best[0].script.find("trans L[1:") != std::string::npos);
  const Found none = under("forbid trans * recompute\nrequire |pipe| = 1\nrequire |tensor| <= 2\n");
  CHECK(others.best[0].step_us < none.best[0].step_us);
}

TEST_CASE("the conflicts are all minimal sets of rows that leave nothing, each searched from nothing", "[slow]") {
  const Graph graph = sample("gpt2_tiny");
  Cluster c = cluster("dgx-a100x1");
  c.levels[0].arity = 4;
  const std::int64_t peak = search(graph, c, {.global_batch = 8})->best[0].peak_bytes[0];
  const std::vector<std::string> all = {"require |tensor| >= 4",
                                        "require |data| >= 2",
                                        "require |pipe| >= 2",
                                        "require |mb| = 1",
                                        "require |tensor| * |data| = 4 or |mb| = 3",
                                        "require |tensor| <= 2",
                                        "require memory(all) <= " + std::to_string(peak / 6),
                                        "require memory(pipe=0) <= " + std::to_string(peak / 8),
                                        "forbid trans * batch by data",
                                        "forbid trans transformer.h[0].mlp.c_fc out by tensor",
                                        "trans transformer.h[1] recompute",
                                        "forbid trans transformer.h[0:3] recompute"};
  std::mt19937 random(7);
  int several = 0, impossible = 0;
  for (int round = 0; round < 3; ++round) {
    std::vector<std::string> chosen;
    for (const std::string& row : all)
      if (random() % 2 == 0 && chosen.size() < 4) chosen.push_back(row);
    const unsigned every = (1U << chosen.size()) - 1;
    std::map<unsigned, Found> known;
    const auto asked = [&](unsigned bits) {
      if (const auto k = known.find(bits); k != known.end()) return k->second;
      std::string text;
      for (std::size_t i = 0; i < chosen.size(); ++i) text += (bits >> i & 1 ? chosen[i] : "") + "\n";
      Settings s{.global_batch = 8, .templates = {false, false, false}};
      s.rows = rows(text);
      s.relaxing_work = bits == every ? Deadline::kAnyWork : 0;
      return known.emplace(bits, *search(graph, c, s)).first->second;
    };
    const auto at_once = [&](const std::vector<std::string>& of) {
      Settings s{.global_batch = 8, .templates = {false, false, false}};
      s.rows = rows(join(of, "\n") + "\n");
      s.relaxing_work = 0;
      return *search(graph, c, s);
    };
    const Found f = asked(every);
    std::set<unsigned> found;
    std::string told = join(chosen, "\n");
    for (const constraint::ConflictLines& conflict : f.conflicts) {
      unsigned bits = 0;
      for (const constraint::ConflictLine& l : conflict.lines) bits |= 1U << (l.line.line - 1);
      found.insert(bits);
      told += "\nconflict " + std::to_string(bits);
      for (const constraint::ConflictLine& l : conflict.lines) {
        const Found rest = asked(every & ~(1U << (l.line.line - 1)));
        CHECK((l.without.possible == constraint::Answer::yes) == (rest.outcome == Outcome::found));
        if (!l.without.optimum) continue;
        CHECK(l.without.optimum->step_us == Approx(rest.best[0].step_us));
        CHECK(l.without.optimum->lower_bound_us <= rest.best[0].step_us);
      }
    }
    INFO(told);
    CHECK((f.outcome == Outcome::impossible) == !found.empty());
    // In no time for better ones there is a plan nonetheless, and a bound of all.
    for (const constraint::ConflictLines& conflict : at_once(chosen).conflicts)
      for (const constraint::ConflictLine& l : conflict.lines) {
        if (l.without.possible != constraint::Answer::yes) continue;
        const double best_us = asked(every & ~(1U << (l.line.line - 1))).best[0].step_us;
        REQUIRE(l.without.optimum);
        CHECK(l.without.optimum->step_us >= best_us * 0.9999);
        CHECK(l.without.optimum->lower_bound_us <= best_us);
        CHECK(l.without.optimum->lower_bound_us > 0);
      }
    impossible += found.empty() ? 0 : 1;
    several += found.size() > 1 ? 1 : 0;
    for (unsigned bits = 0; bits <= every; ++bits) {
      const bool contains = std::any_of(found.begin(), found.end(), [&](unsigned o) { return (bits & o) == o; });
      INFO(bits);
      CHECK((asked(bits).outcome == Outcome::impossible) == contains);
    }
    for (unsigned one : found)
      for (unsigned o : found) CHECK((one == o || (one & o) != o));
  }
  CHECK(impossible >= 2);
  CHECK(several >= 1);
}

TEST_CASE("memory that is short names the stage, and what would do") {
  const Graph graph = sample("llama3_8b");
  Settings s{.global_batch = 16, .seconds = 1000, .relaxing_work = 0};  // none of it is for effects
  s.rows = rows("require |tensor| = 1\nrequire |pipe| = 4\nrequire |data| = 2\nrequire memory(all) <= 20GiB\n");
  const Result<Found> none = search(graph, cluster("dgx-a100x1"), s);
  REQUIRE(none.ok());
  CHECK(none->outcome == Outcome::impossible);
  REQUIRE(!none->conflicts.empty());
  const auto& lines = none->conflicts[0].lines;
  const auto memory = std::find_if(lines.begin(), lines.end(), [](const auto& l) { return l.needs.has_value(); });
  REQUIRE(memory != lines.end());
  CHECK(memory->needs->limit_bytes == std::int64_t{20} << 30);
  CHECK(memory->needs->bytes > memory->needs->limit_bytes);
  int enough = 0;
  for (const auto& l : lines) {
    if (l.needs) continue;
    REQUIRE(l.without.bytes);
    CHECK(*l.without.bytes <= memory->needs->bytes);
    enough += *l.without.bytes <= memory->needs->limit_bytes ? 1 : 0;
  }
  CHECK(enough > 0);
}

TEST_CASE("rows that are statements stand in the plan, and count where they contradict others") {
  const Graph graph = sample("llama_tiny");
  const Cluster c = cluster("dgx-a100x1");
  Settings s{.global_batch = 8, .seconds = 1000};
  s.rows = rows("trans model.layers[1] recompute\nrequire |data| <= 4\n");
  const Result<Found> kept = search(graph, c, s);
  REQUIRE(kept->outcome == Outcome::found);
  for (const Candidate& best : kept->best) {
    INFO(best.script);
    CHECK(best.script.find("auto trans model.layers[1] recompute") != std::string::npos);
    CHECK(predicted(graph, c, best.script).step_us() == Approx(best.step_us));
  }
  s.rows = rows("require |data| <= 4\ntrans model.layers[1] recompute\nforbid trans * recompute\n");
  const Result<Found> none = search(graph, c, s);
  REQUIRE(none->outcome == Outcome::impossible);
  REQUIRE(none->conflicts.size() == 1);
  CHECK(none->conflicts[0].rows == constraint::Rows{2, 3});
  CHECK(none->all_conflicts);
}

TEST_CASE("what rows leave open is chosen in every plan, and its rows are rows like others", "[slow]") {
  const Graph graph = sample("llama_tiny");
  const Cluster c = cluster("dgx-a100x1");
  const auto found = [&](const std::string& text) {
    Settings s{.global_batch = 8, .relaxing_work = Deadline::kAnyWork};
    s.seconds = 1000;
    s.rows = rows("require |tensor| >= 2\n" + text);
    Result<Found> f = search(graph, c, s);
    INFO(to_string(f.diagnostics));
    REQUIRE(f.ok());
    return std::move(*f);
  };
  const std::string line = "trans model.layers[*].mlp.down_proj ";
  const Found out = found(line + "out by tensor\n"), in = found(line + "in by tensor\n");
  REQUIRE(out.best[0].step_us > in.best[0].step_us);
  const Found open = found(line + "out|in by tensor\n");
  CHECK(open.best[0].step_us == in.best[0].step_us);
  CHECK(open.best[0].script.find("auto " + line + "in by tensor") != std::string::npos);
  CHECK(predicted(graph, c, open.best[0].script).step_us() == Approx(open.best[0].step_us));
  const std::string word = line + "?dim by tensor where ?dim in {out,in}\n";
  CHECK(found(word + "require ?dim != in\n").best[0].step_us == out.best[0].step_us);
  const Found none = found(word + "require ?dim != in\nrequire |data| >= 1\nrequire ?dim != out\n");
  CHECK(none.outcome == Outcome::impossible);
  CHECK(none.all_conflicts);
  REQUIRE(none.conflicts.size() == 1);
  CHECK(none.conflicts[0].rows == constraint::Rows{2, 3, 5});
  const std::vector<constraint::ConflictLine>& lines = none.conflicts[0].lines;
  REQUIRE(lines[1].without.optimum);
  CHECK(lines[1].without.optimum->step_us == in.best[0].step_us);
  REQUIRE(lines[2].without.optimum);
  CHECK(lines[2].without.optimum->step_us == out.best[0].step_us);
}

TEST_CASE("rows that mean nothing, whatever the sizes, are bad input") {
  const Graph graph = sample("gpt2_tiny");
  const Cluster c = cluster("dgx-a100x1");
  for (const char* row :
       {"trans transformer.layers[0] recompute", "require |foo| = 2", "forbid trans lm_hed vocab by tensor",
        "devices 4", "model batch=4", "order ?", "require ?t <= 4"}) {
    INFO(row);
    Settings s{.global_batch = 8, .seconds = 1000};
    s.rows = rows(std::string("require |data| >= 1\n") + row + "\n");
    const Result<Found> f = search(graph, c, s);
    REQUIRE(!f.ok());
    CHECK(f.diagnostics[0].line == 2);
    CHECK(f.diagnostics[0].file == "rows.plan");
  }
}

namespace {

// Two devices on one slow link.
Cluster two_devices(double bandwidth) {
  Cluster c = cluster("dgx-a100x1");
  c.levels[0].arity = 2;
  c.levels[0].bandwidth = bandwidth;
  c.host = {};
  return c;
}

struct ByHand {
  std::string script;
  double step_us = 0;
  std::int64_t peak = 0;
};

// Plans of the space, with any of the four layers computed again, in stages of any length.
std::vector<ByHand> by_hand(const Graph& graph, const Cluster& c, const std::string& layers, int batch) {
  std::vector<ByHand> out;
  const auto add = [&](const std::string& grid, const std::string& cut, int mb, int zero, int again) {
    std::string text = "devices 2 as " + grid + "\naxis mb=" + std::to_string(mb) +
                       "\nmodel batch=" + std::to_string(batch) + "\nlet L = " + layers + "\n";
    if (!cut.empty()) text += "let S = cut L into " + cut + "\n";
    text += cut.empty() ? "trans * batch by mb, data\n" : "trans * batch by mb\n";
    for (int l = 0; l < 4; ++l)
      if (again >> l & 1) text += "trans L[" + std::to_string(l) + "] recompute\n";
    if (!cut.empty()) text += "assign S[i] to pipe=i\nuse 1f1b(S)\n";
    if (zero > 0) text += "use zero(" + std::to_string(zero) + ", *, data)\n";
    const Simulation s = predicted(graph, c, text);
    std::int64_t peak = 0;
    for (const ClassTimeline& k : s.classes) peak = std::max(peak, k.peak.bytes());
    out.push_back({text, s.step_us(), peak});
  };
  for (const int mb : {1, 2, 4})
    for (const int again : {0, 1, 2, 5, 10, 13, 15}) {
      for (const int zero : {0, 1, 2}) add("data=2", "", mb, zero, again);
      for (const char* cut : {"1,3", "2,2", "3,1"}) add("pipe=2", cut, mb, 0, again);
    }
  return out;
}

}  // namespace

TEST_CASE("no plan that keeps a memory row to the byte is much shorter than what is found", "[slow]") {
  struct Case {
    const char *model, *layers;
  };
  const Case& m = GENERATE(Case{"llama_tiny", "model.layers[*]"}, Case{"bert_tiny", "bert.encoder.layer[*]"},
                           Case{"t5_tiny", "encoder.block[*], decoder.block[*]"});
  CAPTURE(m.model);
  const Graph graph = sample(m.model);
  const Cluster c = two_devices(GENERATE(2e9, 2e11));
  const std::vector<ByHand> plans = by_hand(graph, c, m.layers, 8);
  std::vector<std::int64_t> peaks;
  for (const ByHand& p : plans) peaks.push_back(p.peak);
  std::sort(peaks.begin(), peaks.end());
  for (const std::size_t place : {0, 4, 10, 20, 40}) {
    const std::int64_t limit = peaks[place];
    Settings s{.global_batch = 8, .templates = {false, false, false}};
    s.rows = rows("require memory(all) <= " + std::to_string(limit) + "\n");
    const Result<Found> f = search(graph, c, s);
    REQUIRE(f.ok());
    for (const ByHand& p : plans) {
      if (p.peak > limit) continue;
      CAPTURE(p.script, limit);
      CHECK(f->outcome == Outcome::found);
      CHECK(f->lower_bound_us <= p.step_us);
      if (f->outcome == Outcome::found) CHECK(f->best[0].step_us <= 1.03 * p.step_us);
    }
  }
}

TEST_CASE("a device of which rows leave so little is like one that has no more", "[slow]") {
  const Templates templates = {GENERATE(false, true), false, false};
  const Graph graph = sample("gpt2_tiny");
  int offloaded = 0;
  for (const double flops : {2e9, 2e11})
    for (const double bandwidth : {0.0, 1e11}) {
      Cluster c = two_devices(flops);
      c.host.bandwidth = bandwidth;
      c.host.memory = Bytes{std::int64_t{1} << 36};
      const Result<Found> most = search(graph, c, {.global_batch = 16, .templates = templates});
      REQUIRE(most->outcome == Outcome::found);
      for (const int part : {70, 50}) {
        const std::int64_t bytes = most->best[0].peak_bytes[0] * part / 100;
        CAPTURE(bytes, bandwidth);
        Cluster less = c;
        for (DeviceKind& kind : less.kinds) kind.type.memory = Bytes{bytes};
        const Result<Found> small = search(graph, less, {.global_batch = 16, .templates = templates});
        Settings s{.global_batch = 16, .templates = templates};
        s.rows = rows("require memory(all) <= " + std::to_string(bytes) + "\n");
        const Result<Found> row = search(graph, c, s);
        if (small->outcome != Outcome::found) continue;
        REQUIRE(row->outcome == Outcome::found);
        CHECK(row->best[0].step_us <= 1.001 * small->best[0].step_us);
        CHECK(row->lower_bound_us <= small->best[0].step_us);
        CHECK(small->lower_bound_us <= row->best[0].step_us);
        offloaded += row->best[0].configuration.offload;
        if (bandwidth == 0) CHECK(!row->best[0].configuration.offload);
      }
    }
  CHECK(offloaded > 0);
}

TEST_CASE("ZeRO-3 gathers nothing ahead where just that does not fit") {
  const Graph graph = sample("bert_tiny");
  const Cluster c = two_devices(2.5e10);
  const std::string plan =
      "devices 2 as data=2\nmodel batch=12\nlet L = bert.encoder.layer[*]\ntrans * batch by data\n"
      "trans L recompute\nuse zero(3, *, data)\n";
  const Simulation by_hand = predicted(graph, c, plan);
  Settings s{.global_batch = 12, .templates = {false, false, false}};
  s.rows = rows("require memory(all) <= " + std::to_string(by_hand.classes[0].peak.bytes()) + "\nrequire |data| = 2\n");
  const Result<Found> f = search(graph, c, s);
  REQUIRE(f->outcome == Outcome::found);
  CHECK(f->best[0].step_us <= 1.001 * by_hand.step_us());
  CHECK(!f->best[0].configuration.prefetch);
}

TEST_CASE("what lines of the user save is not counted as needed") {
  const Graph graph = sample("gpt2_tiny");
  Cluster c = cluster("dgx-a100x1");
  c.levels[0].arity = 1;
  const std::string line = "trans update(*) offload\n";
  const Simulation by_hand = predicted(graph, c,
                                       "devices 1\naxis mb=3\nmodel batch=12\nlet L = transformer.h[*]\n"
                                       "trans * batch by mb\ntrans L recompute\n" +
                                           line);
  const std::string limit = "require memory(all) <= " + std::to_string(by_hand.classes[0].peak.bytes()) + "\n";
  Settings s{.global_batch = 12, .seconds = 1000};
  s.rows = rows(line + limit);
  const Result<Found> f = search(graph, c, s);
  REQUIRE(f->outcome == Outcome::found);
  CHECK(f->best[0].step_us <= by_hand.step_us());
  CHECK(f->lower_bound_us <= by_hand.step_us());
  CHECK(predicted(graph, c, f->best[0].script).classes[0].peak.bytes() <= by_hand.classes[0].peak.bytes());
  // The device itself may be as small.
  c.kinds[0].type.memory = Bytes{by_hand.classes[0].peak.bytes()};
  s.rows = rows(line);
  const Result<Found> small = search(graph, c, s);
  REQUIRE(small->outcome == Outcome::found);
  CHECK(small->best[0].step_us <= by_hand.step_us());
  s.rows = rows(limit);
  CHECK(search(graph, c, s)->outcome != Outcome::found);
}
