#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>

#include "app/cli/command.h"
#include "app/workbench/runtime_bench.h"
#include "engine/base/text.h"

namespace planscope::cli {

namespace {

namespace fs = std::filesystem;

std::string number(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", v);
  return text;
}

std::string text_of(const Ratio& r) { return number(r.median) + " (" + number(r.low) + " … " + number(r.high) + ")"; }

double median(std::vector<double> v) {
  const auto middle = v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2);
  std::nth_element(v.begin(), middle, v.end());
  return *middle;
}

bool reached(const RuntimeComparison& c) { return c.step.low <= runtime_target && c.memory <= runtime_target; }

Json to_json(const Ratio& r) { return {{"median", r.median}, {"low", r.low}, {"high", r.high}}; }

Json to_json(const RuntimeSide& s) {
  return {{"step_us", s.step_us}, {"cpu_us", s.cpu_us}, {"resident_bytes", s.resident_bytes}};
}

Json to_json(const RuntimeComparison& c) {
  return {{"name", c.name},
          {"against", c.against},
          {"ranks", c.ranks},
          {"step_ratio", to_json(c.step)},
          {"cpu_ratio", to_json(c.processor)},
          {"memory_ratio", c.memory},
          {"reached", reached(c)},
          {"ours", to_json(c.ours)},
          {"theirs", to_json(c.theirs)}};
}

std::string python(const Options& o) {
  std::error_code ec;
  if (!o.python.empty()) return o.python;
  return fs::exists(PLANSCOPE_PYTHON, ec) ? PLANSCOPE_PYTHON : "python3";
}

}  // namespace

std::string bench_scripts(const Options& o) {
  const fs::path beside = fs::path(o.program_folder).parent_path() / "share/planscope/bench";
  std::error_code ec;
  return fs::is_directory(beside, ec) ? beside.string() : PLANSCOPE_BENCH;
}

Answer bench(const Options& o) {
  if (o.name == "interface") return bench_interface(o);
  if (o.name == "web") return bench_web(o);
  if (o.name == "layouts") return bench_layouts(o);
  if (o.name == "splits") return bench_splits(o);
  const auto begin = std::chrono::steady_clock::now();
  const RuntimeBenchSpec spec{o.program_folder + "/planscope-worker", bench_scripts(o), python(o), o.pairs};
  const Result<std::vector<RuntimeComparison>> r =
      bench_runtime(spec, o.plans, [](const std::string& name) { std::cerr << name << " …\n"; }, interrupted);
  if (!r.ok()) {
    Answer a = bad_input(r.diagnostics);
    if (interrupted) a.status = kUnknown;
    return a;
  }
  Answer a;
  a.json["target"] = runtime_target;
  a.json["comparisons"] = Json::array();
  std::vector<std::vector<std::string>> rows = {
      {"plan", "against", "step", "theirs", "ratio (95 %)", "processor (95 %)", "memory", "theirs", "ratio"}};
  for (const RuntimeComparison& c : *r) {
    a.json["comparisons"].push_back(to_json(c));
    rows.push_back({c.name, c.against, time_text(median(c.ours.step_us)), time_text(median(c.theirs.step_us)),
                    text_of(c.step), text_of(c.processor), bytes_text(static_cast<double>(c.ours.resident_bytes)),
                    bytes_text(static_cast<double>(c.theirs.resident_bytes)), number(c.memory)});
    if (!reached(c)) a.status = kNo;
  }
  a.json["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  a.text = table(rows) + "ratios are ours / theirs, medians of " + std::to_string(o.pairs) +
           " pairs of steps; the target is " + number(runtime_target) + " for step and memory\n";
  return a;
}

}  // namespace planscope::cli
