#pragma once
// What a command has found out about a plan, to be recorded as one: the model, the plan, the cluster, and a verdict, a prediction
// or a run with it. A value and its JSON text, so that it can wait as a file while the workspace is locked (pending.h).
//
//   Recording r{.model = m, .plan = {.name = "data", .text = "devices 4 as data=4\n"}, .cluster = c};
//   r.verification = VerificationRow{.verdict = "equivalent", .json = "{}"};
//   workspace.add(r);
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/rows.h"

namespace planscope {

struct Recording {
  ModelRow model = {};  // without a digest: it is not known
  PlanRow plan = {};    // name and text; with an id: that row, which stays as it is
  ClusterRow cluster = {};
  std::optional<PredictionRow> prediction = {};
  std::optional<VerificationRow> verification = {};
  std::optional<RunRow> run = {};  // one that has ended; with an id where its beginning was recorded
  std::vector<SpanRow> spans = {};
  bool operator==(const Recording&) const = default;
};

std::string print(const Recording&);
Result<Recording> parse_recording(std::string_view json);

}  // namespace planscope
