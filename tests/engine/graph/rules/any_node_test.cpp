// A rule meets nodes that it was not written for: operands, sizes and results of real operators are changed one at a time.
// The graph is made all the same, and every operator maps its operands as they are.
#include <catch2/catch.hpp>
#include <filesystem>
#include <set>

#include "engine/graph/arguments.h"
#include "engine/graph/graph.h"
#include "engine/graph/import.h"
#include "tests/engine/graph/import/model_text.h"

using namespace planscope;
using namespace planscope::testing;

namespace {

// One operator with operands that nobody makes.
struct OneOperator {
  Node node;
  std::vector<Value> values;  // operands first, in the order of the arguments, then results
};

OneOperator cut_out(const Model& model, const Node& node) {
  OneOperator one{node, {}};
  const auto add = [&](ValueId id, ValueKind kind) {
    Value value = model.values[static_cast<std::size_t>(id)];
    value.kind = kind == ValueKind::computed || value.kind == ValueKind::computed ? kind : value.kind;
    one.values.push_back(std::move(value));
    return static_cast<ValueId>(one.values.size()) - 1;
  };
  map_tensors(one.node, [&](ValueId id) { return add(id, ValueKind::input); });
  for (ValueId& id : one.node.outputs) id = add(id, ValueKind::computed);
  return one;
}

void check_graph(const OneOperator& one, const std::string& what) {
  Model model;
  model.values = one.values;
  model.nodes = {one.node};
  for (std::size_t v = 0; v < model.values.size(); ++v)
    if (model.values[v].kind == ValueKind::input) model.inputs.push_back(static_cast<ValueId>(v));
  INFO(what << " of " << one.node.target);
  const Result<Graph> graph = make_graph(std::make_shared<const Model>(std::move(model)));
  REQUIRE(graph.value);
  const Op& op = graph->ops.at(0);
  for (const auto* list : {&op.inputs, &op.outputs})
    for (const Operand& o : *list) {
      REQUIRE(o.map.size() == graph->tensors.at(static_cast<std::size_t>(o.tensor)).dims.size());
      CHECK(graph->sizes(o.tensor) == one.values.at(static_cast<std::size_t>(o.tensor)).sizes);
    }
}

void change_sizes(const OneOperator& one) {
  for (std::size_t v = 0; v < one.values.size(); ++v) {
    const std::vector<std::int64_t> sizes = one.values[v].sizes;
    const auto changed = [&](std::vector<std::int64_t> to, const std::string& what) {
      OneOperator other = one;
      other.values[v].sizes = std::move(to);
      check_graph(other, what + " of value " + std::to_string(v));
    };
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      for (const std::int64_t size : {std::int64_t{0}, sizes[d] + 1, 2 * sizes[d]}) {
        std::vector<std::int64_t> to = sizes;
        to[d] = size;
        changed(to, "dimension " + std::to_string(d) + " made " + std::to_string(size));
      }
      std::vector<std::int64_t> less = sizes;
      less.erase(less.begin() + static_cast<std::ptrdiff_t>(d));
      changed(less, "dimension " + std::to_string(d) + " dropped");
    }
    std::vector<std::int64_t> more = sizes;
    more.insert(more.begin(), 3);
    changed(more, "one dimension more");
    changed({}, "no dimension");
    for (std::size_t d = 0; d < sizes.size(); ++d) {  // the same dimension wherever it stands
      OneOperator other = one;
      for (Value& value : other.values)
        for (std::int64_t& size : value.sizes)
          if (size == sizes[d]) size = 0;
      check_graph(other, "every " + std::to_string(sizes[d]) + " made 0");
    }
  }
}

void change_arguments(const OneOperator& one) {
  for (std::size_t a = 0; a < one.node.arguments.size(); ++a) {
    const auto changed = [&](Argument to, const std::string& what) {
      OneOperator other = one;
      other.node.arguments[a].value = std::move(to);
      check_graph(other, what + " for argument " + one.node.arguments[a].name);
    };
    changed(None{}, "none");
    const Argument& value = one.node.arguments[a].value;
    if (std::holds_alternative<std::int64_t>(value))
      for (const std::int64_t n : {-1000, -1, 0, 1, 7, 1000}) changed(n, std::to_string(n));
    if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) {
      changed(std::vector<std::int64_t>{}, "an empty list");
      std::vector<std::int64_t> longer = *list;
      longer.insert(longer.begin(), {1000, -1000});
      changed(longer, "a longer list");
    }
    if (const auto* list = std::get_if<std::vector<Tensor>>(&value)) {
      changed(std::vector<Tensor>{}, "an empty list");
      for (std::size_t k = 0; k < list->size(); ++k) {
        std::vector<Tensor> without = *list;
        without[k] = Tensor{};
        changed(without, "an absent element");
      }
    }
  }
  OneOperator none = one;
  none.node.outputs.clear();
  check_graph(none, "no result");
  OneOperator more = one;
  more.values.push_back(more.values.back());
  more.values.back().kind = ValueKind::computed;
  more.node.outputs.push_back(static_cast<ValueId>(more.values.size()) - 1);
  check_graph(more, "one result more");
  OneOperator twice = one;
  for (const NamedArgument& argument : one.node.arguments) twice.node.arguments.push_back(argument);
  check_graph(twice, "every argument twice");
}

std::vector<OneOperator> operators_of_cases_and_samples() {
  std::vector<OneOperator> all;
  std::set<std::string> seen;
  const auto add = [&](const Model& model) {
    for (const Node& node : model.nodes) {
      OneOperator one = cut_out(model, node);
      std::string form = node.target;
      for (const Value& value : one.values) form += " " + std::to_string(value.sizes.size());
      if (seen.insert(form).second) all.push_back(std::move(one));
    }
  };
  for (const char* folder : {"tests/cases/import", "tests/cases/rules"})
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      for (const TextCase& c : read_cases(entry.path())) add(read_model_text(c.input));
  for (const char* name : {"gpt2", "llama", "mixtral", "t5", "swin", "evoformer", "bert"})
    if (const Result<Model> model = import_model("sample_models/" + std::string(name) + "_tiny.pt2"); model.ok())
      add(*model);
  return all;
}

}  // namespace

TEST_CASE("every rule takes any node") {
  const std::vector<OneOperator> all = operators_of_cases_and_samples();
  REQUIRE(all.size() > 100);
  for (const OneOperator& one : all) {
    check_graph(one, "nothing changed");
    change_sizes(one);
    change_arguments(one);
  }
}

TEST_CASE("parts without elements agree with their equals alone") {
  const auto view = [](const std::string& from, const std::string& to) {
    const Model model = read_model_text("input %0 x: float32[" + from + "]\n:view#0 %1: float32[" + to +
                                        "] = aten::view(self=%0, size=[" + to + "])\noutput %1\n");
    const Result<Graph> graph = make_graph(std::make_shared<const Model>(model));
    REQUIRE(graph.value);
    return graph->ops[0].rule;
  };
  CHECK(view("4,0,8", "4,0,2,4") == "view");
  CHECK_NOTHROW(view("4,0", "4,0,3"));
}
