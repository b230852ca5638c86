#pragma once
// What a rank measured: one span per instruction that it ran. Ranks collect them and report them in batches; the text
// is compact (a list of lists, kinds by number), since a step has thousands.
//
//   SpanList spans;
//   spans.push_back({.step = 0, .instruction = 17, .kind = "all_reduce", .start = begin, .duration = channel.now() -
//   begin}); channel.report("{\"spans\":" + print_spans(spans) + "}");
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/diagnostic.h"
#include "engine/base/units.h"

namespace planscope {

struct Span {
  int step = 0;
  std::int64_t instruction = 0;  // index in the rank's instruction list
  std::string kind;              // "compute", "all_reduce", "wait", …
  Microseconds start;            // since the run began
  Microseconds duration;
  bool operator==(const Span&) const = default;
};
using SpanList = std::vector<Span>;

std::string print_spans(const SpanList& spans);  // {"kinds": [..], "spans": [[step, instruction, kind, start, dur]..]}
Result<SpanList> parse_spans(std::string_view json_text);  // times keep whole nanoseconds

}  // namespace planscope
