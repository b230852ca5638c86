// What a start page offers, beside lost drafts (lists.cpp).
#include <filesystem>

#include "app/session/commands.h"
#include "app/session/panels/panels.h"

namespace planscope::session {

namespace {

constexpr const char* kExportProgram = R"(# planscope opens what torch.export writes: one step of training, with its loss as the result.
import torch

class Step(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, tokens, labels):
        logits = self.model(tokens)
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())

tokens = torch.randint(0, 1000, (8, 128))
labels = torch.randint(0, 1000, (8, 128))
program = torch.export.export(Step(model).train(), (tokens, labels), strict=False)
torch.export.save(program, "my_model.pt2")
)";

// A file by its name, with its path as the tooltip.
Cell file_cell(const std::string& file) {
  const bool path = file.find('/') != std::string::npos;
  return cell(path ? std::filesystem::path(file).filename().string() : file, Unit::none, Tone::plain, file);
}

}  // namespace

Panel samples_panel(const State& s) {
  Panel p{.id = "samples", .title = "Samples", .kind = PanelKind::tree};
  p.columns = {{"name", "Sample"}, {"about", "About"}};
  TableRow tour{.id = "tour", .command = "tour"};
  tour.cells = {cell("Guided tour"), cell("what can be done, step by step, on a sample")};
  p.rows.push_back(std::move(tour));
  for (const Sample& one : *s.sample_files) {
    Invocation open{"open", {{"model", one.model}}};
    if (!one.plan.empty()) open.arguments["plan"] = one.plan;
    TableRow row{.id = one.plan.empty() ? one.model : one.plan, .parent = one.plan.empty() ? "" : one.model};
    row.cells = {cell(one.name), cell(one.about)};
    row.command = print(open);
    p.rows.push_back(std::move(row));
  }
  return p;
}

Panel recent_panel(const State& s) {
  Panel p{.id = "recent", .title = "Recent", .kind = PanelKind::table};
  p.empty = "What was open lately is listed here.";
  p.columns = {{"model", "Model"}, {"plan", "Plan"}, {"cluster", "Cluster"}};
  for (const Recent& r : s.recent) {
    const std::string line = print(to_open(r));
    const bool version = !r.plan.empty() && r.plan.find('/') == std::string::npos;
    TableRow row{.id = line, .command = line};
    row.cells = {file_cell(r.model), version ? cell("version " + r.plan) : file_cell(r.plan), file_cell(r.cluster)};
    p.rows.push_back(std::move(row));
  }
  return p;
}

Panel own_model_panel(const State&) {
  Panel p{.id = "own_model", .title = "Your own model", .kind = PanelKind::facts};
  p.text = kExportProgram;
  return p;
}

}  // namespace planscope::session
