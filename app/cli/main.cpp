#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <limits>

#include "app/cli/command.h"
#include "app/workbench/default_workspace.h"
#include "engine/base/stop.h"
#include "engine/base/text.h"

namespace {

using namespace planscope::cli;

// The first signal asks; the second one ends the program, whatever it does.
void on_signal(int) {
  interrupted = true;
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

void ask_first() {
  struct sigaction action{};
  action.sa_handler = on_signal;  // without SA_RESTART: what waits in a call is woken
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

// How a verb ends when it is asked to: as every program; where it stands; or by what it looks at itself, with what it has by then.
enum class Ending { at_once, anywhere, by_itself };

struct Verb {
  const char* name;
  const char* about;
  Answer (*run)(const Options&);
  std::function<void(CLI::App*, Options&)> arguments;
  Ending ending = Ending::at_once;
};

// Verbs of the documented command line that this version lacks.
constexpr const char* later_verbs[] = {"export"};

void model_argument(CLI::App* a, Options& o) {
  a->add_option("model", o.model, "A .pt2 file, or a model of the workspace")->required();
}
void plan_argument(CLI::App* a, Options& o) {
  a->add_option("plan", o.plan, "A plan script, or a plan of the workspace")->required();
}
void cluster_option(CLI::App* a, Options& o) {
  a->add_option("--cluster", o.cluster, "A cluster file or preset ('planscope clusters' lists them)")
      ->capture_default_str();
}

void session_cluster_option(CLI::App* a, Options& o) {
  a->add_option("--cluster", o.session_cluster,
                "A cluster file or preset ('planscope clusters' lists them); by default the preferred one");
}

// Of options that count something, or say how long.
std::string above_zero(const std::string& text) {
  double number = 0;
  const bool is_number = CLI::detail::lexical_cast(text, number);
  return is_number && std::isfinite(number) && number > 0 ? "" : "needs a number above 0, not '" + text + "'";
}
// Why an option of the type T cannot hold what was typed. What is no whole number is left to the option.
template <class T>
std::string out_of_bounds(const std::string& text) {
  char* end = nullptr;
  errno = 0;
  const long long number = std::strtoll(text.c_str(), &end, 0);
  if (end == text.c_str() || *end != '\0') return "";
  constexpr long long least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
  if (errno != ERANGE && number >= least && number <= most) return "";
  const bool negative = text.find('-') != std::string::npos;
  return "needs a whole number of at " + (negative ? "least " + std::to_string(least) : "most " + std::to_string(most)) +
         ", not '" + text + "'";
}
template <class T>
CLI::Option* whole_number_option(CLI::App* a, const std::string& name, T& to, const std::string& about) {
  return a->add_option(name, to, about)->check(out_of_bounds<T>);
}

void time_limit_option(CLI::App* a, Options& o, const std::string& about) {
  a->add_option("--time-limit", o.time_limit, about)
      ->capture_default_str()
      ->check(above_zero)
      ->each([&o](const std::string&) { o.time_limited = true; });
}

void inputs_option(CLI::App* a, Options& o) {
  a->add_option("--inputs", o.inputs,
                "archive: those that the model was exported with; drawn; or a file of torch.save. By default the "
                "archive's where it has them");
}

std::vector<Verb> verbs() {
  return {
      {"info", "What a model holds: operators, parameters, FLOPs, rules", info,
       [](CLI::App* a, Options& o) { model_argument(a, o); }},
      {"rules", "The rule of every operator; --audit executes shards of each", rules,
       [](CLI::App* a, Options& o) {
         model_argument(a, o);
         a->add_flag("--audit", o.audit, "Execute every distinct rule whole and in shards, and compare");
       }},
      {"templates", "The built-in plan templates", templates,
       [](CLI::App* a, Options& o) {
         a->add_option("name", o.name, "Show only this one");
         a->add_flag("--expand", o.expand, "With its statements");
       }},
      {"clusters", "The cluster presets", clusters, [](CLI::App*, Options&) {}},
      {"plan", "Complete a plan: Z3 fills what is open, or names the lines that conflict", plan,
       [](CLI::App* a, Options& o) {
         model_argument(a, o);
         a->add_option("plan", o.plan, "A plan script, or a plan of the workspace");
         cluster_option(a, o);
         a->add_option("--constraints", o.constraints, "More constraint rows, in the plan language");
         whole_number_option(a, "--global-batch", o.global_batch, "Sets the input dimension 'batch'")->check(above_zero);
         time_limit_option(a, o, "Seconds");
         a->add_option("--within", o.within,
                       "A step time, as 400ms: find the plan with the least memory that keeps it, not the fastest");
         a->add_option("--templates", o.templates,
                       "Without PLAN: what plans may have, of coshard, interlaced and 3f1b; all or none")
             ->capture_default_str();
         a->add_option("-o,--output", o.output, "Write the complete plan here");
         a->add_option("--program", o.program, "Write the materialized program here, as JSON");
         a->add_flag("--times", o.times, "Show how long each pass took");
         a->add_option("--explain", o.explain,
                       "Why this plan; with a TENSOR ('*' matches): how it is communicated, and what was refused")
             ->expected(0, 1)
             ->default_str("plan");
       },
       Ending::anywhere},
      {"verify", "Prove that a plan computes what the model computes", verify,
       [](CLI::App* a, Options& o) {
         model_argument(a, o);
         a->add_option("plan", o.plan, "A plan script, or a plan of the workspace");
         a->add_option("--program", o.program, "Verify this program file instead");
         cluster_option(a, o);
       }},
      {"simulate", "Predict step time, memory and traffic of a plan", simulate,
       [](CLI::App* a, Options& o) {
         model_argument(a, o);
         plan_argument(a, o);
         cluster_option(a, o);
         a->add_option("--trace", o.trace, "Write a Chrome trace here (opens in Perfetto)");
         a->add_option("--svg", o.svg, "Write the timeline here");
       }},
      {"diff", "Two plans or more, decision by decision, with what each costs", diff,
       [](CLI::App* a, Options& o) {
         model_argument(a, o);
         a->add_option("plans", o.plans, "Plan scripts, or plans of the workspace; the first one is the base")
             ->required()
             ->expected(2, 64);
         cluster_option(a, o);
         time_limit_option(a, o, "Seconds, to complete a plan with open arguments");
       },
       Ending::anywhere},
      {"explain", "Why an operator does what it does, or why not something else", explain,
       [](CLI::App* a, Options& o) {
         model_argument(a, o);
         plan_argument(a, o);
         cluster_option(a, o);
         auto* why = a->add_option("--why", o.why, "An operator's name, or a selection of the plan language");
         a->add_option("--about", o.type, "Only an axis, or place, backward, state, order")->needs(why);
         a->add_option("--why-not", o.why_not, "A statement of the plan language")->excludes(why);
         time_limit_option(a, o, "Seconds, to complete a plan with open arguments");
       },
       Ending::by_itself},
      {"run", "Train a plan on several processes and compare with one device", run,
       [](CLI::App* a, Options& o) {
         model_argument(a, o);
         a->add_option("plan", o.plan, "A plan script, or a plan of the workspace");
         a->add_option("--program", o.program, "Run this program file instead, if it computes the model");
         cluster_option(a, o);
         whole_number_option(a, "--procs", o.procs, "Processes: one for each device of the plan; of a program, as many as it has");
         whole_number_option(a, "--steps", o.steps, "Training steps")->capture_default_str();
         a->add_option("--optimizer", o.optimizer, "sgd or adamw")
             ->capture_default_str()
             ->check(CLI::IsMember({"sgd", "adamw"}));
         inputs_option(a, o);
         whole_number_option(a, "--seed", o.seed, "Of drawn inputs and missing weights")->capture_default_str();
         auto* join = a->add_option("--join", o.join,
                                    "The processes are started elsewhere (torchrun, Slurm, MPI): each as "
                                    "`planscope-worker --join FILE`");
         a->add_option("--address", o.address, "Of this host, as the other processes reach it")
             ->capture_default_str()
             ->needs(join);
       },
       Ending::anywhere},
      {"check", "Train a model with PyTorch itself too, and compare with planscope's one-device run", check,
       [](CLI::App* a, Options& o) {
         a->add_option("model", o.models, "A .pt2 file, or a model of the workspace; several are checked one by one")
             ->required()
             ->expected(1, 100000);
         whole_number_option(a, "--steps", o.steps, "Training steps, with SGD and with AdamW")->capture_default_str();
         inputs_option(a, o);
         whole_number_option(a, "--seed", o.seed, "Of drawn inputs, missing weights and random operators")->capture_default_str();
         a->add_option("--python", o.python, "A Python with torch; by default that of the build, else python3");
       },
       Ending::by_itself},
      {"profile", "Measure the operators of a model on this host; predictions use what was measured", profile,
       [](CLI::App* a, Options& o) {
         a->add_option("model", o.model, "A .pt2 file, or a model of the workspace");
         a->add_option("plans", o.plans, "Plans whose shards are measured; by default the whole model on one device");
         cluster_option(a, o);
         a->add_flag("--links", o.links, "Measure the link between two processes of this host, too or alone");
         a->add_option("-o,--output", o.output, "With --links: write the cluster here");
         whole_number_option(a, "--seed", o.seed, "Of the operands")->capture_default_str();
       },
       Ending::by_itself},
      {"demo", "The main job on the sample models, with a report folder", demo,
       [](CLI::App* a, Options& o) {
         a->add_flag("--all", o.all, "Every sample plan");
         a->add_option("-o,--output", o.folder, "Report folder");
       },
       Ending::by_itself},
      {"bench", "Measure the runtime against PyTorch, or the page in a browser; or solve a case of layout choice", bench,
       [](CLI::App* a, Options& o) {
         a->add_option("what", o.name, "runtime, interface, web, layouts or splits")
             ->required()
             ->check(CLI::IsMember({"runtime", "interface", "web", "layouts", "splits"}));
         a->add_option("case", o.case_file, "Of layouts: a JSON file; of splits: a model; of interface: the folder of the large models");
         a->add_option("--axis", o.axes, "Of splits: a name and devices, tensor=8; several are a grid");
         whole_number_option(a, "--global-batch", o.global_batch, "Of splits: the input dimension 'batch' of one micro-batch")
             ->check(above_zero);
         whole_number_option(a, "--micro-batches", o.micro_batches, "Of splits: how many a step has")->check(above_zero);
         a->add_option("--zero", o.zero, "Of splits: an axis over which ZeRO may split parameters");
         a->add_flag("--recompute", o.recompute, "Of splits: layers may be computed again in backward");
         a->add_flag("--offload", o.offload, "Of splits: what layers need in backward may wait in host memory");
         a->add_option("--memory", o.memory, "Of splits: what a device may use, 24GiB; else what it has");
         a->add_option("--constraints", o.constraints, "Of splits: lines of a plan that are kept");
         cluster_option(a, o);
         time_limit_option(a, o, "Seconds; of splits none unless said");
         a->add_option("--only", o.plans, "one, data or 1f1b; by default all three")
             ->check(CLI::IsMember({"one", "data", "1f1b"}));
         a->add_option("--python", o.python, "A Python with torch; by default that of the build, else python3");
         whole_number_option(a, "--pairs", o.pairs, "Steps of either side that are counted")
             ->capture_default_str()
             ->check(CLI::Range(1, 10000));
       },
       Ending::by_itself},
      {"schedule", "The shortest period of a pipeline, with a proof, and a schedule of all micro-batches", schedule,
       [](CLI::App* a, Options& o) {
         a->add_option("case", o.name,
                       "A JSON file: devices, memory, blocks and what follows what (docs/command-line.md)")
             ->required();
         time_limit_option(a, o, "Seconds");
         a->add_flag("--prove-makespan", o.all, "Go on until the length of the whole schedule is proven too");
       },
       Ending::by_itself},
      {"list", "What the workspace holds", list, [](CLI::App*, Options&) {}},
      {"show", "One plan, run or model of the workspace", show,
       [](CLI::App* a, Options& o) {
         a->add_option("id", o.id, "A plan's number or name, a model's name, or `run` with a number")->required();
         a->add_option("number", o.name, "Of the run");
       }},
      {"session", "Run a script of the commands that the surfaces have, without a screen", session,
       [](CLI::App* a, Options& o) {
         a->add_option("file", o.name, "One command a line (docs/sessions.md); -: standard input")->required();
         session_cluster_option(a, o);
       }},
      {"serve", "The same in a browser: prints the link that opens it", serve,
       [](CLI::App* a, Options& o) {
         a->add_option("model", o.model, "A .pt2 file, or a model of the workspace");
         a->add_option("plan", o.plan, "A plan script, or a plan of the workspace");
         session_cluster_option(a, o);
         whole_number_option(a, "--port", o.port, "Where to listen; if it is taken, one of the next. 0: any")
             ->capture_default_str()
             ->check(CLI::Range(0, 65535));
         a->add_option("--bind", o.bind, "Address to listen at; another than loopback needs --tls or --insecure")
             ->capture_default_str();
         a->add_option("--tls", o.tls, "CERTIFICATE and KEY, PEM files")->expected(2);
         a->add_flag("--insecure", o.insecure, "Without encryption also at another address than loopback");
         a->add_option("--root", o.roots, "Folders whose files may be opened from the browser; names are as seen from the first")
             ->capture_default_str()
             ->allow_extra_args(false);
         a->add_flag("--no-browser", o.no_browser, "Only print the link");
       }},
      {"gui", "The desktop", gui,
       [](CLI::App* a, Options& o) {
         a->add_option("model", o.model, "A .pt2 file");
         a->add_option("plan", o.plan, "A plan script");
         session_cluster_option(a, o);
       }},
  };
}

// Names come from files: only line breaks reach the terminal as they are.
std::string printable_lines(const std::string& text) {
  std::vector<std::string> lines = planscope::split(text, '\n');
  for (std::string& line : lines) line = planscope::printable(line);
  return planscope::join(lines, "\n");
}

int finish(const Answer& answer, const Options& o) {
  if (answer.silent)
    ;
  else if (o.json)
    std::cout << dump(answer.json) << "\n";
  else
    std::cout << printable_lines(answer.text);
  std::cout.flush();
  return std::cout ? answer.status : kBadInput;
}

std::vector<std::string> verb_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands({})) names.push_back(verb->get_name());
  return names;
}

bool has_verb(const CLI::App& app, const std::string& word) {
  const std::vector<std::string> names = verb_names(app);
  return std::find(names.begin(), names.end(), word) != names.end();
}

int no_verb(const std::string& word, const CLI::App& app, const Options& o) {
  const std::string near = planscope::nearest(word, verb_names(app));
  return finish(bad_input({planscope::error(
                    "there is no verb '" + word + "'" +
                    (near.empty() ? "; 'planscope --help' lists them" : ". Did you mean '" + near + "'?"))}),
                o);
}

// CLI11 tells people; a script gets what every verb answers to bad input.
int bad_usage(const CLI::App& app, const CLI::ParseError& e, const Options& o) {
  if (app.exit(e) == 0) return kDone;
  if (!o.json) return kBadInput;
  Answer a;
  a.status = kBadInput;
  a.json["errors"] = Json::array({{{"file", ""}, {"line", 0}, {"text", e.what()}}});
  return finish(a, o);
}

Answer stopped() {
  Answer a;
  a.status = kUnknown;
  a.json = {{"status", "unknown"}, {"reason", "stopped"}};
  a.text = "# unknown (stopped)\n";
  return a;
}

int run_verb(const CLI::App& app, const std::vector<Verb>& all, const Options& o) {
  for (const char* name : later_verbs)
    if (app.got_subcommand(name)) return finish(later(name), o);
  for (const Verb& v : all) {
    if (!app.got_subcommand(v.name)) continue;
    if (v.ending != Ending::at_once) ask_first();
    const planscope::StopScope scope(v.ending == Ending::anywhere ? [] { return interrupted.load(); }
                                                                  : planscope::StopScope::Asked());
    try {
      return finish(v.run(o), o);
    } catch (const planscope::Stopped&) {
      return finish(stopped(), o);
    } catch (const std::exception& e) {  // a bug of ours: nothing that was recorded is lost by saying so
      const std::string text = "planscope " + std::string(v.name) + ": internal error: " + e.what();
      std::cerr << text << "\n";
      Answer a;
      a.status = kUnknown;
      a.json["errors"] = Json::array({{{"file", ""}, {"line", 0}, {"text", text}}});
      return finish(a, o);
    }
  }
  return kBadInput;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  CLI::App app("planscope: parallelization plans for training large models");
  app.set_version_flag("--version", PLANSCOPE_VERSION);
  app.require_subcommand(1);
  Options o;
  o.workspace = planscope::default_workspace(std::getenv("XDG_DATA_HOME"), std::getenv("HOME"));
  std::error_code ec;
  o.program_folder = std::filesystem::read_symlink("/proc/self/exe", ec).parent_path().string();
  o.json = std::find(argv, argv + argc, std::string_view("--json")) != argv + argc;  // of usage that is wrong, too
  const std::vector<Verb> all = verbs();
  for (const Verb& v : all) {
    CLI::App* sub = app.add_subcommand(v.name, v.about);
    sub->add_flag("--json", o.json, "One JSON object on standard output");
    sub->add_option("--workspace", o.workspace, "Workspace file");
    v.arguments(sub, o);
  }
  for (const char* name : later_verbs) app.add_subcommand(name, "(not there yet)")->allow_extras()->group("");
  if (argc > 1 && argv[1][0] != '-' && !has_verb(app, argv[1])) return no_verb(argv[1], app, o);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return bad_usage(app, e, o);
  }
  return run_verb(app, all, o);
}
