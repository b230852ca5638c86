#include "engine/launch/agreement.h"

namespace planscope {

std::optional<FailureReport> AgreementRelay::handle(int rank, const Statement& s) {
  const auto [it, is_first] = said_.try_emplace(s.key, Said{rank, s.value, s.members});
  Said& said = it->second;
  if (s.value != said.value) {
    return FailureReport{
        s.instruction,
        s.what + ": this rank has " + s.value + ", rank " + std::to_string(said.rank) + " has " + said.value,
        FailureOrigin::own};
  }
  if (--said.missing <= 0) said_.erase(it);
  return std::nullopt;
}

}  // namespace planscope
