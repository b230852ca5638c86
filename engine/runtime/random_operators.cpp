#include "engine/runtime/random_operators.h"

#include <ATen/CPUGeneratorImpl.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>
#include <mutex>

#include "engine/graph/arguments.h"
#include "engine/runtime/random_numbers.h"

namespace planscope {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

// What dropout multiplies with.
struct Mask : torch::CustomClassHolder {
  ElementDraws draws;
  double p = 0;

  at::Tensor times(const at::Tensor& x) const {
    return random_dropout(draws.key, draws.whole, draws.region, p, x.scalar_type()).to(x.device()).mul_(x);
  }
};

struct Dropout : Function<Dropout> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const c10::intrusive_ptr<Mask>& mask) {
    context->saved_data["mask"] = c10::IValue::make_capsule(mask);
    return mask->times(x);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto mask = c10::static_intrusive_pointer_cast<Mask>(context->saved_data["mask"].toCapsule());
    return {mask->times(gradients[0]), at::Tensor()};
  }
};

double number(const Node& node, const std::string& argument, double otherwise) {
  return number_argument(node, argument).value_or(otherwise);
}

}  // namespace

std::optional<RandomRun> drawn_by_element(const Node& node, const ElementDraws& draws, at::ScalarType type) {
  const std::string base = node.target.substr(0, node.target.find('.'));
  const auto uniform = [draws] { return random_uniform(draws.key, draws.whole, draws.region); };
  if (base == "aten::dropout") {
    auto mask = c10::make_intrusive<Mask>();
    mask->draws = draws;
    mask->p = number(node, "p", 0);
    return [mask](const TensorList& in) -> TensorList { return {Dropout::apply(in[0], mask)}; };
  }
  if (base == "aten::rand" || base == "aten::rand_like")
    return [=](const TensorList&) -> TensorList { return {uniform().to(type)}; };
  if (base == "aten::randn" || base == "aten::randn_like")
    return
        [=](const TensorList&) -> TensorList { return {random_normal(draws.key, draws.whole, draws.region).to(type)}; };
  if (base == "aten::uniform")
    return [=, from = number(node, "from", 0), to = number(node, "to", 1)](const TensorList&) -> TensorList {
      return {uniform().mul_(to - from).add_(from).to(type)};
    };
  if (base == "aten::randint")
    return [=, low = number(node, "low", 0), high = number(node, "high", 1)](const TensorList&) -> TensorList {
      return {uniform().mul_(high - low).floor_().add_(low).to(type)};
    };
  const auto normal = [draws] { return random_normal(draws.key, draws.whole, draws.region); };
  if (base == "aten::normal_functional")
    return [=, mean = number(node, "mean", 0), std = number(node, "std", 1)](const TensorList&) -> TensorList {
      return {normal().mul_(std).add_(mean).to(type)};
    };
  if (base == "aten::log_normal")
    return [=, mean = number(node, "mean", 1), std = number(node, "std", 2)](const TensorList&) -> TensorList {
      return {normal().mul_(std).add_(mean).exp_().to(type)};
    };
  // By the inverse of the distribution function; 1 - u is in (0, 1].
  if (base == "aten::exponential")
    return [=, rate = number(node, "lambd", 1)](const TensorList&) -> TensorList {
      return {uniform().neg_().log1p_().div_(-rate).to(type)};
    };
  if (base == "aten::geometric")
    return [=, p = number(node, "p", 0.5)](const TensorList&) -> TensorList {
      return {uniform().neg_().log1p_().div_(std::log1p(-p)).ceil_().clamp_min_(1).to(type)};
    };
  if (base == "aten::cauchy")
    return [=, median = number(node, "median", 0), sigma = number(node, "sigma", 1)](const TensorList&) -> TensorList {
      return {uniform().sub_(0.5).mul_(M_PI).tan_().mul_(sigma).add_(median).to(type)};
    };
  if (node.target == "aten::bernoulli.p")
    return [=, p = number(node, "p", 0.5)](const TensorList&) -> TensorList { return {uniform().lt(p).to(type)}; };
  if (base == "aten::bernoulli")  // its last operand is the probability
    return [=](const TensorList& in) -> TensorList { return {uniform().lt(in.back()).to(type)}; };
  return std::nullopt;
}

RandomRun drawn_whole(OperatorCall call, std::uint64_t key) {
  return [=](const TensorList& in) -> TensorList {
    static std::mutex seeding;  // the default generator is one for the whole process
    const std::lock_guard one(seeding);
    at::Generator generator = at::detail::getDefaultCPUGenerator();
    const at::Tensor before = generator.get_state();
    generator.set_current_seed(key);
    const TensorList out = call(in);
    generator.set_state(before);
    return out;
  };
}

}  // namespace planscope
