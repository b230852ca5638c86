#pragma once
// relax: read parameters some updates old (asynchronous pipelines: PipeDream, SOSP'19; with lag 1 everywhere,
// PipeDream-2BW, ICML'21).
//
// vTensors of a parameter w that X reads, in step s, before and after `relax fetch(X) lag 2`:
//
//   before   fetch(w) gives w after s updates                    home: 1 version
//   after    fetch(w) gives w after max(s - 2, 0) updates        home: 3 versions
//
// Forward and backward of a step read the same version; the gradient of the step is applied to the newest one, as ever.
// So a step computes the gradient at older parameters: the plan is not equivalent to the model's own training and verify
// says so (`relaxed`, with the age of every place's parameters). Legal for every selection that reads a trained
// parameter; operators of one place that read the same parameter must agree. Costs one more copy of the parameters, in
// the layout of their home, for each update of lag; the optimizer's state is there once.
//
//   devices 4 as pipe=4
//   let L = model.layers[*]
//   let S = cut L into |pipe|
//   assign S[i] to pipe=i
//   relax fetch(S[i]) lag |S|-1-i
//
// The last statement for an operator wins. Messages: not a `fetch(X)`, X reads no parameter, a lag out of range.
#include "engine/plan/context.h"

namespace planscope::plan {

void bind_relax(Context&, const RelaxStatement&);

}  // namespace planscope::plan
