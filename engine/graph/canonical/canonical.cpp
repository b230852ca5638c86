#include "engine/graph/canonical/canonical.h"

#include "engine/graph/canonical/passes.h"
#include "engine/graph/functional/dead_code.h"
#include "engine/graph/pt2/names.h"

namespace planscope {
namespace {

Model number(Model model) {
  number_nodes(model);
  return model;
}

}  // namespace

const std::vector<CanonicalPass>& canonical_passes() {
  static const std::vector<CanonicalPass> passes = {
      {"numbers", numbers},              // `x * 2` is mul.Scalar
      {"casts", casts},                  // every change of type is to.dtype
      {"no_ops", no_ops},                // what returns its operand
      {"detach", detach},                // only where a gradient would flow
      {"shapes", shapes},                // view, permute, expand with literal sizes
      {"slices", slices},                // literal bounds; whole ranges go
      {"splits", splits},                // split_with_sizes
      {"spellings", spellings},          // one name for each elementwise operator
      {"reductions", reductions},        // literal dimensions
      {"losses", losses},                // of elements, then reduced
      {"gates", gates},                  // glu is two slices, a sigmoid and a product
      {"dispatch", dispatch},            // rows sorted by expert need no order
      {"repeats", repeats},              // each element k times is view, expand, view
      {"whole_indices", whole_indices},  // index by whole ranges is permute and view
      {"attention", attention},          // with groups; decomposed if it drops out
      {"cross_entropy", cross_entropy},  // log-sum-exp, pick, mask, sum, count, division
      {"loss_type", loss_type},          // not narrowed at last
      {"patches", patches},              // convolution with kernel = stride is a product
      {"dimensions", dimensions},        // non-negative
      {"dead_nodes", remove_dead_nodes},
      {"ordinals", number},
  };
  return passes;
}

Model canonicalize(Model model) {
  for (const CanonicalPass& pass : canonical_passes()) model = pass.run(std::move(model));
  return model;
}

}  // namespace planscope
