#pragma once
// What waits for backward, and where: which results of a forward pass have to be there when backward begins, as a question of
// what every layer does with them.
//
// Layers are the members of the lists that a caller names (`model.layers`: `model.layers[0]`, `model.layers[1]`, …). Each
// takes one of its *words*:
//
//   keep                            nothing is said
//   trans L[i] recompute            all of it is one unit
//   trans L[i].mlp recompute        one of its children is
//   trans L[i].{a,b} recompute      every child by itself: units of their own
//   trans L[i]:{add,rms_norm} recompute   everything that is no product and no attention: one unit
//   trans L[i].mlp:{mul,silu} recompute   the same of one of its children
//   trans L[i] offload              what it alone needs waits in host memory
//
// A result is *demanded* on the device if a reader that is not computed again has to have it in backward, or one that is
// computed again reads it from outside of its unit; in host memory if the readers that have to have it are offloaded all.
// Views share the storage of what they view, as long as nothing is converted between them.
//
//   Storage s(graph, info, {.layers = {"model.layers"}, .recompute = true});
//   s.demand(t, layer, word)
#include <set>
#include <string>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/plan/bind.h"

namespace planscope::splits {

struct StorageSpec {
  std::vector<std::string> layers;  // lists of equal layers, `model.layers`
  bool recompute = false, offload = false;
};

enum class StorageMode : std::uint8_t { keep, recompute, offload };
enum class Demand : std::uint8_t { none, host, device };

struct StorageWord {
  StorageMode mode = StorageMode::keep;
  std::vector<std::string> below;  // the layer's path: ``, `.mlp`, `:{add,mul}`; each is a unit
  bool operator==(const StorageWord&) const = default;
  auto operator<=>(const StorageWord&) const = default;
};

class Storage {
 public:
  // `few`: no words for single children, as where operators have very many strategies themselves.
  Storage(const Graph&, const plan::ModelInfo&, const StorageSpec&, bool few = false);

  struct Role {
    StorageMode mode = StorageMode::keep;
    int unit = -1;  // position in StorageWord::below
    bool operator==(const Role&) const = default;
  };
  struct Layer {
    std::string path;  // `model.layers.3`
    std::vector<OpId> operators;
    std::vector<StorageWord> words;
    std::vector<std::vector<Role>> roles;  // [operator][word]
  };
  const std::vector<Layer>& layers() const { return layers_; }
  int layer_of(OpId o) const { return layer_of_[static_cast<std::size_t>(o)]; }  // -1: of none
  Role role(OpId, int word) const;                                               // of its layer

  // Layers with a say in whether a result has to be there; and what each of their words asks for.
  std::vector<int> layers_about(TensorId) const;
  Demand demand(TensorId, int layer, int word) const;
  Demand demand_anyway(TensorId) const;  // by operators of no layer

  // Of a reader that is computed again: whether a result is computed again in its unit too.
  bool inside(TensorId, OpId reader, int word) const;

 private:
  struct Reader {
    OpId op = -1;
    TensorId tensor = -1;  // the result, or a view of it
    bool saves = false;
  };
  void find_layers(const plan::ModelInfo&, const StorageSpec&, bool few);
  void find_readers();
  void add_words(Layer&, const plan::ModelInfo&, const StorageSpec&, bool few) const;
  struct Cheap {
    std::set<std::string> kinds;
    std::vector<bool> named;  // by operator of the layer
  };
  Cheap cheap_below(const Layer&, const std::string& path, const plan::ModelInfo&) const;
  Demand demand(const Reader&, int word) const;
  TensorId root(TensorId) const;

  const Graph& g_;
  std::vector<Layer> layers_;
  std::vector<int> layer_of_, position_;      // by operator; position in Layer::operators
  std::vector<std::vector<Reader>> readers_;  // by tensor with storage of its own
};

}  // namespace planscope::splits
