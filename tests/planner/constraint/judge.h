#pragma once
// A judge with figures that need no Program: the work of every operator shared out by its splits, what parameters and
// activations take, a price for splitting over an axis. It is monotone in nothing and cheap, which is what tests need.
#include <string>

#include "planner/constraint/complete.h"

namespace planscope::constraint::testing {

// `llama layers=2 batch=8`: the models of tests/engine/plan/models.h.
plan::ModelInfo model_of(const std::string& text);
Judge synthetic_judge(const plan::ModelInfo&);

}  // namespace planscope::constraint::testing
