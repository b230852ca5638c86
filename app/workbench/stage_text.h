#pragma once
// What a device class computes, in words that stand at its lane: its stages, and of the model the layers and what is
// beside them.
//
//   stage_text(graph, program, program.classes[0])   // `S[0]: model.layers 0–7, model.embed_tokens`
//   ranges_text({0, 1, 2, 7})                        // `0–2, 7`
#include <set>
#include <string>
#include <vector>

#include "engine/program/program.h"

namespace planscope {

std::string stage_text(const Graph&, const Program&, const DeviceClass&);
std::vector<OpId> operators_of(const Program&, const DeviceClass&);  // that it runs, ascending
std::string ranges_text(const std::set<int>& numbers);

}  // namespace planscope
