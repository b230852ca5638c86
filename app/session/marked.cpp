#include "app/session/marked.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "app/session/graph/trace.h"

namespace planscope::session {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

const Evaluation* predicted(const State& s) {
  const Document* d = s.document();
  return d && d->shown ? d->shown->evaluation.get() : nullptr;
}

}  // namespace

Marked::Marked(const State& s) : state_(s), selected_(s.selected.get()) {
  const Evaluation* e = predicted(s);
  if (e && s.time)
    for (const std::string& lane : s.time->lanes)
      if (const int c = class_of_lane(*e, lane); c >= 0) lanes_.insert(c);
  if (!selected_ || !s.document()) return;
  const Graph& g = e ? *e->made.graph : s.document()->model->graph;
  operators_ = operators_shown(*selected_, g);
  classes_.insert(selected_->classes.begin(), selected_->classes.end());
  of_place_ = !s.selection.place.empty();
  if (!selected_->tensors.empty())
    tensors_.insert(selected_->tensors.begin(), selected_->tensors.end());
  else if (selected_->of_parameters())
    for (const int p : selected_->parameters) tensors_.insert(g.parameters[at(p)].tensor);
  else
    tensors_ = tensors_of(g, operators_);
  if (!e) return;
  const Program& program = e->made.program;
  devices_.assign(static_cast<std::size_t>(program.device_count), 0);
  const auto mark = [&](const std::vector<int>& all) {
    for (const int d : all)
      if (d >= 0 && at(d) < devices_.size()) devices_[at(d)] = 1;
  };
  if (of_place_) mark(selected_->devices);
  for (const int c : of_place_ ? std::vector<int>{} : selected_->classes)
    if (at(c) < program.classes.size()) mark(devices(program, program.classes[at(c)]));
}

bool Marked::op(OpId o) const { return std::binary_search(operators_.begin(), operators_.end(), o); }

bool Marked::some_of(const std::vector<OpId>& ops) const {
  return std::any_of(ops.begin(), ops.end(), [&](OpId o) { return op(o); });
}

bool Marked::tensor(TensorId t) const { return tensors_.contains(t); }

bool Marked::some_of_tensors(const std::vector<TensorId>& all) const {
  return std::any_of(all.begin(), all.end(), [&](TensorId t) { return tensor(t); });
}

bool Marked::device_class(int c) const { return classes_.contains(c) || lanes_.contains(c); }

bool Marked::statement(int line) const { return line > 0 && state_.selection.statement == line; }

bool Marked::decided(const std::vector<OpId>& ops, const std::vector<int>& parameters) const {
  if (!selected_ || of_place_ || state_.selection.statement > 0) return false;
  if (!selected_->of_parameters()) return some_of(ops);
  return std::any_of(parameters.begin(), parameters.end(), [&](int p) {
    return std::find(selected_->parameters.begin(), selected_->parameters.end(), p) != selected_->parameters.end();
  });
}

bool Marked::device(std::int64_t d) const {
  return d >= 0 && static_cast<std::size_t>(d) < devices_.size() && devices_[static_cast<std::size_t>(d)];
}

bool Marked::tile(const std::vector<OpId>& ops, const TensorTile& t) const {
  if (!of_place_) return some_of(ops);
  return std::any_of(t.devices.begin(), t.devices.end(), [&](const DeviceGroup& group) {
    const std::vector<std::int64_t> all = members(group, group.size());
    return std::any_of(all.begin(), all.end(), [&](std::int64_t d) { return device(d); });
  });
}

bool Marked::side(const std::vector<OpId>& ops, const Tiling& t) const {
  if (!of_place_) return some_of(ops);
  return std::any_of(t.tiles.begin(), t.tiles.end(), [&](const TensorTile& one) { return tile(ops, one); });
}

// That is named; or that sends what is selected, from where that runs.
bool Marked::communicator(const Communicator& c) const {
  if (!selected_) return false;
  const std::vector<std::pair<std::string, int>>& named = selected_->communicators;
  return std::any_of(c.parts.begin(), c.parts.end(), [&](const CommunicatorPart& part) {
    if (!state_.selection.communicator.empty())
      return std::binary_search(named.begin(), named.end(), std::pair(part.name, part.device_class));
    return (classes_.empty() || classes_.contains(part.device_class)) && some_of_tensors(part.tensors);
  });
}

bool Marked::link(const LinkLoad& l, const TrafficFacts& t) const {
  return std::any_of(t.communicators.begin(), t.communicators.end(),
                     [&](const Communicator& c) { return goes_over(c, l.level) && communicator(c); });
}

bool Marked::run(const std::vector<OpId>& ops, int c) const {
  return some_of(ops) && (c < 0 || classes_.empty() || device_class(c));
}

bool Marked::task(const TaskSlack& t) const {
  if (!state_.time || state_.time->stream != t.stream || !lanes_.contains(t.task.task.device_class)) return false;
  const std::optional<Window> w = window_of(state_.time->us);
  return w && std::llabs(w->from - t.task.start) <= 1 && std::llabs(w->to - t.task.end) <= 1;
}

std::vector<std::string> Marked::work_ids() const {
  std::vector<std::string> out;
  if (selected_ && !state_.selection.communicator.empty() && state_.selection.tensor.empty()) {
    for (const auto& [name, device_class] : selected_->communicators) out.push_back("communicator " + name);
  } else if (selected_) {
    for (const OpId op : operators_) out.push_back("operator " + std::to_string(op));
    for (const TensorId t : tensors_) out.push_back("tensor " + std::to_string(t));
  }
  return out;
}

std::vector<std::string> Marked::time_ids(const std::string& before_lane) const {
  std::vector<std::string> out;
  if (!predicted(state_) || !state_.time) return out;
  if (state_.time->us) {
    char text[80];
    std::snprintf(text, sizeof text, "time %.3f %.3f", state_.time->us->first, state_.time->us->second);
    out.push_back(text);
  }
  for (const std::string& name : state_.time->lanes) out.push_back("within " + before_lane + name);
  if (!state_.time->stream.empty()) out.push_back("stream " + state_.time->stream);
  return out;
}

std::vector<std::string> Marked::timeline_ids() const {
  std::vector<std::string> out;
  if (state_.selection.statement > 0) out.push_back("line " + std::to_string(state_.selection.statement));
  const std::vector<std::string> work = work_ids();
  out.insert(out.end(), work.begin(), work.end());
  if (const Evaluation* e = predicted(state_))
    for (const int c : classes_)
      if (at(c) < e->made.program.classes.size()) out.push_back("lane " + e->made.program.classes[at(c)].name);
  const std::vector<std::string> time = time_ids();
  out.insert(out.end(), time.begin(), time.end());
  return out;
}

}  // namespace planscope::session
