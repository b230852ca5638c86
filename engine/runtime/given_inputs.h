#pragma once
// Inputs that are read, not drawn: those that the model was exported with, or those of a file that torch.save wrote.
//
// Such a file holds a tensor, or tuples, lists and dictionaries of tensors, as deep as may be: the pair of positional and
// named arguments that torch.export keeps is one. A dictionary whose keys are the model's input names is taken by name;
// else the tensors are the inputs in the order of forward's arguments. What is no tensor (numbers, None) is passed over.
//
// Errors: a file that cannot be read, another number of tensors than the model has inputs, another type, sizes that are
// not those of the graph, an index outside of the dimension that it indexes.
#include <map>
#include <string>

#include "engine/base/diagnostic.h"
#include "engine/graph/graph.h"
#include "engine/runtime/tensor_types.h"

namespace planscope {

struct GivenInputs {
  std::string from;                    // `archive`, `drawn`, or the path of the file
  std::map<TensorId, at::Tensor> whole;  // the inputs that were read; the others are drawn
  std::string note;                    // why inputs are drawn although that was not asked for
};

// `how`: TrialJob::inputs. Only where it is empty inputs of the archive may be left out.
Result<GivenInputs> read_inputs(const Graph&, const std::string& how);

}  // namespace planscope
