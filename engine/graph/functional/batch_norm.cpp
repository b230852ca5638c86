#include "engine/graph/functional/batch_norm.h"

#include "engine/graph/arguments.h"
#include "engine/graph/functional/arithmetic.h"

namespace planscope {

namespace {

using Sizes = std::vector<std::int64_t>;

// running = (1 - momentum) · running + momentum · now
ValueId blend(Builder& builder, const Node& like, ValueId running, ValueId now, double momentum) {
  const Value before = builder.value(running);
  now = builder.emit_view(like, builder.emit_cast(like, now, before.dtype), before.sizes);
  return builder.emit(like, "aten::lerp.Scalar",
                      {{"self", Tensor{running}}, {"end", Tensor{now}}, {"weight", momentum}}, before.dtype,
                      before.sizes);
}

}  // namespace

BatchNormOperands batch_norm_operands(const Node& node) {
  BatchNormOperands o;
  o.input = tensor_argument(node, "input");
  o.weight = tensor_argument(node, "weight");
  o.bias = tensor_argument(node, "bias");
  o.mean = tensor_argument(node, "running_mean");
  o.variance = tensor_argument(node, "running_var");
  o.training = bool_argument(node, "training").value_or(true);
  o.momentum = number_argument(node, "momentum").value_or(0.1);
  o.eps = number_argument(node, "eps").value_or(1e-5);
  return o;
}

BatchNorm emit_batch_norm(Builder& builder, const Node& like, const BatchNormOperands& o) {
  BatchNorm out;
  if (o.input < 0) return out;
  const Value given = builder.value(o.input);
  if (given.sizes.size() < 2 || !is_floating(given.dtype)) return out;
  if (!o.training && (o.mean < 0 || o.variance < 0)) return out;
  Arithmetic a(builder, like);
  const DType type = wide(given.dtype);
  Sizes channels(given.sizes.size(), 1), dims;
  channels[1] = given.sizes[1];
  for (std::size_t d = 0; d < given.sizes.size(); ++d)
    if (d != 1) dims.push_back(static_cast<std::int64_t>(d));
  const auto along = [&](ValueId id) { return a.view(a.cast(id, type), channels); };  // [channels] beside the input
  const ValueId x = a.cast(o.input, type);
  ValueId centered = -1, variance = -1;
  if (o.training) {
    out.mean = a.mean(x, dims, true);
    centered = a.sub(x, out.mean);
    variance = a.mean(a.square(centered), dims, true);
  } else {
    centered = a.sub(x, along(o.mean));
    variance = along(o.variance);
  }
  out.rsqrt = a.unary("aten::rsqrt", a.add(variance, o.eps));
  ValueId y = a.mul(centered, o.weight < 0 ? out.rsqrt : a.mul(along(o.weight), out.rsqrt));
  if (o.bias >= 0) y = a.add(y, along(o.bias));
  out.result = a.cast(y, given.dtype);
  if (!o.training || o.mean < 0 || o.variance < 0) return out;
  Node quiet = like;
  quiet.no_grad = true;
  Arithmetic statistics(builder, quiet);
  out.running_mean = blend(builder, quiet, o.mean, out.mean, o.momentum);
  out.running_var = blend(builder, quiet, o.variance, statistics.unbias(variance, x, dims, 1), o.momentum);
  return out;
}

}  // namespace planscope
