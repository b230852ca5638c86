#include "planner/verify/ledger.h"

#include <algorithm>

#include "engine/base/text.h"
#include "planner/verify/algebra.h"

namespace planscope::verification {

namespace {

constexpr std::size_t most_failures = 100;
constexpr std::size_t devices_searched = 64;

// Axes over which two layouts are split or partial in different ways.
std::vector<AxisId> differing(const Layout& a, const Layout& b) {
  std::vector<AxisId> out;
  const auto only = [&](const Layout& x, const Layout& y) {
    for (const Split& s : x.splits)
      if (std::find(y.splits.begin(), y.splits.end(), s) == y.splits.end())
        for (const Digit& d : s.digits) out.push_back(d.axis);
    for (const Partial& p : x.partials)
      if (std::find(y.partials.begin(), y.partials.end(), p) == y.partials.end()) out.push_back(p.digit.axis);
  };
  only(a, b);
  only(b, a);
  return out;
}

// Whether every axis that says where a block lies has a coordinate at the point: of a damaged Program it may be one of another grid.
bool lies_at(const Layout& l, const Point& point) {
  const auto known = [&](AxisId a) { return point[static_cast<std::size_t>(a)] >= 0; };
  const auto placed = [&](const Digit& d) { return known(d.axis) && (d.by < 0 || known(d.by)); };
  return std::all_of(l.splits.begin(), l.splits.end(),
                     [&](const Split& s) { return std::all_of(s.digits.begin(), s.digits.end(), placed); });
}

Box box(const std::vector<std::vector<Interval>>& region) {
  Box out;
  for (const std::vector<Interval>& parts : region) {
    out.emplace_back();
    for (const Interval& i : parts) out.back().emplace_back(i.begin, i.end);
  }
  return out;
}

std::string text_of(const Box& b) {  // `[0:4, 0:8*0:16]`; empty: of a single element
  std::vector<std::string> dims;
  for (const auto& parts : b) {
    std::vector<std::string> out;
    for (const auto& [begin, end] : parts) out.push_back(std::to_string(begin) + ":" + std::to_string(end));
    dims.push_back(out.empty() ? "0:1" : join(out, "*"));
  }
  return dims.empty() ? "" : "[" + join(dims, ", ") + "]";
}

}  // namespace

std::string ranges(const std::vector<int>& devices) {
  std::vector<int> sorted = devices;
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::string> out;
  for (std::size_t k = 0; k < sorted.size();) {
    std::size_t end = k + 1;
    while (end < sorted.size() && sorted[end] == sorted[end - 1] + 1) ++end;
    out.push_back(end - k == 1 ? std::to_string(sorted[k])
                               : std::to_string(sorted[k]) + "-" + std::to_string(sorted[end - 1]));
    k = end;
    if (out.size() == 8 && k < sorted.size()) {
      out.push_back("…");
      break;
    }
  }
  return join(out, ", ");
}

std::string name(const Graph& g, OpId op) { return g.node(op).name(); }

std::string name(const Program&, const Segment& s, const Instruction& i) {
  const bool move = i.code == Code::issue || i.code == Code::local;
  return std::string(move ? to_string(i.move.kind) : to_string(i.code)) + " in " + s.name;
}

std::string Ledger::devices(PlaceId place) const {
  if (place < 0) return "";
  const Place& at = p_.places[static_cast<std::size_t>(place)];
  const std::vector<int> list = planscope::devices(p_, at);
  return describe(p_, at) + (list.size() == 1 ? " (device " : " (devices ") + ranges(list) + ")";
}

void Ledger::fail(FailureKind kind, const Site& site, TensorId tensor, std::string expected, std::string got) {
  ++report_.failure_count;
  refuted_ = refuted_ || (kind != FailureKind::unproved && kind != FailureKind::damaged);
  if (report_.failures.size() >= most_failures) return;
  Failure f;
  f.kind = kind;
  f.op = site.op;
  f.tensor = this->tensor(tensor);
  f.devices = devices(site.place);
  f.expected = std::move(expected);
  f.got = std::move(got);
  if (site.statement >= 0) f.statement = p_.statements[static_cast<std::size_t>(site.statement)];
  report_.failures.push_back(std::move(f));
}

// The statement that binds an operator that writes or reads the tensor to one of these axes.
int Ledger::cause(TensorId tensor, const std::vector<AxisId>& axes) const {
  for (const Piece& piece : p_.pieces)
    for (const PieceOp& o : piece.ops) {
      const Op& op = g_.ops[static_cast<std::size_t>(o.op)];
      const auto is_about = [&](const Operand& x) { return x.tensor == tensor; };
      if (std::none_of(op.outputs.begin(), op.outputs.end(), is_about) &&
          std::none_of(op.inputs.begin(), op.inputs.end(), is_about))
        continue;
      for (const Binding& b : o.bindings)
        if (b.statement >= 0 && std::find(axes.begin(), axes.end(), b.digit.axis) != axes.end()) return b.statement;
    }
  return -1;
}

bool Ledger::equal(FailureKind kind, const Site& site, TensorId tensor, const Layout& expected, const Layout& got) {
  obligation();
  if (expected == got) return true;
  const Layout as_expected = joined(g_, tensor, expected), as_got = joined(g_, tensor, got);
  if (as_expected == as_got) return true;
  Site at_fault = site;
  if (report_.failures.size() < most_failures)
    if (const int statement = cause(tensor, differing(expected, got)); statement >= 0) at_fault.statement = statement;
  fail(kind, at_fault, tensor, layout(expected, tensor), layout(got, tensor));
  if (report_.failures.size() < static_cast<std::size_t>(report_.failure_count) || site.place < 0) return false;
  const Place& place = p_.places[static_cast<std::size_t>(site.place)];
  std::vector<int> all = planscope::devices(p_, place);
  if (all.size() > devices_searched) all.resize(devices_searched);
  for (const int device : all) {
    Point point = point_of(p_, place, device);
    for (std::size_t a = 0; a < p_.axes.size(); ++a)
      if (p_.axes[a].grid < 0) point[a] = index_at(p_.axes[a], index_count(p_.axes[a]) - 1);
    if (!lies_at(expected, point) || !lies_at(got, point)) return false;
    Box wanted = box(region(g_, tensor, expected, point)), there = box(region(g_, tensor, got, point));
    if (wanted == there && as_expected.partials == as_got.partials) continue;
    Failure& f = report_.failures.back();
    f.device = device;
    f.region = text_of(wanted);
    if (wanted != there) f.got += "; device " + std::to_string(device) + " has " + text_of(there);
    f.wanted = std::move(wanted), f.there = std::move(there);
    break;
  }
  return false;
}

VerifyReport Ledger::finish() {
  report_.verdict = report_.failure_count == 0 ? Verdict::equivalent : refuted_ ? Verdict::different : Verdict::unknown;
  return std::move(report_);
}

}  // namespace planscope::verification
