#include "tests/planner/constraint/judge.h"

#include <map>
#include <stdexcept>

#include "engine/base/text.h"
#include "tests/engine/plan/models.h"

namespace planscope::constraint::testing {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

std::int64_t size_at(const plan::Decisions& d, int place, int axis) {
  const plan::PlaceInfo everywhere;
  return plan::axis_size(d, place < 0 ? everywhere : d.places[at(place)], axis).value_or(1);
}

Evaluation figures(const plan::Decisions& d, const plan::ModelInfo& model) {
  Evaluation e;
  double activations = 0, parameters = 0;
  for (int op = 0; op < d.operator_count; ++op) {
    double work = 1, share = 1;
    for (const plan::FactorInfo& f : model.operators[at(op)].factors) work *= static_cast<double>(f.size);
    for (int axis = 0; axis < static_cast<int>(d.axes.size()); ++axis) {
      const plan::Split& s = d.split(op, axis);
      if (s.factor < 0) continue;
      const double size = static_cast<double>(size_at(d, d.operator_place[at(op)], axis));
      if (d.axes[at(axis)].free) {
        e.step_us += 3 * size;
      } else {
        share *= size;
        e.step_us += s.factor == 0 ? 40 * (size - 1) : 15 * (size - 1);
      }
    }
    const int storage = d.operator_storage[at(op)];
    const bool again = storage >= 0 && d.algorithms[at(storage)].alternatives.front() == plan::Algorithm::recompute;
    e.step_us += work / share / 1000 * (again ? 1.33 : 1);
    activations += work / share / (again ? 64 : 16);
  }
  for (int p = 0; p < d.parameter_count; ++p) {
    double bytes = 16;
    for (const plan::FactorInfo& f : model.parameters[at(p)].factors) bytes *= static_cast<double>(f.size);
    for (int axis = 0; axis < static_cast<int>(d.axes.size()); ++axis)
      if (d.parameter_split(plan::Phase::update, p, axis).factor >= 0)
        bytes /= static_cast<double>(size_at(d, -1, axis));
    parameters += bytes;
  }
  Peak all{{}, static_cast<std::int64_t>(activations + parameters)};
  for (int i = 0; i < d.device_count; ++i) all.devices.push_back(i);
  e.peaks = {all};
  return e;
}

}  // namespace

plan::ModelInfo model_of(const std::string& text) {
  plan::Sizes0 s;
  const std::vector<std::string> words = split(text, ' ');
  const std::map<std::string, std::int64_t*> fields = {
      {"batch", &s.batch},       {"seq", &s.seq}, {"hidden", &s.hidden}, {"heads", &s.heads},
      {"kv_heads", &s.kv_heads}, {"ffn", &s.ffn}, {"vocab", &s.vocab}};
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::vector<std::string> parts = split(words[i], '=');
    if (parts[0] == "layers")
      s.layers = std::stoi(parts.at(1));
    else
      *fields.at(parts[0]) = std::stoll(parts.at(1));
  }
  if (words[0] == "llama") return plan::llama(s);
  if (words[0] == "gpt2") return plan::gpt2(s);
  throw std::invalid_argument("no model " + words[0]);
}

Judge synthetic_judge(const plan::ModelInfo& model) {
  Judge j;
  j.inputs = model.inputs;
  j.model = [model](const plan::InputSizes&) -> Result<std::shared_ptr<const plan::ModelInfo>> {
    return std::make_shared<const plan::ModelInfo>(model);
  };
  j.evaluate = [model](const plan::Plan& p) -> Result<Evaluation> {
    Result<plan::Decisions> d = plan::bind(p, model, plan::given_values(p));
    if (d.has_errors()) return d.diagnostics;
    if (!d->complete) throw std::logic_error(plan::open_summary(*d, "evaluate"));
    return figures(*d, model);
  };
  j.device_count = 64;
  return j;
}

}  // namespace planscope::constraint::testing
