#pragma once
// Which tensors share memory, and what their current values are while in-place operators are made pure.
#include <map>
#include <string>
#include <vector>

#include "engine/base/diagnostic.h"
#include "engine/graph/model.h"

namespace planscope {

// Appends nodes and values to a model under construction.
class Builder {
 public:
  explicit Builder(Model& model) : model(model) {}

  ValueId add_value(DType, std::vector<std::int64_t> sizes);
  // A node with one result, named like `like`.
  ValueId emit(const Node& like, std::string target, std::vector<NamedArgument>, DType,
               std::vector<std::int64_t> sizes);
  ValueId emit_cast(const Node& like, ValueId, DType);  // the value itself if it has the type
  ValueId emit_view(const Node& like, ValueId, std::vector<std::int64_t> sizes);
  ValueId emit_expand(const Node& like, ValueId, std::vector<std::int64_t> sizes);
  ValueId emit_permute(const Node& like, ValueId, const std::vector<std::int64_t>& dims);
  ValueId emit_conjugate(const Node& like, ValueId);  // the value itself if it is real
  const Value& value(ValueId id) const { return model.values[static_cast<std::size_t>(id)]; }

  Model& model;
};

class StorageTracker {
 public:
  explicit StorageTracker(Builder& builder) : builder_(builder) {}

  void add_root(ValueId);
  // The outputs of `view` (a node of the file, operands not yet replaced) are views of `base`.
  void add_views(const Node& view, ValueId base);
  void add_alias(ValueId output, ValueId base);

  ValueId read(ValueId);  // the value as of now; may derive a view again
  // False: the write cannot reach the base; `why` says it.
  bool write(ValueId, ValueId now, const Node& writer, std::string& why);

  bool changed(ValueId root) const;
  ValueId root(ValueId) const;  // the value whose memory it is

 private:
  struct Place {
    ValueId root = -1;
    ValueId base = -1;  // -1: this is a root
    int view = -1;      // index into views_; -1: an alias of the base
    std::size_t output = 0;
    ValueId now = -1;
    int version = 0;  // of the root, at which `now` was right
  };
  ValueId derive(ValueId id);
  ValueId write_back(const Place&, ValueId base_now, ValueId now, const Node& writer, std::string& why);

  Builder& builder_;
  std::map<ValueId, Place> places_;
  std::vector<Node> views_;
};

}  // namespace planscope
