#pragma once
// What is selected, looked at closely: facts at once, then what would change with another statement, or without one,
// tried one after the other in the background. Figures are those of `planscope explain`.
//
//   inspect(picture, model, about, selected, cache, stop, say);   // say(Inspection): with every alternative that
// was tried
//
// Times are microseconds on one device; bytes too.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/session/selected.h"
#include "app/workbench/tried.h"

namespace planscope::session {

struct InspectedFactor {
  std::string name;
  std::int64_t size = 0;           // 0: not the same for all
  std::string kind;                // free, sum, merge, softmax, frozen
  std::string reason;              // of a frozen one
  std::vector<std::string> split;  // axes
};

struct InspectedCost {
  std::string what;
  double us = 0;
  std::string origin;
};

struct InspectedDecision {
  std::string about, does, text;  // the text as the command line has it
  std::optional<StatementRef> line;
  std::int64_t operators = 0;  // of the selected ones that it was decided so for
};

struct InspectedClass {
  std::string name;
  std::int64_t devices = 0, operators = 0;  // of the selected ones
  double work_us = 0;
  std::int64_t peak_bytes = 0, memory_bytes = 0;
};

struct Inspection {
  int document = 0;
  std::string text, cluster;  // of the plan that it is about
  Selection selection;
  bool running = true;
  std::string problem = {};  // why something is missing

  std::string operators = {}, example = {}, source = {}, rule = {}, module_kind = {};
  std::vector<std::string> kinds = {};  // of operators, what computes most first: `linear × 3`
  bool alike = false;                   // all operators except views are of one kind
  std::int64_t count = 0, parameters = 0, parameter_elements = 0;
  double flops = 0;  // of forward, of all, undivided
  std::vector<std::string> rule_words = {};
  std::vector<InspectedFactor> factors = {};
  std::vector<InspectedCost> cost = {};
  std::optional<std::int64_t> saved_bytes = {};
  std::vector<InspectedDecision> decisions = {};
  std::optional<StatementRef> decided_by = {};
  std::vector<InspectedClass> classes = {};

  std::vector<Tried> alternatives = {};  // tried so far, the cheapest first
  std::int64_t to_try = 0;
  std::int64_t not_tried = 0;  // alternatives that there are beyond those, which are too many
  std::optional<Tried> without = {};  // of a statement
};

// Another statement that somebody has asked about.
struct TriedStatement {
  std::string statement, text, cluster, measurements;  // of the plan that it was tried behind
  bool running = true;
  std::optional<Tried> tried = {};  // nothing: it is under way, or was ended
};

struct Picture;

void inspect(const std::shared_ptr<const Picture>&, const Graph& model, Inspection, const Selected&, MaterializeCache&,
             const std::atomic<bool>& stop, const std::function<void(const Inspection&)>& say);

}  // namespace planscope::session
