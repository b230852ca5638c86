#include "engine/plan/forbidden.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "engine/plan/within.h"

namespace planscope::plan {

namespace {
std::string plural(std::int64_t n, const std::string& noun) {
  return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

class ForbiddenCheck {
 public:
  explicit ForbiddenCheck(Context& c) : c_(c), d_(c.decisions) {}

  void run() {
    for (const ForbidRow& row : d_.forbids) {
      std::map<int, std::set<int>> operators, parameters;  // by statement; -1: none says otherwise
      for (const ForbiddenSplit& f : row.splits)
        if (const int statement = deciding(f); statement >= 0)
          (f.phase == Phase::forward ? operators : parameters)[statement].insert(f.row);
      for (const ForbiddenPlace& f : row.places)
        for (const int p : places_of(d_, f.row, f.index)) {
          const PlaceInfo& at = d_.places[static_cast<std::size_t>(p)];
          if (within(d_, at, d_.places[static_cast<std::size_t>(f.place)])) operators[at.statement].insert(f.row);
        }
      for (const ForbiddenAlgorithm& f : row.algorithms)
        for (const int op : d_.units[static_cast<std::size_t>(f.unit)].operators)
          if (const auto statement = deciding(op, f.algorithm)) operators[*statement].insert(op);
      for (const ForbiddenState& f : row.states)
        if (const auto statement = deciding(f)) parameters[*statement].insert(f.parameter);
      report_broken(row.statement, operators, "operator", "… recompute");
      report_broken(row.statement, parameters, "parameter", "update(…) offload");
    }
  }

 private:
  int line(int statement) const { return d_.plan.statements[static_cast<std::size_t>(statement)].line; }

  // By deciding statement.
  void report_broken(int row, const std::map<int, std::set<int>>& by, const std::string& noun,
                     const std::string& instead) {
    std::map<int, std::set<int>> lines;
    for (const auto& [statement, rows] : by)
      if (is_final(d_, statement)) lines[statement < 0 ? -1 : line(statement)].insert(rows.begin(), rows.end());
    for (const auto& [deciding, rows] : lines) {
      const std::string n = plural(static_cast<std::int64_t>(rows.size()), noun);
      if (deciding < 0)
        c_.report(Severity::error, row,
                  n + " of these " + (rows.size() == 1 ? "is" : "are") +
                      " kept: no line says otherwise. Write 'trans " + instead + "' for them.",
                  {line(row)});
      else
        c_.report(Severity::error, row,
                  "line " + std::to_string(deciding) + " decides " + n + " this way. Drop one of the two lines.",
                  {line(row), deciding});
    }
  }

  // The statement that makes this split; -1: none.
  int deciding(const ForbiddenSplit& f) const {
    const Split& s = d_.splits(f.phase)[d_.cell(f.row, f.axis)];
    return s.factor == f.factor && has_axis(d_, c_.model, f.phase, f.row, f.axis) ? s.statement : -1;
  }

  // The statement by which the optimizer's state of a parameter waits so, -1: by none; nothing: it does not, or there is none.
  std::optional<int> deciding(const ForbiddenState& f) const {
    const int a = d_.update_storage[static_cast<std::size_t>(f.parameter)];
    if (a >= 0) {
      const AlgorithmUnit& u = d_.algorithms[static_cast<std::size_t>(a)];
      const bool has = u.alternatives.size() == 1 && u.alternatives[0] == f.algorithm;
      return has ? std::optional(u.statement) : std::nullopt;
    }
    const std::vector<int>& readers = c_.model.parameters[static_cast<std::size_t>(f.parameter)].readers;
    const bool trained = std::any_of(readers.begin(), readers.end(), [&](int op) {
      return c_.model.operators[static_cast<std::size_t>(op)].has_weight_gradient;
    });
    return trained && f.algorithm == Algorithm::keep ? std::optional(-1) : std::nullopt;
  }

  // The statement by which an operator has an algorithm, -1: by none (it is kept); nothing: it has another one, or an open
  // choice.
  std::optional<int> deciding(int op, Algorithm wanted) const {
    const auto& table = wanted == Algorithm::grad_split      ? d_.operator_grad_split
                        : wanted == Algorithm::keep_gathered ? d_.operator_gathered
                                                             : d_.operator_storage;
    const int a = table[static_cast<std::size_t>(op)];
    const OperatorInfo& info = c_.model.operators[static_cast<std::size_t>(op)];
    if (a < 0) return wanted == Algorithm::keep && info.has_backward ? std::optional(-1) : std::nullopt;
    const AlgorithmUnit& u = d_.algorithms[static_cast<std::size_t>(a)];
    const bool has = u.alternatives.size() == 1 && u.alternatives[0] == wanted;
    return has ? std::optional(u.statement) : std::nullopt;
  }

  Context& c_;
  Decisions& d_;
};
}  // namespace

void check_forbidden(Context& c) { ForbiddenCheck(c).run(); }

}  // namespace planscope::plan
