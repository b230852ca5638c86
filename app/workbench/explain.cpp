#include "app/workbench/explain.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/base/text.h"
#include "engine/plan/selection.h"
#include "engine/program/bucket.h"
#include "engine/program/conversion.h"
#include "engine/program/crossing.h"
#include "engine/program/transfer.h"
#include "planner/cost/communication_cost.h"

namespace planscope {

namespace {

constexpr std::size_t shown = 3;  // refused paths

template <class T>
const T& at(const std::vector<T>& list, int k) {
  return list[static_cast<std::size_t>(k)];
}

class Explainer {
 public:
  Explainer(const Graph& g, const Program& p, const Cluster& c) : g_(g), p_(p), cluster_(c) {
    for (const Segment& s : p.segments)
      for (const Instruction& i : s.instructions) {
        if (i.code == Code::wait || i.code == Code::free) continue;
        for (std::size_t k = 0; k < i.out.size(); ++k) makers_.emplace(i.out[k], std::pair(&i, k));
        for (std::size_t k = 0; k < i.in.size(); ++k) users_[i.in[k]].emplace_back(&i, k);
      }
  }

  std::vector<Conversion> run(const std::set<TensorId>& tensors) {
    for (const Segment& s : p_.segments) {
      chains(s, tensors);
      for (const Instruction& i : s.instructions)
        if (i.code == Code::receive)
          for (const ProgramValueId v : i.out)
            if (tensors.count(at(p_.values, v).tensor)) transfer(s, sent_as(p_, i, v), v);
    }
    return std::move(out_);
  }

 private:
  using Operand = std::pair<const Instruction*, std::size_t>;

  static std::string kind_of(const Move& m) { return std::string(to_string(m.kind)); }

  static bool is_move(const Instruction& i) { return i.code == Code::issue || i.code == Code::local; }

  // One value's way through an instruction; a bucket has several.
  struct Step {
    Instruction alone;
    std::size_t bucket = 1;
  };

  // Moves of a segment that follow each other are one conversion.
  void chains(const Segment& s, const std::set<TensorId>& tensors) {
    std::vector<Step> steps;
    std::map<ProgramValueId, std::size_t> makers;
    std::set<ProgramValueId> moved_on;
    for (const Instruction& i : s.instructions)
      for (std::size_t k = 0; is_move(i) && k < i.out.size(); ++k) {
        if (!tensors.count(at(p_.values, i.in[k]).tensor)) continue;
        Step step{i, i.out.size()};
        const auto operands = operands_of(i, k);
        step.alone.in.assign(operands.begin(), operands.end());
        step.alone.out = {i.out[k]};
        makers[i.out[k]] = steps.size();
        moved_on.insert(i.in[k]);
        steps.push_back(std::move(step));
      }
    for (const Step& last : steps) {
      if (moved_on.count(last.alone.out[0])) continue;
      std::vector<const Step*> path;
      for (auto m = makers.find(last.alone.out[0]); m != makers.end(); m = makers.find(path.front()->alone.in[0]))
        path.insert(path.begin(), &steps[m->second]);
      conversion(s, path);
    }
  }

  void conversion(const Segment& s, const std::vector<const Step*>& path) {
    const ProgramValue &from = at(p_.values, path.front()->alone.in[0]), &to = at(p_.values, path.back()->alone.out[0]);
    Conversion c = begin(s, from, to);
    for (const Step* step : path) c.chosen.moves.push_back(explained(s, *step));
    for (const ExplainedMove& m : c.chosen.moves) c.chosen.time += m.time;
    std::vector<Move> chosen;
    for (const Step* step : path) chosen.push_back(step->alone.move);
    const ConversionSpace space{g_, p_, cluster_, from.tensor, from.place};
    for (const ConversionPath& other :
         conversions(space, at(p_.layouts, from.layout), at(p_.layouts, to.layout), shown + 1)) {
      if (other.moves == chosen || c.refused.size() == shown) continue;
      ExplainedPath refused;
      add_moves(space, at(p_.layouts, from.layout), other, refused);
      refused.time = other.time();
      c.refused.push_back(std::move(refused));
    }
    out_.push_back(std::move(c));
  }

  ExplainedMove explained(const Segment& s, const Step& step) const {
    const Instruction& i = step.alone;
    ExplainedMove m{describe(p_, g_, i.move, at(p_.values, i.in[0]).tensor), {}, {}, kind_of(i.move), 1, i.out[0]};
    if (step.bucket > 1) m.what += ", one of " + std::to_string(step.bucket) + " in a bucket";
    if (i.code != Code::issue) return m;
    const MoveCost cost = move_cost(g_, p_, cluster_, s.place, i);
    m.payload = cost.payload;
    m.group = cost.group;
    m.time = cost.figure.time;
    return m;
  }

  void transfer(const Segment& s, ProgramValueId sent, ProgramValueId got) {
    const ProgramValue &from = at(p_.values, sent), &to = at(p_.values, got);
    Conversion c = begin(s, from, to);
    c.from += " on " + describe(p_, at(p_.places, from.place));
    c.to += " on " + describe(p_, at(p_.places, to.place));
    const CrossingPair pair{at(p_.layouts, from.layout), at(p_.layouts, to.layout)};
    std::vector<CrossingEnd> held, read;
    origins(sent, held);
    readers(got, read);
    const CrossingSpace space{g_, p_, cluster_, from.tensor, from.place, to.place};
    c.chosen = told(space, held, read, pair, "send");
    for (ExplainedMove& m : c.chosen.moves)
      if (m.kind == "send") m.made = got;
    for (const Crossing& other : crossings(space, held, read, pair, shown + 1)) {
      if (other.pair == pair || c.refused.size() == shown) continue;
      c.refused.push_back(told(space, held, read, other.pair,
                               "send " + describe(p_, g_, other.pair.sent, from.tensor) + " as " +
                                   describe(p_, g_, other.pair.got, from.tensor)));
    }
    out_.push_back(std::move(c));
  }

  // The layouts from which a value that is sent was made for that alone.
  void origins(ProgramValueId v, std::vector<CrossingEnd>& out) const {
    const auto maker = makers_.find(v);
    if (maker != makers_.end() && is_move(*maker->second.first)) {
      const ProgramValueId from = operands_of(*maker->second.first, maker->second.second)[0];
      if (users_.at(from).size() == 1) return origins(from, out);
      return count(from, out);
    }
    if (maker == makers_.end() || maker->second.first->code != Code::add) return count(v, out);
    for (const ProgramValueId term : maker->second.first->in) origins(term, out);
    for (CrossingEnd& e : out) e.times = 1;  // equal ones are added first
  }

  // Those in which what is made of a value that has arrived is read, and how often each is made.
  void readers(ProgramValueId v, std::vector<CrossingEnd>& out) const {
    const auto users = users_.find(v);
    if (users == users_.end()) return count(v, out);
    const auto moves = [](const Operand& o) { return is_move(*o.first) && o.second < o.first->out.size(); };
    if (!std::all_of(users->second.begin(), users->second.end(), moves)) count(v, out);
    for (const Operand& o : users->second)
      if (moves(o)) readers(o.first->out[o.second], out);
  }

  void count(ProgramValueId v, std::vector<CrossingEnd>& ends) const {
    const Layout& l = at(p_.layouts, at(p_.values, v).layout);
    const auto known = std::find_if(ends.begin(), ends.end(), [&](const CrossingEnd& e) { return e.layout == l; });
    if (known == ends.end())
      ends.push_back({l, 1});
    else
      ++known->times;
  }

  ExplainedPath told(const CrossingSpace& w, const std::vector<CrossingEnd>& held, const std::vector<CrossingEnd>& read,
                     const CrossingPair& pair, std::string send) const {
    ExplainedPath out;
    for (const CrossingEnd& e : held)
      converted({g_, p_, cluster_, w.tensor, w.from}, e.layout, pair.sent, e.times, out);
    out.moves.push_back({std::move(send), bytes(w.tensor, pair.got), crossing_time(w, pair), "send", 2});
    for (const CrossingEnd& e : read) converted({g_, p_, cluster_, w.tensor, w.to}, pair.got, e.layout, e.times, out);
    for (const ExplainedMove& m : out.moves) out.time += m.time;
    return out;
  }

  void converted(const ConversionSpace& w, const Layout& from, const Layout& to, int times, ExplainedPath& out) const {
    const std::optional<ConversionPath> path = from == to ? std::nullopt : cheapest_conversion(w, from, to);
    for (int time = 0; path && time < times; ++time) add_moves(w, from, *path, out);
  }

  void add_moves(const ConversionSpace& w, Layout now, const ConversionPath& path, ExplainedPath& out) const {
    for (std::size_t k = 0; k < path.moves.size(); ++k) {
      const Move& m = path.moves[k];
      const Layout next = apply(now, m);
      const Bytes larger = std::max(bytes(w.tensor, now), bytes(w.tensor, next));
      out.moves.push_back({describe(p_, g_, m, w.tensor), is_local(m.kind) ? Bytes{} : larger, path.times[k], kind_of(m)});
      now = next;
    }
  }

  Bytes bytes(TensorId t, const Layout& l) const {
    return local_elements(g_, t, l) * Bytes{byte_size(at(g_.model->values, t).dtype)};
  }

  Conversion begin(const Segment& s, const ProgramValue& from, const ProgramValue& to) const {
    Conversion c;
    c.tensor = g_.tensor_name(from.tensor);
    c.segment = s.name;
    c.gradient = from.role == Role::gradient;
    c.from = describe(p_, g_, at(p_.layouts, from.layout), from.tensor);
    c.to = describe(p_, g_, at(p_.layouts, to.layout), to.tensor);
    return c;
  }

  const Graph& g_;
  const Program& p_;
  const Cluster& cluster_;
  std::map<ProgramValueId, Operand> makers_;
  std::map<ProgramValueId, std::vector<Operand>> users_;  // by operand
  std::vector<Conversion> out_;
};

}  // namespace

Result<std::vector<Conversion>> explain(const Graph& g, const Program& p, const Cluster& c, const std::string& tensor) {
  std::set<TensorId> found;
  std::vector<std::string> names;
  for (TensorId t = 0; t < static_cast<TensorId>(g.tensors.size()); ++t) {
    const std::string& name = g.tensor_name(t);
    names.push_back(name);
    if (plan::glob_matches(tensor, name)) found.insert(t);
  }
  if (found.empty()) {
    const std::string near = nearest(tensor, names);
    return error("no tensor is called '" + tensor + "'",
                 "parameters have the names of the model, results those of their operators",
                 near.empty() ? "'*' matches any letters" : "did you mean '" + near + "'?");
  }
  return Explainer(g, p, c).run(found);
}

}  // namespace planscope
