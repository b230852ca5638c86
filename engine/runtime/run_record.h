#pragma once
// A one-device run in a file from which another program can make the same run and compare it (`planscope check`): the
// inputs as they were, the numbers that were drawn for missing weights, what each random operator draws by, and what came
// out. A tensor file (tensor_file.h) whose header has
//
//   inputs, weights   [{name, model_type, …}]: all inputs; weights that the model file does not hold. As the float64 runs
//                     have them; those in the model's types round them to `model_type`
//   inputs_from, inputs_note   given_inputs.h
//   loss              {output, name}: which of the forward pass' tensors is trained
//   random            [{operator, target, key, sizes}]: in program order (random_numbers.h); the key as text
//   operators         [{operator, module, call, kind, ordinal, target, known, counted, flops, sizes, values}]: `counted`, its
//                     FLOPs are those of products; values, per output of the float64 run [sum, sum of magnitudes, sum of
//                     elements times cos(index)]
//   runs              [{precision, optimizer, steps, losses, gradients: [{name, …}], parameters: [{name, aliases, …}]}]:
//                     float64 with each optimizer; in the model's types one step of the first one
#include <functional>
#include <string>

#include "engine/launch/trial_job.h"
#include "engine/runtime/given_inputs.h"

namespace planscope {

// `use`: sets the default type of what operators make. `progress`: before every operator.
std::vector<Diagnostic> write_run_record(const Graph&, const GivenInputs&, const TrialJob&,
                                         const std::function<void(Precision)>& use,
                                         const std::function<void(std::int64_t, const std::string&)>& progress);

}  // namespace planscope
