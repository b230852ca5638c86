// How old parameters are where they are read (`relax fetch(X) lag k`). A place stores a parameter once, and all that read it
// there read the same version of it.
#include <set>

#include "engine/program/build/work.h"

namespace planscope::build {

namespace {

Diagnostic disagreement(const Work& w, const Var& v, const plan::Lag& one, const plan::Lag& other) {
  const std::string where = describe(w.p, w.p.places[static_cast<std::size_t>(v.place)]);
  Diagnostic d = error("'" + w.g.tensor_name(v.tensor) + "' is read " + std::to_string(one.updates) + " and " +
                           std::to_string(other.updates) + " updates old on " + where,
                       "a place reads one version of a parameter that it stores",
                       "give all that read it there the same lag, or another place");
  const int statement = std::max(one.statement, other.statement);
  d.file = w.d.plan.file;
  d.line = w.d.plan.statements[static_cast<std::size_t>(statement)].line;
  d.subject = w.statement_text(statement);
  return d;
}

}  // namespace

bool set_lags(Work& w) {
  std::set<OpId> relaxed;
  for (Var& v : w.vars) {
    if (v.kind != VarKind::stored || !v.gradient) continue;
    const plan::Lag* first = nullptr;
    for (const Read& r : v.reads) {
      const OpId op = w.instances[static_cast<std::size_t>(r.instance)].op;
      const plan::Lag& lag = w.op_lag[static_cast<std::size_t>(op)];
      if (lag.updates > 0) relaxed.insert(op);
      if (!first) first = &lag;
      if (first->updates == lag.updates) continue;
      w.diagnostics.push_back(disagreement(w, v, *first, lag));
      return false;
    }
    if (first) v.lag = first->updates;
  }
  for (const OpId op : relaxed) {
    const plan::Lag& lag = w.op_lag[static_cast<std::size_t>(op)];
    w.p.relaxations.push_back({op, lag.updates, w.statement(lag.statement)});
  }
  return true;
}

}  // namespace planscope::build
