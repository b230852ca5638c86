#include "engine/runtime/blocks.h"

#include <algorithm>

namespace planscope {

std::vector<std::vector<std::int64_t>> part_sizes(const Graph& graph, TensorId tensor) {
  std::vector<std::vector<std::int64_t>> out;
  for (const auto& dim : graph.tensors[static_cast<std::size_t>(tensor)].dims) {
    out.emplace_back();
    for (const ClassId part : dim) out.back().push_back(graph.classes[static_cast<std::size_t>(part)].size);
  }
  return out;
}

Region whole_region(const Graph& graph, TensorId tensor) {
  Region region;
  for (const auto& dim : part_sizes(graph, tensor)) {
    region.emplace_back();
    for (const std::int64_t size : dim) region.back().push_back({0, size});
  }
  return region;
}

std::vector<std::int64_t> sizes(const Region& region) {
  std::vector<std::int64_t> out;
  for (const auto& dim : region) {
    std::int64_t size = 1;
    for (const Interval& part : dim) size *= part.size();
    out.push_back(size);
  }
  return out;
}

std::int64_t elements(const Region& region) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes(region)) count *= size;
  return count;
}

Region intersection(const Region& a, const Region& b) {
  Region out = a;
  for (std::size_t d = 0; d < a.size(); ++d) {
    for (std::size_t p = 0; p < a[d].size(); ++p) {
      const std::int64_t begin = std::max(a[d][p].begin, b[d][p].begin), end = std::min(a[d][p].end, b[d][p].end);
      out[d][p] = begin < end ? Interval{begin, end} : Interval{a[d][p].begin, a[d][p].begin};
    }
  }
  return out;
}

namespace {

// The part-by-part view of a contiguous tensor that holds `have`, narrowed to `want`.
at::Tensor window(const at::Tensor& tensor, const Region& have, const Region& want) {
  std::vector<std::int64_t> parts;
  for (const auto& dim : have) {
    for (const Interval& part : dim) parts.push_back(part.size());
  }
  at::Tensor view = tensor.view(parts);
  std::int64_t axis = 0;
  for (std::size_t d = 0; d < have.size(); ++d) {
    for (std::size_t p = 0; p < have[d].size(); ++p, ++axis) {
      const Interval& from = have[d][p];
      const Interval& to = want[d][p];
      if (from != to) view = view.narrow(axis, to.begin - from.begin, to.size());
    }
  }
  return view;
}

}  // namespace

at::Tensor cut(const at::Tensor& tensor, const Region& have, const Region& want) {
  return window(tensor.contiguous(), have, want).clone(at::MemoryFormat::Contiguous).view(sizes(want));
}

void cut_to(const at::Tensor& into, const at::Tensor& tensor, const Region& have, const Region& want) {
  const at::Tensor block = window(tensor.contiguous(), have, want);
  into.view(block.sizes()).copy_(block);
}

void paste(const at::Tensor& into, const Region& have, const at::Tensor& block, const Region& at) {
  const at::Tensor target = window(into, have, at);
  target.copy_(block.reshape(target.sizes()));
}

void for_each_run(const std::vector<std::vector<std::int64_t>>& whole, const Region& region,
                  const std::function<void(std::int64_t, std::int64_t)>& visit) {
  if (elements(region) == 0) return;
  std::vector<std::int64_t> size;
  std::vector<Interval> interval;
  for (std::size_t d = 0; d < region.size(); ++d) {
    size.insert(size.end(), whole[d].begin(), whole[d].end());
    interval.insert(interval.end(), region[d].begin(), region[d].end());
  }
  std::size_t outer = size.size();  // parts from `outer` on are one run
  std::int64_t count = 1;
  while (outer > 0) {
    --outer;
    count *= interval[outer].size();
    if (interval[outer].size() != size[outer]) break;
  }
  std::vector<std::int64_t> index;
  for (std::size_t k = 0; k < outer; ++k) index.push_back(interval[k].begin);
  while (true) {
    std::int64_t flat = 0;
    for (std::size_t k = 0; k < size.size(); ++k) flat = flat * size[k] + (k < outer ? index[k] : interval[k].begin);
    visit(flat, count);
    std::size_t k = outer;
    while (k > 0 && ++index[k - 1] == interval[k - 1].end) {
      index[k - 1] = interval[k - 1].begin;
      --k;
    }
    if (k == 0) break;
  }
}

}  // namespace planscope
