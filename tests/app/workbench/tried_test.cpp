#include "app/workbench/tried.h"

#include <catch2/catch.hpp>

#include "tests/app/workbench/sample.h"

namespace planscope {
namespace {

constexpr const char* rows =
    "devices 4 as data=2 tensor=2\n"
    "let L = model.layers[*]\n"
    "trans * batch by data\n"
    "use tp(L, tensor)\n"
    "forbid trans L.mlp.up_proj none by tensor\n"
    "require memory(all) <= 2MiB\n";

Tried tried(Sample& sample, const std::string& statement) {
  const Result<plan::Statement> s = plan::parse_statement(statement);
  REQUIRE(s.ok());
  const BasePlan base = sample.base();
  return try_statement(base, *s);
}

// The same by hand: the plan's text with the statement as its last line.
void check_against_whole_plan(const std::string& text, const std::string& statement) {
  Sample without("llama_tiny", text), with("llama_tiny", text + statement + "\n");
  const Tried t = tried(without, statement);
  const Simulation &a = without.judged().simulation, &b = with.judged().simulation;
  CHECK(t.delta_us == Approx(b.step_us() - a.step_us()));
  CHECK(t.delta_bytes == peak_bytes(b) - peak_bytes(a));
  CHECK(t.time.compute + t.time.communication + t.time.idle() == Approx(t.delta_us).margin(1e-6));
  CHECK(t.memory.bytes() == t.delta_bytes);
}

TEST_CASE("a statement comes to what the plan with it comes to") {
  for (const char* statement : {"trans lm_head none by data", "trans L recompute",
                                "trans L.mlp.down_proj out by tensor", "use zero(1, L, data)", "assign lm_head to 0"})
    check_against_whole_plan(rows, statement);
}

TEST_CASE("a declaration is tried in the place of the one that the plan has") {
  const std::string text = sample_plan("gpt2_tiny-1f1b"), cut = "let S = cut transformer.h[*] into |pipe|";
  const std::size_t at = text.find(cut);
  REQUIRE(at != text.npos);
  for (const char* other : {"let S = cut transformer.h[*] into 1,1,1,1", "let S = cut transformer.h[0:4] into 4"}) {
    Sample sample("gpt2_tiny", text);
    CHECK(try_statement(sample.base(), *plan::parse_statement(other)).verdict == EditVerdict::tie);
  }
  const std::string fewer = "axis mb=2", axis = "axis mb=8";
  const std::size_t axis_at = text.find(axis);
  REQUIRE(axis_at != text.npos);
  Sample sample("gpt2_tiny", text);
  const Sample with("gpt2_tiny", std::string(text).replace(axis_at, axis.size(), fewer));
  const Tried t = try_statement(sample.base(), *plan::parse_statement(fewer));
  CHECK(t.delta_us == Approx(with.judged().simulation.step_us() - sample.judged().simulation.step_us()));
}

TEST_CASE("a row of the plan forbids a statement") {
  Sample sample("llama_tiny", rows);
  const Tried t = tried(sample, "trans L.mlp.up_proj none by tensor");
  CHECK(t.verdict == EditVerdict::forbidden);
  REQUIRE(t.row);
  CHECK(*t.row == StatementRef{5, "a.plan", "forbid trans L.mlp.up_proj none by tensor"});
  CHECK(t.reason == "this statement decides 4 operators this way. Drop one of the two lines.");
}

TEST_CASE("a statement that breaks a memory row says by how much") {
  Sample sample("llama_tiny", rows);
  const Tried t = tried(sample, "assign L to 0");
  CHECK(t.verdict == EditVerdict::forbidden);
  REQUIRE(t.row);
  CHECK(t.row->line == 6);
  CHECK(t.over_bytes == peak_bytes(sample.judged().simulation) + t.delta_bytes - (2 << 20));
  CHECK(t.over_bytes > 0);
}

TEST_CASE("a row that the plan breaks anyway is no verdict") {
  Sample sample("llama_tiny", "devices 2 as data=2\ntrans * batch by data\nrequire memory(all) <= 1KiB\n");
  const Tried t = tried(sample, "trans lm_head none by data");
  CHECK(t.verdict == EditVerdict::dearer);
  REQUIRE(t.broken.size() == 1);
  CHECK(t.broken[0].line == 3);
}

TEST_CASE("an order row forbids another order") {
  Sample sample("gpt2_tiny", sample_plan("gpt2_tiny-1f1b"));
  const Tried t = tried(sample, "use gpipe(S)");
  CHECK(t.verdict == EditVerdict::forbidden);
  REQUIRE(t.row);
  CHECK(t.row->text == "use 1f1b(S)");
}

TEST_CASE("what cannot be says why") {
  Sample sample("gpt2_tiny", sample_plan("gpt2_tiny-data-tensor"));
  const std::pair<std::string, std::string> cases[] = {
      {"trans transformer.ln_f hidden by tensor",
       "layer_norm: 'hidden' is frozen (normalized over). Legal: batch, seq."},
      {"trans lm_head batch by pipe", "no axis 'pipe' in grid all (data, tensor)."},
      {"trans lm_hed batch by data", "'lm_hed' matches no module. Did you mean 'lm_head' (1 unit)?"}};
  for (const auto& [statement, reason] : cases) {
    const Tried t = tried(sample, statement);
    CHECK(t.verdict == EditVerdict::unavailable);
    CHECK_FALSE(t.row);
    CHECK(t.reason == reason);
  }
}

TEST_CASE("dearer, cheaper and tie are told apart by the step") {
  Sample sample("gpt2_tiny", "devices 2 as data=2\ntrans * batch by data\n");
  CHECK(tried(sample, "trans lm_head none by data").verdict == EditVerdict::dearer);
  CHECK(tried(sample, "trans * batch by data").verdict == EditVerdict::tie);
  CHECK(tried(sample, "trans * batch by data").reason == "nothing changes");
  CHECK(tried(sample, "trans * none by data").verdict ==
        EditVerdict::cheaper);  // too small to be worth its all-reduces
}

TEST_CASE("a statement with open arguments is completed") {
  Sample sample("llama_tiny", "devices 2 as tensor=2\nuse tp(model.layers[*], tensor)\n");
  const Tried t = tried(sample, "trans lm_head out|none by tensor");
  REQUIRE(t.judged);
  const Tried out = tried(sample, "trans lm_head out by tensor"), none = tried(sample, "trans lm_head none by tensor");
  CHECK(t.delta_us == Approx(std::min(out.delta_us, none.delta_us)).margin(1e-6));
}

TEST_CASE("a completion that was stopped says so") {
  Sample sample("gpt2_tiny", sample_plan("gpt2_tiny-data-tensor"), "local");
  CHECK_FALSE(tried(sample, "trans lm_head *|none by tensor").ended_early);
  sample.stop = true;
  CHECK(tried(sample, "trans lm_head *|none by tensor").ended_early);
}

TEST_CASE("what the plan has is among what a statement leaves open") {
  // Of 8 operators a layer, 3 ways each: too many combinations to try them all.
  Sample sample("gpt2_tiny", sample_plan("gpt2_tiny-data-tensor"), "local");
  CHECK(tried(sample, "trans transformer.h[*].mlp.act * by tensor").verdict == EditVerdict::tie);
  // Layers that are treated differently.
  const std::string lines =
      "devices 2 as tensor=2\nlet L = model.layers[*]\nuse tp(L, tensor)\ntrans L[0].mlp.up_proj none by tensor\n";
  Sample uneven("llama_tiny", lines);
  CHECK(tried(uneven, "trans L.mlp.up_proj none by tensor").verdict == EditVerdict::dearer);
  const Tried t = tried(uneven, "trans L.mlp.up_proj none|in by tensor");
  const Tried in = tried(uneven, "trans L.mlp.up_proj in by tensor");
  const Tried none = tried(uneven, "trans L.mlp.up_proj none by tensor");
  CHECK(t.delta_us <= std::min(in.delta_us, none.delta_us) + 1e-6);
  CHECK(tried(uneven, "trans L.mlp.up_proj out|none by tensor").delta_us < 1e-6);
}

}  // namespace
}  // namespace planscope
