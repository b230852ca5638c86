#include "engine/graph/functional/storage.h"

#include <numeric>

#include "engine/graph/arguments.h"
#include "engine/graph/element_types.h"
#include "engine/graph/functional/views.h"

namespace planscope {
namespace {

using Sizes = std::vector<std::int64_t>;

bool keeps_everything(const Node& node) {  // same sizes, same elements, same memory
  return node.target == "aten::alias" || node.target == "aten::detach" || node.target == "aten::contiguous" ||
         node.target.starts_with("aten::to.") || node.target == "aten::type_as" || node.target == "aten::lift_fresh" ||
         node.target == "aten::dropout" || node.target == "aten::expand" || node.target == "aten::expand_as";
}

bool splits(const Node& node) {
  return node.target.starts_with("aten::split") || node.target == "aten::chunk" ||
         node.target.starts_with("aten::unsafe_split") || node.target.starts_with("aten::tensor_split") ||
         node.target == "aten::unsafe_chunk";
}

}  // namespace

ValueId Builder::add_value(DType dtype, Sizes sizes) {
  Value value;
  value.dtype = dtype;
  value.sizes = std::move(sizes);
  model.values.push_back(std::move(value));
  return static_cast<ValueId>(model.values.size()) - 1;
}

ValueId Builder::emit(const Node& like, std::string target, std::vector<NamedArgument> arguments, DType dtype,
                      Sizes sizes) {
  Node node;
  node.module = like.module;
  node.call = like.call;
  node.module_type = like.module_type;
  node.kind = like.kind;
  node.source = like.source;
  node.no_grad = like.no_grad;
  node.target = std::move(target);
  node.arguments = std::move(arguments);
  node.outputs = {add_value(dtype, std::move(sizes))};
  model.nodes.push_back(std::move(node));
  return model.nodes.back().outputs.front();
}

ValueId Builder::emit_cast(const Node& like, ValueId id, DType dtype) {
  if (value(id).dtype == dtype) return id;
  return emit(
      like, "aten::to.dtype",
      {{"self", Tensor{id}}, {"dtype", dtype}, {"non_blocking", false}, {"copy", false}, {"memory_format", None{}}},
      dtype, value(id).sizes);
}

ValueId Builder::emit_view(const Node& like, ValueId id, Sizes sizes) {
  if (value(id).sizes == sizes) return id;
  return emit(like, "aten::view", {{"self", Tensor{id}}, {"size", sizes}}, value(id).dtype, sizes);
}

ValueId Builder::emit_expand(const Node& like, ValueId id, Sizes sizes) {
  if (value(id).sizes == sizes) return id;
  return emit(like, "aten::expand", {{"self", Tensor{id}}, {"size", sizes}, {"implicit", false}}, value(id).dtype,
              sizes);
}

ValueId Builder::emit_permute(const Node& like, ValueId id, const Sizes& dims) {
  Sizes sizes(dims.size());
  bool same = true;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    sizes[i] = value(id).sizes[static_cast<std::size_t>(dims[i])];
    same = same && dims[i] == static_cast<std::int64_t>(i);
  }
  if (same) return id;
  return emit(like, "aten::permute", {{"self", Tensor{id}}, {"dims", dims}}, value(id).dtype, std::move(sizes));
}

ValueId Builder::emit_conjugate(const Node& like, ValueId id) {
  if (!is_complex(value(id).dtype)) return id;
  return emit(like, "aten::conj_physical", {{"self", Tensor{id}}}, value(id).dtype, value(id).sizes);
}

void StorageTracker::add_root(ValueId id) { places_[id] = {id, -1, -1, 0, id, 0}; }

void StorageTracker::add_views(const Node& view, ValueId base) {
  ValueId root = places_[base].root;
  views_.push_back(view);
  for (std::size_t k = 0; k < view.outputs.size(); ++k)
    if (ValueId output = view.outputs[k]; output >= 0)
      places_[output] = {root, base, static_cast<int>(views_.size()) - 1, k, output, places_[root].version};
}

void StorageTracker::add_alias(ValueId output, ValueId base) {
  ValueId root = places_[base].root;
  places_[output] = {root, base, -1, 0, -1, -1};
}

bool StorageTracker::changed(ValueId root) const {
  auto place = places_.find(root);
  return place != places_.end() && place->second.version > 0;
}

ValueId StorageTracker::root(ValueId id) const {
  const auto place = places_.find(id);
  return place == places_.end() ? id : place->second.root;
}

ValueId StorageTracker::read(ValueId id) {
  Place& place = places_[id];
  if (place.base < 0) return place.now;
  if (place.version == places_[place.root].version) return place.now;
  place.now = place.view < 0 ? read(place.base) : derive(id);
  place.version = places_[place.root].version;
  return place.now;
}

ValueId StorageTracker::derive(ValueId id) {
  const Place place = places_[id];
  Node again = views_[static_cast<std::size_t>(place.view)];
  const std::vector<ValueId> made = again.outputs;
  map_tensors(again, [&](ValueId operand) { return read(operand); });
  for (ValueId& output : again.outputs)
    if (output >= 0) {
      Value value = builder_.value(output);
      output = builder_.add_value(value.dtype, value.sizes);
    }
  int version = places_[place.root].version;
  for (std::size_t k = 0; k < made.size(); ++k)
    if (auto sibling = places_.find(made[k]); sibling != places_.end()) {
      sibling->second.now = again.outputs[k];
      sibling->second.version = version;
    }
  ValueId now = again.outputs[place.output];
  builder_.model.nodes.push_back(std::move(again));
  return now;
}

bool StorageTracker::write(ValueId id, ValueId now, const Node& writer, std::string& why) {
  int version = places_[places_[id].root].version + 1;
  while (true) {
    const Place place = places_[id];
    ValueId base_now = place.base < 0 ? -1 : read(place.base);
    places_[id].now = now;
    places_[id].version = version;
    if (place.base < 0) return true;
    if (place.view >= 0) now = write_back(place, base_now, now, writer, why);
    if (now < 0) return false;
    id = place.base;
  }
}

ValueId StorageTracker::write_back(const Place& place, ValueId base_now, ValueId now, const Node& writer,
                                   std::string& why) {
  const Node& view = views_[static_cast<std::size_t>(place.view)];
  const Value base = builder_.value(base_now), source = builder_.value(now);
  Node like = writer;
  like.no_grad = false;  // what is not overwritten keeps its gradient
  // Complex numbers as pairs of real ones: autograd has no gradient of these operators for complex results.
  const auto as_real = [&](ValueId id) {
    const Value complex = builder_.value(id);
    std::vector<std::int64_t> sizes = complex.sizes;
    sizes.push_back(2);
    return builder_.emit(like, "aten::view_as_real", {{"self", Tensor{id}}}, real_type(complex.dtype), std::move(sizes));
  };
  const bool complex = is_complex(base.dtype);
  auto emit = [&](std::string target, std::vector<NamedArgument> rest) {
    const ValueId whole = complex ? as_real(base_now) : base_now;
    ValueId part = complex ? as_real(now) : now;
    if (complex && target == "aten::diagonal_scatter") {  // the diagonal is the last dimension, behind the pairs
      std::vector<std::int64_t> dims(builder_.value(part).sizes.size());
      std::iota(dims.begin(), dims.end(), 0);
      std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
      part = builder_.emit_permute(like, part, dims);
    }
    std::vector<NamedArgument> arguments = {{"self", Tensor{whole}}, {"src", Tensor{part}}};
    arguments.insert(arguments.end(), rest.begin(), rest.end());
    const Value made = builder_.value(whole);
    const ValueId written = builder_.emit(like, std::move(target), std::move(arguments), made.dtype, made.sizes);
    if (!complex) return written;
    return builder_.emit(like, "aten::view_as_complex", {{"self", Tensor{written}}}, base.dtype, base.sizes);
  };
  auto dim = int_argument(view, "dim");
  if (dim) dim = base.sizes.empty() ? std::nullopt : wrap_dim(*dim, base.sizes.size());
  if (keeps_everything(view) && base.sizes == source.sizes) return now;
  if (is_reshape(view)) return builder_.emit_view(like, now, base.sizes);
  if (auto dims = permutation_of(view, base.sizes.size())) {
    const ValueId back = builder_.emit_permute(like, now, inverse(*dims));
    return conjugates(view) ? builder_.emit_conjugate(like, back) : back;
  }
  if (dim && (view.target == "aten::slice.Tensor" || view.target == "aten::narrow")) {
    if (auto slice = slice_of(view, base.sizes[static_cast<std::size_t>(*dim)]))
      return emit("aten::slice_scatter",
                  {{"dim", *dim}, {"start", slice->start}, {"end", slice->end}, {"step", slice->step}});
  } else if (dim && view.target == "aten::select.int") {
    return emit("aten::select_scatter", {{"dim", *dim}, {"index", int_argument(view, "index").value_or(0)}});
  } else if (dim && view.target == "aten::unbind.int") {
    return emit("aten::select_scatter", {{"dim", *dim}, {"index", static_cast<std::int64_t>(place.output)}});
  } else if (dim && splits(view) && source.sizes.size() == base.sizes.size()) {
    std::int64_t start = 0;
    for (std::size_t k = 0; k < place.output; ++k)
      start += builder_.value(view.outputs[k]).sizes[static_cast<std::size_t>(*dim)];
    std::int64_t end = start + source.sizes[static_cast<std::size_t>(*dim)];
    return emit("aten::slice_scatter", {{"dim", *dim}, {"start", start}, {"end", end}, {"step", std::int64_t{1}}});
  } else if (view.target == "aten::diagonal") {
    const auto counted = [&](const char* name) {
      return wrap_dim(int_argument(view, name).value_or(0), base.sizes.size()).value_or(0);
    };
    return emit("aten::diagonal_scatter",
                {{"offset", *find_argument(view, "offset")}, {"dim1", counted("dim1")}, {"dim2", counted("dim2")}});
  }
  why = "the operand is a view made by " + view.target;
  return -1;
}

}  // namespace planscope
