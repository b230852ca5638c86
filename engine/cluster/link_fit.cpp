#include "engine/cluster/link_fit.h"

#include <limits>

namespace planscope {

Microseconds fitted_time(const LinkFit& fit, Collective kind, Bytes bytes) {
  Cluster two;
  two.levels = {{"link", 2, fit.latency, fit.bandwidth, 1}};
  return collective_time(two, kind, bytes, {.first = 0, .axes = {{2, 1}}});
}

std::optional<LinkFit> fit_link(const std::vector<LinkSample>& samples) {
  // time = a * latency + b / bandwidth; each row divided by the measured time.
  double aa = 0, ab = 0, bb = 0, a1 = 0, b1 = 0;
  for (const LinkSample& s : samples) {
    if (s.time.count <= 0) continue;
    const double a = fitted_time({{1}, std::numeric_limits<double>::infinity()}, s.kind, s.bytes).count / s.time.count;
    const double b = fitted_time({{0}, 1}, s.kind, s.bytes).count / s.time.count;
    aa += a * a, ab += a * b, bb += b * b, a1 += a, b1 += b;
  }
  const double determinant = aa * bb - ab * ab;
  if (bb <= 0 || determinant <= 1e-12 * aa * bb) return std::nullopt;
  double latency = (a1 * bb - b1 * ab) / determinant, inverse = (b1 * aa - a1 * ab) / determinant;
  if (latency < 0) latency = 0, inverse = b1 / bb;
  if (inverse <= 0) return std::nullopt;
  return LinkFit{{latency}, 1 / inverse};
}

}  // namespace planscope
