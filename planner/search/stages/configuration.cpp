#include "planner/search/stages/configuration.h"

#include <algorithm>
#include <numeric>

#include "engine/base/text.h"

namespace planscope::stages {
namespace {

constexpr std::int64_t kSmallTable = 8;  // rows on a device

std::string number(std::int64_t n) { return std::to_string(n); }

// The tables and products that so many devices can share.
std::vector<std::string> shared_vocabulary(const ModelShape& m, std::int64_t devices) {
  std::vector<std::string> out;
  for (const auto& [module, size] : m.vocabulary)
    if (size >= kSmallTable * devices) out.push_back(module);  // small tables (kinds of tokens) stay whole
  return out;
}

std::string layer_lines(const ModelShape& m, bool sequence) {
  std::string out;
  if (!m.layers.empty()) out += "use tp(L, tensor)\n";
  if (sequence && !m.residual.empty()) out += "trans " + join(m.residual, ", ") + " seq by tensor\n";
  return out;
}

// `groups` > 1: interlaced over so many stages.
std::string lines_of(const ModelShape& m, std::int64_t tensor, std::int64_t groups, bool sequence, bool vocabulary,
                     const std::vector<std::string>& splits) {
  if (groups > 1)
    return vocabulary_lines(m, tensor > 1 ? "pipe, tensor" : "pipe", groups * tensor) +
           (tensor > 1 ? layer_lines(m, sequence) : "");
  return splits.empty() ? tensor_lines(m, tensor, sequence, vocabulary) : join(splits, "\n") + "\n";
}

// Repeated calls are told apart by their number.
std::string call_suffix(const ModelShape& m, int call) { return m.calls > 1 ? "@" + std::to_string(call) : ""; }

// Layers that are computed again.
std::string whole_lines(const std::string& layers) { return "trans " + layers + " recompute\n"; }

// Layers whose activations go to host memory. In one stage they are on their way back before the layer behind runs back:
// `brought` are they, the first ones, and that one.
std::string offload_lines(const std::string& layers, const std::string& brought) {
  return "trans " + layers + " offload\n" +
         (brought.empty() ? "" : "let O = " + brought + "\norder load(b(O[i-1]))[m] < b(O[i])[m]\n");
}

// Attention and feed-forward are computed again, in pieces that run one after the other: each a part of what the device has of
// it, so that parameters stay where they are.
std::string piece_lines(const ModelShape& m, const std::string& layers, std::int64_t tensor) {
  std::vector<std::string> blocks;
  for (const std::string& b : m.blocks) blocks.push_back("R." + b);
  const std::string pieces = tensor == 1 ? "use tp(R, c)\n" : "let tc = tensor, c\nuse tp(R, tc)\n";
  return "let R = " + layers + "\n" + pieces + "trans " + join(blocks, ", ") + " recompute\n";
}

// Layers [from, from + count) of all lists, as slices of L.
std::string recompute_lines(const ModelShape& m, const Configuration& c) {
  std::vector<std::string> whole, pieces;
  const int layers = std::accumulate(c.stages.begin(), c.stages.end(), 0);
  int first = 0, count = 0, in_pieces = 0;
  for (std::size_t s = 0; s < c.stages.size(); ++s) {
    const int end = first + c.recompute[s];
    for (int from = first; from < end;) {
      if (c.only_once(from)) {
        ++from;
        continue;
      }
      const bool kind = c.layer_in_pieces(from);
      int to = from;
      while (to < end && !c.only_once(to) && c.layer_in_pieces(to) == kind) ++to;
      (kind ? pieces : whole).push_back("L[" + std::to_string(from) + ":" + std::to_string(to) + "]");
      count += to - from;
      if (kind) in_pieces += to - from;
      from = to;
    }
    first += c.stages[s];
  }
  const std::string brought = !c.brings_back_ahead() ? ""
                              : count < layers       ? "L[0:" + std::to_string(count + 1) + "]"
                                                     : "L";
  if (!pieces.empty() && in_pieces == layers) pieces = {"L"};
  if (!whole.empty() && count - in_pieces == layers) whole = {"L"};
  return (whole.empty() ? ""
          : c.offload   ? offload_lines(join(whole, ", "), brought)
                        : whole_lines(join(whole, ", "))) +
         (pieces.empty() ? "" : piece_lines(m, join(pieces, ", "), c.tensor));
}

std::string cut_line(const Configuration& c) {
  const bool even = std::all_of(c.stages.begin(), c.stages.end(), [&](int n) { return n == c.stages[0]; });
  if (even) return "let S = cut L into |pipe|\n";
  std::vector<std::string> sizes;
  for (int n : c.stages) sizes.push_back(std::to_string(n));
  return "let S = cut L into " + join(sizes, ",") + "\n";
}

}  // namespace

std::string vocabulary_lines(const ModelShape& m, const std::string& axes, std::int64_t devices) {
  std::vector<std::string> even, uneven;
  for (const std::string& module : shared_vocabulary(m, devices))
    (m.vocabulary.at(module) % devices == 0 ? even : uneven).push_back(module);
  std::string out;
  if (!even.empty()) out += "trans " + join(even, ", ") + " vocab by " + axes + "\n";
  if (!uneven.empty()) out += "trans " + join(uneven, ", ") + " vocab by " + axes + " sizes balanced\n";
  return out;
}

std::string tensor_lines(const ModelShape& m, std::int64_t tensor, bool sequence, bool vocabulary) {
  if (tensor == 1) return "";
  return (vocabulary ? vocabulary_lines(m, "tensor", tensor) : "") + layer_lines(m, sequence);
}

std::string Configuration::name() const {
  std::vector<std::string> out;
  if (pipe > 1) out.push_back("pipe=" + number(pipe) + (reversed ? " reversed" : ""));
  if (data > 1) out.push_back("data=" + number(data));
  if (tensor > 1) out.push_back("tensor=" + number(tensor));
  if (!splits.empty()) out.emplace_back("found splits");
  if (micro_batches > 1) out.push_back("mb=" + number(micro_batches));
  if (interlaced) out.emplace_back("interlaced");
  if (order == Order::table7) out.emplace_back("3f1b");
  if (order == Order::searched && !interlaced) out.emplace_back("searched order");
  if (zero > 0) out.push_back("zero=" + number(zero));
  const int layers = std::accumulate(stages.begin(), stages.end(), 0);
  int whole = 0, pieces = 0, first = 0;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    for (int l = first; l < first + recompute[s]; ++l)
      if (!only_once(l)) ++(layer_in_pieces(l) ? pieces : whole);
    first += stages[s];
  }
  if (whole > 0) out.push_back((offload ? "offload=" : "recompute=") + number(whole) + "/" + number(layers));
  if (!prefetch) out.emplace_back("no prefetch");
  if (overlap) out.emplace_back("overlap");
  if (pieces > 0) out.push_back("coshard=" + number(coshard) + " of " + number(pieces) + "/" + number(layers));
  return out.empty() ? "one device" : join(out, " ");
}

namespace {

// What an interlaced pipeline has on all devices.
std::vector<std::string> everywhere(const ModelShape& m, std::int64_t devices) {
  std::vector<std::string> out = shared_vocabulary(m, devices);
  for (const std::string& kind : m.vocabulary_kinds) out.push_back(":" + kind);
  return out;
}

std::string order_lines(const Configuration& c, Chains chains) {
  if (c.micro_batches == 1) return "";  // data alone orders it
  if (c.order == Order::one_f_one_b) return "use 1f1b(S)\n";
  if (c.order == Order::table7) return "use table7(S)\n";
  std::string out;
  for (const std::string& chain : c.chains) out += (chains == Chains::answer ? "auto " : "") + chain + "\n";
  return out.empty() || chains == Chains::own ? out : "order ?\n" + out;
}

// What ZeRO-3 gathers comes ahead.
bool prefetches(const ModelShape& m, const Configuration& c) {
  return c.prefetch && c.zero == 3 && c.data > 1 && !m.layers.empty();
}

// Rows that speak of `mb`: what is brought to the device before it is needed.
bool brought(const ModelShape& m, const Configuration& c) { return prefetches(m, c) || c.brings_back_ahead(); }

}  // namespace

std::string split_lines(const ModelShape& m, const Configuration& c) {
  std::string out;
  if (c.micro_batches > 1 || c.data > 1) {
    std::vector<std::string> axes;
    if (c.data == 1 || c.micro_batches > 1 || brought(m, c)) axes.emplace_back("mb");
    if (c.data > 1) axes.emplace_back("data");
    out += "trans * " + m.batch + " by " + join(axes, ", ") + "\n";
  }
  return out + lines_of(m, c.tensor, c.interlaced ? c.pipe : 1, c.sequence, c.vocabulary, c.splits);
}

std::string script(const ModelShape& m, const Configuration& c, Chains chains) {
  std::vector<std::string> axes;
  const auto named = [&](std::int64_t size) { return size > 1 || c.all_axes; };
  if (named(c.pipe)) axes.push_back("pipe=" + number(c.pipe));
  if (named(c.data)) axes.push_back("data=" + number(c.data));
  if (named(c.tensor)) axes.push_back("tensor=" + number(c.tensor));
  std::string out = "devices " + number(c.devices()) + (axes.empty() ? "" : " as " + join(axes, " ")) + "\n";
  if (named(c.micro_batches) || brought(m, c)) out += "axis mb=" + number(c.micro_batches) + "\n";
  if (c.coshard > 1) out += "axis c=" + number(c.coshard) + "\n";
  if (!m.batch.empty()) out += "model " + m.batch + "=" + number(c.micro_batch * c.data * c.micro_batches) + "\n";
  if (!m.layers.empty()) out += "let L = " + m.selection() + "\n";
  if (c.pipe > 1) out += cut_line(c);
  out += split_lines(m, c);
  out += recompute_lines(m, c);
  if (c.pipe > 1) out += std::string("assign S[i] to pipe=") + (c.reversed ? "|pipe|-1-i\n" : "i\n");
  if (c.interlaced) out += "assign " + join(everywhere(m, c.pipe * c.tensor), ", ") + " to all\n";
  if (c.pipe > 1) out += order_lines(c, chains);
  if (c.zero > 0 && c.data > 1) out += "use zero(" + number(c.zero) + ", *, data)\n";
  if (prefetches(m, c)) out += "use prefetch(L, 1)\n";
  if (c.overlap) out += named(c.micro_batches) ? "order b(L[i+1])[m] < b(L[i])[m]\n" : "order b(L[i+1]) < b(L[i])\n";
  return out;
}

namespace {

std::string group_lines(const ModelShape& m, const ProbeKey& key, std::int64_t micro_batches) {
  std::string axes;
  if (key.pipe > 1) axes += " pipe=" + number(key.pipe);
  if (key.data > 1) axes += " data=" + number(key.data);
  if (key.tensor > 1) axes += " tensor=" + number(key.tensor);
  std::string out = "devices " + number(key.pipe * key.data * key.tensor) + (axes.empty() ? "" : " as" + axes);
  out += "\naxis mb=" + number(micro_batches) + "\nmodel " + m.batch + "=" +
         number(micro_batches * key.data * key.micro_batch);
  if (key.coshard > 1) out += "\naxis c=" + number(key.coshard);
  if (!m.layers.empty()) out += "\nlet L = " + m.selection();
  out += "\ntrans * " + m.batch + " by mb" + (key.data > 1 ? ", data\n" : "\n");
  out += lines_of(m, key.tensor, key.pipe, key.sequence, key.vocabulary, key.splits);
  if (key.recompute) out += key.coshard > 1 ? piece_lines(m, "L", key.tensor) : whole_lines("L");
  if (key.data > 1) out += "use zero(3, *, data)\n";
  return out + (key.data > 1 && key.prefetch ? "use prefetch(L, 1)\n" : "");
}

}  // namespace

std::string probe_script(const ModelShape& m, const ProbeKey& key, std::int64_t micro_batches) {
  const std::string last = "L[" + std::to_string(m.unit_count() - 1) + "]";
  std::string out = group_lines(m, key, micro_batches);
  for (int call = 0; call < m.calls; ++call) {
    const std::string at = call_suffix(m, call);
    out += "order f(L[i]" + at + ")[m] < f(L[i+1]" + at + ")[m]\n";
    if (call + 1 < m.calls) out += "order f(" + last + at + ")[m] < f(L[0]" + call_suffix(m, call + 1) + ")[m]\n";
  }
  const std::string end = call_suffix(m, m.calls - 1);
  out += "order f(" + last + end + ")[m] < b(" + last + end + ")[m]\n";
  for (int call = m.calls - 1; call >= m.first_trained; --call) {
    const std::string at = call_suffix(m, call);
    out += "order b(L[i+1]" + at + ")[m] < b(L[i]" + at + ")[m]\n";
    if (call > m.first_trained) out += "order b(L[0]" + at + ")[m] < b(" + last + call_suffix(m, call - 1) + ")[m]\n";
  }
  return out + "order b(L[0]" + call_suffix(m, m.first_trained) + ")[m] < f(L[0]" + call_suffix(m, 0) + ")[m+1]\n";
}

std::string whole_script(const ModelShape& m, const ProbeKey& key, std::int64_t micro_batches) {
  return group_lines(m, key, micro_batches);
}

}  // namespace planscope::stages
