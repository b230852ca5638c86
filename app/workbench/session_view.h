#pragma once
// What a window shows and asks for: the state of one working session as plain values, and the calls that change it. The
// surfaces (desktop, server) know nothing else of the engine. No Qt here, no engine types besides Diagnostic.
//
// A Session is used by one thread at a time, usually a worker of the surface; every call returns the whole new state,
// never throws for bad input (problems are diagnostics), and gives up early, returning whatever it has, once its Cancel
// says so. Snapshots are cheap to copy: the large parts are shared and never change.
//
//   std::unique_ptr<Session> session = make_session();           // app/workbench/session.h
//   SessionSnapshot s = session->open_model("gpt2.pt2", {});
//   s = session->set_plan("devices 4 as data=4\ntrans * batch by data\n", {});
//   if (s.verdict.state == VerdictState::equivalent) …
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/diagnostic.h"
#include "viz/timeline/model.h"

namespace planscope {

struct ModuleNode {
  std::string name, path;  // "mlp", "layers.3.mlp"
  std::string note;        // what a row says beside the name: "8.03 B", "× 32, all equal", "linear"
  std::vector<std::pair<std::string, std::string>> facts;  // shown when selected
  std::vector<ModuleNode> children;
  std::string kind = {};        // type of the module
  std::int64_t count = 1;       // equal ones that the row stands for
  std::int64_t operators = 0, parameters = 0;  // in all of them
};

enum class VerdictState { none, equivalent, relaxed, different, unknown, refused };

struct VerdictView {
  VerdictState state = VerdictState::none;
  std::string text;    // "equivalent", "3 operators differ", "the plan has errors"
  std::string detail;  // "4,182 checks, 0.08 s"; may be empty
};

// What a block of the timeline stands for; found by viz::Block::instruction.
struct InstructionDetail {
  std::string title;                                       // "layers.*.mlp.up_proj × 32"
  std::string subtitle;                                    // "linear · modeling_llama.py:181"
  std::vector<std::pair<std::string, std::string>> facts;  // "compute" → "1.92 ms, measured"
  int plan_line = 0;                                       // that decided it; 0: none
};

struct Timing {
  std::string name;  // "materialize"
  viz::Microseconds time;
};

struct SessionSnapshot {
  std::string model_name, model_summary;  // empty: no model; "8.03 B parameters · 2,080 operators"
  std::shared_ptr<const std::vector<ModuleNode>> modules;
  std::string plan_name, plan_path, plan_text;  // path: where to save; empty: nowhere yet
  std::string cluster_name;
  std::vector<Diagnostic> diagnostics;  // of the plan (line > 0) and of what was opened last
  VerdictView verdict;
  std::optional<viz::Microseconds> step;
  std::string step_origin;                             // "modelled ± 8 %"; may be empty
  viz::Bytes peak, capacity;                           // of the fullest device; 0: unknown
  std::shared_ptr<const viz::TimelineModel> timeline;  // null: nothing to show
  std::shared_ptr<const std::vector<InstructionDetail>> instructions;
  std::vector<Timing> timings;
};

// Says that nobody waits for the result any more. Copies share one flag.
class Cancel {
 public:
  bool cancelled() const { return *flag_; }
  void cancel() const { *flag_ = true; }

 private:
  std::shared_ptr<std::atomic<bool>> flag_ = std::make_shared<std::atomic<bool>>(false);
};

class Session {
 public:
  virtual ~Session() = default;
  virtual SessionSnapshot open_model(const std::string& path, const Cancel& cancel) = 0;
  virtual SessionSnapshot open_plan(const std::string& path, const Cancel& cancel) = 0;
  virtual SessionSnapshot set_plan(const std::string& text, const Cancel& cancel) = 0;
  virtual SessionSnapshot save_plan(const std::string& path, const Cancel& cancel) = 0;
};

}  // namespace planscope
