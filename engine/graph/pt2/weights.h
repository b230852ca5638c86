#pragma once
// Where the bytes of parameters, buffers and constants are. Nothing but the two small JSON tables is read.
//
// A file exported without weights names the same empty payload for all of them: their Weight has 0 bytes.
#include "engine/graph/pt2/archive.h"
#include "engine/graph/pt2/raw_model.h"

namespace planscope {

// Fills model.weights, in the order of the values; the diagnostics name the tensor.
std::vector<Diagnostic> read_weights(const Archive&, Model&);

// Makes names of one tensor one value: `lm_head.weight` with the alias `transformer.wte.weight`. Two parameters are one
// tensor if they have the same payload and strides. In a file without weights, a parameter that nothing reads is taken
// for an alias of a read one if that is the only one of its type and sizes. Uses, outputs and weights follow. Warnings: names
// that are all read, or that lie in one memory in different shapes: there PyTorch trains otherwise.
std::vector<Diagnostic> join_tied_weights(Model&);

}  // namespace planscope
