#pragma once
// Turns drafts, whose parts are nodes of the table, into operators over part classes, when all parts are final.
#include <string>
#include <utility>
#include <vector>

#include "engine/graph/draft.h"

namespace planscope {

class Finisher {
 public:
  Finisher(const Model& model, PartTable& parts, const std::vector<std::vector<std::vector<int>>>& dims, Graph& graph)
      : model_(model), parts_(parts), dims_(dims), g_(graph), ids_(parts.count(), -1), of_node_(parts.count()) {}

  void tensors();
  Op finish(const Draft&, int node);

  std::vector<std::pair<ClassId, std::string>> declared;  // names that rules give to classes

 private:
  std::vector<ClassId> classes(const std::vector<int>& nodes);
  const std::vector<ClassId>& classes(int node);  // of the parts that one node stands for; never none
  std::vector<std::vector<int>> factors(const Draft&, Op&);
  Operand operand(const Draft&, const DraftOperand&, const std::vector<std::vector<int>>& offsets, const Op&);
  void leaves(const Draft&, Op&);
  void relation(SizeRelation);
  void declare(int node, const std::string& name) { declared.emplace_back(classes(node).front(), name); }

  const Model& model_;
  PartTable& parts_;
  const std::vector<std::vector<std::vector<int>>>& dims_;
  Graph& g_;
  std::vector<ClassId> ids_;                   // by uncut part; -1: none yet
  std::vector<std::vector<ClassId>> of_node_;  // by part; empty: not asked for yet
};

}  // namespace planscope
