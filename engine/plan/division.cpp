#include "engine/plan/division.h"

namespace planscope::plan {

std::optional<Undivided> undivided(const FactorInfo& f, int part, std::int64_t blocks) {
  const std::vector<PartInfo> single{PartInfo{f.size, "", false}};
  const std::vector<PartInfo>& parts = f.parts.empty() ? single : f.parts;
  std::int64_t left = blocks;
  auto at = static_cast<std::size_t>(part);
  do {
    const std::int64_t size = parts[at].size;
    if (size % left == 0) return std::nullopt;
    if (left % size != 0) return Undivided{static_cast<int>(at), left, false};
    left /= size;
  } while (++at < parts.size() && !parts[at].frozen);
  return Undivided{static_cast<int>(at), left, true};
}

}  // namespace planscope::plan
