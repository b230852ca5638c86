#include "engine/graph/functional/purify.h"

#include <algorithm>
#include <map>

#include "engine/graph/arguments.h"
#include "engine/graph/functional/batch_norm.h"
#include "engine/graph/functional/in_place.h"
#include "engine/graph/functional/storage.h"
#include "engine/graph/functional/views.h"
#include "engine/graph/schemas.h"

namespace planscope {
namespace {

// Operators that return their operand itself when they have nothing to do, though their schema does not say so.
bool may_return_operand(const Node& node) {
  return node.target == "aten::type_as" || (node.target == "aten::dropout" && (bool_argument(node, "train") == false ||
                                                                               number_argument(node, "p") == 0.0));
}

// Operators that write no element, only how their operand is seen: whoever reads the result reads a view.
std::optional<std::string> pure_view(const Node& node) {
  for (std::string_view name : {"squeeze_", "unsqueeze_", "t_", "transpose_", "swapaxes_", "swapdims_"}) {
    const std::string target = "aten::" + std::string(name);
    if (node.target != target && !node.target.starts_with(target + ".")) continue;
    std::string pure = target.substr(0, target.size() - 1) + node.target.substr(target.size());
    if (pure == "aten::transpose") pure += ".int";
    if (find_schema(pure)) return pure;
  }
  return std::nullopt;
}

class Purifier {
 public:
  explicit Purifier(RawModel raw) : raw_(std::move(raw)), builder_(model_), tracker_(builder_) {}

  Result<Model> run() {
    std::vector<Node> nodes = std::move(raw_.model.nodes);
    model_ = std::move(raw_.model);
    model_.nodes.clear();
    model_.nodes.reserve(nodes.size());
    for (std::size_t id = 0; id < model_.values.size(); ++id)
      if (model_.values[id].kind != ValueKind::computed) tracker_.add_root(static_cast<ValueId>(id));
    for (Node& node : nodes)
      if (!visit(node)) return std::move(result_);
    finish();
    result_.value = std::move(model_);
    return std::move(result_);
  }

 private:
  bool visit(Node& node) {
    const Schema* schema = find(node.target);
    std::vector<std::size_t> written;
    for (std::size_t i = 0; schema && i < schema->arguments.size(); ++i)
      if (schema->arguments[i].written) written.push_back(i);
    if (written.size() > 1 || (written.size() == 1 && written.front() != 0))
      return fail(node, "it writes into several operands");
    if (written.size() == 1) return visit_in_place(node);

    if (node.target == "planscope::opaque") return visit_opaque(node);
    if (!schema)
      if (std::optional<OutForm> form = out_form(node)) return visit_out(node, *form);

    ValueId base = shared_operand(node, schema);
    Node original = base >= 0 ? node : Node();
    ValueId mean = tensor_argument(node, "running_mean"), variance = tensor_argument(node, "running_var");
    map_tensors(node, [&](ValueId id) { return tracker_.read(id); });
    if (node.target == "aten::batch_norm" && bool_argument(node, "training") == true)
      normalize(node, mean, variance);
    if (base >= 0)
      tracker_.add_views(original, base);
    else
      for (ValueId id : node.outputs)
        if (id >= 0) tracker_.add_root(id);
    model_.nodes.push_back(std::move(node));
    return true;
  }

  // The operand whose memory the outputs share; -1: they are new.
  ValueId shared_operand(const Node& node, const Schema* schema) const {
    if (!schema || node.arguments.empty() || node.outputs.empty() || node.outputs.front() < 0) return -1;
    ValueId base = -1;
    for (std::size_t i = 0; i < std::min(schema->arguments.size(), node.arguments.size()) && base < 0; ++i)
      if (schema->arguments[i].aliased) base = tensor_argument(node, node.arguments[i].name);
    if (may_return_operand(node))
      base = tensor_argument(node, node.arguments.front().name);
    else if (!schema->view)
      return -1;
    if (base < 0) return -1;
    auto raw = [&](ValueId id) { return static_cast<std::size_t>(id); };
    const Value &from = model_.values[raw(base)], &to = model_.values[raw(node.outputs.front())];
    const auto &from_strides = raw_.strides[raw(base)], &to_strides = raw_.strides[raw(node.outputs.front())];
    bool converts =
        node.target.starts_with("aten::to.") || node.target == "aten::type_as" || node.target == "aten::contiguous";
    if (converts)
      return from.dtype == to.dtype && from_strides == to_strides && bool_argument(node, "copy") != true ? base : -1;
    if (is_reshape(node)) return can_view(from.sizes, from_strides, to.sizes) ? base : -1;
    return base;
  }

  // An operator that cannot be read, but that is known to write its first operand, still does.
  bool visit_opaque(Node& node) {
    const Schema* schema = find(string_argument(node, "operator").value_or(""));
    bool writes = schema && std::any_of(schema->arguments.begin(), schema->arguments.end(),
                                        [](const SchemaArgument& a) { return a.written; });
    const auto* operands = tensors_argument(node, "operands");
    ValueId self = operands && !operands->empty() ? operands->front().id : -1;
    map_tensors(node, [&](ValueId id) { return tracker_.read(id); });
    for (ValueId id : node.outputs)
      if (id >= 0) tracker_.add_root(id);
    std::string why = "it cannot be read";
    bool one = node.outputs.size() == 1 && node.outputs[0] >= 0 && self >= 0;
    if (writes && (!one || !tracker_.write(self, node.outputs[0], node, why))) return fail(node, why);
    model_.nodes.push_back(std::move(node));
    return true;
  }

  bool visit_in_place(Node& node) {
    ValueId self = tensor_argument(node, node.arguments.front().name);
    if (self < 0) return fail(node, "it has no tensor to write");
    // Whatever reads it then would take a gradient that is not the parameter's, and the update would begin elsewhere.
    const Value& root = model_.values[static_cast<std::size_t>(tracker_.root(self))];
    if (root.kind == ValueKind::parameter && root.requires_grad)
      return fail(node, "it writes into the parameter '" + root.name + "', which is trained");
    std::vector<ValueId> outputs = node.outputs;
    if (const auto view = pure_view(node)) {
      node.target = *view;
      return visit(node);
    }
    map_tensors(node, [&](ValueId id) { return tracker_.read(id); });
    std::string why;
    const std::vector<std::int64_t> sizes =
        model_.values[static_cast<std::size_t>(!outputs.empty() && outputs[0] >= 0 ? outputs[0] : self)].sizes;
    ValueId now = emit_pure_form(builder_, node, sizes, why);
    if (now < 0 || !tracker_.write(self, now, node, why)) return fail(node, why);
    for (ValueId id : outputs)
      if (id >= 0) tracker_.add_alias(id, self);
    return true;
  }

  // `torch.add(a, b, out=c)`: the pure operator, whose results are what is written.
  bool visit_out(Node& node, const OutForm& form) {
    Node pure = node;
    pure.target = form.target;
    pure.arguments = form.arguments;
    map_tensors(pure, [&](ValueId id) { return tracker_.read(id); });
    pure.outputs.clear();
    for (std::size_t k = 0; k < form.written.size(); ++k) {
      const Value& root = model_.values[static_cast<std::size_t>(tracker_.root(form.written[k]))];
      if (root.kind == ValueKind::parameter && root.requires_grad)
        return fail(node, "it writes into the parameter '" + root.name + "', which is trained");
      const bool told = k < node.outputs.size() && node.outputs[k] >= 0;
      const Value like = builder_.value(told ? node.outputs[k] : form.written[k]);
      pure.outputs.push_back(builder_.add_value(like.dtype, like.sizes));
    }
    model_.nodes.push_back(pure);
    std::string why;
    for (std::size_t k = 0; k < form.written.size(); ++k) {
      if (builder_.value(form.written[k]).sizes != builder_.value(pure.outputs[k]).sizes)
        return fail(node, "it gives the tensor that it writes other sizes");
      if (!tracker_.write(form.written[k], pure.outputs[k], node, why)) return fail(node, why);
      if (k < node.outputs.size() && node.outputs[k] >= 0) tracker_.add_alias(node.outputs[k], form.written[k]);
    }
    return true;
  }

  // A batch_norm that trains writes its running statistics without saying so.
  void normalize(Node& node, ValueId mean, ValueId variance) {
    const BatchNorm made = emit_batch_norm(builder_, node, batch_norm_operands(node));
    if (made.result < 0) return;
    node.target = "aten::alias";
    node.arguments = {{"self", Tensor{made.result}}};
    std::string ignored;  // a buffer is no view
    if (made.running_mean >= 0) tracker_.write(mean, made.running_mean, node, ignored);
    if (made.running_var >= 0) tracker_.write(variance, made.running_var, node, ignored);
  }

  void finish() {
    for (ValueId& id : model_.outputs) id = tracker_.read(id);
    if (model_.loss >= 0) model_.loss = tracker_.read(model_.loss);
    for (Mutation& mutation : model_.mutations) mutation.value = tracker_.read(mutation.value);
    for (std::size_t i = 0; i < raw_.strides.size(); ++i) {
      auto id = static_cast<ValueId>(i);
      if (model_.values[i].kind == ValueKind::computed || !tracker_.changed(id)) continue;
      std::erase_if(model_.mutations, [&](const Mutation& mutation) { return mutation.buffer == id; });
      model_.mutations.push_back({id, tracker_.read(id)});
    }
    std::sort(model_.mutations.begin(), model_.mutations.end(),
              [](const Mutation& a, const Mutation& b) { return a.buffer < b.buffer; });
  }

  const Schema* find(const std::string& target) {
    auto [row, fresh] = schemas_.try_emplace(target);
    if (fresh) row->second = find_schema(target);
    return row->second ? &*row->second : nullptr;
  }

  bool fail(const Node& node, std::string why) {
    Diagnostic diagnostic = error("the in-place operator cannot be made pure", std::move(why),
                                  "write the model without it, or export it after run_decompositions()");
    diagnostic.subject = node.target + (node.module.empty() ? "" : " in " + node.module);
    result_.diagnostics.push_back(std::move(diagnostic));
    return false;
  }

  RawModel raw_;
  Model model_;
  Builder builder_;
  StorageTracker tracker_;
  std::map<std::string, std::optional<Schema>> schemas_;
  Result<Model> result_;
};

}  // namespace

Result<Model> purify(RawModel raw) { return Purifier(std::move(raw)).run(); }

}  // namespace planscope
