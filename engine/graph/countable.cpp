#include "engine/graph/countable.h"

#include "engine/base/format.h"
#include "engine/base/saturated.h"

namespace planscope {

std::optional<Diagnostic> uncountable(const Graph& g) {
  constexpr std::int64_t most = std::int64_t{1} << 60;
  std::int64_t all = 0, largest = -1;
  TensorId which = -1;
  for (TensorId t = 0; t < static_cast<TensorId>(g.tensors.size()); ++t) {
    const std::int64_t bytes =
        saturated_product(saturated_product(g.sizes(t)), byte_size(g.model->values[static_cast<std::size_t>(t)].dtype));
    all = saturated_sum(all, bytes);
    if (bytes > largest) largest = bytes, which = t;
  }
  if (all <= most) return std::nullopt;
  return error("the sizes are too large: all tensors together come to " +
                   (all == kMostCount ? "more than can be counted" : bytes_text(static_cast<double>(all))),
               "'" + g.tensor_name(which) + "' alone to " +
                   (largest == kMostCount ? "more than can be counted" : bytes_text(static_cast<double>(largest))),
               "at most 1 EiB");
}

}  // namespace planscope
