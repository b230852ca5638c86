#include "engine/runtime/operator_call.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <optional>
#include <stdexcept>

#include "engine/graph/foreign.h"
#include "engine/runtime/canonical_operators.h"
#include "engine/runtime/sub_graphs.h"

namespace planscope {

namespace {

// The dispatcher's call with its constant arguments; operands are put in their places before each run.
struct BoxedCall {
  c10::OperatorHandle handle;
  std::vector<c10::IValue> arguments;
  struct Place {
    std::size_t position = 0;          // in `arguments`
    std::size_t first = 0, count = 0;  // operands
    enum class Kind { tensor, list, optional_list } kind = Kind::tensor;
    bool written = false;       // the operator writes it: it gets a copy
    std::vector<bool> present;  // optional_list: which elements are there
  };
  std::vector<Place> places;
};

[[noreturn]] void misfit(const std::string& name, const c10::Type& type) {
  throw std::runtime_error("argument '" + name + "' does not fit the schema's type " + type.str());
}

std::int64_t as_integer(const Argument& value, const std::string& name, const c10::Type& type, Precision precision) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? 1 : 0;
  if (const auto* dtype = std::get_if<DType>(&value)) return static_cast<std::int64_t>(scalar_type(*dtype, precision));
  if (const auto* format = std::get_if<MemoryFormat>(&value)) return format->code;
  misfit(name, type);
}

double as_number(const Argument& value, const std::string& name, const c10::Type& type) {
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* number = std::get_if<std::int64_t>(&value)) return static_cast<double>(*number);
  misfit(name, type);
}

bool is_empty_list(const Argument& value) {
  return std::visit(
      [](const auto& held) {
        if constexpr (requires { held.empty(); }) return held.empty();
        return false;
      },
      value);
}

c10::IValue constant_list(const NamedArgument& argument, const c10::Type& element, Precision precision) {
  const Argument& value = argument.value;
  switch (element.kind()) {
    case c10::TypeKind::IntType:
    case c10::TypeKind::SymIntType: {
      c10::List<std::int64_t> list;
      if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&value)) {
        for (const std::int64_t number : *numbers) list.push_back(number);
      } else if (!is_empty_list(value)) {
        list.push_back(as_integer(value, argument.name, element, precision));
      }
      return list;
    }
    case c10::TypeKind::FloatType:
    case c10::TypeKind::NumberType: {
      c10::List<double> list;
      if (const auto* numbers = std::get_if<std::vector<double>>(&value)) {
        for (const double number : *numbers) list.push_back(number);
      } else if (const auto* whole = std::get_if<std::vector<std::int64_t>>(&value)) {
        for (const std::int64_t number : *whole) list.push_back(static_cast<double>(number));
      } else if (!is_empty_list(value)) {
        misfit(argument.name, element);
      }
      return list;
    }
    case c10::TypeKind::BoolType: {
      c10::List<bool> list;
      if (const auto* flags = std::get_if<std::vector<bool>>(&value)) {
        for (const bool flag : *flags) list.push_back(flag);
      } else if (!is_empty_list(value)) {
        misfit(argument.name, element);
      }
      return list;
    }
    default:
      misfit(argument.name, element);
  }
}

c10::IValue constant(const NamedArgument& argument, const c10::Type& schema_type, Precision precision) {
  const Argument& value = argument.value;
  if (std::holds_alternative<None>(value)) return {};
  const c10::Type* type = &schema_type;
  if (const auto* optional = type->castRaw<c10::OptionalType>()) type = optional->getElementType().get();
  switch (type->kind()) {
    case c10::TypeKind::IntType:
    case c10::TypeKind::SymIntType:
    case c10::TypeKind::ScalarTypeType:
    case c10::TypeKind::MemoryFormatType:
    case c10::TypeKind::LayoutType:
      return as_integer(value, argument.name, *type, precision);
    case c10::TypeKind::FloatType:
      return as_number(value, argument.name, *type);
    case c10::TypeKind::BoolType:
      return as_integer(value, argument.name, *type, precision) != 0;
    case c10::TypeKind::NumberType:
      if (const auto* flag = std::get_if<bool>(&value)) return *flag;
      if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
      return as_number(value, argument.name, *type);
    case c10::TypeKind::StringType:
      if (const auto* text = std::get_if<std::string>(&value)) return *text;
      misfit(argument.name, *type);
    case c10::TypeKind::DeviceObjType:
      return c10::Device(c10::kCPU);
    case c10::TypeKind::ListType:
      return constant_list(argument, *type->castRaw<c10::ListType>()->getElementType(), precision);
    default:
      misfit(argument.name, *type);
  }
}

std::pair<std::string, std::string> name_and_overload(const std::string& target) {
  const auto dot = target.find('.');
  if (dot == std::string::npos) return {target, ""};
  return {target.substr(0, dot), target.substr(dot + 1)};
}

BoxedCall prepare(const std::string& target, const std::vector<NamedArgument>& arguments, Precision precision) {
  const auto [name, overload] = name_and_overload(target);
  const auto handle = c10::Dispatcher::singleton().findSchema({name, overload});
  if (!handle) throw std::runtime_error("LibTorch has no operator '" + target + "'");
  BoxedCall call{*handle, {}, {}};
  const auto& schema = handle->schema().arguments();
  std::vector<std::size_t> first(arguments.size(), 0), count(arguments.size(), 0);
  const auto operands = operand_places(arguments);
  for (std::size_t i = operands.size(); i-- > 0;) {
    first[static_cast<std::size_t>(operands[i].argument)] = i;
    ++count[static_cast<std::size_t>(operands[i].argument)];
  }
  std::size_t used = 0;
  for (const c10::Argument& wanted : schema) {
    std::size_t given = 0;
    while (given < arguments.size() && arguments[given].name != wanted.name()) ++given;
    if (given == arguments.size()) {
      call.arguments.push_back(wanted.default_value() ? *wanted.default_value() : c10::IValue());
      continue;
    }
    ++used;
    const Argument& value = arguments[given].value;
    BoxedCall::Place place;
    place.position = call.arguments.size();
    place.first = first[given];
    place.count = count[given];
    place.written = wanted.alias_info() != nullptr && wanted.alias_info()->isWrite();
    if (std::holds_alternative<Tensor>(value) && std::get<Tensor>(value).id >= 0) {
      call.places.push_back(place);
      call.arguments.emplace_back();
    } else if (std::holds_alternative<Tensor>(value)) {
      call.arguments.emplace_back();
    } else if (const auto* list = std::get_if<std::vector<Tensor>>(&value)) {
      const auto* type = wanted.type()->castRaw<c10::ListType>();
      if (type != nullptr && type->getElementType()->kind() != c10::TypeKind::TensorType &&
          type->getElementType()->kind() != c10::TypeKind::OptionalType && list->empty()) {
        call.arguments.push_back(constant(arguments[given], *wanted.type(), precision));
        continue;
      }
      const bool optional = type != nullptr && type->getElementType()->kind() == c10::TypeKind::OptionalType;
      place.kind = optional ? BoxedCall::Place::Kind::optional_list : BoxedCall::Place::Kind::list;
      for (const Tensor& element : *list) place.present.push_back(element.id >= 0);
      call.places.push_back(place);
      call.arguments.emplace_back();
    } else {
      call.arguments.push_back(constant(arguments[given], *wanted.type(), precision));
    }
  }
  if (used != arguments.size()) {
    throw std::runtime_error("'" + target +
                             "' has arguments that its schema does not know: " + toString(handle->schema()));
  }
  return call;
}

c10::IValue fill(const BoxedCall::Place& place, const TensorList& operands) {
  if (place.kind == BoxedCall::Place::Kind::tensor)
    return place.written ? operands[place.first].clone() : operands[place.first];
  std::size_t next = place.first;
  if (place.kind == BoxedCall::Place::Kind::list) {
    c10::List<at::Tensor> list;
    for (std::size_t i = 0; i < place.count; ++i) list.push_back(operands[next++]);
    return list;
  }
  c10::List<std::optional<at::Tensor>> list;
  for (const bool present : place.present) {
    list.push_back(present ? std::optional<at::Tensor>(operands[next++]) : std::nullopt);
  }
  return list;
}

TensorList run(const BoxedCall& call, const TensorList& operands) {
  std::vector<c10::IValue> stack = call.arguments;
  for (const BoxedCall::Place& place : call.places) stack[place.position] = fill(place, operands);
  call.handle.callBoxed(&stack);
  TensorList results;
  for (const c10::IValue& result : stack) {
    if (result.isTensorList()) {
      for (const at::Tensor& tensor : result.toTensorVector()) results.push_back(tensor);
    } else if (result.isTensor()) {
      results.push_back(result.toTensor());
    } else {
      results.emplace_back();
    }
  }
  return results;
}

// Conjugates and signs are carried out: whoever reads memory need not know of those that LibTorch puts off.
TensorList resolved(TensorList results) {
  for (at::Tensor& t : results)
    if (t.defined() && (t.is_conj() || t.is_neg())) t = t.resolve_conj().resolve_neg();
  return results;
}

}  // namespace

struct OperatorCall::Implementation {
  bool no_grad = false;
  Precision precision = Precision::model;
  CanonicalOperator canonical = nullptr;
  std::function<TensorList(const TensorList&)> bodies;  // a branch or a loop
  std::vector<NamedArgument> arguments;                 // canonical only
  std::optional<BoxedCall> boxed;
  std::size_t operands = 0;
};

OperatorCall::OperatorCall(const Node& node, std::vector<NamedArgument> arguments, Precision precision) {
  auto made = std::make_shared<Implementation>();
  made->no_grad = node.no_grad;
  made->precision = precision;
  made->operands = operand_places(arguments).size();
  made->canonical = canonical_operator(node.target);
  if (!node.bodies.empty()) {
    made->bodies = call_with_bodies(node, precision);
  } else if (made->canonical == nullptr) {
    if (node.target == "planscope::opaque")
      throw std::runtime_error(
          foreign_name(node) +
          " cannot be run: not all of its arguments can be read from the file, as 'planscope info' says");
    made->boxed = prepare(node.target, arguments, precision);
  } else {
    made->arguments = std::move(arguments);
  }
  implementation_ = std::move(made);
}

TensorList OperatorCall::operator()(const TensorList& operands) const {
  const Implementation& made = *implementation_;
  if (operands.size() != made.operands) {
    throw std::runtime_error("got " + std::to_string(operands.size()) + " operands instead of " +
                             std::to_string(made.operands));
  }
  std::optional<at::NoGradGuard> guard;
  if (made.no_grad) guard.emplace();
  if (made.bodies) return made.bodies(operands);
  if (made.boxed) return resolved(run(*made.boxed, operands));
  return made.canonical(CallArguments(made.arguments, operands), made.precision);
}

std::vector<OperandPlace> operand_places(const std::vector<NamedArgument>& arguments) {
  std::vector<OperandPlace> places;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (const auto* tensor = std::get_if<Tensor>(&arguments[i].value)) {
      if (tensor->id >= 0) places.push_back({static_cast<int>(i), -1});
    } else if (const auto* list = std::get_if<std::vector<Tensor>>(&arguments[i].value)) {
      for (std::size_t k = 0; k < list->size(); ++k) {
        if ((*list)[k].id >= 0) places.push_back({static_cast<int>(i), static_cast<int>(k)});
      }
    }
  }
  return places;
}

}  // namespace planscope
