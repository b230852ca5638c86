#include "engine/graph/model.h"

#include <algorithm>

namespace planscope {

std::int64_t byte_size(DType type) {
  switch (type) {
    case DType::u8:
    case DType::i8:
    case DType::boolean:
      return 1;
    case DType::i16:
    case DType::f16:
    case DType::bf16:
      return 2;
    case DType::i32:
    case DType::f32:
    case DType::c32:
      return 4;
    case DType::i64:
    case DType::f64:
    case DType::c64:
      return 8;
    case DType::c128:
      return 16;
    case DType::other:
      return 1;
  }
  return 1;
}

std::string_view to_string(DType type) {
  switch (type) {
    case DType::u8:
      return "uint8";
    case DType::i8:
      return "int8";
    case DType::i16:
      return "int16";
    case DType::i32:
      return "int32";
    case DType::i64:
      return "int64";
    case DType::f16:
      return "float16";
    case DType::f32:
      return "float32";
    case DType::f64:
      return "float64";
    case DType::c32:
      return "complex32";
    case DType::c64:
      return "complex64";
    case DType::c128:
      return "complex128";
    case DType::boolean:
      return "bool";
    case DType::bf16:
      return "bfloat16";
    case DType::other:
      return "other";
  }
  return "other";
}

bool is_floating(DType type) {
  return type == DType::f16 || type == DType::f32 || type == DType::f64 || type == DType::bf16;
}

std::string Node::name() const {
  std::string text = module;
  if (call >= 0) text += "@" + std::to_string(call);
  return text + ":" + kind + "#" + std::to_string(ordinal);
}

std::string output_name(const Model& model, std::size_t position) {
  return position < model.output_names.size() ? model.output_names[position] : "output " + std::to_string(position);
}

std::vector<std::size_t> scalar_outputs(const Model& model) {
  std::vector<std::size_t> out;
  for (std::size_t k = 0; k < model.outputs.size(); ++k) {
    const Value& value = model.values[static_cast<std::size_t>(model.outputs[k])];
    const bool known = std::find(model.outputs.begin(), model.outputs.begin() + static_cast<std::ptrdiff_t>(k),
                                 model.outputs[k]) != model.outputs.begin() + static_cast<std::ptrdiff_t>(k);
    if (value.sizes.empty() && is_floating(value.dtype) && !known) out.push_back(k);
  }
  return out;
}

bool is_changed_by_steps(const Model& model, ValueId buffer) {
  const auto& all = model.mutations;
  return std::any_of(all.begin(), all.end(), [&](const Mutation& m) { return m.buffer == buffer; });
}

}  // namespace planscope
