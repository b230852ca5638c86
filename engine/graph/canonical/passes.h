#pragma once
// One declaration a pass; each is in a file of its name and described in README.md.
#include "engine/graph/model.h"

namespace planscope {

Model core_names(Model);
Model numbers(Model);
Model casts(Model);
Model no_ops(Model);
Model detach(Model);
Model shapes(Model);
Model slices(Model);
Model splits(Model);
Model spellings(Model);
Model reductions(Model);
Model dispatch(Model);
Model losses(Model);
Model factories(Model);
Model joined_ones(Model);
Model contractions(Model);
Model masks(Model);
Model written_pieces(Model);
Model one_hots(Model);
Model moments(Model);
Model shuffles(Model);
Model diagonals(Model);
Model batch_norms(Model);
Model gates(Model);
Model joins(Model);
Model repeats(Model);
Model whole_indices(Model);
Model row_indices(Model);
Model attention(Model);
Model cross_entropy(Model);
Model loss_type(Model);
Model added_numbers(Model);
Model patches(Model);
Model dimensions(Model);
Model divided_sums(Model);
Model embedding_bags(Model);

}  // namespace planscope
