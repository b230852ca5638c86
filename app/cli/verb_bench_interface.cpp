#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>

#include "app/cli/command.h"
#include "app/session/canvases/canvases.h"
#include "app/session/panels/panels.h"
#include "app/session/session.h"
#include "engine/base/temporary_folder.h"
#include "engine/base/text.h"
#include "viz/scenes/scenes.h"

namespace planscope::cli {

namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point begin) { return std::chrono::duration<double, std::milli>(Clock::now() - begin).count(); }

struct Subject {
  std::string name, model, cluster, text, edit;
};

// What is asked of each figure, at most (docs/benchmarks.md).
struct Figure {
  std::string subject, what;
  double value = 0;
  std::optional<double> must = {};
  bool aim = false;
  std::string unit = "ms";
};

class Interface {
 public:
  explicit Interface(const std::string& workspace) : session_({.workspace = workspace}) {
    session_.on_change([this] {
      const std::lock_guard lock(mutex_);
      changed_.notify_all();
    });
  }

  Result<Done> apply(session::Invocation i) { return session_.apply(i); }
  session::State state() const { return session_.state(); }
  void wait() { session_.wait(); }

  session::State until(const std::function<bool(const session::State&)>& is_so) {
    std::unique_lock lock(mutex_);
    while (true) {
      session::State s = session_.state();
      if (is_so(s)) return s;
      changed_.wait_for(lock, std::chrono::milliseconds(5));
    }
  }

  // Until the text as it stands has come so far.
  session::State until(session::PictureState wanted) {
    return until([wanted](const session::State& s) {
      const session::Document* d = s.document();
      const bool of_text = d && d->latest && d->latest->text == d->draft.text() && d->latest->cluster_name == d->cluster;
      return of_text && (d->latest->state >= wanted || d->latest->state == session::PictureState::refused);
    });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  session::Session session_;
};

double median_of(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

// Every canvas that has something to show: its model made, taken in and drawn, as a list of shapes.
double draw_all(const session::State& s, std::vector<std::pair<std::string, double>>& frames) {
  const Clock::time_point begin = Clock::now();
  for (const session::CanvasInfo& c : session::canvases()) {
    if (!c.source(s).of) continue;
    const std::unique_ptr<viz::Scene> scene = viz::make_scene(c.scene);
    if (!scene || !scene->load(c.model(s))) continue;
    scene->mark(c.marks(s));
    std::vector<double> ms;
    for (int i = 0; i < 9; ++i) {
      const Clock::time_point frame = Clock::now();
      viz::Canvas canvas;
      scene->draw(canvas, {0, 0, 1600, 1000}, viz::dark_theme());
      ms.push_back(ms_since(frame));
      if (i == 0) frames.emplace_back(c.id, 0);
    }
    frames.back().second = median_of(ms);
  }
  double spent = 0;
  for (const auto& [id, ms] : frames) spent += 8 * ms;
  return std::max(0.0, ms_since(begin) - spent);
}

// The graph as it is now: folded, laid out, with what the plan does in it, as a list of shapes.
double draw_graph(const session::State& s) {
  const Clock::time_point begin = Clock::now();
  for (const session::CanvasInfo& c : session::canvases()) {
    if (std::string_view(c.id) != "graph") continue;
    const std::unique_ptr<viz::Scene> scene = viz::make_scene(c.scene);
    scene->load(c.model(s));
    scene->mark(c.marks(s));
    viz::Canvas canvas;
    scene->draw(canvas, {0, 0, 1600, 1000}, viz::dark_theme());
  }
  return ms_since(begin);
}

// The node with most equal layers.
std::string layers_of(const session::State& s) {
  const session::FoldedModel& f = s.document()->graph.model->get();
  const auto most = std::max_element(f.groups.begin(), f.groups.end(),
                                     [](const auto& a, const auto& b) { return a.repeats < b.repeats; });
  return most->id;
}

using Add = std::function<void(const std::string& what, double ms, std::optional<double> must, bool aim)>;

// Writes three plans to files; they are compared with the one that is open.
Result<Done> measure_comparison(Interface& ui, const Subject& subject, bool large, const Add& add) {
  const TemporaryFolder folder("bench");
  std::vector<std::string> files;
  for (const char* line : {"trans L[0] recompute", "trans L[0] offload", "trans L[1] recompute"}) {
    files.push_back(folder / (std::to_string(files.size()) + ".plan"));
    if (Result<Done> written = write_file(files.back(), subject.text + line + "\n"); !written.ok()) return written;
  }
  const Clock::time_point begin = Clock::now();
  if (Result<Done> done = ui.apply({"compare", {{"plans", join(files, "\n")}}}); !done.ok()) return done;
  const session::State s = ui.until([](const session::State& now) { return now.document()->comparing && !now.document()->comparing->running; });
  if (!s.document()->comparing->complete) return s.document()->comparing->diagnostics;
  add("four plans of the model compared", ms_since(begin), large ? std::nullopt : std::optional(1000.0), false);
  return Done{};
}

// An edit beside a search that has found something, and the end of the search.
Result<Done> measure_search(Interface& ui, const Subject& subject, bool large, const Add& add) {
  if (Result<Done> done = ui.apply({"plan", {{"whole", "whole"}, {"limit", "60"}}}); !done.ok()) return done;
  const auto planner = [](const session::State& s) { return s.document()->planner; };
  const auto has_begun = [&](const session::State& s) { return !planner(s)->running || !planner(s)->progress.empty(); };
  const int job = planner(ui.until(has_begun))->job;
  Clock::time_point begin = Clock::now();
  if (Result<Done> done = ui.apply({"append", {{"statement", subject.edit}}}); !done.ok()) return done;
  ui.until(session::PictureState::predicted);
  add("edit to step and peak while a search runs", ms_since(begin), large ? 1000 : 100, true);
  begin = Clock::now();
  if (!ui.apply({"cancel", {{"job", std::to_string(job)}}}).ok()) return Done{};  // it has ended by itself
  ui.until([&](const session::State& s) { return !planner(s)->running; });
  add("stop a search", ms_since(begin), 200, false);
  const auto has_ended = [&](const session::State& s) { return session::why_not(s, "accept").empty() || planner(s)->status != "stopped"; };
  ui.until(has_ended);
  add("stop a search until the best can be accepted", ms_since(begin), std::nullopt, false);
  return Done{};
}

Result<std::vector<Figure>> measure(const Subject& subject, const std::string& workspace) {
  std::vector<Figure> out;
  Interface ui(workspace);
  const bool large = subject.name.find("8B") == std::string::npos;
  const double open_must = large ? 3000 : 1000;
  const auto add = [&](const std::string& what, double ms, std::optional<double> must = {}, bool aim = false) {
    out.push_back({subject.name, what, ms, must, aim});
  };
  Clock::time_point begin = Clock::now();
  Result<Done> done = ui.apply({"open", {{"model", subject.model}, {"cluster", subject.cluster}}});
  if (!done.ok()) return done.diagnostics;
  add("open the model", ms_since(begin));
  add("first picture of the graph", draw_graph(ui.state()), 300);
  done = ui.apply({"text", {{"text", subject.text}}});
  if (!done.ok()) return done.diagnostics;
  const session::State first = ui.until(session::PictureState::predicted);
  if (first.document()->latest->state == session::PictureState::refused) return first.document()->latest->diagnostics;
  add("the graph with the plan", draw_graph(first), 300);
  std::vector<std::pair<std::string, double>> frames;
  draw_all(first, frames);
  add("open to the first pictures", ms_since(begin), open_must);
  ui.until(session::PictureState::verified);
  add("open to the verdict", ms_since(begin));
  double panels = 0;
  const session::State shown = ui.state();
  begin = Clock::now();
  for (const session::PanelInfo& p : session::panels()) p.make(shown);
  panels = ms_since(begin);
  add("all panels", panels);
  for (const auto& [id, ms] : frames) add("a frame of " + id, ms, 8);
  begin = Clock::now();
  done = ui.apply({"expand", {{"node", layers_of(shown)}}});
  if (!done.ok()) return done.diagnostics;
  draw_graph(ui.state());
  add("expand a layer in the graph", ms_since(begin), 100);
  begin = Clock::now();
  done = ui.apply({"append", {{"statement", subject.edit}}});
  if (!done.ok()) return done.diagnostics;
  add("an edit is taken", ms_since(begin));
  ui.until(session::PictureState::predicted);
  add("edit to step and peak", ms_since(begin), large ? 1000 : 100, true);
  ui.until(session::PictureState::verified);
  add("edit to the verdict", ms_since(begin));
  std::string other = subject.cluster;
  other.replace(other.find("h100"), 4, "a100");
  begin = Clock::now();
  done = ui.apply({"cluster", {{"name", other}}});
  if (!done.ok()) return done.diagnostics;
  ui.until(session::PictureState::predicted);
  add("another cluster to step and peak", ms_since(begin), large ? std::nullopt : std::optional(300.0));
  done = ui.apply({"cluster", {{"name", subject.cluster}}});
  if (!done.ok()) return done.diagnostics;
  ui.until(session::PictureState::verified);
  done = ui.apply({"select", {{"operators", "model.layers[*].mlp.down_proj"}}});
  if (!done.ok()) return done.diagnostics;
  std::vector<std::pair<std::string, double>> selected;
  draw_all(ui.state(), selected);
  for (const auto& [id, ms] : selected)
    if (id == "tensor") add("a frame of tensor", ms, 8);
  done = ui.apply({"select", {{"none", "none"}}});
  if (!done.ok()) return done.diagnostics;
  done = ui.apply({"text", {{"text", subject.text}}});
  ui.until(session::PictureState::verified);
  done = measure_comparison(ui, subject, large, add);
  if (!done.ok()) return done.diagnostics;
  done = measure_search(ui, subject, large, add);
  if (!done.ok()) return done.diagnostics;
  // A newer text ends the evaluation of an older one, wherever that is.
  done = ui.apply({"append", {{"statement", "# older"}}});
  begin = Clock::now();
  done = ui.apply({"text", {{"text", "devices 1\n"}}});
  ui.until(session::PictureState::open);
  add("give up an older text", ms_since(begin), 200, true);
  ui.wait();
  return out;
}

// `large`: the folder in which sample_models/make.sh --large has put its models.
std::vector<Subject> subjects(const std::string& large) {
  const std::string samples = PLANSCOPE_SAMPLES;
  const std::string layers = "let L = model.layers[*]\nlet S = cut L into |pipe|\ntrans * batch by mb, data\nuse tp(L, tensor)\n"
                             "assign S[i] to pipe=i\nuse 1f1b(S)\n";
  return {{"Llama-3 8B on 64", samples + "/llama3_8b.pt2", "dgx-h100x8",
           "devices 64 as pipe=4 data=2 tensor=8\naxis mb=8\nmodel batch=64\n" + layers, "trans L recompute"},
          {"Llama-3 405B on 8,192", large + "/llama3_405b.pt2", "dgx-h100x1024",
           "devices 8192 as pipe=16 data=64 tensor=8\naxis mb=32\nmodel batch=2048\n" + layers, "trans L recompute"},
          {"64 stages x 1,024 micro-batches", large + "/llama3_405b.pt2", "dgx-h100x64",
           "devices 512 as pipe=64 data=1 tensor=8\naxis mb=1024\nmodel batch=1024\n" + layers, "trans L recompute"}};
}

// The desktop, started: until the window is painted first, and what it does while nothing happens.
struct DesktopStart {
  std::optional<double> first_ms, settled_ms, idle_paints, idle_ms;
};

DesktopStart start_desktop(const std::string& command) {
  DesktopStart out;
  const Clock::time_point begin = Clock::now();
  std::FILE* said = ::popen(command.c_str(), "r");
  if (!said) return out;
  char line[200];
  while (std::fgets(line, sizeof line, said)) {
    const std::string text(line);
    if (text.starts_with("first picture")) out.first_ms = ms_since(begin);
    if (text.starts_with("settled")) out.settled_ms = ms_since(begin);
    if (const std::string painted = "painted while idle "; text.starts_with(painted)) out.idle_paints = std::atof(line + painted.size());
    if (const std::string busy = "busy while idle "; text.starts_with(busy)) out.idle_ms = std::atof(line + busy.size());
  }
  ::pclose(said);
  return out;
}

std::string in_quotes(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// Without a screen, and on one where there is one: the start page, and a model with its plan. The median of some starts.
std::vector<Figure> desktop_figures(const Options& o) {
  constexpr int starts = 5;
  constexpr double kIdleMs = 7.5;  // half a percent of a core, which is shown as none
  std::vector<Figure> out;
  const std::string program = o.program_folder + "/planscope-desktop", samples = PLANSCOPE_SAMPLES;
  const std::string model = " --cluster dgx-h100x1 --plan " + in_quotes(samples + "/plans/gpt2_tiny-1f1b.plan") + " " +
                            in_quotes(samples + "/gpt2_tiny.pt2");
  std::vector<std::pair<std::string, std::string>> platforms = {{"without a screen", "offscreen"}};
  if (std::getenv("DISPLAY")) platforms.emplace_back("X11", "xcb");
  for (const auto& [name, platform] : platforms)
    for (const auto& [what, arguments] : {std::pair<std::string, std::string>{"empty", ""}, {"gpt2_tiny", model}}) {
      std::vector<double> first, settled, busy;
      double paints = 0;
      for (int i = 0; i < starts; ++i) {
        const DesktopStart s = start_desktop("QT_QPA_PLATFORM=" + platform + " " + in_quotes(program) + " --report-start" +
                                             arguments + " 2>/dev/null");
        if (!s.first_ms || !s.settled_ms || !s.idle_paints || !s.idle_ms) continue;
        first.push_back(*s.first_ms);
        settled.push_back(*s.settled_ms);
        busy.push_back(*s.idle_ms);
        paints = std::max(paints, *s.idle_paints);
      }
      if (first.empty()) continue;
      const std::string subject = "Desktop, " + name + ", " + what;
      out.push_back({subject, "start to the first picture", median_of(first), 500});
      out.push_back({subject, "start to all pictures, and quiet for half a second", median_of(settled)});
      out.push_back({subject, "in 1.5 idle seconds", paints, 0, false, "paintings"});
      out.push_back({subject, "processor time in 1.5 idle seconds", median_of(busy), kIdleMs});
    }
  return out;
}

void add_figure(Answer& a, std::vector<std::vector<std::string>>& rows, const Figure& f) {
  const bool kept = !f.must || f.value <= *f.must;
  const auto text = [&](double v) { return f.unit == "ms" ? time_text(1000 * v) : with_commas(std::llround(v)) + " " + f.unit; };
  a.json["rows"].push_back({{"name", f.subject + ": " + f.what + ", " + f.unit}, {"goal", f.must ? Json(*f.must) : Json()},
                            {"measured", f.value}, {"aim", f.aim}});
  rows.push_back({f.subject, f.what, text(f.value), f.must ? text(*f.must) + (f.aim ? " (aim)" : "") : "",
                  !f.must ? "" : kept ? "✓" : "✗ missed"});
  if (!kept && !f.aim) a.status = kNo;
}

}  // namespace

Answer bench_interface(const Options& o) {
  Answer a;
  a.json["rows"] = Json::array();
  std::vector<std::vector<std::string>> rows = {{"subject", "what", "time", "must be", ""}};
  for (const Figure& f : desktop_figures(o)) add_figure(a, rows, f);
  for (const Subject& s : subjects(o.case_file.empty() ? "." : o.case_file)) {
    std::error_code ec;
    if (!std::filesystem::exists(s.model, ec)) {
      rows.push_back({s.name, "not there: " + s.model + " (sample_models/make.sh --large FOLDER makes it)", "", "", ""});
      continue;
    }
    const Result<std::vector<Figure>> figures = measure(s, "");
    if (!figures.ok()) return bad_input(figures.diagnostics);
    for (const Figure& f : *figures) add_figure(a, rows, f);
  }
  a.text = table(rows);
  return a;
}

}  // namespace planscope::cli
