#pragma once
// What every verb is given and gives back.
#include <atomic>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/workbench/conflicts.h"
#include "app/workbench/keep.h"
#include "planner/complete/settled.h"
#include "app/workbench/workbench.h"
#include "engine/base/format.h"

namespace planscope::cli {

using Json = nlohmann::ordered_json;

enum Exit { kDone = 0, kNo = 1, kBadInput = 2, kUnknown = 3 };

struct Options {
  bool json = false;
  std::string workspace;       // file; empty: none
  std::string program_folder;  // where the worker lies
  std::string model, plan, program, cluster = "local", output, name, id, why, why_not, trace, svg, folder,
                                    optimizer = "adamw", type, join, address = "127.0.0.1";
  std::string session_cluster;  // of documents that name none; empty: the preferred one
  std::vector<std::string> models, plans, constraints, axes, zero;
  int procs = 0, steps = 1;
  std::int64_t global_batch = 0, seed = 1;
  double time_limit = 60;
  bool time_limited = false;  // it was said
  std::string within;         // a time; empty: none
  std::string templates = "all";
  bool links = false, audit = false, expand = false, all = false, times = false;
  std::string explain, case_file, memory;
  bool recompute = false, offload = false;
  std::int64_t micro_batches = 1;
  std::string python, inputs;
  int port = 8640;
  std::string bind = "127.0.0.1";
  std::vector<std::string> roots = {"."};
  std::vector<std::string> tls;
  bool insecure = false, no_browser = false;
  int pairs = 30;
};

// The answer of a verb: JSON for scripts, text for people, and the exit status.
struct Answer {
  int status = kDone;
  Json json = Json::object();
  std::string text;
  bool silent = false;  // what there is to say has been printed
};

// Diagnostics go to standard error, each on a line.
void report(const std::vector<Diagnostic>&);
Answer bad_input(const std::vector<Diagnostic>&);
Answer bad_input(std::string reason);  // diagnostics as text, of a worker

// Opens the workspace that the options name; nothing (with a warning on standard error) where that fails for a verb
// that can do without.
std::optional<Workspace> open_workspace(const Options&);

// What is wrong with the cluster that a session is to begin with: there is none of that name, or its file cannot be read.
std::vector<Diagnostic> wrong_session_cluster(const Options&);

// Whether it is in the workspace now; if not, standard error says what became of it (app/workbench/keep.h).
bool record(const Options&, std::optional<Workspace>&, const Recording&);

extern std::atomic<bool> interrupted;  // set by SIGINT and SIGTERM while a verb runs that ends early when asked to

// JSON as one line; text that is not UTF-8 (out of a damaged file) is replaced, not refused.
std::string dump(const Json&);

Answer info(const Options&);
Answer rules(const Options&);
Answer audit(const Options&, const OpenModel&, Answer);  // adds the audit of the rules
Answer templates(const Options&);
Answer clusters(const Options&);
Answer plan(const Options&);
Answer verify(const Options&);
Answer simulate(const Options&);
Answer run(const Options&);
Answer check(const Options&);
Answer profile(const Options&);
Answer demo(const Options&);
Answer bench(const Options&);
Answer schedule(const Options&);
Answer bench_interface(const Options&);
std::string bench_scripts(const Options&);  // folder of what `bench` runs
Answer bench_layouts(const Options&);
Answer bench_splits(const Options&);
Answer bench_web(const Options&);
Answer list(const Options&);
Answer show(const Options&);
Answer gui(const Options&);
Answer session(const Options&);
Answer serve(const Options&);

// `--inputs` as workers get it: a file by its absolute path; empty where it was not said.
Result<std::string> inputs_option(const Options&);

std::string trial_folder(const Options&);  // beside the workspace: what trials leave for the next one
Answer explain(const Options&);
Answer diff(const Options&);
Answer later(const std::string& verb);  // a verb that does not exist yet

Answer unsettled(const Settled&);  // a plan with open arguments that has no complete one

}  // namespace planscope::cli
