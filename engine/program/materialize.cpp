#include "engine/program/materialize.h"

#include <algorithm>
#include <chrono>

#include "engine/base/stop.h"
#include "engine/base/text.h"
#include "engine/plan/printer.h"
#include "engine/program/build/forbidden.h"

namespace planscope {

namespace {

Result<Program> run_passes(const Graph& graph, const plan::Decisions& decisions, const Cluster& cluster,
                           std::vector<PassTime>* times, std::vector<OrderedRuns>* ordered = nullptr) {
  using namespace build;
  Result<Program> result;
  if (!decisions.complete) {
    Diagnostic d = error(plan::open_summary(decisions, "materialize"));
    d.file = decisions.plan.file;
    return d;
  }
  struct Pass {
    const char* name;
    bool (*run)(Work&);
  };
  static constexpr Pass passes[] = {{"places", make_places},     {"bindings", bind_axes}, {"instances", make_instances},
                                    {"forbids", keep_forbids},   {"lags", set_lags},      {"segments", make_segments},
                                    {"emission", emit},          {"around", set_around},  {"buckets", fuse_reductions},
                                    {"batches", fuse_transfers}, {"sums", put_off_sums},  {"waits", insert_waits},
                                    {"causes", find_causes},     {"frees", insert_frees}, {"schedule", make_schedule}};
  Work w(graph, decisions, cluster);
  w.p.graph_digest = graph.digest;
  w.p.cluster_digest = cluster.digest();
  w.p.plan_digest = digest(plan::print(decisions.plan));
  for (const Pass& pass : passes) {
    look_at_stop();
    const auto begin = std::chrono::steady_clock::now();
    const bool ok = pass.run(w);
    if (times)
      times->push_back({pass.name, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()});
    if (!ok) {
      result.diagnostics = std::move(w.diagnostics);
      return result;
    }
  }
  result.diagnostics = std::move(w.diagnostics);
  if (ordered) *ordered = std::move(w.ordered);
  result.value = std::move(w.p);
  return result;
}

}  // namespace

Result<Program> materialize(const Graph& graph, const plan::Decisions& decisions, const Cluster& cluster,
                            std::vector<PassTime>* times) {
  return run_passes(graph, decisions, cluster, times);
}

namespace {

using Changed = std::vector<std::pair<std::string, std::int64_t>>;

Result<std::shared_ptr<const MaterializeCache::Sized>> sized(const Graph& base, const Changed& changed) {
  Result<std::shared_ptr<const MaterializeCache::Sized>> result;
  auto out = std::make_shared<MaterializeCache::Sized>();
  out->base = base.digest;
  if (changed.empty()) {
    out->graph = base;
  } else {
    Result<Graph> resized = resize(base, changed);
    out->diagnostics = result.diagnostics = std::move(resized.diagnostics);
    if (!resized.value || result.has_errors()) return result;
    out->graph = std::move(*resized.value);
  }
  out->changed = changed;
  out->info = model_info(out->graph);
  result.value = std::move(out);
  return result;
}

}  // namespace

Result<std::shared_ptr<const MaterializeCache::Sized>> MaterializeCache::at(const Graph& base,
                                                                            const plan::InputSizes& sizes) {
  Changed changed;
  for (const plan::InputDimension& i : model_settings(base))
    if (const auto it = sizes.find(i.name); it != sizes.end() && it->second != i.size)
      changed.emplace_back(i.name, it->second);
  std::shared_ptr<Entry> entry;
  {
    const std::lock_guard lock(mutex_);
    const auto known = std::find_if(last_.begin(), last_.end(),
                                    [&](const auto& e) { return e->base == base.digest && e->changed == changed; });
    if (known != last_.end()) {
      std::rotate(last_.begin(), known, known + 1);
    } else {
      last_.insert(last_.begin(), std::make_shared<Entry>());
      last_.front()->base = base.digest;
      last_.front()->changed = changed;
      last_.front()->operators = base.ops.size();
      std::size_t kept = 0, operators = 0;
      while (kept < last_.size() && (kept < kKept || operators + last_[kept]->operators <= kKeptOperators))
        operators += last_[kept++]->operators;
      last_.resize(kept);
    }
    entry = last_.front();
  }
  std::call_once(entry->once, [&] { entry->made = sized(base, changed); });
  return entry->made;
}

namespace {

// Several scalar outputs, and a plan that does not say which of them is trained.
std::optional<Diagnostic> losses(const Graph& graph, const plan::Plan& plan) {
  const Model& model = *graph.model;
  const std::vector<std::size_t> scalars = scalar_outputs(model);
  if (scalars.size() < 2 || model.loss < 0) return std::nullopt;
  for (const plan::Statement& s : plan.statements)
    if (const auto* m = std::get_if<plan::ModelStatement>(&s.body))
      for (const plan::AxisSub& a : m->sizes)
        if (a.axis == kLossSetting) return std::nullopt;
  std::string loss;
  std::vector<std::string> others;
  for (const std::size_t k : scalars)
    if (model.outputs[k] == model.loss && loss.empty())
      loss = output_name(model, k);
    else
      others.push_back(output_name(model, k));
  return warning("the model has " + std::to_string(scalars.size()) + " scalar outputs: '" + loss + "' is the loss, " +
                     join(others, ", ") + (others.size() == 1 ? " is" : " are") + " not trained on",
                 "", "'model loss=" + others[0] + "' chooses");
}

// A size of 1 that grows: the file does not say which of its other sizes of 1 would have grown with it.
std::optional<Diagnostic> grown_from_one(const std::vector<plan::InputDimension>& inputs, const plan::InputSizes& sizes) {
  for (const plan::InputDimension& i : inputs) {
    const auto now = sizes.find(i.name);
    if (!i.words.empty() || i.size != 1 || now == sizes.end() || now->second == 1) continue;
    return warning("the model was exported with " + i.name + "=1: what it computes with " + i.name + "=" +
                       std::to_string(now->second) + " is partly a guess",
                   "where a 1 stands in the file, it may be the " + i.name + " or a 1 at any " + i.name,
                   "a file that is exported with " + i.name + "=2 says it");
  }
  return std::nullopt;
}

}  // namespace

Result<Decided> decide(const Graph& base, const plan::Plan& plan, const plan::OpenValues& values,
                       MaterializeCache* cache) {
  Result<Decided> result;
  const std::vector<plan::InputDimension> inputs = model_settings(base);
  plan::OpenValues known = values;
  known.merge(plan::given_values(plan));
  Result<plan::InputSizes> sizes = plan::model_sizes(plan, inputs, known);
  result.diagnostics = sizes.diagnostics;
  if (!sizes.value || result.has_errors()) return result;
  MaterializeCache own;
  Result<std::shared_ptr<const MaterializeCache::Sized>> sized = (cache ? *cache : own).at(base, *sizes.value);
  const auto is_model = [](const plan::Statement& s) { return std::holds_alternative<plan::ModelStatement>(s.body); };
  const auto model = std::find_if(plan.statements.rbegin(), plan.statements.rend(), is_model);
  for (Diagnostic& d : sized.diagnostics) {
    if (d.file.empty()) d.file = plan.file;
    if (d.line == 0 && model != plan.statements.rend()) d.line = model->line;
    if (d.subject.empty() && model != plan.statements.rend()) d.subject = plan::print_code(*model);
    result.diagnostics.push_back(std::move(d));
  }
  if (!sized.value || result.has_errors()) return result;
  if (std::optional<Diagnostic> d = grown_from_one(inputs, *sizes.value)) {
    d->file = plan.file;
    if (model != plan.statements.rend()) d->line = model->line, d->subject = plan::print_code(*model);
    result.diagnostics.push_back(std::move(*d));
  }
  if (auto d = losses(base, plan)) result.diagnostics.push_back(std::move(*d));
  Result<plan::Decisions> decisions = plan::bind(plan, (*sized.value)->info, known);
  result.diagnostics.insert(result.diagnostics.end(), decisions.diagnostics.begin(), decisions.diagnostics.end());
  if (!decisions.value || result.has_errors()) return result;
  result.value = Decided{std::move(*sized.value), std::move(*decisions.value)};
  return result;
}

Result<Materialized> materialize(const Graph& base, const plan::Plan& plan, const Cluster& cluster,
                                 const plan::OpenValues& values, MaterializeCache* cache) {
  Result<Decided> decided = decide(base, plan, values, cache);
  if (!decided.value || decided.has_errors()) return decided.diagnostics;
  Result<Materialized> result = materialize(std::move(*decided.value), cluster);
  result.diagnostics.insert(result.diagnostics.begin(), decided.diagnostics.begin(), decided.diagnostics.end());
  return result;
}

Result<Materialized> materialize(Decided decided, const Cluster& cluster) {
  Result<Materialized> result;
  const std::shared_ptr<const MaterializeCache::Sized> sized = std::move(decided.sized);
  Materialized m;
  m.graph = std::shared_ptr<const Graph>(sized, &sized->graph);
  m.decisions = std::move(decided.decisions);
  Result<Program> program = run_passes(*m.graph, m.decisions, cluster, &m.times, &m.ordered);
  result.diagnostics = std::move(program.diagnostics);
  if (!program.value) return result;
  m.program = std::move(*program.value);
  m.program.sizes = sized->changed;
  result.value = std::move(m);
  return result;
}

}  // namespace planscope
