#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <iostream>

#include "app/cli/command.h"
#include "app/workbench/training.h"
#include "engine/base/text.h"
#include "engine/plan/bind.h"

namespace planscope::cli {

namespace {

// One line on standard error, rewritten on a terminal, repeated only when the phase changes elsewhere.
class Progress {
 public:
  void show(const TrialProgress& p) {
    const std::string phase = p.phase == "reference" ? "one-device run" : "trial";
    if (phase != phase_ && !terminal_) std::cerr << phase << " …\n";
    phase_ = phase;
    const auto now = std::chrono::steady_clock::now();
    if (!terminal_ || now - last_ < std::chrono::milliseconds(100)) return;
    last_ = now;
    std::cerr << "\r\033[K" << phase << ": rank " << p.rank << " at instruction " << p.position.instruction
              << (p.position.waiting ? ", waits in " : ", ") << p.position.what << std::flush;
    shown_ = true;
  }
  ~Progress() {
    if (shown_) std::cerr << "\r\033[K" << std::flush;
  }

 private:
  bool terminal_ = ::isatty(STDERR_FILENO) == 1, shown_ = false;
  std::string phase_;
  std::chrono::steady_clock::time_point last_{};
};

std::string text_of(const Training& t) {
  const TrialResult& r = t.trial;
  std::string out = std::string(to_string(r.status)) + " on " + std::to_string(r.ranks) + " processes" +
                    (r.transport.empty() ? "" : ", over " + r.transport) + "\n";
  const char* mark = r.oversubscribed ? " (processes share cores: not comparable)" : "";
  std::vector<std::vector<std::string>> rows;
  for (std::size_t s = 0; s < r.steps.size(); ++s) {
    char loss[40] = "";
    if (s < r.losses.size()) std::snprintf(loss, sizeof loss, "loss %.6f", r.losses[s]);
    rows.push_back({"  step " + std::to_string(s + 1), time_text(r.steps[s].count) + mark, loss});
  }
  out += table(rows);
  if (t.predicted_us) out += "  predicted  " + time_text(*t.predicted_us) + ", " + to_string(t.figure) + "\n";
  for (std::size_t rank = 0; rank < r.peak.size(); ++rank)
    out += "  rank " + std::to_string(rank) + "  peak memory " + bytes_text(static_cast<double>(r.peak[rank].count)) +
           (rank < t.predicted_peak.size() ? ", predicted " + t.predicted_word +
                                                 bytes_text(static_cast<double>(t.predicted_peak[rank].count))
                                           : "") +
           "\n";
  if (r.check) {
    char text[200];
    std::snprintf(text, sizeof text,
                  "%s one-device run: %d tensors, largest relative error %.2g (float64), %.2g (model's types)",
                  r.check->equal                  ? "equal to the"
                  : r.check->not_finite.empty() ? "NOT equal to the"
                                                : "cannot be compared with the",
                  r.check->compared, r.check->max_relative_error,
                  r.check->model_relative_error);
    out += std::string(text) + (r.check->tensor.empty() ? "" : ", in " + r.check->what + " " + r.check->tensor) + "\n";
    if (!r.check->not_finite.empty())
      out += "  the one-device run itself holds infinities or no numbers, in " + r.check->not_finite +
             ": other weights, --inputs or --seed may give numbers\n";
  }
  if (!r.inputs.empty())
    out += "inputs: " + r.inputs + (r.inputs_note.empty() ? "" : " (" + r.inputs_note + ")") + "\n";
  if (!r.seeded.empty())
    out += std::to_string(r.seeded.size()) + " tensors began with drawn numbers (inputs, missing weights)\n";
  if (r.failure) {
    const std::string rank = rank_text(r.failure->rank, r.failure->instruction);
    out += "failed" + (rank.empty() ? "" : " on " + rank) + ": " + r.failure->reason + "\n";
  }
  return out;
}

int exit_status(const TrialResult& r) {
  if (r.status == LaunchStatus::interrupted) return kUnknown;
  if (r.status != LaunchStatus::done || !r.check) return kNo;
  if (!r.check->not_finite.empty()) return kUnknown;
  return r.check->equal ? kDone : kNo;
}

}  // namespace

std::string trial_folder(const Options& o) {
  const std::filesystem::path workspace(o.workspace);
  return (workspace.has_parent_path() ? workspace.parent_path() / "trials" : std::filesystem::path("trials")).string();
}

namespace {

Result<Materials> materials_of(const Options& o, const Workspace* workspace) {
  if (o.program.empty()) return open_materials(o.model, o.plan, o.cluster, "run", workspace);
  Result<OpenProgram> p = open_program(o.model, o.program, workspace);
  if (!p.value || p.has_errors()) return p.diagnostics;
  Result<Materials> m = open_materials(std::move(*p), o.cluster, workspace);
  m.diagnostics.insert(m.diagnostics.begin(), p.diagnostics.begin(), p.diagnostics.end());
  return m;
}

// Of a program that nobody has made from a plan: only one that computes the model is run.
std::optional<Answer> refused(const VerifyReport& r, int ranks) {
  if (r.verdict == Verdict::equivalent || r.verdict == Verdict::relaxed) return std::nullopt;
  Training t;
  t.trial.ranks = ranks;
  t.trial.failure = LaunchFailure{-1, -1, "the program is not run: it is " + std::string(to_string(r.verdict))};
  if (!r.failures.empty()) t.trial.failure->reason += "; " + to_string(r.failures.front());
  Answer a;
  a.status = r.verdict == Verdict::unknown ? kUnknown : kNo;
  a.json = Json::parse(to_json(t));
  a.text = t.trial.failure->reason + "\n";
  return a;
}

Answer trained(const Options& o, const Materials& m, const std::string& inputs, Workspace* workspace) {
  TrainingSpec spec{o.program_folder + "/planscope-worker", trial_folder(o), o.steps, o.optimizer,
                    static_cast<std::uint64_t>(o.seed)};
  spec.inputs = inputs;
  spec.join = o.join;
  spec.address = o.address;
  spec.workspace = o.workspace;
  spec.on_locked = [&] {
    std::cerr << o.workspace << ": another program has locked it; waiting for up to a minute …\n";
  };
  spec.on_join = [&](int joined, int ranks) {
    std::cerr << joined << " of " << ranks << " processes have joined";
    if (joined < ranks) std::cerr << ", start the others: planscope-worker --join " << o.join;
    std::cerr << "\n";
  };
  std::vector<Diagnostic> problems;
  Training t;
  {
    Progress progress;
    t = train(m, spec, workspace, [&](const TrialProgress& p) { progress.show(p); }, interrupted, problems);
  }
  report(problems);
  if (const auto& f = t.trial.failure; f && f->bad_input) return bad_input(f->reason);
  Answer a;
  a.status = exit_status(t.trial);
  a.json = Json::parse(to_json(t));
  a.text = text_of(t);
  return a;
}

}  // namespace

Answer run(const Options& o) {
  const auto begin = std::chrono::steady_clock::now();
  if (o.steps < 1)
    return bad_input({error("--steps " + std::to_string(o.steps) + " is no number of steps", "", "1 or more")});
  if (o.plan.empty() == o.program.empty())
    return bad_input(
        {error("run needs a plan or '--program FILE'", o.plan.empty() ? "neither was given" : "both were given")});
  const Result<std::string> inputs = inputs_option(o);
  if (!inputs.ok()) return bad_input(inputs.diagnostics);
  std::optional<Workspace> workspace = open_workspace(o);
  Workspace* const rows = workspace ? &*workspace : nullptr;
  const Result<Materials> m = materials_of(o, rows);
  if (!m.value || m.has_errors()) return bad_input(m.diagnostics);
  report(m.diagnostics);
  const Program& program = m->result.program;
  const std::string devices = std::to_string(program.device_count);
  if (o.procs != program.device_count && !(o.procs == 0 && !o.program.empty()))
    return bad_input({error((o.procs == 0 ? "the number of processes is not said, and the "
                                          : "--procs " + std::to_string(o.procs) + ", but the ") +
                                (o.program.empty() ? "plan" : "program") + " is for " + devices + " devices",
                            "every device is a process", "--procs " + devices)});
  if (m->model.model->loss < 0)
    return bad_input({error("the model has no loss: it cannot be trained", m->model.model->path)});
  std::optional<Answer> a;
  if (!o.program.empty()) a = refused(planscope::verify(*m->result.graph, program), program.device_count);
  if (!a) a = trained(o, *m, *inputs, o.program.empty() ? rows : nullptr);  // a run is kept with its plan
  a->json["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return *a;
}

}  // namespace planscope::cli
