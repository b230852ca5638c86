#include <chrono>
#include <map>

#include "app/cli/command.h"
#include "engine/base/text.h"
#include "planner/search/schedule/schedule.h"

namespace planscope::cli {

namespace {

using schedule::Idle;
using schedule::Outcome;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

std::string_view text_of(Outcome o) {
  return o == Outcome::found ? "found" : o == Outcome::impossible ? "impossible" : "unknown";
}

// What a search works on: with several streams a device has one resource for each.
class Names {
 public:
  Names(const schedule::Case& c, const schedule::Problem& p) : case_(c), problem_(p) {}

  int streams() const { return static_cast<int>(case_.streams.size()); }
  std::string resource(int r) const {
    const std::string device = "device " + std::to_string(r / streams());
    return streams() == 1 ? device : device + " " + case_.streams[at(r % streams())];
  }
  const std::string& stream(int r) const { return case_.streams[at(r % streams())]; }
  int block(int task) const { return problem_.tasks[at(task)].block; }
  int micro_batch(int task, int round) const { return schedule::micro_batch(case_, problem_, task, round); }
  std::string run(int task, int round) const {
    return case_.blocks[at(block(task))].name + "[" + std::to_string(micro_batch(task, round)) + "]";
  }

 private:
  const schedule::Case& case_;
  const schedule::Problem& problem_;
};

Json idle_json(const Names& names, const Idle& i) {
  Json out = {{"device", i.resource / names.streams()},
              {"from", i.from},
              {"to", i.to},
              {"phase", i.first                       ? "warm-up"
                        : i.cause == Idle::Cause::end ? "cool-down"
                                                      : "steady"},
              {"cause", to_string(i.cause)}};
  if (names.streams() > 1) out["stream"] = names.stream(i.resource);
  if (i.task >= 0) {
    out["block"] = names.block(i.task);
    out["micro_batch"] = names.micro_batch(i.task, i.round);
  }
  return out;
}

Json json_of(const schedule::Case& c, const schedule::Answer& a) {
  const Names names(c, a.problem);
  Json out = {{"name", c.name}, {"status", text_of(a.outcome)}};
  if (!a.reason.empty()) out["reason"] = a.reason;
  if (a.outcome == Outcome::impossible) return out;
  out["lower_bound"] = a.lower_bound;
  out["bound_by"] = a.bound_by;
  const bool repeats = !a.pattern.start.empty(), laid_out = !a.timeline.start.empty();
  if (!laid_out && !repeats) return out;
  out["period"] = repeats ? Json(a.pattern.period) : Json();
  out["optimal"] = a.optimal;
  out["found_by"] = repeats ? Json(a.found_by) : Json();
  out["micro_batches_per_period"] = c.micro_batches.size() == 1 ? Json(1) : Json::array();
  if (c.micro_batches.size() > 1)
    for (int n : c.micro_batches) out["micro_batches_per_period"].push_back(n / a.problem.rounds);
  if (a.makespan > 0) out["makespan"] = a.makespan;
  if (a.makespan > 0) out["makespan_lower_bound"] = a.makespan_bound;
  if (!laid_out) {  // so many: the first of them; the next one begins a period later
    out["pattern"] = Json::array();
    for (std::size_t t = 0; t < a.pattern.start.size(); ++t)
      out["pattern"].push_back({{"block", names.block(static_cast<int>(t))}, {"start", a.pattern.start[t]}});
    return out;
  }
  out["slots"] = Json::array();
  for (int i : order_of(a.problem, a.timeline))
    out["slots"].push_back({{"block", names.block(i / a.problem.rounds)},
                            {"micro_batch", names.micro_batch(i / a.problem.rounds, i % a.problem.rounds)},
                            {"start", a.timeline.start[at(i)]}});
  out["idle"] = Json::array();
  for (const Idle& i : idle_times(a.problem, a.timeline)) out["idle"].push_back(idle_json(names, i));
  return out;
}

// What each resource runs, in order, with the length of its pauses.
std::vector<std::vector<std::string>> lanes(const schedule::Answer& a, const Names& names) {
  constexpr std::size_t most = 24;  // entries of a lane
  const schedule::Problem& p = a.problem;
  std::vector<std::vector<std::string>> out(at(p.resources));
  std::vector<std::int64_t> now(at(p.resources), 0);
  for (int i : order_of(p, a.timeline)) {
    const schedule::Task& t = p.tasks[at(i / p.rounds)];
    const std::int64_t start = a.timeline.start[at(i)];
    for (int r : t.resources) {
      auto& lane = out[at(r)];
      if (start > now[at(r)]) lane.push_back("-" + std::to_string(start - now[at(r)]));
      now[at(r)] = start + t.time;
      lane.push_back(names.run(i / p.rounds, i % p.rounds));
    }
  }
  for (auto& lane : out)
    if (lane.size() > most) {
      const std::size_t rest = lane.size() - most;
      lane.resize(most);
      lane.push_back("and " + std::to_string(rest) + " more");
    }
  return out;
}

std::string answer_text(const schedule::Case& c, const schedule::Answer& a) {
  const Names names(c, a.problem);
  std::string out = (c.name.empty() ? "schedule" : c.name) + ": ";
  if (a.outcome == Outcome::impossible) return out + "impossible, " + a.reason + "\n";
  const bool laid_out = !a.timeline.start.empty();
  if (!laid_out && a.pattern.start.empty())
    return out + std::string(text_of(a.outcome)) + (a.reason.empty() ? "" : ", " + a.reason) +
           "; the period is at least " + std::to_string(a.lower_bound) + " (" + a.bound_by + ")\n";
  if (a.pattern.start.empty()) {
    out += a.reason + "; of these micro-batches alone";
  } else {
    out += "period " + std::to_string(a.pattern.period);
    out += a.optimal ? ", the shortest that repeats" : ", at least " + std::to_string(a.lower_bound);
    out += " (" + a.bound_by + ")" + (a.reason.empty() ? "" : "; " + a.reason);
  }
  if (a.makespan > 0)
    out += "\nmakespan " + std::to_string(a.makespan) + ", at least " + std::to_string(a.makespan_bound);
  if (!laid_out) return out + "\ntoo many micro-batches to lay them out one by one; --json has the pattern\n";
  out += "\n\n";
  std::map<std::pair<int, Idle::Cause>, std::int64_t> pauses;
  for (const Idle& i : idle_times(a.problem, a.timeline)) pauses[{i.resource, i.cause}] += i.to - i.from;
  std::vector<std::vector<std::string>> rows = {{"", "idle", "runs (-n: n units of nothing)"}};
  const auto all = lanes(a, names);
  for (int r = 0; r < a.problem.resources; ++r) {
    if (all[at(r)].empty()) continue;
    std::vector<std::string> idle;
    for (const auto& [key, length] : pauses)
      if (key.first == r) idle.push_back(std::string(to_string(key.second)) + " " + std::to_string(length));
    rows.push_back({names.resource(r), join(idle, ", "), join(all[at(r)], " ")});
  }
  return out + table(rows);
}

}  // namespace

Answer schedule(const Options& o) {
  const auto begin = std::chrono::steady_clock::now();
  const Result<std::string> text = read_file(o.name);
  if (!text.ok()) return bad_input(text.diagnostics);
  const Result<schedule::Case> c = schedule::from_json(*text, o.name);
  if (!c.ok()) return bad_input(c.diagnostics);
  report(c.diagnostics);
  const schedule::Answer found = search(*c, {o.time_limit, o.all, &interrupted});
  Answer a;
  a.status = found.outcome == Outcome::found ? kDone : found.outcome == Outcome::impossible ? kNo : kUnknown;
  a.json = json_of(*c, found);
  a.text = answer_text(*c, found);
  a.json["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return a;
}

}  // namespace planscope::cli
