#pragma once
// Why a tensor is communicated as it is: every conversion of it in a Program, with its moves, their bytes and times, and
// the dearer ways that were refused.
//
//   for (const Conversion& c : explain(graph, program, cluster, "model.norm.weight").value) …
#include <string>
#include <vector>

#include "engine/base/diagnostic.h"
#include "engine/base/units.h"
#include "engine/cluster/cluster.h"
#include "engine/graph/graph.h"
#include "engine/program/program.h"

namespace planscope {

struct ExplainedMove {
  std::string what;   // `all_reduce over tensor`
  Bytes payload;      // per device: the whole result of a gather, the whole operand of the others; 0: local
  Microseconds time;  // alone, where it is one of a bucket
  std::string kind = {};      // `all_reduce`, `send`
  std::int64_t group = 1;     // devices that take part
  ProgramValueId made = -1;   // of the Program's own moves: the value that it makes
};

struct ExplainedPath {
  std::vector<ExplainedMove> moves;
  Microseconds time;
};

// Within a place, or from one place to another. A crossing is told with the conversions of both sides, and so are those
// that were refused, each with the layouts in which it is sent and arrives; stages of a pipeline, for the slowest of them
// (engine/program/crossing.h).
struct Conversion {
  std::string tensor, segment;
  bool gradient = false;
  std::string from, to;  // layouts, with their places where these differ
  ExplainedPath chosen;
  std::vector<ExplainedPath> refused;  // cheapest first
};

// Of the tensor of that name, or of all whose names match a pattern with `*`. None of that name: an error that names
// some which are near.
Result<std::vector<Conversion>> explain(const Graph&, const Program&, const Cluster&, const std::string& tensor);

}  // namespace planscope
