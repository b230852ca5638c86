#include "engine/runtime/run_record.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/base/module_path.h"
#include "engine/runtime/random_numbers.h"
#include "engine/runtime/reference.h"
#include "engine/runtime/tensor_file.h"

namespace planscope {

namespace {

using Json = nlohmann::json;

Json number(double value) {
  if (std::isfinite(value)) return value;
  return nullptr;
}

// What tells one tensor from another without keeping it.
Json digest_of(const at::Tensor& t) {
  const at::NoGradGuard guard;
  at::Tensor flat = t.is_complex() ? at::view_as_real(t.resolve_conj()).flatten() : t.flatten();
  flat = flat.to(at::kDouble);
  const at::Tensor places = at::arange(flat.numel(), at::kDouble).cos_();
  return {number(flat.sum().item<double>()), number(flat.abs().sum().item<double>()),
          number(flat.mul(places).sum().item<double>())};
}

class Record {
 public:
  Record(const Graph& graph, const GivenInputs& given, const TrialJob& job) : graph_(graph), given_(given), job_(job) {}

  Json header() {
    describe_operators();
    header_["inputs_from"] = given_.from;
    header_["inputs_note"] = given_.note;
    const std::vector<ValueId>& outputs = graph_.model->outputs;
    const auto loss = std::find(outputs.begin(), outputs.end(), graph_.model->loss);
    header_["loss"] = {{"output", loss - outputs.begin()}, {"name", graph_.tensor_name(graph_.model->loss)}};
    header_["runs"] = Json::array();
    return header_;
  }

  // First contents as the float64 runs have them: what is drawn is rounded to the model's types there alone.
  void write_first_contents(Json& header) {
    TensorSource source(graph_, job_.seed, Precision::float64, given_);
    header["inputs"] = Json::array();
    header["weights"] = Json::array();
    for (const ValueId id : graph_.model->inputs) header["inputs"].push_back(first(source, id));
    for (std::size_t id = 0; id < graph_.model->values.size(); ++id) {
      const Value& value = graph_.model->values[id];
      if (value.kind == ValueKind::input || value.kind == ValueKind::computed) continue;
      if (graph_.tensors[id].readers.empty()) continue;
      const std::size_t drawn = source.seeded().size();
      const at::Tensor t = source.block(static_cast<TensorId>(id), whole_region(graph_, static_cast<TensorId>(id)));
      if (source.seeded().size() > drawn) header["weights"].push_back(named(value, rows_.add(t)));
    }
  }

  // Taken by run_reference.
  void see(OpId op, const TensorList& outputs) {
    Json& row = header_["operators"][static_cast<std::size_t>(op)];
    if (row.contains("values")) return;
    row["values"] = Json::array();
    row["sizes"] = Json::array();
    for (const at::Tensor& t : outputs) {
      row["values"].push_back(t.defined() ? digest_of(t) : Json());
      row["sizes"].push_back(t.defined() ? t.sizes().vec() : std::vector<std::int64_t>{});
    }
  }
  Json operators() const { return header_["operators"]; }

  Json run(const ReferenceRun& run, Precision precision, OptimizerKind optimizer) {
    Json losses = Json::array(), gradients = Json::array(), parameters = Json::array();
    for (const double loss : run.losses) losses.push_back(number(loss));
    for (const auto& [id, t] : run.gradients) gradients.push_back(named(value(id), rows_.add(t)));
    for (const auto& [id, t] : run.parameters) parameters.push_back(named(value(id), rows_.add(t)));
    return {{"precision", precision == Precision::float64 ? "float64" : "model"},
            {"optimizer", to_string(optimizer)},
            {"steps", run.losses.size()},
            {"losses", losses},
            {"gradients", gradients},
            {"parameters", parameters}};
  }

  const TensorRows& rows() const { return rows_; }

 private:
  const Value& value(TensorId id) const { return graph_.model->values[static_cast<std::size_t>(id)]; }

  static Json named(const Value& value, Json row) {
    row["name"] = value.name;
    row["aliases"] = value.aliases;
    row["model_type"] = static_cast<int>(scalar_type(value.dtype));
    return row;
  }

  Json first(TensorSource& source, TensorId id) {
    return named(value(id), rows_.add(source.block(id, whole_region(graph_, id))));
  }

  // Its FLOPs are those of the most that a size can be.
  bool depends_on_data(const Op& op) const {
    const auto is = [&](const Operand& o) {
      for (const std::vector<ClassId>& dim : graph_.tensors[static_cast<std::size_t>(o.tensor)].dims)
        for (const ClassId c : dim)
          if (graph_.classes[static_cast<std::size_t>(c)].bounded) return true;
      return false;
    };
    return std::any_of(op.inputs.begin(), op.inputs.end(), is) || std::any_of(op.outputs.begin(), op.outputs.end(), is);
  }

  void describe_operators() {
    header_["operators"] = Json::array();
    header_["random"] = Json::array();
    for (std::size_t id = 0; id < graph_.ops.size(); ++id) {
      const Op& op = graph_.ops[id];
      const Node& node = graph_.node(static_cast<OpId>(id));
      Json readable = Json::array();  // the parameters that it reads
      for (const Operand& in : op.inputs)
        if (value(in.tensor).kind == ValueKind::parameter) readable.push_back(value(in.tensor).name);
      header_["operators"].push_back({{"operator", node.name()},
                                      {"module", named_path(node.module)},  // as PyTorch has it
                                      {"call", node.call},
                                      {"kind", node.kind},
                                      {"ordinal", node.ordinal},
                                      {"target", node.target},
                                      {"known", op.known},
                                      {"counted", !op.elementwise_cost},
                                      {"at_most", depends_on_data(op)},
                                      {"flops", op.flops},
                                      {"reads", readable}});
      if (!node.random) continue;
      header_["random"].push_back({{"operator", node.name()},
                                   {"target", node.target},
                                   {"key", std::to_string(random_key(job_.seed, node.name()))},
                                   {"sizes", graph_.sizes(op.outputs[0].tensor)}});
    }
  }

  const Graph& graph_;
  const GivenInputs& given_;
  const TrialJob& job_;
  Json header_ = Json::object();
  TensorRows rows_;
};

}  // namespace

std::vector<Diagnostic> write_run_record(const Graph& graph, const GivenInputs& given, const TrialJob& job,
                                         const std::function<void(Precision)>& use,
                                         const std::function<void(std::int64_t, const std::string&)>& progress) {
  if (graph.model->loss < 0) return {error("the model has no loss: it cannot be trained")};
  Record record(graph, given, job);
  Json header = record.header();
  record.write_first_contents(header);
  const auto make = [&](Precision precision, OptimizerKind kind, int steps) {
    use(precision);
    TensorSource source(graph, job.seed, precision, given);
    const auto seen = [&](OpId op, const TensorList& outputs) {
      if (precision == Precision::float64) record.see(op, outputs);
    };
    const ReferenceRun run = run_reference(graph, source, {precision, job.seed}, default_settings(kind), steps, {},
                                           progress, seen);
    header["runs"].push_back(record.run(run, precision, kind));
  };
  make(Precision::float64, OptimizerKind::sgd, job.steps);
  make(Precision::float64, OptimizerKind::adamw, job.steps);
  make(Precision::model, OptimizerKind::sgd, 1);
  header["operators"] = record.operators();
  return write_tensor_file(job.reference, header, record.rows());
}

}  // namespace planscope
