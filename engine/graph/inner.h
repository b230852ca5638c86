#pragma once
// Inner dimensions, for tensor parallelism: the heads of an attention, the hidden dimension of a feed-forward. Found by
// what operators compute, not by what modules are called.
//
// A product with weights is *column parallel* in a part class that its weight has and its data has not, and *row parallel*
// in one that it sums over. A class is inner if products of both kinds have it, no operator freezes it, and none of them has
// another inner class. First come those of which no product of the first kind stands behind one of the second (as in a
// residual stream, of which every product reads or writes a part), then those with more weights (so the bottleneck of an
// adapter stays whole), then those that come first. Source: Megatron-LM (Shoeybi et al., 2019), section 3.
#include <vector>

#include "engine/graph/graph.h"

namespace planscope {

// By operator, the factor that holds an inner dimension; -1: none. Products with weights, and the operators of an
// attention (scaled_dot_product_attention, softmax).
std::vector<int> inner_factors(const Graph&);

}  // namespace planscope
