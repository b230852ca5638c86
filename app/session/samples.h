#pragma once
// The sample models that come with planscope, with the plans for them.
//
//   for (const Sample& s : find_samples("sample_models")) …   // every model, behind it its plans
#include <string>
#include <vector>

namespace planscope::session {

struct Sample {
  std::string model, plan;  // files; plan: empty: the model alone
  std::string name, about;  // of a plan the first sentence of its comment
};
// Models `NAME.pt2` of the folder, and their plans `plans/NAME-….plan`.
std::vector<Sample> find_samples(const std::string& folder);

}  // namespace planscope::session
