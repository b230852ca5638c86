#include "planner/search/stages/configuration.h"

#include <algorithm>
#include <numeric>

#include "engine/base/text.h"

namespace planscope::stages {
namespace {

constexpr std::int64_t kSmallTable = 8;  // rows on a device

std::string number(std::int64_t n) { return std::to_string(n); }

std::string lines_of(const ModelShape& m, std::int64_t tensor, bool sequence, const std::vector<std::string>& splits) {
  return splits.empty() ? tensor_lines(m, tensor, sequence) : join(splits, "\n") + "\n";
}

// Layers [from, from + count) of all lists, as slices of L.
std::string recompute_line(const Configuration& c) {
  std::vector<std::string> parts;
  int first = 0;
  const int layers = std::accumulate(c.stages.begin(), c.stages.end(), 0);
  const int all = std::accumulate(c.recompute.begin(), c.recompute.end(), 0);
  if (all == 0) return "";
  if (all == layers) return "trans L recompute\n";
  for (std::size_t s = 0; s < c.stages.size(); ++s) {
    const int end = first + c.recompute[s];
    // One range where the next stage goes on at once.
    if (c.recompute[s] > 0) parts.push_back("L[" + std::to_string(first) + ":" + std::to_string(end) + "]");
    first += c.stages[s];
  }
  return "trans " + join(parts, ", ") + " recompute\n";
}

std::string cut_line(const Configuration& c) {
  const bool even = std::all_of(c.stages.begin(), c.stages.end(), [&](int n) { return n == c.stages[0]; });
  if (even) return "let S = cut L into |pipe|\n";
  std::vector<std::string> sizes;
  for (int n : c.stages) sizes.push_back(std::to_string(n));
  return "let S = cut L into " + join(sizes, ",") + "\n";
}

}  // namespace

std::string tensor_lines(const ModelShape& m, std::int64_t tensor, bool sequence) {
  if (tensor == 1) return "";
  std::string out;
  // Small tables (kinds of tokens) stay whole.
  std::vector<std::string> even, uneven;
  for (const auto& [module, size] : m.vocabulary)
    if (size >= kSmallTable * tensor) (size % tensor == 0 ? even : uneven).push_back(module);
  if (!even.empty()) out += "trans " + join(even, ", ") + " vocab by tensor\n";
  if (!uneven.empty()) out += "trans " + join(uneven, ", ") + " vocab by tensor sizes balanced\n";
  if (!m.layers.empty()) out += "use tp(L, tensor)\n";
  if (sequence && !m.residual.empty()) out += "trans " + join(m.residual, ", ") + " seq by tensor\n";
  return out;
}

std::string Configuration::name() const {
  std::vector<std::string> out;
  if (pipe > 1) out.push_back("pipe=" + number(pipe));
  if (data > 1) out.push_back("data=" + number(data));
  if (tensor > 1) out.push_back("tensor=" + number(tensor));
  if (!splits.empty()) out.emplace_back("found splits");
  if (micro_batches > 1) out.push_back("mb=" + number(micro_batches));
  if (zero > 0) out.push_back("zero=" + number(zero));
  const int again = std::accumulate(recompute.begin(), recompute.end(), 0);
  if (again > 0)
    out.push_back("recompute=" + number(again) + "/" + number(std::accumulate(stages.begin(), stages.end(), 0)));
  return out.empty() ? "one device" : join(out, " ");
}

std::string script(const ModelShape& m, const Configuration& c) {
  std::vector<std::string> axes;
  const auto named = [&](std::int64_t size) { return size > 1 || c.all_axes; };
  if (named(c.pipe)) axes.push_back("pipe=" + number(c.pipe));
  if (named(c.data)) axes.push_back("data=" + number(c.data));
  if (named(c.tensor)) axes.push_back("tensor=" + number(c.tensor));
  std::string out = "devices " + number(c.devices()) + (axes.empty() ? "" : " as " + join(axes, " ")) + "\n";
  if (named(c.micro_batches)) out += "axis mb=" + number(c.micro_batches) + "\n";
  if (!m.batch.empty()) out += "model " + m.batch + "=" + number(c.micro_batch * c.data * c.micro_batches) + "\n";
  if (!m.layers.empty()) out += "let L = " + m.selection() + "\n";
  if (c.pipe > 1) out += cut_line(c);
  if (c.micro_batches > 1 || c.data > 1)
    out += "trans * " + m.batch + " by " +
           join(c.micro_batches == 1 ? std::vector<std::string>{"data"}
                : c.data == 1        ? std::vector<std::string>{"mb"}
                                     : std::vector<std::string>{"mb", "data"},
                ", ") +
           "\n";
  out += lines_of(m, c.tensor, c.sequence, c.splits);
  out += recompute_line(c);
  if (c.pipe > 1) out += "assign S[i] to pipe=i\nuse 1f1b(S)\n";
  if (c.zero > 0 && c.data > 1) out += "use zero(" + number(c.zero) + ", *, data)\n";
  if (c.zero == 3 && c.data > 1 && !m.layers.empty()) out += "use prefetch(L, 1)\n";
  return out;
}

namespace {

std::string group_lines(const ModelShape& m, const ProbeKey& key, std::int64_t micro_batches) {
  std::string out = "devices " + number(key.tensor) + (key.tensor > 1 ? " as tensor=" + number(key.tensor) : "");
  out += "\naxis mb=" + number(micro_batches) + "\nmodel " + m.batch + "=" + number(micro_batches * key.micro_batch);
  out += "\nlet L = " + m.selection() + "\ntrans * " + m.batch + " by mb\n";
  out += lines_of(m, key.tensor, key.sequence, key.splits);
  return out + (key.recompute ? "trans L recompute\n" : "");
}

}  // namespace

std::string probe_script(const ModelShape& m, const ProbeKey& key) {
  const std::string last = "L[" + std::to_string(m.unit_count() - 1) + "]";
  return group_lines(m, key, 2) + "order f(L[i])[m] < f(L[i+1])[m]\norder f(" + last + ")[m] < b(" + last +
         ")[m]\norder b(L[i+1])[m] < b(L[i])[m]\norder b(L[0])[m] < f(L[0])[m+1]\n";
}

std::string whole_script(const ModelShape& m, const ProbeKey& key, std::int64_t micro_batches) {
  return group_lines(m, key, micro_batches);
}

}  // namespace planscope::stages
