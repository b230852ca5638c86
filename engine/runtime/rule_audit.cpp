#include "engine/runtime/rule_audit.h"

#include <ATen/Parallel.h>

#include <set>
#include <sstream>

#include "engine/runtime/audit_saves.h"
#include "engine/runtime/audit_splits.h"
#include "engine/runtime/autograd.h"

namespace planscope {

namespace {

constexpr double kTolerance = 1e-9;

std::string text(const Argument& argument) {
  std::ostringstream out;
  std::visit(
      [&](const auto& held) {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, Tensor>)
          out << (held.id < 0 ? "none" : "tensor");
        else if constexpr (std::is_same_v<T, std::vector<Tensor>>)
          for (const Tensor& t : held) out << (t.id < 0 ? "-" : "t");
        else if constexpr (std::is_same_v<T, DType>)
          out << to_string(held);
        else if constexpr (std::is_same_v<T, bool> || std::is_arithmetic_v<T> || std::is_same_v<T, std::string>)
          out << held;
        else if constexpr (requires { held.size(); })
          for (std::size_t i = 0; i < held.size(); ++i) out << held[i] << ',';
      },
      argument);
  return out.str();
}

std::string signature(const Graph& graph, OpId id) {
  const Op& op = graph.ops[static_cast<std::size_t>(id)];
  const Node& node = graph.node(id);
  std::ostringstream out;
  out << node.target << (node.no_grad ? " no_grad" : "");
  for (const NamedArgument& a : node.arguments) out << ' ' << a.name << '=' << text(a.value);
  for (const Factor& f : op.factors) {
    out << " {" << f.name << ' ' << to_string(f.kind) << (f.until >= 0 ? " until" : "");
    for (const ClassId c : f.parts) out << ' ' << graph.classes[static_cast<std::size_t>(c)].size;
    if (f.key >= 0) out << " selects " << f.rows;
    out << '}';
  }
  for (const auto* side : {&op.inputs, &op.outputs}) {
    for (const Operand& operand : *side) {
      out << " [" << to_string(graph.model->values[static_cast<std::size_t>(operand.tensor)].dtype);
      for (const auto& dim : operand.map) {
        for (const PartRef& ref : dim) out << ' ' << ref.factor << '.' << ref.part;
        out << ';';
      }
      if (graph.tensors[static_cast<std::size_t>(operand.tensor)].gradient) out << " gradient";
      out << (operand.added ? "+]" : "]");
    }
    out << " ->";
  }
  for (const std::int64_t size : graph.sizes(op.outputs.empty() ? op.inputs[0].tensor : op.outputs[0].tensor))
    out << ' ' << size;
  return out.str();
}

class Audit {
 public:
  Audit(Graph graph, std::string name, AuditReport& report) : one_(std::move(graph)), name_(std::move(name)), report_(report) {}

  // False: the operator does not run at these sizes (reason in `why`).
  bool runs(std::string& why) { return one_.run_whole(why); }

  void factors() {
    for (const Division& division : divisions(one_))
      guarded(division.name, [&](const Differs& differs) { compare_shards(one_, division, differs); });
    const Op& op = one_.op();
    for (std::size_t f = 0; f < op.factors.size(); ++f)
      for (const std::int64_t shards : {2, 3})
        if (op.factors[f].until >= 0)
          guarded(op.factors[f].name + " up to a block by " + std::to_string(shards), [&](const Differs& differs) {
            compare_prefixes(one_, static_cast<int>(f), shards, differs);
          });
  }

  void linear_sets() {
    for (const std::vector<int>& set : one_.op().linear) {
      bool numbers = true;
      for (const int i : set) numbers = numbers && carries_gradient(one_.inputs[static_cast<std::size_t>(i)]);
      if (!numbers || set.empty()) continue;
      std::string name = "linear {";
      for (const int i : set) name += (name.back() == '{' ? "" : ", ") + one_.input_name(static_cast<std::size_t>(i));
      guarded(name + "}", [&](const Differs& differs) { compare_addends(one_, set, differs); });
    }
  }

  void saves() {
    guarded("saves", [&](const Differs& differs) { compare_saves(one_, differs); });
  }

 private:
  void guarded(const std::string& factor, const std::function<void(const Differs&)>& test) {
    const auto fail = [&](const std::string& what, double error) {
      report_.failed.push_back({name_, one_.node().target, factor, what, error});
    };
    ++report_.tested;
    try {
      test([&](const std::string& what, double error) {
        if (!(error <= kTolerance)) fail(what, error);
      });
    } catch (const c10::Error& e) {
      fail(std::string("does not run: ") + e.what_without_backtrace(), 0);
    } catch (const std::exception& e) {
      fail(std::string("does not run: ") + e.what(), 0);
    }
  }

  AuditedOperator one_;
  std::string name_;
  AuditReport& report_;
};

// Memory that nobody has written yet.
bool undefined_elements(const std::string& target) {
  return target.starts_with("aten::empty") || target.starts_with("aten::new_empty");
}

bool splits(const Op& op) {
  for (const Factor& f : op.factors) {
    if (f.kind != FactorKind::frozen && !f.parts.empty()) return true;
  }
  return !op.linear.empty();
}

void audit_operator(const Graph& graph, OpId id, AuditReport& report) {
  const Op& op = graph.ops[static_cast<std::size_t>(id)];
  const Node& node = graph.node(id);
  const auto skip = [&](const std::string& why) { report.skipped.push_back({node.name(), node.target, "", why, 0}); };
  if (!op.known) return skip("has no rule: replicated");
  if (!splits(op)) return skip("nothing of it may be split");
  if (undefined_elements(node.target)) return skip("its elements are undefined");
  std::string why, first;
  for (const bool keep_frozen : {false, true}) {
    Audit audit(small_graph(graph, id, keep_frozen), node.name(), report);
    if (!audit.runs(why)) {
      if (!keep_frozen) first = why;
      continue;
    }
    audit.factors();
    audit.linear_sets();
    audit.saves();
    return;
  }
  report.failed.push_back({node.name(), node.target, "", "does not run: " + why, 0});
}

}  // namespace

AuditReport audit_rules(const Graph& graph) {
  AuditReport report;
  std::set<std::string> seen;
  c10::set_default_dtype(caffe2::TypeMeta::Make<double>());
  at::set_num_threads(1);  // operands are small; waiting threads only slow each other down
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const OpId id = static_cast<OpId>(i);
    if (!seen.insert(signature(graph, id)).second) continue;
    ++report.signatures;
    audit_operator(graph, id, report);
    for (const std::string& mask : masks_not_causal(graph, id))
      report.failed.push_back({graph.node(id).name(), graph.node(id).target, "keys up to a block",
                               "the mask '" + mask + "' shows keys behind their query", 0});
  }
  c10::set_default_dtype(caffe2::TypeMeta::Make<float>());
  return report;
}

}  // namespace planscope
