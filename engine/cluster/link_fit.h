#pragma once
// Latency and bandwidth of a link from measured times of communication between two devices: least squares of the relative
// errors of what collective_time() says, which is linear in the latency and in 1 / bandwidth. Neither becomes negative: a
// latency that would is 0.
//
//   std::optional<LinkFit> f = fit_link({{Collective::send, {1024}, {5}}, {Collective::send, {1 << 20}, {300}}});
//   f->latency; f->bandwidth;
#include <optional>
#include <vector>

#include "engine/cluster/communication.h"

namespace planscope {

struct LinkSample {
  Collective kind = Collective::send;
  Bytes bytes;
  Microseconds time;
  bool operator==(const LinkSample&) const = default;
};

struct LinkFit {
  Microseconds latency;
  double bandwidth = 0;  // bytes per second
  bool operator==(const LinkFit&) const = default;
};

// What the fit says of such communication.
Microseconds fitted_time(const LinkFit&, Collective, Bytes);

// Nothing where the samples do not tell: fewer than two sizes, or times that do not grow with them.
std::optional<LinkFit> fit_link(const std::vector<LinkSample>&);

}  // namespace planscope
