#include "planner/verify/verify.h"

#include "engine/base/text.h"
#include "engine/program/structure.h"
#include "planner/verify/buffers.h"
#include "planner/verify/equivalence.h"
#include "planner/verify/gradients.h"
#include "planner/verify/ledger.h"
#include "planner/verify/makers.h"
#include "planner/verify/order.h"
#include "planner/verify/pieces.h"
#include "planner/verify/staleness.h"
#include "planner/verify/values.h"

namespace planscope {

using namespace verification;

std::string_view to_string(Verdict v) {
  switch (v) {
    case Verdict::equivalent:
      return "equivalent";
    case Verdict::relaxed:
      return "relaxed";
    case Verdict::different:
      return "different";
    case Verdict::unknown:
      return "unknown";
  }
  return "?";
}

std::string_view to_string(FailureKind k) {
  switch (k) {
    case FailureKind::damaged:
      return "damaged";
    case FailureKind::layout:
      return "layout";
    case FailureKind::communication:
      return "communication";
    case FailureKind::gradient:
      return "gradient";
    case FailureKind::update:
      return "update";
    case FailureKind::loss:
      return "loss";
    case FailureKind::staleness:
      return "staleness";
    case FailureKind::order:
      return "order";
    case FailureKind::deadlock:
      return "deadlock";
    case FailureKind::unproved:
      return "unproved";
  }
  return "?";
}

std::string to_string(const Failure& f) {
  std::string out = std::string(to_string(f.kind)) + ": " + f.op;
  if (!f.tensor.empty()) out += ", " + f.tensor + f.region;
  if (!f.devices.empty()) out += " on " + f.devices;
  out += ": expected " + f.expected + ", got " + f.got;
  if (f.statement.line > 0) out += " (line " + std::to_string(f.statement.line) + ": " + f.statement.text + ")";
  return out;
}

std::string to_string(const Staleness& s) {
  std::string out = s.first;
  if (s.parameters > 1)
    out += " and " + std::to_string(s.parameters - 1) + " more parameter" + (s.parameters > 2 ? "s" : "");
  out += " on " + s.devices + ": ";
  out += s.lag == 0 ? "the newest" : std::to_string(s.lag) + (s.lag == 1 ? " update old" : " updates old");
  if (s.statement.line > 0) out += " (line " + std::to_string(s.statement.line) + ": " + s.statement.text + ")";
  return out;
}

VerifyReport verify(const Graph& g, const Program& p) {
  Ledger ledger(g, p);
  if (const std::vector<Diagnostic> problems = check_structure(p, g); !problems.empty()) {
    for (const Diagnostic& d : problems) ledger.fail(FailureKind::damaged, {}, -1, "a program that can be read", d.why);
    return ledger.finish();
  }
  if (p.graph_digest != g.digest) {
    ledger.fail(FailureKind::damaged, {}, -1, "a program of this model at these sizes", "one of another");
    return ledger.finish();
  }
  const Makers makers = find_makers(g, p, ledger);
  check_values(g, p, ledger);
  check_pieces(g, p, ledger);
  check_instructions(g, p, makers, ledger);
  check_gradients(g, p, makers, ledger);
  check_goals(g, p, ledger);
  check_buffers(g, p, ledger);
  check_order(g, p, makers, occupancy(p, ledger), ledger);
  std::vector<Staleness> staleness = check_staleness(g, p, makers, ledger);
  VerifyReport report = ledger.finish();
  if (report.verdict == Verdict::equivalent && !staleness.empty()) report.verdict = Verdict::relaxed;
  report.staleness = std::move(staleness);
  return report;
}

}  // namespace planscope
