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
      {"core_names", core_names},          // native_layer_norm is layer_norm
      {"numbers", numbers},                // `x * 2` is mul.Scalar
      {"casts", casts},                    // every change of type is to.dtype
      {"no_ops", no_ops},                  // what returns its operand
      {"joins", joins},                    // without operands of size [0]
      {"detach", detach},                  // only where a gradient would flow
      {"shapes", shapes},                  // view, permute, expand with literal sizes
      {"slices", slices},                  // literal bounds; whole ranges go
      {"written_pieces", written_pieces},  // a tensor that is written as a whole is its pieces
      {"splits", splits},                  // split_with_sizes
      {"spellings", spellings},            // one name for each elementwise operator
      {"reductions", reductions},          // literal dimensions
      {"factories", factories},            // read no operand
      {"masks", masks},                    // writes where a mask is true are choices
      {"one_hots", one_hots},              // compares with every class
      {"batch_norms", batch_norms},        // mean, mean of squares, affine
      {"moments", moments},                // variances and norms are sums
      {"losses", losses},                  // of elements, then reduced
      {"embedding_bags", embedding_bags},  // a row for each of equal bags
      {"gates", gates},                    // glu is two slices, a sigmoid and a product
      {"dispatch", dispatch},              // rows sorted by expert need no order
      {"contractions", contractions},      // tensordot is an equation
      {"shuffles", shuffles},              // view, permute, view
      {"diagonals", diagonals},            // one name for diagonals; a trace is the sum of one
      {"repeats", repeats},                // each element k times is view, expand, view
      {"whole_indices", whole_indices},    // index by whole ranges is permute and view
      {"row_indices", row_indices},        // of each row what its own index names
      {"attention", attention},            // with groups; decomposed if it drops out
      {"cross_entropy", cross_entropy},    // log-sum-exp, pick, mask, sum, count, division
      {"loss_type", loss_type},            // not narrowed at last
      {"added_numbers", added_numbers},    // to a loss: once, not in each micro-batch
      {"patches", patches},                // convolution with kernel = stride is a product
      {"dimensions", dimensions},          // non-negative
      {"joined_ones", joined_ones},        // a literal 1 that is the batch
      {"divided_sums", divided_sums},      // by a number of elements, at any size
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
