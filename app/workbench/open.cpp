#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "app/workbench/plan_file.h"
#include "app/workbench/profiling.h"
#include "app/workbench/workbench.h"
#include "engine/base/file_text.h"
#include "engine/base/replace_file.h"
#include "engine/base/text.h"
#include "engine/cluster/fields.h"
#include "engine/graph/import.h"
#include "engine/graph/own_rules.h"
#include "engine/plan/parser.h"
#include "engine/program/program_json.h"

namespace planscope {

namespace fs = std::filesystem;

namespace {

Diagnostic about(const std::string& file, std::string what, std::string why = {}, std::string hint = {}) {
  Diagnostic d = error(std::move(what), std::move(why), std::move(hint));
  d.file = file;
  return d;
}

bool is_file(const std::string& path) {
  std::error_code ec;
  return fs::is_regular_file(path, ec);
}

Result<std::string> model_path(const std::string& where, const Workspace* workspace) {
  std::error_code ec;
  if (fs::exists(where, ec)) return where;
  if (workspace) {
    const auto row = workspace->find_model(where);
    if (row.ok() && row->has_value()) {
      if (is_file((*row)->path)) return (*row)->path;
      return about((*row)->path, "the file of model '" + where + "' is gone", "", "open it again from where it is now");
    }
  }
  return about(where, "there is no such file, and no model of that name in the workspace", "",
               "'planscope list' shows the workspace");
}

}  // namespace

Result<OpenModel> open_model(const std::string& where, const Workspace* workspace) {
  const auto begin = std::chrono::steady_clock::now();
  Result<std::string> path = model_path(where, workspace);
  if (!path.ok()) return path.diagnostics;
  Result<Model> imported = import_model(*path);
  Result<OpenModel> out;
  out.diagnostics = imported.diagnostics;
  if (!imported.value || out.has_errors()) return out;
  OpenModel open;
  open.model = std::make_shared<const Model>(std::move(*imported.value));
  Result<Graph> graph = open_graph(open.model);
  out.diagnostics.insert(out.diagnostics.end(), graph.diagnostics.begin(), graph.diagnostics.end());
  if (!graph.value) return out;
  open.graph = std::move(*graph.value);
  open.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  out.value = std::move(open);
  return out;
}

Result<OpenProgram> open_program(const std::string& model, const std::string& file, const Workspace* workspace) {
  Result<OpenModel> opened = open_model(model, workspace);
  if (!opened.value || opened.has_errors()) return opened.diagnostics;
  const Result<std::string> text = read_file(file);
  if (!text.ok()) return text.diagnostics;
  Result<OpenProgram> out;
  out.diagnostics = std::move(opened.diagnostics);
  const auto take = [&](std::vector<Diagnostic> problems) {
    for (Diagnostic& d : problems) {
      if (d.file.empty()) d.file = file;
      out.diagnostics.push_back(std::move(d));
    }
    return !out.has_errors();
  };
  Result<Program> program = program_from_json(*text);
  if (!take(program.diagnostics)) return out;
  Result<Graph> sized = program->sizes.empty() ? Result<Graph>(opened->graph) : resize(opened->graph, program->sizes);
  if (!take(sized.diagnostics) || !take(check_fit(*program, *sized))) return out;
  out.value = OpenProgram{std::move(*opened), std::make_shared<const Graph>(std::move(*sized)), std::move(*program)};
  return out;
}

namespace {

bool is_version(const std::string& where) {
  return !where.empty() && where.size() < 18 &&
         std::all_of(where.begin(), where.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::optional<PlanRow> kept_plan(const std::string& where, const Workspace* workspace) {
  if (!workspace) return std::nullopt;
  if (is_version(where))
    if (const auto row = workspace->plan(std::stoll(where)); row.ok()) return *row;
  const auto row = workspace->find_plan(where);
  return row.ok() ? *row : std::nullopt;
}

Result<plan::Plan> open_plan(const std::string& where, const Workspace* workspace) {
  std::error_code ec;
  if (fs::exists(where, ec) && !fs::is_directory(where, ec)) {
    const Result<PlanFile> file = read_plan_file(where);
    if (!file.ok()) return file.diagnostics;
    return plan::parse_plan(file->text, where);
  }
  if (const std::optional<PlanRow> row = kept_plan(where, workspace)) return plan::parse_plan(row->text, row->name);
  return about(where, "there is no such plan file, and no plan of that name or number in the workspace",
               is_version(where) ? "it may have been deleted, or be of another workspace" : "",
               "'planscope list' shows the workspace");
}

std::int64_t declared_devices(const plan::Plan& p) {
  for (const plan::Statement& s : p.statements)
    if (const auto* d = std::get_if<plan::DevicesStatement>(&s.body);
        d && d->count.kind == plan::Expression::Kind::number)
      return d->count.number;
  return 0;
}

namespace {

// A cluster that is kept in the workspace. Names of presets and files are those of presets and files.
std::optional<Result<Cluster>> kept_cluster(const std::string& name, const Workspace* workspace) {
  if (!workspace || name.find('/') != std::string::npos || name.ends_with(".json")) return std::nullopt;
  const auto row = workspace->find_cluster(name);
  if (!row.ok() || !row->has_value()) return std::nullopt;
  Result<Cluster> c = parse_cluster((*row)->json, workspace->file());
  if (c.value) c->name = name;
  return c;
}

}  // namespace

Result<Cluster> open_cluster(const std::string& where, std::int64_t devices, const Workspace* workspace) {
  if (const ChangedName changed = changed_name(where); !changed.changes.empty()) {
    Result<Cluster> base = open_cluster(changed.base, devices, workspace);
    if (!base.value || base.has_errors()) return base;
    Result<Cluster> c = with_fields(std::move(*base.value), where.substr(changed.base.size() + 1));
    if (c.value) c->name += ":" + where.substr(changed.base.size() + 1);
    c.diagnostics.insert(c.diagnostics.begin(), base.diagnostics.begin(), base.diagnostics.end());
    return c;
  }
  PresetRequest request;
  request.devices = static_cast<int>(std::clamp<std::int64_t>(devices, 1, 1 << 20));
  request.cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  Result<Cluster> c = read_cluster(where, request);
  if (!c.value)
    if (std::optional<Result<Cluster>> kept = kept_cluster(where, workspace)) return std::move(*kept);
  if (!c.value) return c;
  const bool preset = where.find('/') == std::string::npos && !where.ends_with(".json");  // a file says what it says
  if (workspace && preset) c.value = with_stored_link(std::move(*c.value), *workspace, c.diagnostics);
  return c;
}

Diagnostic too_few_devices(const std::string& asks, std::int64_t devices, const Cluster& c) {
  constexpr std::int64_t devices_of_node = 8;
  const std::string nodes = std::to_string((devices + devices_of_node - 1) / devices_of_node);
  return error(asks + " " + std::to_string(devices) + " devices, " + c.name + " has " + std::to_string(c.device_count()), "",
               "name a larger cluster, as dgx-h100x" + nodes);
}

Result<Cluster> open_cluster(const std::string& where, const plan::Plan& p, const Workspace* workspace) {
  Result<Cluster> c = open_cluster(where, declared_devices(p), workspace);
  if (!c.value) return c;
  if (declared_devices(p) > c->device_count()) {
    Diagnostic d = too_few_devices("the plan declares", declared_devices(p), *c);
    d.file = p.file;
    c.diagnostics.push_back(d);
  }
  return c;
}

Result<std::string> read_file(const std::string& path) { return file_text(path); }

Result<Done> write_file(const std::string& path, std::string_view text) {
  const std::string problem = replace_file(path, [&](std::ostream& out) { out << text; });
  if (problem.empty()) return Done{};
  return about(path, "cannot be written", problem, "is the folder there and writable, and the disk not full?");
}

Result<std::string> file_digest(const std::string& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) return about(path, "cannot be read");
  const std::int64_t size = in.tellg();
  constexpr std::int64_t kWhole = 8 << 20;
  std::uint64_t h = digest(std::to_string(size));
  std::vector<char> buffer(static_cast<std::size_t>(std::min(size, kWhole)));
  const auto take = [&](std::int64_t from, std::int64_t count) {
    in.seekg(from);
    in.read(buffer.data(), count);
    h = digest(std::string_view(buffer.data(), static_cast<std::size_t>(std::max<std::int64_t>(0, in.gcount()))), h);
    in.clear();
  };
  if (size <= kWhole) {
    take(0, size);
  } else {
    take(0, kWhole / 2);
    take(size / 2, kWhole / 4);
    take(size - kWhole / 2, kWhole / 2);
  }
  return hex(h);
}

}  // namespace planscope
