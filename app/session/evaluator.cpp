#include "app/session/evaluator.h"

#include <exception>

#include "app/session/store.h"
#include "app/workbench/profiling.h"
#include "engine/base/stop.h"
#include "engine/plan/parser.h"

namespace planscope::session {

namespace {

constexpr std::size_t kMostRelaxed = 12;  // lines of a conflict that are tried

}  // namespace

Evaluator::Evaluator(std::string workspace_file, Answer answer)
    : file_(std::move(workspace_file)), answer_(std::move(answer)), thread_([this] { work(); }) {}

void Evaluator::end() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    overtaken_ = true;
    waiting_.clear();
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Evaluator::ask(Request r) {
  {
    const std::lock_guard lock(mutex_);
    drop(r.document);
    if (!r.first) {
      waiting_.push_back(std::move(r));
    } else {
      if (under_way_ >= 0 && !overtaken_) overtaken_ = again_ = true;
      waiting_.push_front(std::move(r));
    }
  }
  changed_.notify_all();
}

void Evaluator::forget(int document) {
  const std::lock_guard lock(mutex_);
  drop(document);
}

void Evaluator::drop(int document) {
  std::erase_if(waiting_, [&](const Request& r) { return r.document == document; });
  if (under_way_ != document) return;
  overtaken_ = true;
  again_ = false;
}

void Evaluator::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return waiting_.empty() && under_way_ < 0; });
}

void Evaluator::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
    if (ending_) return;
    Request r = std::move(waiting_.front());
    waiting_.pop_front();
    under_way_ = r.document;
    overtaken_ = again_ = false;
    lock.unlock();
    try {
      const StopScope scope([this] { return overtaken_.load(); });
      evaluate(r);
    } catch (const Stopped&) {
    } catch (const std::exception& e) {  // the session goes on, and says so of this text
      auto p = std::make_shared<Picture>();
      p->text = r.text;
      p->cluster_name = r.cluster;
      if (workspace_) p->measurements = measurements_of(*workspace_, p->diagnostics);
      p->diagnostics = {error("a fault of planscope", e.what(), "please report it with the model and the plan")};
      answer_(r.document, std::move(p), true);
    }
    lock.lock();
    under_way_ = -1;
    if (again_ && !ending_) waiting_.insert(waiting_.begin() + (waiting_.empty() ? 0 : 1), std::move(r));
    changed_.notify_all();
  }
}

const Workspace* Evaluator::workspace(std::vector<Diagnostic>& diagnostics) {
  if (workspace_ || file_.empty()) return workspace_ ? &*workspace_ : nullptr;
  Result<Workspace> opened = Workspace::open(file_, clock_);
  diagnostics.insert(diagnostics.end(), opened.diagnostics.begin(), opened.diagnostics.end());
  if (opened.value) workspace_ = std::move(*opened.value);
  return workspace_ ? &*workspace_ : nullptr;
}

// Of a plan with errors: as far as its statements are right.
std::shared_ptr<const PlanEffects> Evaluator::effects(const Request& r, const plan::Plan& p,
                                                      const Result<Decided>& decided) {
  if (decided.value) return std::make_shared<const PlanEffects>(plan_effects(decided->decisions));
  const Result<std::shared_ptr<const MaterializeCache::Sized>> sized = cache_.at(r.model->graph, {});
  if (!sized.value) return nullptr;
  return std::make_shared<const PlanEffects>(plan_effects(*plan::bind(p, (*sized)->info, plan::given_values(p))));
}

std::shared_ptr<Picture> Evaluator::predict(const Request& r) {
  auto out = std::make_shared<Picture>();
  out->text = r.text;
  out->cluster_name = r.cluster;
  const Workspace* kept = workspace(out->diagnostics);
  if (kept) out->measurements = measurements_of(*kept, out->diagnostics);
  const auto take = [&](const std::vector<Diagnostic>& more) {
    out->diagnostics.insert(out->diagnostics.end(), more.begin(), more.end());
  };
  const Result<plan::Plan> parsed = plan::parse_plan(r.text, r.file);
  take(parsed.diagnostics);
  if (!parsed.value) return out;
  out->plan = *parsed.value;
  const Result<Cluster> cluster = open_cluster(r.cluster, out->plan, kept);
  take(cluster.diagnostics);
  if (cluster.value) out->cluster = std::make_shared<const Cluster>(*cluster.value);
  Result<Decided> decided = decide(r.model->graph, out->plan, {}, &cache_);
  take(decided.diagnostics);
  out->effects = effects(r, out->plan, decided);
  if (!cluster.value || !decided.value || decided.has_errors() || parsed.has_errors() || cluster.has_errors()) return out;
  out->sized = decided->sized;
  if (!decided->decisions.complete) {
    out->state = PictureState::open;
    out->open = std::make_shared<const Decided>(std::move(*decided.value));
    return out;
  }
  SimulationOptions options;
  options.costs = stored_costs(kept, *out->cluster, out->diagnostics);
  options.alive = true;
  options.gaps = true;
  Result<Evaluation> e = planscope::evaluate(out->plan, std::move(*decided.value), *out->cluster, options);
  take(e.diagnostics);
  if (!e.value || e.has_errors()) return out;
  out->figure = step_figure(e->simulation, kept, *out->cluster, out->diagnostics);
  out->evaluation = std::make_shared<const Evaluation>(std::move(*e.value));
  out->study = std::make_shared<const Study>(out->evaluation, out->cluster);
  out->figures_by_operator = make_once([of = out->evaluation, on = out->cluster] { return plan_figures(*of, *on); });
  out->state = PictureState::predicted;
  return out;
}

// Figures first, the verdict behind; of a plan whose lines contradict each other, what taking out each of them brings.
void Evaluator::evaluate(const Request& r) {
  const std::shared_ptr<Picture> p = predict(r);
  if (p->state == PictureState::predicted) {
    look_at_stop();
    answer_(r.document, std::make_shared<const Picture>(*p), false);
    p->verified = std::make_shared<const Verified>(verify(*p->evaluation));
    const std::vector<Diagnostic> failures = failures_as_errors(p->verified->report);
    p->diagnostics.insert(p->diagnostics.end(), failures.begin(), failures.end());
    p->state = PictureState::verified;
  } else if (p->state == PictureState::refused && r.first) {
    try_relaxed(r, p);
  }
  if (!overtaken_) answer_(r.document, p, true);
}

void Evaluator::try_relaxed(const Request& r, const std::shared_ptr<Picture>& refused) {
  std::vector<int> lines = lines_in_conflict(refused->diagnostics);
  if (lines.size() > kMostRelaxed) lines.resize(kMostRelaxed);
  refused->relaxing = !lines.empty();
  for (const int line : lines) {
    look_at_stop();
    answer_(r.document, std::make_shared<const Picture>(*refused), false);
    Request without = r;
    without.text = without_line(r.text, line);
    refused->relaxed.push_back(relaxed(line, *predict(without)));
  }
  refused->relaxing = false;
}

}  // namespace planscope::session
