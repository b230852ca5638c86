#pragma once
// A Program written by hand: the tiny model's pieces play no part, only the lists that program.h's functions read.
#include "engine/program/program.h"
#include "tiny_model.h"

namespace planscope::tiny {

// 2 x 2 x 2 devices (pipe, data, tensor), a free axis mb of 4.
inline Program small_program(const Graph& g) {
  Program p;
  p.graph_digest = g.digest;
  p.device_count = 8;
  p.axes = {{"pipe", 2, 0}, {"data", 2, 0}, {"tensor", 2, 0}, {"mb", 4, -1}};
  p.grids = {{"all", {0, 1, 2}, {4, 2, 1}, 0, {}}};
  p.places = {{0, {}}, {0, {{0, 0}}}, {0, {{0, 1}}}};
  const Digit data{1, 2, 1}, tensor{2, 2, 1}, mb{3, 4, 1};
  p.layouts = {{},
               {{{0, 0, {mb, data}}}, {}},
               {{{0, 0, {mb, data}}, {2, 0, {tensor}}}, {}},
               {{{0, 0, {mb, data}}}, {{tensor, PartialKind::sum}}}};
  p.values = {{0, Role::data, 1, 1, {3}, -1}};
  p.statements = {{3, "a.plan", "trans * batch by mb, data  # \"quoted\" \\ tab\t"}};
  p.segments = {
      {"f(S[0])",
       Phase::forward,
       1,
       {3},
       {{Code::load, -1, {}, {0}, {}, -1, false, false, 0}, {Code::free, -1, {0}, {}, {}, -1, false, false, -1}}}};
  p.classes = {{"pipe=0", p.places[1], {}, {{4, {{0, {0}, {1}}}}}}, {"pipe=1", p.places[2], {}, {}}};
  return p;
}

}  // namespace planscope::tiny
