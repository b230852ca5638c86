#pragma once
// What binding knows while it goes through the statements: lets, axes, grids, the module tree, and where diagnostics go.
// Internal to engine/plan.
//
// Functions that return an optional have reported (or deferred the statement) when they return nothing.
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "engine/plan/bind.h"
#include "engine/plan/selection.h"
#include "engine/plan/variables.h"

namespace planscope::plan {

struct UnitList {
  std::vector<Unit> units;
  std::optional<Expression> open_count;  // a cut into an open number of parts: no units yet
  std::vector<int> pool;                 // ids in Decisions::units, filled on demand
};

struct LetValue {
  enum class Kind { number, units, axes, function };
  Kind kind = Kind::number;
  Expression number;
  UnitList list;
  std::vector<std::string> axes;
  LetStatement function;  // an Expression body is resolved
};

// Values of a statement's variables, one after the other.
struct Bindings {
  std::vector<std::string> variables;
  std::vector<std::int64_t> values;
  std::map<std::string, Expression> expressions() const;  // for substitute (rewrite.h)
};

// Names in a condition: in the indices of open values, and elsewhere.
struct ConditionNames {
  std::set<std::string> free, in_indices;
};
ConditionNames names_of(const Condition&);

// Axes and lets of a plan whose sizes are open, as written.
std::set<std::string> open_names(const Plan&);

class Context {
 public:
  Context(const ModelInfo& model, const OpenValues& values, Decisions& decisions, std::vector<Diagnostic>& diagnostics);

  const ModelInfo& model;
  const OpenValues& open_values;  // what is given for open ones
  Decisions& decisions;
  const std::shared_ptr<const ModelIndex> index;  // the model's, or made here
  const ModuleTree& tree;
  std::map<std::string, LetValue> lets;
  int statement = -1;                       // the one at work
  std::map<int, bool> use_matched;          // use -> some line of it matched something
  std::map<int, std::string> use_problem;   // use -> what the first line that matched nothing said
  bool case_matched = false;                // of the statement that is bound: a selection of one of its cases is not empty
  std::string case_problem;                 // what the first one that matched nothing said
  std::string suppressed;                   // what the last selection that matched nothing said, if it was not reported
  std::vector<std::vector<int>> rows;       // statement -> operators or parameters it decides, for shadow checks
  std::map<int, std::vector<int>> axes_of;  // trans statement -> its axes
  std::map<std::string, std::set<std::int64_t>> families;  // `?x[i]` -> indices for which a statement uses it

  const Plan* written = nullptr;  // the statements before open values got theirs
  std::set<std::string> opened;   // open_names of it

  // The factors of an operator: one and the same object for all operators whose factors are equal.
  const std::vector<FactorInfo>& factors(int op) const {
    const int first = index->alike[static_cast<std::size_t>(op)];
    return model.operators[static_cast<std::size_t>(first)].factors;
  }

  const Statement& current() const { return decisions.plan.statements[static_cast<std::size_t>(statement)]; }

  // --- diagnostics
  void refuse(std::string what);
  void remark(Severity, std::string what);
  void report(Severity, int at_statement, std::string what, std::vector<int> lines = {});  // Diagnostic::lines
  void unsupported(const std::string& what);                                               // `… is not supported yet`
  void defer();
  void finish_messages();  // says how many more there were than are said one by one

  // --- numbers
  std::optional<Expression> resolve(const Expression&, const std::vector<std::string>& hidden = {});
  std::optional<Condition> resolve(const Condition&);
  // A number without variables; open ones defer the statement.
  std::optional<std::int64_t> number(const Expression&, const Bindings& = {});
  std::optional<std::string> indexed_name(const Expression& open, const Bindings& = {});  // `?x[i]` -> `x[2]`
  const OpenValue* open_value(const std::string& name) const;
  int open_variable(const std::string& name);  // index into Decisions::variables; this statement mentions it
  std::optional<std::int64_t> size_within(const Expression&, const std::string& what, std::int64_t most);

  // --- names
  int axis(std::string_view name) const { return find_axis(decisions, name); }
  int grid(std::string_view name) const;
  std::optional<std::vector<int>> axes_named(const std::string& name);  // a let of axes stands for several
  std::string grid_list() const;                                        // `grid all (pipe, data, tensor)`

  // --- selections
  // Units of one element each, problems reported; templates lose lines that match nothing. With `quiet`, elements
  // without a match are left out (variables run over what exists).
  std::optional<std::vector<Match>> select(const Units&, const Bindings& = {}, bool quiet = false);
  std::optional<UnitList> unit_list(const Units&, const Bindings& = {});
  std::optional<std::vector<Match>> select_group(const Group&, const Bindings&);
  std::optional<Group> call_group(const Group&);  // a function's body with its arguments

  std::optional<IndexValue> index_value(const Index&, const Bindings&);
  // The free axis that an index of a task or of a placed group counts: named, or the next in order of declaration.
  std::optional<int> index_axis(const Group&, const TaskIndex&, std::size_t& next);

  // --- variables of a statement: every combination of values for which its selections exist and `where` holds
  // `extra`: more expressions whose names are variables. Conditions with open values become constraint rows.
  std::optional<std::vector<Bindings>> cases(const std::vector<const Units*>& units,
                                             const std::vector<Expression>& extra = {});
  // The same, bounded by more than selections; what the statement demands of open values is not looked at.
  std::optional<std::vector<Bindings>> combinations(Problem);
  bool collect(const Group&, Problem&);  // its variables, and their bounds

  // --- where (where.cpp)
  // Conditions of the current statement on its variables, resolved. Deferred where they need an open value.
  std::optional<std::vector<Condition>> conditions();
  // Conditions on open values: those without variables, and, for each case of the statement's, those with.
  void hold_demands(const Bindings& = {});
  bool demands(std::size_t k) const;  // whether the k-th condition behind `where` is one
  bool demands_left() const;          // nobody has looked at those with variables
  // A condition that has to hold, unless one of some others on open values does not.
  void demand(const Condition&, const Condition& as_written, const Bindings&,
              const std::vector<Condition>& unless = {});
  std::optional<bool> truth(const Condition& resolved) const;
  ConditionNames variables_of(const Condition& as_written) const;
  const Statement& as_written() const;

  // --- places
  std::optional<PlaceInfo> place(const Place&, const Bindings& = {});
  std::vector<int> parameters_of(const std::vector<Match>&) const;  // that the operators of a selection read
  int place_id(PlaceInfo);
  int unit_id(const Unit&);
  std::vector<int> list_ids(UnitList&);

 private:
  std::optional<Expression> resolve_bars(const Expression&);
  std::optional<Expression> grid_word(const Expression&);
  std::optional<Expression> resolve_indexed(const Expression&);
  std::optional<Expression> count_of(const Expression& atom);
  std::optional<std::vector<int>> device_set(const Expression& atom);
  std::optional<PlaceInfo> open_place(const Place&, const Bindings&);
  int restricted_grid(int grid, const std::string& axis, const Sub&, const Bindings&);
  std::optional<Expression> axis_expression(int axis);
  std::optional<Expression> call(const Expression&, const std::vector<std::string>& hidden);
  std::optional<PathValue> path_value(const Path&, std::size_t skip, const Bindings&);
  std::optional<std::vector<Match>> select_path(const Path&, const Bindings&);
  bool collect(const Units&, Problem&);
  bool speaks_of_open(const Condition& as_written) const;
  std::set<std::string> words_of(const Condition& as_written) const;
  static std::string failure(const Condition& written, const Condition& resolved);
  std::optional<PlaceInfo> place_by_axes(const Place&, const Bindings&);
  std::optional<std::vector<int>> device_list(const std::vector<Index>&, const Bindings&);

  const std::string& subject_of(const Statement&, int at_statement);

  std::vector<Diagnostic>& diagnostics_;
  std::set<std::tuple<int, int, std::string, std::string, std::vector<int>>> said_;
  std::array<std::size_t, 3> counts_{};  // of messages, by severity
  int subject_statement_ = -1;           // the one that was asked for last
  std::string subject_;
  bool demands_held_ = false;  // for cases of the current statement
  int held_statement_ = -1;
  std::map<std::string, std::vector<int>> units_by_name_;
};

// Largest sizes that a plan may name; beyond them is a typing error, not a machine.
constexpr std::int64_t max_devices = 1 << 20;
constexpr std::int64_t max_axis = 1 << 20;
constexpr std::int64_t max_size = std::int64_t{1} << 40;  // of a dimension

// --- the statements, each in the file of its name
void bind_devices(Context&, const DevicesStatement&);  // axes.cpp
void bind_grid(Context&, const GridStatement&);
void bind_axis(Context&, const AxisStatement&);
void bind_let(Context&, const LetStatement&);          // let.cpp
void bind_require(Context&, const RequireStatement&);  // rows.cpp
void bind_forbid(Context&, const ForbidStatement&);
void report_idle_values(Context&);                   // where.cpp: rows about values that no statement uses
void report_impossible_words(Context&);              // where.cpp: rows that name words which their open values cannot be
// The words that an open value can be, whatever the rows say: axes, or factors of its operators. Empty for other values.
std::vector<std::string> possible_words(const Decisions&, std::size_t variable);
void add_condition_row(Context&, const Condition&);  // resolved, with open values
void collect_variables(Context&);                    // Decisions::variables from all statements
void check_decisions(Context&);                      // checks.cpp: what only the whole plan can show

}  // namespace planscope::plan
