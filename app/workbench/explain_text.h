#pragma once
// Answers of why.h and tried.h as every surface tells them: `line 4 (use tp(L, tensor))`, `+1.20 ms`, and as JSON.
//
//   decided_text(base, answer, choice)   // tensor: out, by line 4 (use tp(L, tensor)): trans L.mlp.up_proj out by tensor
//   by_text(tried)                       // by line 6 (require memory(all) <= 1GiB): the predicted peak is …
#include <nlohmann/json.hpp>
#include <string>

#include "app/workbench/why.h"

namespace planscope {

std::string signed_time(double us);
std::string signed_bytes(std::int64_t bytes);

std::string line_text(const StatementRef&);
nlohmann::ordered_json line_json(const StatementRef&);

bool has_figures(const Tried&);       // whether it comes to something: it is neither unavailable nor forbidden by its form
std::string by_text(const Tried&);    // what is in its way, or what the difference consists of
nlohmann::ordered_json by_json(const Tried&);
nlohmann::ordered_json tried_json(const Tried&);

std::string decided_text(const BasePlan&, const OperatorAnswer&, const ChoiceAnswer&);  // one line, without its end
nlohmann::ordered_json decided_json(const BasePlan&, const OperatorAnswer&, const ChoiceAnswer&);

}  // namespace planscope
