#include "tests/app/desktop/fake_session.h"

#include <chrono>
#include <sstream>
#include <thread>

#include "tests/viz/timeline/sample_timeline.h"

namespace planscope {
namespace {

constexpr double gib = 1024.0 * 1024 * 1024;

std::vector<ModuleNode> modules() {
  const ModuleNode attention{"self_attn",
                             "layers.*.self_attn",
                             "",
                             {{"operators", "12"}},
                             {{"q_proj", "layers.*.self_attn.q_proj", "linear", {}, {}},
                              {"k_proj", "layers.*.self_attn.k_proj", "linear", {}, {}},
                              {"v_proj", "layers.*.self_attn.v_proj", "linear", {}, {}},
                              {"o_proj", "layers.*.self_attn.o_proj", "linear", {}, {}}}};
  const ModuleNode mlp{"mlp",
                       "layers.*.mlp",
                       "",
                       {},
                       {{"gate_proj", "layers.*.mlp.gate_proj", "linear", {}, {}},
                        {"up_proj", "layers.*.mlp.up_proj", "linear", {}, {}},
                        {"down_proj", "layers.*.mlp.down_proj", "linear", {}, {}}}};
  return {{"model",
           "model",
           "8.03 B",
           {{"parameters", "8.03 B"}, {"operators", "2,080"}},
           {{"embed_tokens", "model.embed_tokens", "0.53 B", {}, {}},
            {"layers", "model.layers", "× 32, all equal", {}, {attention, mlp}},
            {"norm", "model.norm", "", {}, {}}}},
          {"lm_head", "lm_head", "0.53 B", {}, {}}};
}

class FakeSession : public Session {
 public:
  explicit FakeSession(std::shared_ptr<SessionLog> log) : log_(std::move(log)) {}

  SessionSnapshot open_model(const std::string& path, const Cancel& cancel) override {
    note("open_model " + path, cancel);
    state_.model_name = "llama-3-8b";
    state_.model_summary = "8.03 B parameters · 2,080 operators";
    state_.modules = std::make_shared<const std::vector<ModuleNode>>(modules());
    return judge();
  }
  SessionSnapshot open_plan(const std::string& path, const Cancel& cancel) override {
    note("open_plan " + path, cancel);
    state_.plan_text = "stages 4\nmicro_batches 8\n";
    state_.plan_name = "pp4-1f1b";
    return judge();
  }
  SessionSnapshot set_plan(const std::string& text, const Cancel& cancel) override {
    note("set_plan " + text, cancel);
    state_.plan_text = text;
    return judge();
  }
  SessionSnapshot save_plan(const std::string& path, const Cancel& cancel) override {
    note("save_plan " + path, cancel);
    state_.plan_path = path;
    return state_;
  }

 private:
  void note(const std::string& call, const Cancel& cancel) {
    {
      const std::lock_guard lock(log_->mutex);
      log_->calls.push_back(call);
    }
    for (int ms = 0; ms < log_->delay_ms && !cancel.cancelled(); ++ms)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (cancel.cancelled()) ++log_->cancelled;
  }

  SessionSnapshot judge() {
    int stages = 0, micro_batches = 4, number = 0;
    state_.diagnostics.clear();
    std::istringstream in(state_.plan_text);
    for (std::string line; std::getline(in, line);) {
      ++number;
      std::istringstream words(line);
      std::string word;
      int value = 0;
      words >> word >> value;
      if (word == "stages" && value > 0)
        stages = value;
      else if (word == "micro_batches" && value > 0)
        micro_batches = value;
      else if (!word.empty() && word[0] != '#')
        state_.diagnostics.push_back(
            {Severity::error, "", number, line, "'" + word + "' is no statement", "", "Write stages or micro_batches"});
    }
    const bool good = state_.diagnostics.empty() && stages > 0 && !state_.model_name.empty();
    state_.timeline =
        good ? std::make_shared<const viz::TimelineModel>(viz::pipeline_timeline(stages, micro_batches)) : nullptr;
    state_.verdict = !state_.diagnostics.empty() ? VerdictView{VerdictState::refused, "the plan has errors", ""}
                     : good ? VerdictView{VerdictState::equivalent, "equivalent", "4,182 checks, 0.08 s"}
                            : VerdictView{};
    state_.step = good ? std::optional(state_.timeline->duration) : std::nullopt;
    state_.step_origin = "modelled ± 8 %";
    state_.cluster_name = "dgx-h100 × 8";
    state_.peak = viz::Bytes{good ? 56 * gib : 0}, state_.capacity = viz::Bytes{80 * gib};
    state_.instructions = std::make_shared<const std::vector<InstructionDetail>>(std::vector<InstructionDetail>{
        {"forward of 8 layers",
         "piece · layers[0:8]",
         {{"compute", "10 ms, modelled"}, {"kept for backward", "9 GiB, exact"}},
         1},
        {"backward of 8 layers", "piece · layers[0:8]", {{"compute", "20 ms, modelled"}}, 1},
        {"send activations", "point-to-point", {{"bytes", "64 MiB"}}, 2},
        {"update", "adamw", {}, 0}});
    state_.timings = {{"materialize", viz::Microseconds{21000}},
                      {"verify", viz::Microseconds{80000}},
                      {"simulate", viz::Microseconds{34000}}};
    return state_;
  }

  std::shared_ptr<SessionLog> log_;
  SessionSnapshot state_;
};

}  // namespace

std::unique_ptr<Session> fake_session(std::shared_ptr<SessionLog> log) {
  return std::make_unique<FakeSession>(std::move(log));
}

}  // namespace planscope
