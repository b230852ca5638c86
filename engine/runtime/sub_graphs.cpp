#include "engine/runtime/sub_graphs.h"

#include <map>
#include <stdexcept>

#include "engine/graph/arguments.h"

namespace planscope {

namespace {

using Body = std::function<TensorList(const TensorList&)>;

// Runs the nodes of a model in their order; values are dropped after their last reader.
class BodyRun {
 public:
  BodyRun(std::shared_ptr<const Model> model, Precision precision) : model_(std::move(model)) {
    last_.assign(model_->values.size(), -1);
    for (std::size_t n = 0; n < model_->nodes.size(); ++n) {
      const Node& node = model_->nodes[n];
      calls_.emplace_back(node, node.arguments, precision);
      for_each_tensor(node, [&](ValueId id) { last_[static_cast<std::size_t>(id)] = static_cast<int>(n); });
    }
    for (const ValueId id : model_->outputs)
      last_[static_cast<std::size_t>(id)] = static_cast<int>(model_->nodes.size());
  }

  TensorList operator()(const TensorList& operands) const {
    TensorList values(model_->values.size());
    for (std::size_t i = 0; i < model_->inputs.size(); ++i)
      values[static_cast<std::size_t>(model_->inputs[i])] = operands.at(i);
    for (std::size_t n = 0; n < calls_.size(); ++n) {
      const Node& node = model_->nodes[n];
      TensorList read;
      for_each_tensor(node, [&](ValueId id) { read.push_back(values[static_cast<std::size_t>(id)]); });
      TensorList made = calls_[n](read);
      for (std::size_t o = 0; o < node.outputs.size() && o < made.size(); ++o)
        values[static_cast<std::size_t>(node.outputs[o])] = std::move(made[o]);
      for_each_tensor(node, [&](ValueId id) {
        if (last_[static_cast<std::size_t>(id)] == static_cast<int>(n)) values[static_cast<std::size_t>(id)].reset();
      });
    }
    TensorList results;
    for (const ValueId id : model_->outputs) results.push_back(values[static_cast<std::size_t>(id)]);
    return results;
  }

 private:
  std::shared_ptr<const Model> model_;
  std::vector<OperatorCall> calls_;
  std::vector<int> last_;
};

std::size_t count(const Node& node, const char* argument) {
  const auto* list = tensors_argument(node, argument);
  return list ? list->size() : 0;
}

TensorList range(const TensorList& of, std::size_t begin, std::size_t end) {
  return {of.begin() + static_cast<std::ptrdiff_t>(begin), of.begin() + static_cast<std::ptrdiff_t>(end)};
}

void append(TensorList& to, const TensorList& more) { to.insert(to.end(), more.begin(), more.end()); }

TensorList elements_at(const TensorList& elements, std::int64_t index) {
  TensorList out;
  for (const at::Tensor& t : elements) out.push_back(t.select(0, index));
  return out;
}

TensorList stacked(const std::vector<TensorList>& rounds) {
  TensorList out;
  for (std::size_t k = 0; !rounds.empty() && k < rounds.front().size(); ++k) {
    TensorList column;
    for (const TensorList& round : rounds) column.push_back(round[k]);
    out.push_back(at::stack(column));
  }
  return out;
}

// Operands of the branch that is not taken have a gradient too: zeros, as PyTorch gives them.
Body branches(const std::vector<Body>& bodies) {
  return [bodies](const TensorList& in) {
    TensorList results = bodies[in[0].item<bool>() ? 0 : 1](range(in, 1, in.size()));
    for (at::Tensor& result : results) {
      if (!result.is_floating_point()) continue;
      for (const at::Tensor& operand : in)
        if (operand.requires_grad()) result = result + operand.flatten().slice(0, 0, 0).sum().to(result.scalar_type());
    }
    return results;
  };
}

Body while_true(const std::vector<Body>& bodies, std::size_t carried) {
  return [bodies, carried](const TensorList& in) {
    TensorList state = range(in, 0, carried);
    const TensorList additional = range(in, carried, in.size());
    while (true) {
      TensorList operands = state;
      append(operands, additional);
      if (!bodies[0](operands)[0].item<bool>()) return state;
      state = bodies[1](operands);
    }
  };
}

// What is carried from round to round and what each round makes; a `map` carries nothing.
Body over_elements(const Body& body, std::size_t carried, std::size_t elements) {
  return [=](const TensorList& in) {
    TensorList state = range(in, 0, carried);
    const TensorList over = range(in, carried, carried + elements);
    const TensorList additional = range(in, carried + elements, in.size());
    std::vector<TensorList> rounds;
    for (std::int64_t i = 0; i < over.at(0).size(0); ++i) {
      TensorList operands = state;
      append(operands, elements_at(over, i));
      append(operands, additional);
      const TensorList made = body(operands);
      state = range(made, 0, carried);
      rounds.push_back(range(made, carried, made.size()));
    }
    append(state, stacked(rounds));
    return state;
  };
}

Body combined(const Body& body, std::size_t elements) {
  return [=](const TensorList& in) {
    const TensorList over = range(in, 0, elements), additional = range(in, elements, in.size());
    std::vector<TensorList> rounds = {elements_at(over, 0)};
    for (std::int64_t i = 1; i < over.at(0).size(0); ++i) {
      TensorList operands = rounds.back();
      append(operands, elements_at(over, i));
      append(operands, additional);
      rounds.push_back(body(operands));
    }
    return stacked(rounds);
  };
}

}  // namespace

std::function<TensorList(const TensorList&)> call_with_bodies(const Node& node, Precision precision) {
  std::vector<Body> bodies;
  for (const auto& model : node.bodies) bodies.emplace_back(BodyRun(model, precision));
  if (node.target == "planscope::cond") return branches(bodies);
  if (node.target == "planscope::while_loop") return while_true(bodies, count(node, "carried"));
  if (node.target == "planscope::scan") return over_elements(bodies[0], count(node, "carried"), count(node, "elements"));
  if (node.target == "planscope::map") return over_elements(bodies[0], 0, count(node, "elements"));
  if (node.target == "planscope::associative_scan") return combined(bodies[0], count(node, "elements"));
  throw std::logic_error(node.target + " has sub-graphs");
}

}  // namespace planscope
