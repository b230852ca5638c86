#include "planner/search/stages/stages.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <thread>
#include <tuple>

#include "engine/base/format.h"
#include "engine/base/text.h"
#include "engine/plan/parser.h"
#include "planner/search/orders/program_case.h"
#include "planner/search/stages/rules.h"
#include "planner/search/stages/space.h"

namespace planscope::stages {
namespace {

class Search {
  static constexpr std::int64_t kMostBatch = std::int64_t{1} << 40;
  static constexpr int kLateTries = 32;
  // For the order of one point.
  static constexpr double kOrderShare = 0.1, kOrderSeconds = 2;

 public:
  Search(const Graph& graph, const Cluster& cluster, const Settings& settings, const Deadline& deadline)
      : graph_(graph), cluster_(cluster), settings_(settings), deadline_(deadline), rules_(settings.rows) {
    smallest_ = cluster.least_memory(cluster.kinds_in(0, cluster.device_count())).count;
    for (const DeviceKind& kind : cluster.kinds) largest_ = std::max(largest_, kind.type.memory.count);
  }

  Result<Found> run() {
    const auto sized = cache_.at(graph_, {});
    if (!sized.ok()) return sized.diagnostics;
    shape_ = model_shape((*sized.value)->info);
    if (shape_.batch.empty()) return error("the model has no input dimension 'batch' to split");
    if (settings_.global_batch > 0) shape_.batch_size = settings_.global_batch;
    if (shape_.batch_size > kMostBatch)
      return error("a batch of " + std::to_string(shape_.batch_size) + " is out of range (1 to " +
                   std::to_string(kMostBatch) + ")");
    Sought sought = all_found();
    if (sought.found.outcome == Outcome::impossible && !sought.core.empty()) explain(sought.found);
    Result<Found> out = std::move(sought.found);
    if (out->outcome == Outcome::found && devices_ < cluster_.device_count())
      out.diagnostics = {note("no plan of the space can be made for all " + std::to_string(cluster_.device_count()) +
                                  " devices: this one leaves " + std::to_string(cluster_.device_count() - devices_) +
                                  " idle",
                              all_devices_)};
    return out;
  }

 private:
  struct Sought {
    Found found;
    constraint::Rows core;  // impossible: rows that leave nothing
  };

  // With all devices; if these cannot be used together, with those of which some are left idle.
  Sought all_found() {
    points_ = all_points();
    Sought all = find(rules_.all(), false, deadline_);
    const auto cannot_be_made = [&](const Sought& s) {
      return s.found.outcome == Outcome::impossible && s.core.empty() && !memory_is_short();
    };
    if (!cannot_be_made(all)) return all;
    all_devices_ = all.found.reason;
    std::optional<Sought> best;
    std::int64_t devices_of_best = devices_;
    double bound_us = std::numeric_limits<double>::infinity();
    for (std::int64_t fewer : fewer_devices()) {
      devices_ = fewer;
      if (best) {
        const double least_us = shared_work_us();
        if (least_us >= best->found.best[0].step_us) break;  // and so of all that are fewer still
        if (deadline_.expired()) {
          best->found.ended_early = true;
          bound_us = std::min(bound_us, least_us);
          break;
        }
      }
      first_refusal_.clear();
      points_ = all_points();
      Sought some = find(rules_.all(), false, deadline_);
      if (some.found.best.empty()) {
        if (!best && !cannot_be_made(some)) return some;
        continue;
      }
      bound_us = std::min(bound_us, some.found.lower_bound_us);
      if (best && best->found.best[0].step_us <= some.found.best[0].step_us) continue;
      best = std::move(some);
      devices_of_best = fewer;
    }
    if (!best) return all;
    devices_ = devices_of_best;
    best->found.lower_bound_us = std::min(bound_us, best->found.best[0].step_us);
    return std::move(*best);
  }

  // What stages, replicas and tensor-parallel groups come to, most devices first.
  std::vector<std::int64_t> fewer_devices() const {
    std::set<std::int64_t, std::greater<>> out;
    const std::int64_t unit = shape_.unit_count() > 0 ? cluster_.devices_per_unit(0) : 1;
    for (std::int64_t data : divisors(shape_.batch_size))
      for (std::int64_t pipe = 1; pipe <= std::max(1, shape_.unit_count()); ++pipe)
        for (std::int64_t tensor = 1; tensor <= unit; ++tensor)
          if (data < cluster_.device_count() && data * pipe * tensor < cluster_.device_count())
            out.insert(data * pipe * tensor);
    return {out.begin(), out.end()};
  }

  // `any`: ends with the first plan that keeps the rows.
  Sought find(const constraint::Rows& rows, bool any, const Deadline& deadline) {
    found_ = {};
    found_.points = static_cast<std::int64_t>(points_.size());
    rows_ = rows;
    any_ = any;
    now_ = &deadline;
    least_bytes_ = std::numeric_limits<std::int64_t>::max();
    std::vector<Point> points = points_;
    std::set<int> core;
    const auto missed = [&](const std::vector<int>& by) {
      if (!by.empty() && std::none_of(by.begin(), by.end(), [&](int row) { return core.contains(row); }))
        core.insert(by.front());
    };
    // Templates have low bounds and take long to make: with the best of the others known, most need not be looked at.
    const auto has_template = [&](std::size_t i) { return points[i].configuration.has_template(); };
    const auto later = [&](std::size_t a, std::size_t b) {
      return std::tuple(has_template(a), points[a].bound_us, a) > std::tuple(has_template(b), points[b].bound_us, b);
    };
    std::vector<std::size_t> heap(points.size());  // least bound first, templates behind the others
    std::iota(heap.begin(), heap.end(), std::size_t{0});
    std::make_heap(heap.begin(), heap.end(), later);
    int late = 0;
    while (!heap.empty()) {
      std::pop_heap(heap.begin(), heap.end(), later);
      const std::size_t i = heap.back();
      Point& p = points[i];
      if (!found_.best.empty() && any) break;
      if (!found_.best.empty() && p.bound_us >= found_.best[0].step_us) {
        if (has_template(i)) break;
        heap.pop_back();
        continue;
      }
      if (deadline.expired()) {
        found_.ended_early = true;
        // Something to go on with is worth a moment more.
        const bool first = &deadline == &deadline_;
        if (!first || !found_.best.empty() || deadline.stopped() || settings_.seconds <= 0 || ++late > kLateTries)
          break;
      }
      const std::vector<int> broken = rules_.broken_by(p.configuration, rows_);
      if (broken.empty() && !p.refined) {
        const std::optional<Point> known = refined(p);
        points_[i] = known.value_or(Point{p.configuration, std::numeric_limits<double>::infinity()});
        points_[i].refined = true;
        p = points_[i];
        std::push_heap(heap.begin(), heap.end(), later);
        continue;
      }
      heap.pop_back();
      if (!broken.empty()) {
        p.bound_us = std::numeric_limits<double>::infinity();
        missed(broken);
      } else if (p.bound_us < std::numeric_limits<double>::infinity()) {
        missed(make(p));
      }
    }
    Sought out;
    out.core.assign(core.begin(), core.end());
    out.found = finish(points, !core.empty(), deadline);
    return out;
  }

  // ---- why not

  void explain(Found& found) {
    std::map<constraint::Rows, constraint::Optimum> some;  // plans that were found under rows
    const auto optimum = [](const Found& f) {
      const auto& peaks = f.best[0].peak_bytes;
      return constraint::Optimum{f.best[0].step_us, *std::max_element(peaks.begin(), peaks.end()),
                                 f.lower_bound_us >= f.best[0].step_us};
    };
    constraint::RowSets sets([&](const constraint::Rows& rows, const Deadline& d) -> constraint::Verdict {
      const Sought s = find(rows, true, d);
      if (!s.found.best.empty()) some.emplace(rows, optimum(s.found));
      if (!s.found.best.empty()) return {constraint::Answer::yes, {}};
      if (s.found.outcome != Outcome::impossible) return {};
      return {constraint::Answer::no, s.core};
    });
    constraint::RowEffects effects;
    effects.best = [&](const constraint::Rows& rows, const Deadline& d) -> std::optional<constraint::Optimum> {
      if (const Sought s = find(rows, false, d); !s.found.best.empty()) return optimum(s.found);
      const auto known = some.find(rows);
      return known == some.end() ? std::nullopt : std::optional(known->second);
    };
    effects.need = [&](int row, const constraint::Rows& others, const Deadline& d) { return need(row, others, d); };
    effects.line = [&](int row) { return rules_.line(row); };
    found.conflicts = explain_conflicts(rules_.all(), sets, effects, deadline_, settings_.relaxing_seconds).all;
  }

  // The least memory that points need by their layers' costs, if they keep `others`; of the devices' own memory, as of the
  // smallest of them.
  std::optional<constraint::MemoryNeed> need(int row, const constraint::Rows& others, const Deadline& deadline) {
    const std::optional<std::int64_t> limit =
        row == constraint::kDeviceMemory ? std::optional(smallest_) : rules_.memory_of(row);
    if (!limit) return std::nullopt;
    const Room* least = nullptr;
    std::int64_t bytes = kNoBytes;
    bool all = true;
    for (Room& room : rooms()) {
      if (!rules_.broken_by(room.configuration, others).empty()) continue;
      std::optional<std::int64_t>& known = room.bytes[row == constraint::kDeviceMemory ? 0 : 1];
      all = all && (known || !deadline.expired());
      if (!all) break;
      if (!known) known = needed(room, row);
      if (*known >= bytes) continue;
      bytes = *known;
      least = &room;
    }
    if (!least) return std::nullopt;
    std::optional<constraint::MemoryNeed> out = constraint::MemoryNeed{*limit, bytes, where(*least, row, bytes), all};
    if (all && out->bytes > *limit) return out;
    // By the layers' costs there is room, or time did not suffice for all of them: plans that were tried say how much is short.
    const std::optional<std::int64_t> predicted = least_predicted(row, others);
    const bool less = predicted && (out->bytes <= *limit || *predicted < out->bytes);
    if (less) out = constraint::MemoryNeed{*limit, *predicted, {}, false};
    return out->bytes > *limit ? out : std::nullopt;
  }

  // Of a device, in the predictions of plans that were tried and keep these rows.
  std::optional<std::int64_t> least_predicted(int limit, const constraint::Rows& rows) const {
    std::optional<std::int64_t> out;
    for (const auto& [script, t] : tried_) {
      const bool breaks = std::any_of(t.broken.begin(), t.broken.end(),
                                      [&](int row) { return std::find(rows.begin(), rows.end(), row) != rows.end(); });
      if (!t.candidate || breaks || !rules_.broken_by(t.candidate->configuration, rows).empty()) continue;
      const auto& peaks = t.candidate->peak_bytes;
      const std::int64_t most =
          limit == constraint::kDeviceMemory ? smallest_ + t.excess : *std::max_element(peaks.begin(), peaks.end());
      out = std::min(out.value_or(most), most);
    }
    return out;
  }

  static constexpr std::int64_t kNoBytes = std::numeric_limits<std::int64_t>::max();

  // What a point of the space needs at least, by the costs of its layers: the same whatever rows count.
  struct Room {
    Space* space = nullptr;
    Configuration configuration;
    std::array<std::optional<std::int64_t>, 2> bytes = {};  // within what devices have, or a row allows
  };

  std::vector<Room>& rooms() {
    if (rooms_.empty())
      for (Space& space : spaces_) {
        for (const Configuration& c : space.too_large) rooms_.push_back({&space, c});
        for (const Point& p : space.points) rooms_.push_back({&space, p.configuration});
      }
    return rooms_;
  }

  std::optional<Space::Costs> costs_under(const Room& room, int row) const {
    std::optional<Space::Costs> cost = room.space->costs(room.configuration);
    if (cost && row != constraint::kDeviceMemory) cost->limit(cluster_, smallest_);  // one for all devices
    return cost;
  }

  std::int64_t needed(const Room& room, int row) const {
    const auto cost = costs_under(room, row);
    return cost ? least_bytes(*cost) : kNoBytes;
  }

  std::string where(const Room& room, int row, std::int64_t bytes) const {
    const auto cost = costs_under(room, row);
    return cost ? fullest_stage(room.configuration, *cost, bytes) : std::string();
  }

  // Of the smallest device, by the costs of the layers.
  std::int64_t least_bytes(const Space::Costs& cost) const {
    const std::optional<std::int64_t> lacking = shortage(cost.grounds, cost.spec);
    return lacking ? smallest_ + *lacking : kNoBytes;
  }

  // `pipe=2`: the stage that needs all of so much memory (of the smallest device); empty: there is one stage.
  std::string fullest_stage(const Configuration& c, Space::Costs cost, std::int64_t memory) const {
    const PartitionSpec& spec = cost.spec;
    for (Ground& g : cost.grounds) g.memory += memory - smallest_;
    const std::optional<Partition> cut = spec.stages > 1 ? partition(cost.grounds, spec) : std::nullopt;
    if (!cut) return {};
    std::int64_t most = std::numeric_limits<std::int64_t>::min();
    int stage = 0, first = 0;
    for (int s = 0; s < spec.stages; ++s) {
      const auto i = static_cast<std::size_t>(s);
      const Ground& ground = cost.grounds[static_cast<std::size_t>(spec.ground[i])];
      const int end = first + cut->layers[i];
      const std::int64_t over = stage_memory(ground.layers, spec, s, first, end, cut->recompute[i]) - ground.memory;
      if (over > most) stage = s;
      most = std::max(most, over);
      first = end;
    }
    return "pipe=" + std::to_string(c.place(stage));
  }

  // ---- the space

  // Tensor-parallel groups inside a unit of the innermost level; larger ones where nothing fits without templates.
  std::vector<Point> all_points() {
    const auto sizes = [&](std::int64_t from, std::int64_t to) {
      std::vector<std::int64_t> out;
      for (std::int64_t tensor : divisors(devices_))
        if (tensor >= from && tensor <= to && (tensor == 1 || shape_.unit_count() > 0)) out.push_back(tensor);
      return out;
    };
    const std::int64_t unit = cluster_.devices_per_unit(0);
    spaces_.clear();
    std::vector<Point> out = filled(sizes(1, unit));
    const auto plain = [](const Point& p) { return p.refined && !p.configuration.has_template(); };
    if (std::none_of(out.begin(), out.end(), plain) && any_too_large()) {
      std::vector<Point> more = filled(sizes(unit + 1, devices_));
      out.insert(out.end(), more.begin(), more.end());
    }
    return out;
  }

  // One size after the other, on two threads: nothing of one concerns the others.
  std::vector<Point> filled(const std::vector<std::int64_t>& sizes) {
    std::vector<Space> spaces;
    for (std::int64_t tensor : sizes)
      spaces.emplace_back(graph_, cluster_, shape_, settings_, deadline_, devices_, tensor);
    for (Space& space : spaces) space.shared_work_us = shared_work_us();
    {
      std::atomic<std::size_t> next{spaces.size()};  // large groups first: they have most points
      const auto work = [&] {
        for (std::size_t i = next.fetch_sub(1); i > 0 && i <= spaces.size(); i = next.fetch_sub(1))
          spaces[i - 1].fill();
      };
      const std::jthread other(work);
      work();
    }
    std::vector<Point> out;
    for (Space& space : spaces) {
      out.insert(out.end(), space.points.begin(), space.points.end());
      if (first_refusal_.empty()) first_refusal_ = space.refusal;
    }
    std::move(spaces.begin(), spaces.end(), std::back_inserter(spaces_));
    return out;
  }

  std::optional<Space::Costs> costs(const Configuration& c) {
    for (Space& space : spaces_)
      if (space.tensor == c.tensor) return space.gathered_costs(c);
    return std::nullopt;
  }

  std::optional<Point> refined(const Point& p) {
    for (Space& space : spaces_)
      if (space.tensor == p.configuration.tensor) return space.refined(p);
    return std::nullopt;
  }

  // ---- candidates

  // A plan of the space that was tried; by its script, once and for all rows.
  struct Tried {
    std::optional<Candidate> candidate;           // nothing: it cannot be made
    std::set<int> broken;                         // rows, as far as known
    std::int64_t excess = 0;                      // bytes beyond the devices' memory
    std::vector<std::int64_t> stage_excess = {};  // … of each stage, not negative
    std::map<int, std::int64_t> row_excess = {};  // beyond memory rows
    bool refused = false;                         // for a reason that is no row
    bool unordered = false;                       // no order was searched for: any plan was good enough
    std::vector<Configuration> orders = {};       // the same with orders that were searched for
  };

  bool counts(int row) const { return std::binary_search(rows_.begin(), rows_.end(), row); }
  std::vector<int> counted(const std::set<int>& rows) const {
    std::vector<int> out;
    for (int row : rows)
      if (counts(row)) out.push_back(row);
    return out;
  }

  // Made with all rows that it is not known to break, until it breaks one that counts, or breaks no more.
  const Tried& tried(const Configuration& c, const Point& point) {
    const std::string text = script(shape_, c, Chains::own);
    Tried& t = tried_[text];
    if (t.unordered && !any_) t.candidate.reset();
    while (!t.candidate && !t.refused && counted(t.broken).empty()) {
      const Result<plan::Plan> plan = plan::parse_plan(text, "");
      if (!plan.ok()) {
        refuse(t, plan.diagnostics);
        break;
      }
      const Result<Materialized> m = materialize(graph_, rules_.joined(*plan, t.broken), cluster_, {}, &cache_);
      if (!m.ok()) {
        refuse(t, m.diagnostics);
        continue;
      }
      const Result<Simulation> simulated = simulate(*m->graph, m->program, cluster_, settings_.simulation);
      if (!simulated.ok()) {
        refuse(t, simulated.diagnostics);
        break;
      }
      take(t, *m, *simulated, {c, script(shape_, c), simulated->step_us(), point.bound_us, {}, breakdown(*simulated)});
      t.unordered = any_ && c.order == Order::searched && c.chains.empty();
      if (!any_ && c.order == Order::searched && c.chains.empty()) t.orders = with_orders(c, *m, *simulated);
    }
    return t;
  }

  // The best of a plan and of the same with orders that were searched for.
  const Tried& best_order(const Configuration& c, const Point& point) {
    const Tried* best = &tried(c, point);
    if (!best->candidate || !counted(best->broken).empty()) return *best;
    for (const Configuration& ordered : best->orders) {
      const Tried& next = tried(ordered, point);
      if (!next.candidate || !counted(next.broken).empty()) continue;
      if (next.candidate->step_us >= best->candidate->step_us) continue;
      if (excess_of(*best).bytes <= 0) keep(*best->candidate);  // what is faster may need too much memory
      best = &next;
    }
    return *best;
  }

  // The orders that a search finds for the tasks of a plan without one.
  std::vector<Configuration> with_orders(const Configuration& c, const Materialized& made,
                                         const Simulation& simulated) const {
    const Result<orders::ProgramCase> found = orders::program_case(made, simulated, cluster_);
    if (!found.ok() || has_errors(schedule::check(found->problem))) return {};
    const Deadline deadline = now_->within(std::min(kOrderSeconds, settings_.seconds * kOrderShare));
    const schedule::Answer answer = schedule::search(
        found->problem, {static_cast<double>(deadline.milliseconds_left()) / 1000, false, settings_.stop});
    std::vector<Configuration> out;
    for (auto lines : {orders::order_lines(*found, answer), orders::whole_order_lines(*found, answer)})
      if (!lines.empty()) {
        out.push_back(c);
        out.back().chains = std::move(lines);
      }
    return out;
  }

  struct Excess {
    std::int64_t bytes = 0;
    std::vector<int> row;  // whose limit is exceeded most; none: the device's
  };
  Excess excess_of(const Tried& t) const {
    Excess out{std::max<std::int64_t>(0, t.excess), {}};
    for (const auto& [row, bytes] : t.row_excess)
      if (counts(row) && bytes > out.bytes) out = {bytes, {row}};
    return out;
  }

  void take(Tried& t, const Materialized& m, const Simulation& simulated, Candidate candidate) {
    std::vector<constraint::Peak> peaks;
    const Configuration& c = candidate.configuration;
    t.stage_excess.assign(static_cast<std::size_t>(c.pipe), 0);
    for (std::size_t i = 0; i < simulated.classes.size(); ++i) {
      const std::int64_t bytes = simulated.classes[i].peak.bytes();
      candidate.peak_bytes.push_back(bytes);
      const std::int64_t excess = bytes - simulated.classes[i].capacity.count;
      t.excess = std::max(t.excess, excess);
      const int place = devices(m.program, m.program.classes[i]).front() / static_cast<int>(c.devices() / c.pipe);
      std::int64_t& of_stage = t.stage_excess[static_cast<std::size_t>(c.place(place))];
      of_stage = std::max(of_stage, excess);
      if (!m.decisions.memory.empty()) peaks.push_back({devices(m.program, m.program.classes[i]), bytes});
    }
    for (const plan::MemoryRow& row : m.decisions.memory) {
      const int line = m.decisions.plan.statements[static_cast<std::size_t>(row.statement)].line;
      std::int64_t& excess = t.row_excess[rules_.row_of(line)];
      excess = std::max(excess, constraint::excess_bytes(m.decisions, row, peaks));
    }
    t.candidate = std::move(candidate);
  }

  // Rows that it breaks are noted; without one it cannot be made at all.
  void refuse(Tried& t, std::vector<Diagnostic> why) {
    const std::size_t before = t.broken.size();
    for (Diagnostic& d : why) {
      const int row = rules_.row_of(d.line);
      if (row == 0) continue;
      if (d.severity == Severity::error && std::binary_search(rules_.all().begin(), rules_.all().end(), row))
        t.broken.insert(row);
      d.file = rules_.line(row).file;
      d.line = rules_.line(row).line;
    }
    t.refused = t.broken.size() == before;
    if (first_refusal_.empty()) first_refusal_ = std::move(why);
  }

  static Breakdown breakdown(const Simulation& s) {
    const auto busiest = std::max_element(s.classes.begin(), s.classes.end(),
                                          [](const auto& a, const auto& b) { return a.compute < b.compute; });
    const auto us = [](Nanoseconds t) { return static_cast<double>(t) / 1000; };
    Breakdown out;
    if (busiest == s.classes.end()) return out;
    out.compute_us = us(busiest->compute);
    out.communication_us = us(busiest->idle.communication);
    out.pipeline_us = us(busiest->idle.sum() - busiest->idle.communication - busiest->idle.memory);
    const auto most = std::max_element(busiest->traffic.begin(), busiest->traffic.end(),
                                       [](const auto& a, const auto& b) { return a.payload < b.payload; });
    if (most != busiest->traffic.end())
      out.largest = most->kind + " over " + std::to_string(most->group) + " devices, " +
                    bytes_text(static_cast<double>(most->payload.count));
    return out;
  }

  // Keeps the point's plan if there is one; else any one of the rows that are given back is why not (none: it is none).
  std::vector<int> make(Point& point) {
    const auto excluded = [&](std::vector<int> rows) {
      point.bound_us = std::numeric_limits<double>::infinity();
      return rows;
    };
    Configuration c = point.configuration;
    const auto row = rules_.memory_under(rows_);
    const bool tight = row && row->bytes < largest_;
    const std::int64_t memory = tight ? row->bytes : largest_;
    std::vector<std::int64_t> less(static_cast<std::size_t>(c.pipe), 0);  // than that, by stage
    if (c.pipe > 1 || c.zero == 3 || tight) {
      const std::optional<std::int64_t> bound_ns = refine(c, memory);
      if (!bound_ns && tight && costs(c)) return excluded({row->row});
      if (bound_ns && c.zero == 3) {  // what it keeps where parameters are gathered is known by now
        point.bound_us = std::max(point.bound_us, static_cast<double>(*bound_ns) / 1000);
        if (!found_.best.empty() && point.bound_us >= found_.best[0].step_us) return {};
      }
    }
    // What the estimate leaves out of memory shows in the prediction: then more is computed again, as long as that helps.
    std::vector<int> why;
    for (int attempt = 0; attempt < 4; ++attempt) {
      const Tried& t = best_order(c, point);
      if (std::vector<int> broken = counted(t.broken); !broken.empty()) return excluded(std::move(broken));
      if (!t.candidate) return excluded({});
      ++found_.simulated;
      // With one stage and nothing computed again there is no cut to choose: the prediction is the point's own.
      if (c.pipe == 1 && std::all_of(c.recompute.begin(), c.recompute.end(), [](int n) { return n == 0; }))
        point.bound_us = std::max(point.bound_us, t.candidate->step_us);
      const Excess excess = excess_of(t);
      why = excess.row;
      if (excess.bytes <= 0) {
        keep(*t.candidate);
        return {};
      }
      least_bytes_ = std::min(least_bytes_, smallest_ + t.excess);
      if (!more_again(c, memory, less, lacking(t, excess))) break;
    }
    return why;
  }

  // The point's best cut within so much memory of a device, of some stages less, and its bound; nothing: none fits.
  std::optional<std::int64_t> refine(Configuration& c, std::int64_t memory, std::vector<std::int64_t> less = {}) {
    std::optional<Space::Costs> cost = costs(c);
    if (!cost) return std::nullopt;
    cost->limit(cluster_, memory);
    cost->spec.less = std::move(less);
    std::optional<Partition> cut = partition(cost->grounds, cost->spec);
    if (!cut) return std::nullopt;
    if (c.pipe > 1 && !cost->spec.any_order) cut = stages::refined(cost->grounds, cost->spec, std::move(*cut));
    c.stages = cut->layers;
    c.recompute = cut->recompute;
    return cut->step_ns;
  }

  // Bytes that stages lack: of their devices, and of the row that is broken.
  static std::vector<std::int64_t> lacking(const Tried& t, const Excess& excess) {
    std::vector<std::int64_t> out = t.stage_excess;
    for (std::int64_t& bytes : out) bytes = std::max<std::int64_t>(bytes, excess.row.empty() ? 0 : excess.bytes);
    return out;
  }

  // The same point with less memory to go by, by as much as stages lack, or more if that is no other cut.
  bool more_again(Configuration& c, std::int64_t memory, std::vector<std::int64_t>& less,
                  const std::vector<std::int64_t>& lack) {
    const Configuration before = c;
    for (std::int64_t times = 1; c == before; times *= 2) {
      for (std::size_t s = 0; s < less.size(); ++s) less[s] += times * lack[s];
      if (*std::max_element(less.begin(), less.end()) >= memory || !refine(c, memory, less)) return false;
    }
    return true;
  }

  bool any_too_large() const {
    return std::any_of(spaces_.begin(), spaces_.end(), [](const Space& s) { return !s.too_large.empty(); });
  }
  bool memory_is_short() const { return any_too_large() || least_bytes_ < std::numeric_limits<std::int64_t>::max(); }

  // That no plan on so many devices beats: they share the work of one, of the fastest kind. 0: not known, as shards may take
  // less than their share where a profile says so.
  double shared_work_us() {
    if (!settings_.simulation.costs.profiles.empty()) return 0;
    if (!work_ns_) {
      work_ns_ = std::numeric_limits<std::int64_t>::max();
      for (const int kind : cluster_.kinds_in(0, cluster_.device_count()))
        work_ns_ = std::min(
            *work_ns_, micro_batch_ns(graph_, shape_, cluster_.of_kind(kind),
                                      {.micro_batch = shape_.batch_size, .only = true}, settings_.simulation, cache_)
                           .value.value_or(0));
    }
    return static_cast<double>(*work_ns_) / 1000 / static_cast<double>(devices_);
  }

  void explain_memory() {
    for (Space& space : spaces_)
      for (const Configuration& c : space.too_large) {
        if (deadline_.expired()) break;
        if (const auto cost = space.costs(c)) least_bytes_ = std::min(least_bytes_, least_bytes(*cost));
      }
    found_.least_bytes = least_bytes_;
    found_.reason = "every plan of the space needs at least ";
    if (smallest_ == largest_)
      found_.reason += bytes_text(static_cast<double>(least_bytes_)) + " on some device, and a device has " +
                       bytes_text(static_cast<double>(smallest_));
    else
      found_.reason += bytes_text(static_cast<double>(least_bytes_ - smallest_)) + " more than some device has";
  }

  // One for each shape: runner-ups that differ in micro-batches alone tell nothing.
  void keep(Candidate c) {
    const auto same = [&](const Candidate& o) { return o.configuration.shape() == c.configuration.shape(); };
    const auto known = std::find_if(found_.best.begin(), found_.best.end(), same);
    if (known != found_.best.end()) {
      if (known->step_us <= c.step_us) return;
      found_.best.erase(known);
    }
    const auto place = std::upper_bound(found_.best.begin(), found_.best.end(), c.step_us,
                                        [](double step, const Candidate& o) { return step < o.step_us; });
    found_.best.insert(place, std::move(c));
  }

  Found finish(const std::vector<Point>& points, bool rows, const Deadline& deadline) {
    for (const Point& p : points)
      found_.lower_bound_us = &p == points.data() ? p.bound_us : std::min(found_.lower_bound_us, p.bound_us);
    if (std::any_of(spaces_.begin(), spaces_.end(), [](const Space& s) { return !s.filled; })) {
      found_.ended_early = true;
      found_.lower_bound_us = std::min(found_.lower_bound_us, shared_work_us());
    }
    if (found_.ended_early) found_.reason = deadline.stopped() ? "stopped" : "the time limit";
    if (!found_.best.empty()) {
      found_.lower_bound_us = std::min(found_.lower_bound_us, found_.best[0].step_us);
      for (Candidate& c : found_.best) c.bound_us = std::min(c.bound_us, c.step_us);
      found_.outcome = Outcome::found;
      if (found_.best.size() > static_cast<std::size_t>(1 + settings_.runners_up))
        found_.best.resize(static_cast<std::size_t>(1 + settings_.runners_up));
    } else if (!found_.ended_early && !deadline.expired()) {
      found_.outcome = Outcome::impossible;
      if (rows)
        found_.reason = "no plan of the space keeps the rows";
      else if (points.empty() && !any_too_large() && first_refusal_.empty())
        found_.reason = "a batch of " + std::to_string(shape_.batch_size) + " cannot be divided over " +
                        std::to_string(devices_) + " devices, with at most " +
                        std::to_string(cluster_.devices_per_unit(0)) + " for a tensor-parallel group and " +
                        std::to_string(std::max(1, shape_.unit_count())) + " stages";
      else if (!first_refusal_.empty() && !memory_is_short())
        found_.reason =
            "no plan of the space can be made; of the first that was tried: " + to_string(first_refusal_[0]);
      else
        explain_memory();
    }
    return std::move(found_);
  }

  const Graph& graph_;
  const Cluster& cluster_;
  const Settings settings_;
  const Deadline deadline_;
  const Rules rules_;
  std::int64_t smallest_ = 0, largest_ = 0;  // bytes of a device
  MaterializeCache cache_;
  ModelShape shape_;
  std::int64_t devices_ = cluster_.device_count();  // of the plans that are looked for
  std::string all_devices_;                         // why these are not all of the cluster
  std::optional<std::int64_t> work_ns_;             // of one device, forward and backward of the batch
  std::vector<Space> spaces_;
  std::vector<Point> points_;
  std::vector<Room> rooms_;
  std::map<std::string, Tried> tried_;
  std::vector<Diagnostic> first_refusal_;
  std::int64_t least_bytes_ = std::numeric_limits<std::int64_t>::max();  // that a device of a plan that was made needs
  // Of the search that runs.
  constraint::Rows rows_;  // that count
  bool any_ = false;
  const Deadline* now_ = nullptr;
  Found found_;
};

}  // namespace

Result<Found> search(const Graph& graph, const Cluster& cluster, const Settings& settings) {
  const Deadline deadline(settings.seconds, settings.stop);
  return Search(graph, cluster, settings, deadline).run();
}

}  // namespace planscope::stages
