#include "planner/simulate/at_work.h"

#include <algorithm>

namespace planscope {

namespace {

void add(const Step& s, MemoryKind kind, std::int64_t bytes, std::vector<MemoryChange>& out) {
  std::vector<const MemoryChange*> ends;
  for (const MemoryChange& c : s.after) ends.push_back(&c);
  for (const Release& r : s.releases) ends.push_back(&r.change);
  for (const MemoryChange* c : ends) {
    if (bytes >= 0) break;
    if (c->kind != kind || c->bytes >= 0) continue;
    const std::int64_t given = std::max(bytes, c->bytes);
    out.push_back({kind, given, c->of});
    bytes -= given;
  }
  if (bytes != 0) out.push_back({kind, bytes, {Owner::Kind::working_set, -1}});
}

}  // namespace

std::vector<MemoryChange> at_work(const Step& s) {
  std::vector<MemoryChange> out;
  add(s, MemoryKind::activations, s.transient, out);
  add(s, MemoryKind::gradients, s.transient_gradients, out);
  return out;
}

}  // namespace planscope
