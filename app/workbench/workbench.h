#pragma once
// The use cases behind every surface, as functions on values: what a command of the CLI, a button of the desktop and a
// test call alike. Errors are diagnostics; nothing is printed.
//
//   Result<OpenModel> m = open_model("sample_models/gpt2_tiny.pt2", nullptr);
//   Result<plan::Plan> p = open_plan("a.plan", nullptr);
//   Result<Cluster> c = open_cluster("local", *p);
//   Result<Materialized> x = materialize(m->graph, *p, *c);
//   ModelSummary s = summarize(m->graph);
#include <memory>
#include <string>
#include <vector>

#include "engine/base/diagnostic.h"
#include "engine/cluster/cluster.h"
#include "engine/graph/graph.h"
#include "engine/plan/plan.h"
#include "engine/program/materialize.h"
#include "storage/workspace.h"

namespace planscope {

struct OpenModel {
  std::shared_ptr<const Model> model;
  Graph graph;
  double seconds = 0;
};

// A `.pt2` path, or the name of a model in the workspace (then the path where it was last seen is read).
Result<OpenModel> open_model(const std::string& where, const Workspace*);

// A Program from a file, on the model at the sizes that stand in the file.
struct OpenProgram {
  OpenModel model;
  std::shared_ptr<const Graph> graph;
  Program program;
};
Result<OpenProgram> open_program(const std::string& model, const std::string& file, const Workspace*);

// A plan of the workspace by its number, else the newest of that name; nothing: there is none, or no workspace.
std::optional<PlanRow> kept_plan(const std::string& where, const Workspace*);

// A script's path, or the name or number of a plan in the workspace.
Result<plan::Plan> open_plan(const std::string& where, const Workspace*);

// A file or preset; `local` gets so many devices, on this host's cores, and the link that the workspace has measured
// (profiling.h); a preset without a node count as many nodes as hold them. Of a plan: what it declares. Else a cluster that is kept
// in the workspace; and any of these with changes, `dgx-h100x2:levels.1.latency_us=5` (engine/cluster/fields.h).
Result<Cluster> open_cluster(const std::string& where, std::int64_t devices, const Workspace* = nullptr);
Result<Cluster> open_cluster(const std::string& where, const plan::Plan&, const Workspace* = nullptr);

// `asks` ("the plan declares") more devices than the cluster has.
Diagnostic too_few_devices(const std::string& asks, std::int64_t devices, const Cluster&);

// The number in the plan's `devices` statement; 0: none, or not a plain number.
std::int64_t declared_devices(const plan::Plan&);

struct OperatorRule {
  std::string op, target, reason;
};
struct ModuleCount {
  std::string module;
  std::int64_t operators = 0;
  double flops = 0;
};
struct ModelSummary {
  std::string name;
  std::int64_t operators = 0;          // what computes
  std::int64_t parameters = 0;         // elements that some operator reads, tied ones once
  std::int64_t unused_parameters = 0;  // elements of the others
  std::int64_t parameter_bytes = 0;
  double flops = 0;                   // of the forward pass
  std::int64_t activation_bytes = 0;  // what backward needs of the forward pass, each tensor once
  bool has_weights = false, has_loss = false;
  std::int64_t split = 0, replicate_only = 0, unknown = 0;   // operators by rule
  std::vector<OperatorRule> whole;                           // those that cannot be split, with the reason
  std::vector<std::pair<std::string, std::int64_t>> kinds;   // operators by kind, most first
  std::vector<ModuleCount> modules;                          // top levels of the module tree, in program order
  std::vector<std::pair<std::string, std::int64_t>> inputs;  // named dimensions
  std::vector<std::string> unread_inputs;                    // that no operator reads
  std::vector<std::vector<std::string>> tied;                // names of one parameter, where it has several
  std::string loss;                                          // which of the outputs
  std::vector<std::string> scalar_outputs;                   // that can be the loss
};
ModelSummary summarize(const Graph&);

// Content digest of a file, 16 hexadecimal digits; reads all of a small file, the ends and the middle of a large one.
Result<std::string> file_digest(const std::string& path);

// Writes a temporary file beside `path`, then renames it. What a link points to is replaced, not the link; what is no
// file (a pipe, /dev/null) is written to.
Result<Done> write_file(const std::string& path, std::string_view text);
Result<std::string> read_file(const std::string& path);

}  // namespace planscope
