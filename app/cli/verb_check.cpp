#include <chrono>
#include <filesystem>
#include <iostream>

#include "app/cli/command.h"
#include "app/workbench/pytorch_check.h"
#include "engine/base/text.h"

namespace planscope::cli {

namespace {

std::string figure(const Json& value, const char* format) {
  char text[40] = "no number";
  if (value.is_number()) std::snprintf(text, sizeof text, format, value.get<double>());
  return text;
}

// The first thing that differs, in words.
std::string difference_text(const PytorchAnswer& a, const Json& said) {
  if (!a.failed.empty()) return a.failed;
  const Json& over = said.contains("different") ? said["different"] : Json::array();
  if (!over.empty()) {
    const std::string op = said.value("first_operator", Json()).is_string() ? said["first_operator"].get<std::string>() : "";
    return over[0]["what"].get<std::string>() + " " + over[0]["tensor"].get<std::string>() + " is off by " +
           figure(over[0]["error"], "%.2g") + ", " + figure(over[0]["allowed"], "%.2g") + " is allowed" +
           (op.empty() ? "" : "; the first operator whose result differs is " + op);
  }
  const Json flops = said.value("flops", Json::array());
  if (!flops.empty())
    return "FLOPs of " + flops[0]["operator"].get<std::string>() + ": " + figure(flops[0]["planscope"], "%.0f") +
           ", PyTorch counts " + figure(flops[0]["pytorch"], "%.0f");
  return "";
}

Json json_of(const PytorchAnswer& a) {
  const Json said = Json::parse(a.json, nullptr, false);
  Json out = {{"equal", a.equal}};
  for (const char* field : {"losses", "worst", "flops"}) out[field] = said.value(field, Json());
  out["peak_bytes"] = {{"planscope", a.unknown_memory.empty() ? Json(a.predicted_peak_bytes) : Json()},
                       {"pytorch", said.value("pytorch_peak_bytes", Json())}};
  if (!a.unknown_memory.empty()) out["peak_bytes"]["unknown"] = a.unknown_memory;
  out["difference"] = a.equal ? Json() : Json(difference_text(a, said));
  for (const char* field : {"different", "first_operator", "runs", "compared", "uncounted", "inputs", "inputs_note", "notes"})
    if (said.contains(field)) out[field] = said[field];
  if (!a.failed.empty()) out["failed"] = a.failed;
  return out;
}

std::string text_of(const PytorchAnswer& a) {
  const Json said = Json::parse(a.json, nullptr, false);
  std::string out = a.model + "\n";
  if (!a.failed.empty()) return out + "  cannot be compared: " + a.failed + "\n";
  std::vector<std::vector<std::string>> rows = {{"  run", "loss", "PyTorch"}};
  for (const Json& run : said["runs"])
    rows.push_back({"  " + run["precision"].get<std::string>() + ", " + run["optimizer"].get<std::string>(),
                    figure(run["planscope"].back(), "%.9g"), figure(run["pytorch"].back(), "%.9g")});
  out += table(rows);
  if (said["worst"].is_object())
    out += "  " + std::to_string(said["compared"].get<int>()) + " numbers and tensors compared, largest relative error " +
           figure(said["worst"]["error"], "%.2g") + ", in " + said["worst"]["what"].get<std::string>() + " " +
           said["worst"]["tensor"].get<std::string>() + "\n";
  out += "  peak memory of AdamW: " +
         (a.unknown_memory.empty() ? bytes_text(static_cast<double>(a.predicted_peak_bytes)) + " predicted"
                                   : "not known, " + a.unknown_memory) +
         (said["pytorch_peak_bytes"].is_number() ? "; PyTorch " + bytes_text(said["pytorch_peak_bytes"].get<double>()) : "") +
         "\n";
  for (const Json& row : said["flops"])
    out += "  FLOPs of " + row["operator"].get<std::string>() + ": " + figure(row["planscope"], "%.0f") +
           ", PyTorch counts " + figure(row["pytorch"], "%.0f") + "\n";
  out += "  inputs: " + said["inputs"].get<std::string>() +
         (said["inputs_note"].get<std::string>().empty() ? "" : " (" + said["inputs_note"].get<std::string>() + ")") + "\n";
  return out + (a.equal ? "  equal to PyTorch\n" : "  NOT equal to PyTorch: " + difference_text(a, said) + "\n");
}

std::string python(const Options& o) {
  std::error_code ec;
  if (!o.python.empty()) return o.python;
  return std::filesystem::exists(PLANSCOPE_PYTHON, ec) ? PLANSCOPE_PYTHON : "python3";
}

}  // namespace

Answer check(const Options& o) {
  const auto begin = std::chrono::steady_clock::now();
  if (o.steps < 1)
    return bad_input({error("--steps " + std::to_string(o.steps) + " is no number of steps", "", "1 or more")});
  const Result<std::string> inputs = inputs_option(o);
  if (!inputs.ok()) return bad_input(inputs.diagnostics);
  std::optional<Workspace> workspace = open_workspace(o);
  const PytorchCheckSpec spec{o.program_folder + "/planscope-worker", python(o), o.steps,
                              static_cast<std::uint64_t>(o.seed), *inputs};
  const auto progress = [](const std::string& what, const std::string& model) {
    std::cerr << what << ": " << model << " …\n";
  };
  const auto answers = check_with_pytorch(spec, o.models, workspace ? &*workspace : nullptr, progress, interrupted);
  if (!answers.ok()) return bad_input(answers.diagnostics);
  Answer a;
  if (answers->size() == 1 && answers->front().bad_input) return bad_input(answers->front().failed);
  int differing = 0, uncompared = 0;
  bool input_is_bad = false;
  Json each = Json::array();
  for (const PytorchAnswer& model : *answers) {
    const bool compared = model.failed.empty();
    differing += compared && !model.equal ? 1 : 0;
    uncompared += compared ? 0 : 1;
    input_is_bad = input_is_bad || model.bad_input;
    a.text += text_of(model);
    Json row = json_of(model);
    row["model"] = model.model;
    each.push_back(std::move(row));
    if (!model.equal)
      std::cerr << model.model << ": " << (compared ? "" : "cannot be compared: ")
                << difference_text(model, Json::parse(model.json, nullptr, false)) << "\n";
  }
  if (answers->size() == 1)
    a.json = each[0];
  else {
    a.json = {{"equal", differing == 0},
              {"tried", answers->size()},
              {"differing", differing},
              {"uncompared", uncompared},
              {"models", each}};
    a.text += std::to_string(answers->size()) + " models tried, " + std::to_string(differing) + " differ" +
              (uncompared > 0 ? ", " + std::to_string(uncompared) + " cannot be compared" : "") + "\n";
  }
  a.status = interrupted ? kUnknown : differing > 0 ? kNo : input_is_bad ? kBadInput : uncompared > 0 ? kUnknown : kDone;
  a.json["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return a;
}

}  // namespace planscope::cli
