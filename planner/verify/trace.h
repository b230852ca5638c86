#pragma once
// What one run of a segment does to instances of values, in order.
#include <map>
#include <vector>

#include "planner/verify/makers.h"
#include "planner/verify/lifetime.h"

namespace planscope::verification {

// What has a lifetime: a value of the Program, or what a piece keeps for its backward (number: values + piece).
using Subject = int;

struct Step {
  Event event = Event::read;
  int instruction = -1;
  int subject = -1;   // index into Trace::subjects; read_any, alone: into Trace::choices
  bool last = false;  // only in the segment's last run of a step
};

// What a slice by a free axis reads of a value to which blocks are added: the terms whose blocks meet its own.
struct GrowingRead {
  AxisId axis = -1;
  Reach term = Reach::own, read = Reach::own;
};

struct Trace {
  std::vector<Subject> subjects;
  std::vector<Step> steps;
  std::vector<std::vector<int>> choices;  // indices into subjects
  std::map<int, GrowingRead> growing;     // by instruction: read_some
};

// One trace per segment.
std::vector<Trace> traces(const Graph&, const Program&, const Makers&);

// The free axes by which there are separate instances of a subject.
std::vector<AxisId> indexed_by(const Program&, const Makers&, Subject);

}  // namespace planscope::verification
