#include "engine/base/format.h"

#include <cstdio>
#include <vector>

namespace planscope {

namespace {
std::string scaled(double v, double base, const std::vector<const char*>& units) {
  if (v < 0) return "-" + scaled(-v, base, units);
  std::size_t k = 0;
  while (v >= base && k + 1 < units.size()) {
    v /= base;
    ++k;
  }
  char text[32];
  std::snprintf(text, sizeof text, v >= 100 || k == 0 ? "%.0f %s" : "%.2f %s", v, units[k]);
  std::string out = text;
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}
}  // namespace

std::string bytes_text(double v) { return scaled(v, 1024, {"B", "KiB", "MiB", "GiB", "TiB", "PiB"}); }
std::string count_text(double v) { return scaled(v, 1000, {"", "K", "M", "G", "T", "P", "E"}); }
std::string time_text(double us) { return scaled(us, 1000, {"µs", "ms", "s"}); }

}  // namespace planscope
