// The guided tour: its steps, with what is to be done in each, and which comes next.
#include "app/session/canvases/canvases.h"
#include "app/session/commands.h"
#include "app/session/panels/panels.h"
#include "app/session/tour.h"

namespace planscope::session {

namespace {

// The name of the panel, the canvas or the command that a step points to, as the surfaces show it.
std::string where_of(const TourStep& step) {
  for (const PanelInfo& p : panels())
    if (step.where.panel == p.id) return std::string(p.title) + " (panel)";
  for (const CanvasInfo& c : canvases())
    if (step.where.canvas == c.id) return std::string(c.title) + " (picture)";
  const CommandInfo& c = *find_command(step.command);
  std::string out = c.menu;
  out += std::string(out.empty() ? "" : " › ") + c.title;
  return *c.keys ? out + " (" + c.keys + ")" : out;
}

std::string command_of(const State& s, const TourStep& step) {
  if (!step.where.panel.empty()) return print({"go", {{"panel", step.where.panel}}});
  if (!step.where.canvas.empty()) return print({"go", {{"canvas", step.where.canvas}}});
  if (std::string_view(step.command) != "open" || s.samples.empty()) return step.command;
  return print({"open",
                {{"model", s.samples + "/gpt2_tiny.pt2"},
                 {"plan", s.samples + "/plans/gpt2_tiny-data-tensor.plan"},
                 {"cluster", "dgx-h100x1"}}});
}

}  // namespace

Panel tour_panel(const State& s) {
  Panel p{.id = "tour", .title = "Guided tour", .kind = PanelKind::tree};
  p.columns = {{"step", "Step"}, {"where", "Where"}, {"state", "State", Unit::none, true}};
  const std::span<const TourStep> all = tour_steps();
  const std::size_t next = next_step_of_tour(s.preferences);
  const bool followed = follows_tour(s.preferences);
  const std::string count = std::to_string(next) + " of " + std::to_string(all.size());
  p.facts = {{"done", "Done", cell(next, Unit::count)}, {"followed", "Followed", cell(followed)}};
  p.facts[0].cell.text = count;
  p.commands = followed ? std::vector<std::string>{"tour_next", "tour_leave"} : std::vector<std::string>{"tour"};
  for (std::size_t k = 0; k < all.size(); ++k) {
    const TourStep& step = all[k];
    const Tone tone = k < next ? Tone::good : k == next ? Tone::plain : Tone::dim;
    TableRow row{.id = step.id, .selected = followed && k == next};
    row.cells = {cell(std::to_string(k + 1) + ". " + step.title, Unit::none, tone), cell(where_of(step)),
                 cell(k < next ? "done" : k == next ? "next" : "later")};
    row.command = command_of(s, step);
    p.rows.push_back(std::move(row));
    for (const char* sentence : step.todo) {
      TableRow line{.id = step.id + std::string("/") + std::to_string(p.rows.size()), .parent = step.id};
      line.cells = {cell(sentence, Unit::none, k == next ? Tone::plain : Tone::dim), cell(""), cell("")};
      line.command = command_of(s, step);
      p.rows.push_back(std::move(line));
    }
  }
  return p;
}

}  // namespace planscope::session
