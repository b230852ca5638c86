#pragma once
// One operator of a Graph by itself, with small sizes, drawn operands and the results of its whole run, forward and backward,
// in float64: what the tests of its rule compare with (rule_audit.h).
//
//   AuditedOperator one(small_graph(graph, op, false));
//   std::string why;
//   if (one.run_whole(why)) …one.whole.outputs, one.whole.gradients…
#include <functional>
#include <string>

#include "engine/runtime/operator_shard.h"

namespace planscope {

// The operator alone, with other class sizes: small ones that differ from class to class, so that a factor tied to the wrong
// dimension shows; smaller ones where its operands have many parts. `keep_frozen`: frozen parts keep their sizes, because
// arguments may speak of them.
Graph small_graph(const Graph&, OpId, bool keep_frozen);

// Outputs of one run and the gradients of its operands (undefined where none flows).
struct Outcome {
  TensorList outputs, gradients;
};

class AuditedOperator {
 public:
  using Upstream = std::function<TensorList(const TensorList& outputs)>;

  explicit AuditedOperator(Graph graph) : graph_(std::move(graph)) {}

  // Draws operands and runs the operator. False: it does not run at these sizes.
  bool run_whole(std::string& why);

  Outcome run(const OperatorShard&, const TensorList& inputs, const Upstream&,
              const std::shared_ptr<TensorList>& whole = nullptr) const;

  const Graph& graph() const { return graph_; }
  const Op& op() const { return graph_.ops[0]; }
  const Node& node() const { return graph_.node(0); }
  std::string input_name(std::size_t i) const;

  TensorList inputs, upstream;
  Outcome whole;

 private:
  void execute_whole();
  Graph graph_;
  bool all_operands_ = true;  // gradients of all that may have one; else of those alone that have one in the model
};

inline const ShardOptions kAuditOptions{Precision::float64, 7};

// The largest difference over the largest value, which is at least 1; infinite: other sizes, or numbers in one alone.
double difference(const at::Tensor& got, const at::Tensor& expected);

}  // namespace planscope
