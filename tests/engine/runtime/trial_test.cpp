// Trials end to end: plans of different kinds on real processes, compared with the one-device run.
#include <unistd.h>
#include <catch2/catch.hpp>

#include <filesystem>

#include "engine/graph/import.h"
#include "engine/launch/trial.h"
#include "engine/plan/parser.h"
#include "engine/program/materialize.h"
#include "engine/program/program_json.h"

using namespace planscope;

namespace {

struct Case {
  std::string name, model, plan, optimizer;
  int steps;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"data x tensor, vocabulary split", "gpt2_tiny",
       "devices 4 as data=2 tensor=2\ntrans * batch by data\nuse tp(transformer.h[*], tensor)\n"
       "trans transformer.wte, lm_head, :cross_entropy_loss vocab by tensor\n",
       "adamw", 2},
      {"tensor and sequence", "llama_tiny",
       "devices 2 as tensor=2\ntrans * seq by tensor\nuse tp(model.layers[*], tensor)\n", "sgd", 1},
      {"1F1B", "gpt2_tiny",
       "devices 2 as pipe=2\naxis mb=4\nlet S = cut transformer.h[*] into |pipe|\ntrans * batch by mb\n"
       "assign S[i] to pipe=i\nuse 1f1b(S)\n",
       "adamw", 2},
      {"ZeRO-3 with micro-batches and recompute", "llama_tiny",
       "devices 2 as data=2\naxis mb=2\ntrans * batch by mb, data\nuse zero(3, *, data)\ntrans model.layers[*] "
       "recompute\n",
       "adamw", 2},
      {"experts whole, cut inside and over micro-batches", "mixtral_tiny",
       "devices 4 as data=2 tensor=2\naxis mb=2\ntrans * batch by mb, data\n"
       "trans model.layers[*].mlp.experts ffn by tensor\n",
       "adamw", 2},
      {"experts on devices of their own", "mixtral_tiny",
       "devices 2 as data=2\ntrans * batch by data\ntrans model.layers[*].mlp.experts expert by data\n", "sgd", 1},
      {"asynchronous pipeline, the embedding 1 and 0 updates old", "gpt2_tiny",
       "devices 2 as pipe=2\naxis mb=2\nlet S = cut transformer.h[*] into |pipe|\ntrans * batch by mb\n"
       "assign S[i] to pipe=i\nuse 1f1b(S)\nrelax fetch(S[i]) lag |S|-1-i\n",
       "adamw", 4},
      {"ZeRO-3 with recompute, 2 updates old", "llama_tiny",
       "devices 2 as data=2\ntrans * batch by data\nuse zero(3, *, data)\ntrans model.layers[*] recompute\n"
       "relax fetch(*) lag 2\nrelax fetch(lm_head) lag 0\n",
       "sgd", 5},
      {"overlapping steps, PipeDream's order", "llama_tiny",
       "devices 2 as pipe=2\nlet S = cut model.layers[*] into |pipe|\nassign S[i] to pipe=i\n"
       "relax fetch(S[i]) lag |S|-1-i\n"
       "order f(S[i])[step=t+n-1-i] < b(S[i])[step=t] < f(S[i])[step=t+n-i] where n = |S|\n",
       "adamw", 6},
      {"overlapping steps of micro-batches, a tied embedding, ZeRO-3, recompute", "gpt2_tiny",
       "devices 4 as pipe=2 data=2\naxis mb=2\nlet S = cut transformer.h[*] into |pipe|\nassign S[i] to pipe=i\n"
       "trans * batch by mb, data\ntrans S recompute\nuse zero(3, *, data)\nrelax fetch(S[i]) lag |S|-1-i\n"
       "order f(S[i])[step=t+n-1-i] < b(S[i])[step=t] < f(S[i])[step=t+n-i] where n = |S|\n",
       "adamw", 5},
      {"one training step that is shorter than those under way", "gpt2_tiny",
       "devices 4 as pipe=4\nlet S = cut transformer.h[*] into |pipe|\nassign S[i] to pipe=i\n"
       "relax fetch(S[i]) lag |S|-1-i\n"
       "order f(S[i])[step=t+n-1-i] < b(S[i])[step=t] < f(S[i])[step=t+n-i] where n = |S|\n",
       "sgd", 1},
      {"encoder-decoder with a tied embedding", "t5_tiny",
       "devices 2 as tensor=2\nuse tp({encoder,decoder}.block[*], tensor)\n", "sgd", 2},
  };
  return all;
}

class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("planscope-trial-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

TrialSpec spec_of(const Case& c, const Folder& folder) {
  const std::string file = "sample_models/" + c.model + ".pt2";
  Result<Model> model = import_model(file);
  REQUIRE(model.ok());
  Result<Graph> graph = make_graph(std::make_shared<const Model>(std::move(*model)));
  REQUIRE(graph.ok());
  const Result<plan::Plan> plan = plan::parse_plan(c.plan, "test.plan");
  INFO(to_string(plan.diagnostics));
  REQUIRE(plan.ok());
  const Result<Cluster> cluster = read_cluster("local");
  REQUIRE(cluster.ok());
  const Result<Materialized> made = materialize(*graph, *plan, *cluster);
  INFO(to_string(made.diagnostics));
  REQUIRE(made.ok());
  std::vector<std::pair<int, std::int64_t>> lags;
  for (const Relaxation& r : (*made).program.relaxations) lags.emplace_back(r.op, r.lag);
  return {.worker = PLANSCOPE_BIN_DIR "/planscope-worker",
          .folder = folder.path(),
          .model = file,
          .model_digest = graph->digest,
          .program = to_json((*made).program),
          .sizes = (*made).program.sizes,
          .ranks = (*made).program.device_count,
          .steps = c.steps,
          .optimizer = c.optimizer,
          .lags = lags};
}

TrialResult run(const TrialSpec& spec) {
  const std::atomic<bool> stop{false};
  PosixProcesses processes;
  const SystemClock clock;
  return run_trial(spec, {}, stop, {processes, processes}, clock);
}

}  // namespace

TEST_CASE("a trial gives the numbers of the one-device run") {
  const std::size_t which = GENERATE(range(std::size_t{0}, cases().size()));
  const Case& c = cases()[which];
  INFO(c.name);
  const Folder folder;
  const TrialSpec spec = spec_of(c, folder);
  const TrialResult result = run(spec);
  INFO((result.failure ? result.failure->reason : ""));
  REQUIRE(result.status == LaunchStatus::done);
  REQUIRE(result.check);
  INFO(result.check->what << " of " << result.check->tensor << " is off by " << result.check->max_relative_error
                          << ", in the model's types " << result.check->model_tensor << " by "
                          << result.check->model_relative_error);
  CHECK(result.check->equal);
  CHECK(result.check->max_relative_error <= 1e-9);
  CHECK(result.check->compared > 100);
  CHECK(result.steps.size() == static_cast<std::size_t>(c.steps));
  CHECK(result.losses.size() == static_cast<std::size_t>(c.steps));
  CHECK(result.peak.size() == static_cast<std::size_t>(spec.ranks));
  for (const Bytes peak : result.peak) CHECK(peak.count > 0);
  REQUIRE(result.spans.size() == static_cast<std::size_t>(spec.ranks));
  CHECK(!result.spans[0].empty());
}

TEST_CASE("a Program that computes something else is different") {
  Case c = cases()[0];
  c.steps = 1;
  const Folder folder;
  TrialSpec spec = spec_of(c, folder);
  // The first reduction of gradients over the data axis becomes sums of the values with themselves.
  const Result<Model> model = import_model(spec.model);
  const Result<Graph> graph = make_graph(std::make_shared<const Model>(*model));
  Result<Program> program = program_from_json(spec.program, *graph);
  REQUIRE(program.ok());
  int seen = 0;
  for (Segment& s : program->segments) {
    std::vector<Instruction> list;
    for (const Instruction& i : s.instructions) {
      const bool gradient =
          i.code == Code::issue && i.move.kind == MoveKind::all_reduce && i.move.digits.size() == 1 &&
          program->values[static_cast<std::size_t>(i.in[0])].role == Role::gradient &&
          graph->model->values[static_cast<std::size_t>(program->values[static_cast<std::size_t>(i.in[0])].tensor)]
                  .kind == ValueKind::parameter;
      const bool wanted = gradient && ++seen == 1;
      if (!wanted) list.push_back(i);
      for (std::size_t k = 0; wanted && k < i.out.size(); ++k) {
        Instruction sum = i;
        sum.code = Code::add;
        sum.in = {i.in[k], i.in[k]};
        sum.out = {i.out[k]};
        list.push_back(sum);
      }
    }
    s.instructions = std::move(list);
  }
  REQUIRE(seen >= 1);
  spec.program = to_json(*program);
  const TrialResult result = run(spec);
  INFO((result.failure ? result.failure->reason : ""));
  REQUIRE(result.status == LaunchStatus::done);
  CHECK_FALSE(result.check->equal);
  CHECK(result.check->max_relative_error > 1e-3);
}

TEST_CASE("parameters of another age than the one-device run's give other numbers") {
  Case c;
  for (const Case& x : cases())
    if (x.name.starts_with("ZeRO-3 with recompute")) c = x;
  const Folder folder;
  TrialSpec spec = spec_of(c, folder);
  for (const std::int64_t lag : {0, 1}) {
    for (auto& [op, lags] : spec.lags) lags = lag;
    const TrialResult result = run(spec);
    INFO((result.failure ? result.failure->reason : ""));
    REQUIRE(result.status == LaunchStatus::done);
    CHECK_FALSE(result.check->equal);
    CHECK(result.check->max_relative_error > 1e-4);
  }
}

TEST_CASE("the wrong number of processes and a damaged Program end the trial with the reason") {
  Case c = cases()[2];
  const Folder folder;
  TrialSpec spec = spec_of(c, folder);
  spec.check = false;
  spec.ranks = 3;
  TrialResult result = run(spec);
  REQUIRE(result.failure);
  CHECK(result.failure->reason == "the plan is for 2 devices; 3 processes were started");
  spec.ranks = 2;
  spec.program = "{";
  result = run(spec);
  CHECK(result.status == LaunchStatus::failed);
  REQUIRE(result.failure);
  CHECK(!result.failure->reason.empty());
}
