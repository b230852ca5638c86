#include "engine/base/enumeration.h"

#include <algorithm>

#include "engine/base/text.h"

namespace planscope {

std::string enumeration(const std::vector<std::string>& names, std::size_t most, std::string_view between,
                        std::string_view last) {
  const std::size_t shown = std::min(most, names.size());
  return and_more(join({names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown)}, between),
                  names.size() - shown, last);
}

std::string and_more(std::string first, std::size_t more, std::string_view last) {
  if (more > 0) first.append(last).append(std::to_string(more) + " more");
  return first;
}

}  // namespace planscope
