#pragma once
// How one factor, or one dimension, is split over one axis of a plan; and where what is not needed at once waits.
#include <compare>
#include <cstdint>
#include <string>

namespace planscope::session {

struct SplitText {
  std::string factor;  // `out`; empty: a partial value passes
  std::int64_t blocks = 1;
  std::string axis;
  std::string text() const;  // `out ÷ 4 tensor`
  auto operator<=>(const SplitText&) const = default;
};

enum class Storage : std::uint8_t { keep, recompute, offload };
Storage storage_named(const std::string&);  // as OperatorFacts::storage() says it

}  // namespace planscope::session
